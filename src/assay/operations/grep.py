"""Find the lines of files that match a pattern, as grep does, and order the files for a reader.

Files are read from disk, in blocks: what an index leaves out is found too, and memory stays bounded. An index only
orders the files. It is used as it is, because a refresh takes longer than a search and cannot add a match.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import cache
from glob import escape
from io import BytesIO, RawIOBase
from pathlib import Path
from stat import S_ISREG
from typing import Any

from assay.corpus.encodings import decoded, wide_encoding
from assay.corpus.left_out_names import is_openable
from assay.corpus.walk import MAX_FILE_BYTES, walk
from assay.corpus.walked_files import from_utf8, unwritten_reason
from assay.errors import AssayError
from assay.search.expressions import matches_in, suited
from assay.search.path_filters import keeping, reading_class

MAX_BLOCK_BYTES = 16 << 20
"""Bytes that are searched at a time; a longer line is searched in pieces."""
_MAX_ARRIVED_BYTES = 1 << 18
"""Bytes of a pipe that are searched at a time, as they arrive."""
STANDARD_INPUT = "-"
_HEAD, _GENERATED, _UNREADABLE = 8192, 3, "cannot be read: "
MAX_UNRANKED_FILES = 100
"""Up to so many matching files are not ranked by an index, which takes longer than finding them."""
_MAX_RANKED_HITS, _MAX_NAMED_FILES = 200, 50
"""Hits of an index that order files, and files that its search is limited to by name."""
_SWAPPED = bytes.maketrans(b"\0\n", b"\n\0")


@dataclass(frozen=True, slots=True)
class Finder:
    """A compiled pattern, and how files are read for it."""

    pattern: Any
    """A finder whose first group is the match."""
    declaring: Any
    is_inverted: bool = False
    most: int = sys.maxsize
    """Matching lines per file after which the search of that file stops."""
    binary_files: str = "binary"
    """How binary files are treated: `binary`, `text` or `without-match`."""
    is_null: bool = False
    """Whether lines end in NUL."""

    def numbers(self, block: bytes) -> list[int]:
        """Return which lines of a block match, counted from 0."""
        found, at, number, pattern = list[int](), 0, 0, suited(self.pattern, block)
        while at < len(block) and (hit := pattern.search(block, at)):
            start = hit.start(1)
            if start == len(block) and block.endswith(b"\n"):
                break
            number += block.count(b"\n", at, start)
            found.append(number)
            number, at = number + 1, block.find(b"\n", start) + 1 or len(block)
        return sorted({*range(len(_lines(block)))}.difference(found)) if self.is_inverted else found

    def parts(self, line: bytes) -> list[tuple[int, int]]:
        """Return where a line matches, without empty matches."""
        return [(start, end) for start, end in matches_in(self.pattern, line) if start < end]

    def is_binary(self, block: bytes) -> bool:
        """Return whether a block is binary and is treated as such."""
        return self.binary_files != "text" and not self.is_null and b"\0" in block

    def as_written(self, text: bytes) -> bytes:
        """Return a line, or a part of one, as its file has it."""
        return text.translate(_SWAPPED) if self.is_null else text


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file."""

    number: int
    """From 1."""
    offset: int
    """The offset of its first byte; of a file in another encoding, as if it were UTF-8."""
    text: bytes
    is_match: bool
    is_binary: bool = False
    """Whether it stands for the rest of a binary file, in which a line matches."""


@dataclass(frozen=True, slots=True)
class SearchedFile:
    """A file, its name in the output, and what was found in it."""

    name: str
    path: str
    """The path to open."""
    is_named: bool = False
    """Whether it was named on the command line, rather than found in a folder."""
    count: int = 0
    """Lines that match."""
    is_binary: bool = False
    declares: bool = False
    """Whether one of its lines seems to declare what matches."""
    kind: int = 0
    """See `reading_class`."""
    problem: str = ""
    """Why it cannot be read, in the words of the system."""
    is_stream: bool = False
    """Whether it can be read only once: standard input, a pipe."""
    content: bytes | None = None
    """Its content, if that was read before."""

    def with_content(self) -> SearchedFile:
        """Return the file with its content, so that it can be read again."""
        if not self.is_stream:
            return self
        with self._opened() as opened:
            return replace(self, content=b"".join(_read(opened)), is_stream=False)

    def size(self) -> int | None:
        """Return its size in bytes, if known before it is read."""
        is_input = self.path == STANDARD_INPUT and self.is_named
        status = os.fstat(sys.stdin.fileno()) if is_input else os.stat(self.path)  # noqa: PTH116  as `_opened`
        return status.st_size if S_ISREG(status.st_mode) else None

    def searched(self, finder: Finder) -> SearchedFile:
        """Search the file; return it with what was found, or with the error."""
        try:
            return self if self.problem else self._searched(finder)
        except OSError as error:
            return replace(self, problem=error.strerror or str(error))

    def _searched(self, finder: Finder) -> SearchedFile:
        found, is_binary = self, False
        for block in self._blocks(finder):
            is_binary |= finder.is_binary(block)
            if is_binary and finder.binary_files == "without-match":
                return self
            if count := len(finder.numbers(block)):
                first = found if found.count else replace(found, **self._traits(finder, block))
                found = replace(first, count=min(first.count + count, finder.most))
            if found.count >= finder.most:
                break
        return replace(found, is_binary=is_binary) if is_binary else found

    def _traits(self, finder: Finder, block: bytes) -> dict[str, Any]:
        """Return the traits that order it among other files, by the first block that matches."""
        is_written = not unwritten_reason(block[:_HEAD].decode("utf-8", "replace"), self.name)
        kind = reading_class(self.name) if is_written and len(block) <= MAX_FILE_BYTES else _GENERATED
        return {"kind": kind, "declares": bool(finder.declaring.search(block))}

    def lines(self, finder: Finder, before: int, after: int) -> Iterator[Line]:
        """Yield the lines that match, and those around them."""
        earlier, owed, first, left, offset = deque[Line](maxlen=before + 1), 0, 1, finder.most, 0
        for block in self._blocks(finder):
            numbers = set(finder.numbers(block)[:left])
            if finder.is_binary(block) and (numbers or finder.binary_files == "without-match"):
                if finder.binary_files == "binary":
                    yield Line(0, 0, b"", is_match=True, is_binary=True)
                return
            for at, text in enumerate(_lines(block)):
                earlier.append(Line(first + at, offset, text, at in numbers))
                offset += len(text) + 1
                if at in numbers:
                    left, owed = left - 1, after + 1
                if owed:
                    yield from earlier
                    earlier.clear()
                owed = max(owed - 1, 0)
            if not left and not owed:
                return
            first += block.count(b"\n")

    def _opened(self) -> RawIOBase | BytesIO:
        if self.content is not None:
            return BytesIO(self.content)
        if self.path == STANDARD_INPUT and self.is_stream:
            return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # it stays open
        return open(self.path, "rb", buffering=0)  # noqa: PTH123  # a thousand of them take half as long

    def _blocks(self, finder: Finder) -> Iterator[bytes]:
        """Yield its content in whole lines, UTF-16 text as UTF-8; the lines end in NUL if the finder says so."""
        with self._opened() as opened:
            rest = b""
            for read in _read(opened):
                data = finder.as_written(read)
                end = len(data) if len(rest) >= MAX_BLOCK_BYTES else data.rfind(b"\n") + 1
                if end:
                    yield _as_utf8(rest + data[:end])
                rest = data[end:] if end else rest + data
            if rest:
                yield _as_utf8(rest)


def _read(opened: RawIOBase | BytesIO) -> Iterator[bytes]:
    """Yield the content of a file, of a pipe as it arrives; UTF-16 as UTF-8."""
    most = MAX_BLOCK_BYTES
    if not isinstance(opened, BytesIO):
        status = os.fstat(opened.fileno())
        most = min(most, status.st_size + 1 if S_ISREG(status.st_mode) else _MAX_ARRIVED_BYTES)
    data = opened.read(most)
    wide = wide_encoding(data) if data else ""
    decoder = codecs.getincrementaldecoder(wide)("replace") if wide else None
    while data:
        yield decoder.decode(data).encode("utf-8", "surrogatepass") if decoder else data
        data = opened.read(most)


@dataclass(frozen=True, slots=True)
class FileChoice:
    """Which files are searched."""

    globs: tuple[str, ...] = ()
    """Globs of file names, `!` to exclude; the last match decides."""
    left_out_folders: tuple[str, ...] = ()
    folders: str = "recurse"
    """What to do with a folder that is named: `recurse`, `skip` or `read`, which no system does."""
    devices: str = "read"
    """What to do with a device or a pipe that is named: `read` or `skip`."""
    label: str = "(standard input)"


def files_in(places: Sequence[str], choice: FileChoice) -> Iterator[SearchedFile]:
    """Yield the files at some places, in order of their paths, with those that cannot be read.

    A file that is named is always read. Below a folder, those are that git does not ignore and that hold no keys.
    """
    keeps, enters = _keeping(choice.globs), _entering(choice.left_out_folders)
    for place in places or ("",):
        if place == STANDARD_INPUT:
            yield SearchedFile(choice.label, place, is_named=True, is_stream=True)
        elif not Path(place).is_dir():
            found = _named(place)
            if keeps(place) and not (found.is_stream and choice.devices == "skip"):
                yield found
        elif choice.folders == "read":
            yield SearchedFile(place, place, is_named=True, problem="Is a directory")
        elif choice.folders == "recurse" and enters(f"{place.rstrip('/')}/"):
            yield from _below(place, lambda each: keeps(each) and enters(each))


def _named(place: str) -> SearchedFile:
    """Return a file that was named on the command line."""
    exists = Path(place).exists()
    problem = "" if exists else "No such file or directory"
    return SearchedFile(place, place, is_named=True, problem=problem, is_stream=exists and not Path(place).is_file())


def _below(place: str, keeps: Callable[[str], bool]) -> Iterator[SearchedFile]:
    before, found = f"{place.rstrip('/')}/" if place else "", walk(Path(place), largest_bytes=sys.maxsize)
    below = {each.path: "" for each in found.files}
    reasons = {each.path: each.reason for each in found.skipped}
    below |= {each: why.partition(_UNREADABLE)[2] for each, why in reasons.items() if _is_searched(why)}
    for each in sorted(filter(keeps, below)):
        path = before + each if each.isascii() and "\\" not in each else str(from_utf8(Path(place), each))
        yield SearchedFile(before + each, path, problem=below[each])


def _keeping(choice: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate of files by globs: the last match decides; without one, whether the first glob excludes."""
    rules = [(one[:1] != "!", _matching(one.removeprefix("!"))) for one in choice]
    otherwise = not rules or not rules[0][0]
    return lambda path: next((keeps for keeps, matches in reversed(rules) if matches(path)), otherwise)


def _entering(left_out: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate of paths: whether all folders of a path are searched."""
    rules = [_matching(each.rstrip("/")) for each in left_out]

    def folders(path: str) -> Iterator[str]:
        return (path[:at] for at, letter in enumerate(path) if letter == "/" and at)

    return lambda path: not (rules and any(matches(folder) for folder in folders(path) for matches in rules))


def _matching(glob: str) -> Callable[[str], bool]:
    """Return a matcher of a glob for a name, or for a path if the glob has a slash."""
    if "/" in glob.removeprefix("./"):
        return keeping((glob,))
    pattern = re.compile(translate(glob.removeprefix("./")))
    return lambda path: bool(pattern.match(path.rpartition("/")[2]))


def _is_searched(reason: str) -> bool:
    return is_openable(reason) or reason.startswith(_UNREADABLE)


def _lines(block: bytes) -> list[bytes]:
    return block.removesuffix(b"\n").split(b"\n")


def _as_utf8(data: bytes) -> bytes:
    with suppress(UnicodeDecodeError):
        data.isascii() or data.decode()
        return data
    text = decoded(data, _named_encoding(Path.cwd()))
    return data if text is None else text.encode("utf-8", "surrogatepass")


@cache
def _named_encoding(here: Path) -> str:
    """Return the encoding for text that does not declare its own, from the settings of a folder or one above it."""
    from assay.operations.root_settings import UserSettings, root_settings  # few files need it

    with suppress(AssayError):
        named = (root_settings(each, UserSettings()).index.encoding for each in (here, *here.parents))
        return next(filter(None, named), "")
    return ""


def order_files(files: Sequence[SearchedFile], place: str, words: str) -> tuple[list[SearchedFile], str]:
    """Order files for a reader; return them, and a note on why the order is not the best one.

    Code comes before tests, documentation and what is generated; of each, what declares the name comes first, then what
    answers the words of the pattern best, by the index of the folder around a place.
    """
    ranked, declaring, note = list[Path](), set[Path](), ""
    if len(files) > MAX_UNRANKED_FILES and words:
        try:
            ranked, declaring = _ranked(Path(place).resolve(), words, [Path(each.path).resolve() for each in files])
        except (AssayError, OSError) as error:
            note = f"ordered without the index: {error}"
    ranks = {path: at for at, path in reversed([*enumerate(ranked)])}

    def order(each: SearchedFile) -> tuple[int, bool, int, str]:
        path = Path(each.path).resolve()
        declares = path in declaring if declaring else each.declares
        return each.kind, not declares, ranks.get(path, len(ranked)), each.name

    return sorted(files, key=order), note


def _ranked(place: Path, words: str, files: Sequence[Path]) -> tuple[list[Path], set[Path]]:
    """Return files as the index around a place ranks them, best first, and those that declare the name asked for."""
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
        query = Query("", words, "all", paths=tuple(below) if len(below) <= _MAX_NAMED_FILES else ())
        with workspace.guard.reading():
            hits = workspace.corpus_search.searcher.search([query], _MAX_RANKED_HITS)[0]
            names, snapshot = typed_names(words), workspace.snapshot
            declared = declarations(snapshot, names, None) if names.target else ()
            return [root / hit.chunk.path for hit in hits], {root / snapshot.path(number) for number in declared}
    raise AssayError(f"there is none; assay index {place} makes it")
