"""What may be asked of files rather than of an index: their outlines, and where code has a structure.

Files are read as they are now, so nothing has to be indexed first; they are those that an index would hold.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from assay.assemble.answer import language_named
from assay.corpus.blocks import lines_of
from assay.corpus.languages import language_of
from assay.corpus.outline import OutlineEntry, outline
from assay.corpus.walk import walk
from assay.corpus.walked_files import FileEntry, Skipped, read
from assay.search.filters import keeping
from assay.serve.cursor import cursor as cursor_of
from assay.serve.cursor import offset_of
from assay.serve.responses import OVERHEAD, cost
from assay.serve.search_tools import Page
from assay.serve.session import ServedPlace, Session

if TYPE_CHECKING:
    from assay.corpus.code_pattern import Pattern, PatternMatch

_DESCRIBED = {"use_attribute_docstrings": True}
DEADLINE_S = 20.0
"""How long files are read for one answer; what is left is for the next page."""
_LONGEST_SHOWN = 60
"""Lines of a match that are shown."""
_LONGEST_HOLE = 200
_STRIDE = 1_000_000  # more matches than a file may hold: it is no larger
DOUBT = "the pattern is no {} by itself, which may be why nothing matches: write whole expressions or statements"


@dataclass(frozen=True, slots=True)
class FileOutline:
    """A file with what it declares, in order."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

    path: str
    language: str
    signatures: list[str]
    """`LINE: signature`, indented by how deep it is nested; headings for prose."""
    root: str = ""
    """Of an answer from several roots, the one that holds this."""


@dataclass(frozen=True, slots=True)
class OutlineAnswer:
    """Files in order of their paths."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

    root: str
    files: list[FileOutline]
    cursor: str = ""
    """For the next page; empty at the end."""


@dataclass(frozen=True, slots=True)
class PatternPlace:
    """A place whose code has the structure of the pattern."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

    path: str
    start_line: int
    end_line: int
    text: str
    """Whole lines."""
    holes: dict[str, str] = field(default_factory=dict)
    """What each $NAME of the pattern stands for, cut where it is long."""
    complete: bool = True
    """False: only the first lines are shown."""
    root: str = ""
    """Of an answer from several roots, the one that holds this."""


@dataclass(frozen=True, slots=True)
class PatternAnswer:
    """Matches in order of path and line."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

    root: str
    matches: list[PatternPlace]
    files: int
    """Files that were looked at for this page."""
    note: str = ""
    """What may be wrong with a pattern that matches nothing."""
    cursor: str = ""
    """For the next page; empty at the end."""


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file of a place."""

    place: ServedPlace
    entry: FileEntry
    root: str
    """Where files of several roots are listed, the name of its own."""

    @property
    def text(self) -> str | None:
        """What it holds now; None of one that is not text."""
        found = read(self.place.engine.root, self.entry)
        return None if isinstance(found, Skipped) else found


def outlines(session: Session, path: str, globs: Sequence[str], *, page: Page) -> OutlineAnswer:
    """Return the outlines of as many files as a page holds; a file that declares nothing is left out."""
    root, entries = files_of(session, path, globs)
    question = ("outline", path, *globs)
    start = offset_of(page.cursor, question, _version(entries))
    left, shown, at, ends = page.budget - OVERHEAD, list[FileOutline](), start, time.monotonic() + DEADLINE_S
    for entry in entries[start:]:
        found = outline_of(entry)
        if found is not None:
            if len(shown) == page.k or (cost(found) > left and shown):
                break
            found = _shortened(found, left)
            left -= cost(found)
            shown.append(found)
        at += 1
        if time.monotonic() > ends:
            break
    after = cursor_of(at, question, _version(entries)) if at < len(entries) else ""
    return OutlineAnswer(root, shown, after)


def patterns(
    session: Session, pattern: tuple[str, str], path: str, globs: Sequence[str], *, page: Page
) -> PatternAnswer:
    """Return the matches of a pattern, given with its language, in the files of that language."""
    from assay.corpus.code_pattern import Pattern

    language = language_named(pattern[1])
    sought = Pattern(pattern[0], language)
    root, every = files_of(session, path, globs)
    entries = [each for each in every if may_be(each.entry, language)]
    question, version = ("pattern", *pattern, path, *globs), _version(entries)
    start = divmod(offset_of(page.cursor, question, version), _STRIDE)
    shown, (file, number), looked = _filled(entries, sought, start, page)
    more = file < len(entries)
    after = cursor_of(file * _STRIDE + number, question, version) if more else ""
    doubtful = not shown and not page.cursor and not more and not sought.parses
    return PatternAnswer(root, shown, looked, DOUBT.format(language) if doubtful else "", after)


def _filled(
    entries: Sequence[ServedFile], sought: Pattern, start: tuple[int, int], page: Page
) -> tuple[list[PatternPlace], tuple[int, int], int]:
    """Return the matches of a page, the file and the match in it where the next one starts, and how many were read."""
    left, shown, ends = page.budget - OVERHEAD, list[PatternPlace](), time.monotonic() + DEADLINE_S
    for at in range(start[0], len(entries)):
        for number, match in enumerate(pattern_matches(entries[at], sought)):
            if (at, number) < start:
                continue
            found = _matched(entries[at], match, left)
            if len(shown) == page.k or (shown and (cost(found) > left or not found.complete)):
                return shown, (at, number), at - start[0] + 1
            left -= cost(found)
            shown.append(found)
        if time.monotonic() > ends:
            return shown, (at + 1, 0), at - start[0] + 1
    return shown, (len(entries), 0), len(entries) - start[0]


def pattern_matches(file: ServedFile, sought: Pattern) -> Iterator[PatternMatch]:
    """Yield the matches in a file, none where it is of another language."""
    text = file.text
    if text is not None and language_of(file.entry.path, text) == sought.language:
        yield from sought.matches(text)


def _matched(file: ServedFile, match: PatternMatch, left: int) -> PatternPlace:
    """Return a match as it is answered, with as many of its lines as fit."""
    holes = {name: _clipped(text) for name, text in match.holes.items()}
    whole = PatternPlace(file.entry.path, match.start_line, match.end_line, match.text, holes, root=file.root)
    lines = lines_of(match.text)
    if len(lines) <= _LONGEST_SHOWN and cost(whole) <= left:
        return whole

    def first(count: int) -> PatternPlace:
        return replace(whole, text="".join(lines[:count]), complete=False)

    most = min(len(lines), _LONGEST_SHOWN)
    return first(bisect_right(range(1, most + 1), left, key=lambda count: cost(first(count))))


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_HOLE else text[:_LONGEST_HOLE] + "…"


def files_of(session: Session, path: str, globs: Sequence[str]) -> tuple[str, list[ServedFile]]:
    """Return the root of a place with its files that globs keep, or without a path those of all roots, of no one name.

    Links are never followed.
    """
    if path or not session.are_several:
        place = session.place(path)
        return place.engine.name, _kept_files(place, globs, "")
    places = [session.place(str(root)) for root in session.roots]
    return "", [file for place in places for file in _kept_files(place, globs, place.engine.name)]


def _kept_files(place: ServedPlace, globs: Sequence[str], root: str) -> list[ServedFile]:
    passes = keeping(place.globs(globs))
    found = walk(place.engine.root, open_ignored=place.engine.settings.index.open_ignored)
    return [ServedFile(place, entry, root) for entry in found.files if passes(entry.path)]


def may_be(entry: FileEntry, language: str) -> bool:
    """Say whether a file's name allows a language; of a header only its text tells C from C++."""
    return language_of(entry.path) == language or (language == "c" and entry.path.endswith(".h"))


def _version(files: Sequence[ServedFile]) -> str:
    every = ((file.root, file.entry) for file in files)
    return repr([(root, each.path, each.size, each.mtime_ns, each.ctime_ns, each.inode) for root, each in every])


def outline_of(file: ServedFile) -> FileOutline | None:
    """Return the outline of a file, None of one that declares nothing."""
    path, text = file.entry.path, file.text
    if text is None or not (found := outline(path, text)):
        return None
    return FileOutline(path, language_of(path, text), [_line(one) for one in found], file.root)


def _line(entry: OutlineEntry) -> str:
    return f"{entry.line}: {'  ' * entry.depth}{entry.signature}"


def _shortened(found: FileOutline, left: int) -> FileOutline:
    """Return the outline of one file with as many of its signatures as fit, and how many more there are."""
    if cost(found) <= left:
        return found
    every = found.signatures

    def first(count: int) -> FileOutline:
        return replace(found, signatures=[*every[:count], f"… {len(every) - count} more: give a larger budget"])

    return first(bisect_right(range(1, len(every)), left, key=lambda count: cost(first(count))))
