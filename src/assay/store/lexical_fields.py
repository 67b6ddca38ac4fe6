"""A chunk's lexical fields: which words stand for its name, its surroundings, its description and its body."""

from __future__ import annotations

from functools import lru_cache

from assay.terms import words
from assay.types import Chunk

FIELDS = ("name", "parent", "path", "doc", "body")


def field_words(chunk: Chunk) -> tuple[list[str], ...]:
    """Return the words of each of `FIELDS`, unsplit: identifiers as they stand."""
    return (
        words(chunk.symbol) if chunk.symbol else [],
        words(chunk.parent) if chunk.parent else [],
        path_words(chunk.path),
        words(about) if (about := chunk.about) else [],
        words(chunk.text),
    )


@lru_cache(maxsize=4096)
def path_words(path: str) -> list[str]:
    """Return the words of the folders and of the file's name without its extension."""
    stem, dot, extension = path.rpartition(".")
    return words(stem if dot and "/" not in extension else path)
