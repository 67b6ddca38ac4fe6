"""A folder to what mining asks of it: which files may hold an answer, and the units in each.

An answer is a unit of code with a name, or a section of prose below a heading, in a file that a search would want:
no test, example, changelog, translation, lock file, nothing generated or vendored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from assay.corpus.chunk import parse
from assay.corpus.languages import PROSE, language_of
from assay.corpus.walk import walk
from assay.corpus.walked_files import read
from assay.types import Chunk

MOST_FILES = 20_000
"""Of larger repositories a sample of the files is looked at for documentation and tests."""
LONGEST = 150
"""Lines of a unit that is one answer; of a longer one the piece that is meant."""
CALLABLE = frozenset(("function", "method", "constructor"))
_NO_UNIT = frozenset(("", "block", "cell", "test"))
_TEST = re.compile(
    r"(?:^|/)(?:\w+[-_])?(?:tests?|testing|testutils?|test_?data|testfixtures|__tests__|specs?|e2e|cypress|fixtures?"
    r"|__?mocks?(?:__)?|snapshots?|bench(?:es|marks?)?|jmh)(?:[-_]\w+)?(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|conftest|(?:.*[._-])?(?:tests?|spec|bench|stories))\.\w+$|(?:Tests?|TestCase|Spec|IT)\.\w+$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:change-?log|changes|history|news|releases?|release[-_]?notes|what-?s-?new|contributing|code_of_conduct"
    r"|security|sponsor\w*|licen[cs]e|authors|contributors|maintainers|ecosystem|adopters|showcase|todo|agents|claude)[^/]*\.(?:mdx?|rst|adoc|txt)$"
    r"|(?:^|/)(?:change-?logs?|newsfragments|releasenotes|i18n|locales?|translations?|whats_?new)/"
    r"|(?:^|/)docs?/(?:content/)?(?!en(?:/|[-_]))[a-z]{2}(?:[-_][a-zA-Z]{2,4})?/"
    r"|(?:^|/)(?:examples?|samples?|demos?|docs?_src|tutorials?|playground|third[-_]party|vendor|vendored|_vendor)/"
    r"|(?:^|/)\.[^/]+/|requirements[^/]*\.txt$|CMakeLists\.txt$|robots\.txt$",
    re.IGNORECASE,
)


def is_test(path: str) -> bool:
    """Say whether a file is there to test others, by its path."""
    return _TEST.search(path) is not None


def is_aside(path: str) -> bool:
    """Say whether a file is no answer to anything by its path: what changed, an example, a copy, a translation."""
    return _ASIDE.search(path) is not None


def is_prose(path: str) -> bool:
    """Say whether a file is a document."""
    return language_of(path) in PROSE


class Files:
    """The files of a folder, each parsed when it is asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._entries = {entry.path: entry for entry in walk(root).files}
        self._chunks: dict[str, tuple[Chunk, ...]] = {}
        self._units: dict[str, tuple[Chunk, ...]] = {}
        self._lines: dict[str, list[str]] = {}

    def __contains__(self, path: object) -> bool:
        return path in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def sample(self, seed: int) -> list[str]:
        """Return the paths in a random order, of very many a part."""
        paths = sorted(self._entries)
        Random(seed).shuffle(paths)  # noqa: S311  # a draw that can be repeated
        return paths[:MOST_FILES]

    def chunks(self, path: str) -> tuple[Chunk, ...]:
        """Return the chunks of a file, none where it is binary, generated or not there."""
        if path not in self._chunks:
            text = read(self._root, self._entries[path]) if path in self._entries else None
            self._chunks[path] = parse(path, text).chunks if isinstance(text, str) else ()
        return self._chunks[path]

    def functions(self, path: str) -> tuple[Chunk, ...]:
        """Return the functions of a file that may be an answer, in order, each in one piece."""
        if is_test(path) or is_aside(path) or is_prose(path):
            return ()
        whole = units(self.chunks(path), longest=self._entries[path].size)
        return tuple(unit for unit in whole if unit.kind in CALLABLE and ", " not in unit.symbol)

    def units(self, path: str) -> tuple[Chunk, ...]:
        """Return the units of a file that may be an answer, in order."""
        if path not in self._units:
            found = () if is_test(path) or is_aside(path) else tuple(units(self.chunks(path)))
            self._units[path] = found
        return self._units[path]

    def line(self, path: str, number: int) -> str:
        """Return one line of a file, empty where it has no such line."""
        if path not in self._lines:
            text = read(self._root, self._entries[path]) if path in self._entries else ""
            self._lines[path] = text.split("\n") if isinstance(text, str) else []
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else ""


def units(chunks: Sequence[Chunk], *, longest: int = LONGEST) -> Iterator[Chunk]:
    """Yield what has a name and is no test; the pieces of a unit that is not very long are one again."""
    waiting: Chunk | None = None
    for chunk in chunks:
        if waiting is not None and _continues(waiting, chunk, longest):
            waiting = replace(waiting, end_line=chunk.end_line, text=waiting.text + chunk.text)
            continue
        if waiting is not None:
            yield waiting
        waiting = chunk if _is_unit(chunk) else None
    if waiting is not None:
        yield waiting


def _is_unit(chunk: Chunk) -> bool:
    inside = chunk.parent.replace("::", ".").split(".")
    return bool(chunk.symbol) and chunk.kind not in _NO_UNIT and not {"tests", "test"}.intersection(inside)


def _continues(unit: Chunk, chunk: Chunk, longest: int) -> bool:
    same = (unit.symbol, unit.parent, unit.kind) == (chunk.symbol, chunk.parent, chunk.kind)
    return same and unit.kind != "section" and not chunk.doc and chunk.end_line - unit.start_line < longest
