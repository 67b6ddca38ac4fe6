"""An index to questions that its own code answers: what its functions say they do, and what its tests say of it.

They are shown to somebody who does not know yet what may be asked, so each is a short plain phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.search.filters import traits_of
from assay.serve.session import Session
from assay.store.snapshot import Snapshot
from assay.types import Chunk

_WANTED = 5
_LOOKED_AT = 500
"""Chunks of an index, or of all together, that are read."""
_UNITS = frozenset(("function", "method", "class", "constructor", "struct", "interface", "trait"))
_PHRASE = re.compile(r"[A-Za-z][A-Za-z' ,-]+[a-z]")
_SENTENCE = re.compile(r"(.+?)[.:;!](?:\s|$)", re.DOTALL)
_TEST_NAME = re.compile(r"(?:test|it|should)_([a-z][a-z0-9_]+)")
_VERB = re.compile(r"(?:a|an|the|this|these|if|see|note|todo|deprecated|internal|return|returns)\b", re.IGNORECASE)
"""Beginnings of a sentence that says less of what the code does."""
_DESCRIBED = {"use_attribute_docstrings": True}


@dataclass(frozen=True, slots=True)
class ExampleQuestions:
    """Questions that the served code answers."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

    questions: list[str]
    """A few, from files far apart; none where nothing is described in words."""


def example_questions(session: Session, path: str) -> ExampleQuestions:
    """Return questions about one place, or about every served folder."""
    if path or not session.are_several:
        snapshots: Sequence[Snapshot] = [session.place(path).engine.view().workspace.snapshot]
    else:
        snapshots = list(session.everything.view().snapshots().values())
    each = max(_LOOKED_AT // max(len(snapshots), 1), 10)
    found = [list(_phrases(snapshot, each)) for snapshot in snapshots]
    return ExampleQuestions(_spread([phrase for phrases in found for phrase in phrases]))


def _phrases(snapshot: Snapshot, most: int) -> Iterator[str]:
    """Yield phrases of chunks from all over an index, at most one of a file."""
    dead, files = set(snapshot.dead.tolist()), set[str]()
    for number in np.linspace(0, snapshot.size - 1, min(most, snapshot.size)).astype(int).tolist():
        if number in dead or (path := snapshot.path(number)) in files:
            continue
        phrase = _phrase(snapshot.chunk(number))
        if phrase:
            files.add(path)
            yield phrase


def _phrase(chunk: Chunk) -> str:
    """Return what a chunk says that it does, in four to nine plain words; empty where it says something else."""
    is_test, is_example, is_aside = traits_of(chunk.path)
    if is_test or chunk.kind == "test":
        named = _TEST_NAME.fullmatch(chunk.symbol)
        text = named[1].replace("_", " ") if named else ""
    elif is_example or is_aside or chunk.kind not in _UNITS:
        return ""
    else:
        sentence = _SENTENCE.match(chunk.doc)
        text = " ".join((sentence[1] if sentence else chunk.doc).split())
    if not 4 <= len(text.split()) <= 9 or not _PHRASE.fullmatch(text) or _VERB.match(text):
        return ""
    return text[0].lower() + text[1:]


def _spread(phrases: Sequence[str]) -> list[str]:
    """Return a few phrases from all over a list."""
    phrases = list(dict.fromkeys(phrases))
    step = max(len(phrases) / _WANTED, 1)
    return [phrases[int(at * step)] for at in range(min(_WANTED, len(phrases)))]
