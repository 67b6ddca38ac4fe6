"""Find the lines of files that match a pattern, as grep does, and order the files for a reader.

Files are read from disk, in blocks: what an index leaves out is found too, and memory stays bounded. An index only
orders the files. It is used as it is, because a refresh takes longer than a search and cannot add a match.
"""

from __future__ import annotations

import codecs
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import Any

from assay.corpus.encodings import decoded, wide_encoding
from assay.corpus.walk import LARGEST_BYTES, is_openable, walk
from assay.corpus.walked_files import from_utf8, unwritten_reason
from assay.errors import AssayError
from assay.search.filters import keeping, reading_class

BLOCK = 16 << 20
"""Bytes that are searched at once; a longer line is searched in pieces."""
_HEAD, _GENERATED, _UNREADABLE = 8192, 3, "cannot be read: "
_MOST_RANKED, _MOST_NAMED = 200, 50
"""Hits of an index that order files, and files that its search is kept to by name."""


@dataclass(frozen=True, slots=True)
class Finder:
    """What is looked for in lines."""

    pattern: Any
    """Its first group is what matches."""
    declaring: Any
    is_inverted: bool = False
    most: int = sys.maxsize
    """Lines of a file after which it is left."""
    is_text: bool = False
    """Whether binary files are searched as if they were text."""

    def numbers(self, block: bytes) -> list[int]:
        """Return which lines of a block match, from 0."""
        found, at, number = list[int](), 0, 0
        while at < len(block) and (hit := self.pattern.search(block, at)):
            start = hit.start(1)
            if start == len(block) and block.endswith(b"\n"):
                break
            number += block.count(b"\n", at, start)
            found.append(number)
            number, at = number + 1, block.find(b"\n", start) + 1 or len(block)
        return sorted({*range(len(_lines(block)))}.difference(found)) if self.is_inverted else found

    def parts(self, line: bytes) -> Iterator[bytes]:
        """Yield what matches of a line; empty matches are none."""
        at = 0
        while at <= len(line) and (hit := self.pattern.search(line, at)):
            start, end = hit.span(1)
            yield from [line[start:end]] * (start < end)
            at = end + (start == end)


@dataclass(frozen=True, slots=True)
class SearchedFile:
    """A file, what it is called, and what was found in it."""

    name: str
    path: Path
    is_named: bool = False
    """Whether it was named, rather than found in a folder."""
    count: int = 0
    """Lines that match."""
    is_binary: bool = False
    declares: bool = False
    """Whether a line of it seems to declare what matches."""
    kind: int = 0
    """See `reading_class`."""
    problem: str = ""
    """Why it cannot be read, as the system says it."""

    def searched(self, finder: Finder) -> SearchedFile:
        """Return it with what is found in it, or with what is wrong with it."""
        try:
            return self if self.problem else self._searched(finder)
        except OSError as error:
            return replace(self, problem=error.strerror or str(error))

    def _searched(self, finder: Finder) -> SearchedFile:
        found = replace(self, kind=reading_class(self.name))
        for block in _blocks(self.path):
            count = found.count + len(finder.numbers(block))
            if count and not found.count:
                is_written = not unwritten_reason(block[:_HEAD].decode("utf-8", "replace"), self.name)
                kind = found.kind if is_written and len(block) <= LARGEST_BYTES else _GENERATED
                found = replace(found, kind=kind, declares=bool(finder.declaring.search(block)))
            is_binary = found.is_binary or (not finder.is_text and b"\0" in block)
            found = replace(found, count=min(count, finder.most), is_binary=is_binary)
            if count >= finder.most:
                break
        return found

    def lines(self, finder: Finder, before: int, after: int) -> Iterator[tuple[int, bytes, bool]]:
        """Yield number and text of the lines that match and of those around them, and whether each matches."""
        earlier, owed, first, left = deque[tuple[int, bytes, bool]](maxlen=before + 1), 0, 1, finder.most
        for block in _blocks(self.path):
            numbers = set(finder.numbers(block)[:left])
            for at, text in enumerate(_lines(block)):
                earlier.append((first + at, text, at in numbers))
                if at in numbers:
                    left, owed = left - 1, after + 1
                if owed:
                    yield from earlier
                    earlier.clear()
                owed = max(owed - 1, 0)
            if not left and not owed:
                return
            first += block.count(b"\n")


def files_in(places: Sequence[str], globs: Sequence[str]) -> Iterator[SearchedFile]:
    """Yield the files at some places, in order of their paths, with those that cannot be read.

    A file that is named is always read. Below a folder, those are that git does not ignore and that hold no keys.
    """
    keeps = keeping(globs)
    for place in places or ("",):
        path = Path(place)
        if not path.is_dir():
            problem = "" if path.is_file() else "Not a regular file" if path.exists() else "No such file or directory"
            yield SearchedFile(place, path, is_named=True, problem=problem)
            continue
        before, found = f"{place.rstrip('/')}/" if place else "", walk(path, largest_bytes=sys.maxsize)
        below = {each.path: "" for each in found.files}
        reasons = {each.path: each.reason for each in found.skipped}
        below |= {each: why.partition(_UNREADABLE)[2] for each, why in reasons.items() if _is_searched(why)}
        for each in sorted(filter(keeps, below)):
            yield SearchedFile(before + each, from_utf8(path, each), problem=below[each])


def _is_searched(reason: str) -> bool:
    return is_openable(reason) or reason.startswith(_UNREADABLE)


def _lines(block: bytes) -> list[bytes]:
    return block.removesuffix(b"\n").split(b"\n")


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield what a file holds in whole lines, as UTF-8 if it is text in another encoding."""
    with path.open("rb") as opened:
        wide, rest = wide_encoding(opened.peek()), b""
        source = codecs.EncodedFile(opened, "utf-8", wide, "replace") if wide else opened
        while data := source.read(BLOCK):
            end = len(data) if len(rest) >= BLOCK else data.rfind(b"\n") + 1
            if end:
                yield _as_utf8(rest + data[:end])
            rest = data[end:] if end else rest + data
        if rest:
            yield _as_utf8(rest)


def _as_utf8(data: bytes) -> bytes:
    with suppress(UnicodeDecodeError):
        data.isascii() or data.decode()
        return data
    text = decoded(data)
    return data if text is None else text.encode("utf-8", "surrogatepass")


def ordered(found: Sequence[SearchedFile], place: str, words: str) -> tuple[list[SearchedFile], str]:
    """Return files in the order in which a reader wants them, and a note on what would order them better.

    Code comes before tests, documentation and what is generated; of each, what declares the name comes first, then what
    answers the words of the pattern best, by the index of the folder around a place.
    """
    ranked, declaring, note = list[Path](), set[Path](), ""
    if len(found) > 1 and words:
        try:
            ranked, declaring = _ranked(Path(place).resolve(), words, [each.path.resolve() for each in found])
        except (AssayError, OSError) as error:
            note = f"ordered without the index: {error}"
    ranks = {path: at for at, path in reversed([*enumerate(ranked)])}

    def order(each: SearchedFile) -> tuple[int, bool, int, str]:
        path = each.path.resolve()
        declares = path in declaring if declaring else each.declares
        return each.kind, not declares, ranks.get(path, len(ranked)), each.name

    return sorted(found, key=order), note


def _ranked(place: Path, words: str, files: Sequence[Path]) -> tuple[list[Path], set[Path]]:
    """Return files best first as the index around a place ranks them, and those that declare the name that is asked."""
    from assay.operations.root_settings import UserSettings, root_settings  # not where one file matches
    from assay.operations.workspace import last_workspace
    from assay.protocols import is_quick
    from assay.search.declared_names import declarations, typed_names
    from assay.values import Query

    for root in (place, *place.parents):
        settings = root_settings(root, UserSettings()) if root.is_dir() else None
        if settings is None or (workspace := last_workspace(root, settings)) is None:
            continue
        if not is_quick(workspace.index.encoder):  # whose model would be waited for
            words_only = replace(settings, search=replace(settings.search, ranking="keywords"))
            workspace = replace(workspace, settings=words_only)
        below = [escape(path.relative_to(root).as_posix()) for path in files if path.is_relative_to(root)]
        query = Query("", words, "all", paths=tuple(below) if len(below) <= _MOST_NAMED else ())
        with workspace.guard.reading():
            hits = workspace.corpus_search.searcher.search([query], _MOST_RANKED)[0]
            names, snapshot = typed_names(words), workspace.snapshot
            declared = declarations(snapshot, names, None) if names.asked else ()
            return [root / hit.chunk.path for hit in hits], {root / snapshot.path(number) for number in declared}
    raise AssayError(f"there is none; assay index {place} makes it")
