"""Answer from files rather than from an index: outlines, units, and where code has a structure.

Files are read as they are now, so nothing has to be indexed first; they are those that an index would hold.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from assay.corpus.blocks import lines_of
from assay.corpus.languages import language_of
from assay.corpus.outline import OutlineEntry, outline
from assay.corpus.parts import is_mixed, parts
from assay.corpus.walk import walk
from assay.corpus.walked_files import FileEntry, Skipped
from assay.corpus.walked_files import read as read_text
from assay.errors import InputError, nearest, printable_name
from assay.operations.files import check_file_line, read_file
from assay.operations.hits import answer_type, as_text, cursor, joined, offset_of, rooted_path, with_line_numbers
from assay.operations.requests import Outline, PatternSearch, Read
from assay.operations.roots import Place, Roots
from assay.operations.sizing import OVERHEAD, cost, most_fitting
from assay.search.path_filters import keeping
from assay.search.query_filters import language_named
from assay.terms import composed, tokens

if TYPE_CHECKING:
    from assay.corpus.code_pattern import Pattern

DEADLINE_S = 20.0
"""How long files are read for one answer; the rest is on the next page."""
_FRACTION = 0.25
"""The largest fraction of a budget for one match."""
_MAX_HOLE_CHARS = 200
"""Characters of a hole's value, in a match that is cut."""
_STRIDE = 1_000_000  # more matches than a file may hold: it is no larger
_DOUBT = "the pattern alone is not valid {}, which may be why nothing matches: write whole expressions or statements"


@answer_type
class FileOutline:
    """A file with its declarations, in order."""

    path: str
    language: str
    declarations: list[OutlineEntry]
    """Declarations; of prose, headings."""
    left_out: int = 0
    """How many more there are than the budget holds."""
    root: str = ""
    """Its root, in an answer from several roots."""

    @property
    def rows(self) -> list[str]:
        """Return each declaration as a line: its number, then its signature, indented by its depth."""
        more = [f"… {self.left_out} more: give a larger budget"] if self.left_out else []
        return [*(f"{one.line}: {'  ' * one.depth}{one.signature}" for one in self.declarations), *more]


@answer_type
class OutlineAnswer:
    """Files in order of their paths."""

    root: str
    files: list[FileOutline]
    cursor: str = ""
    """For the next page; empty at the end."""


@answer_type
class PatternPlace:
    """A place where the code has the structure of the pattern."""

    path: str
    start_line: int
    end_line: int
    text: str
    """Whole lines."""
    holes: dict[str, str] = field(default_factory=dict)
    """The code of each $NAME of the pattern, cut if it is long."""
    complete: bool = True
    """False: only the first lines are shown."""
    root: str = ""
    """Its root, in an answer from several roots."""


@answer_type
class PatternAnswer:
    """Matches in order of path and line."""

    root: str
    matches: list[PatternPlace]
    files: int
    """Files that were searched for this page."""
    note: str = ""
    """What may be wrong with a pattern that matches nothing."""
    cursor: str = ""
    """For the next page; empty at the end."""


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file of a place."""

    place: Place
    entry: FileEntry
    root: str
    """The name of its root, where files of several roots are listed."""

    @property
    def text(self) -> str | None:
        """Return its present text; None if it is binary."""
        reader = self.place.reader
        found = read_text(reader.root, self.entry, usual=reader.settings.index.encoding)
        return None if isinstance(found, Skipped) else found


def outlines(request: Outline, roots: Roots, *, is_text: bool = False) -> OutlineAnswer:
    """Return the outlines of as many files as a page holds; files without declarations are left out."""
    root, entries = files_of(roots, request.path, request.file)
    question = ("outline", request.path, *request.file)
    start = offset_of(request.cursor, question, _version(entries))
    cost_of = _text_cost if is_text else cost
    left, shown, at, ends = request.budget - OVERHEAD, list[FileOutline](), start, time.monotonic() + DEADLINE_S
    for entry in entries[start:]:
        found = outline_of(entry)
        if found is not None:
            if len(shown) == request.limit or (cost_of(found) > left and shown):
                break
            found = _shortened(found, left, cost_of)
            left -= cost_of(found)
            shown.append(found)
        at += 1
        if time.monotonic() > ends:
            break
    after = cursor(at, question, _version(entries)) if at < len(entries) else ""
    return OutlineAnswer(root, shown, after)


def outlined_files(request: Outline, roots: Roots) -> Iterator[FileOutline]:
    """Yield the outlines of all files."""
    return filter(None, map(outline_of, files_of(roots, request.path, request.file)[1]))


def _text_cost(file_outline: FileOutline) -> int:
    return tokens("\n".join((file_outline.path, *file_outline.rows))) + 1


def patterns(request: PatternSearch, roots: Roots) -> PatternAnswer:
    """Return the matches of a pattern in the files of its language."""
    sought, root, entries = _sought(request, roots)
    question, version = ("pattern", request.pattern, request.lang, request.path, *request.file), _version(entries)
    start = divmod(offset_of(request.cursor, question, version), _STRIDE)
    page = _filled(entries, sought, start, request)
    more = page.next_file < len(entries)
    after = cursor(page.next_file * _STRIDE + page.next_match, question, version) if more else ""
    is_empty = not page.matches and not request.cursor and not more
    return PatternAnswer(root, page.matches, page.files_read, doubt_of(request) if is_empty else "", after)


def doubt_of(request: PatternSearch) -> str:
    """Return what may be wrong with a pattern that matches nothing, or an empty text."""
    from assay.corpus.code_pattern import Pattern

    language = language_named(request.lang)
    return "" if Pattern(request.pattern, language).parses else _DOUBT.format(language)


class FileMatches(NamedTuple):
    """The matches of a pattern in a file."""

    path: str
    matches: list[PatternPlace]


def matched_files(request: PatternSearch, roots: Roots) -> Iterator[FileMatches]:
    """Yield every file of the language of a pattern with its matches, if any."""
    sought, _, files = _sought(request, roots)
    for file in files:
        yield FileMatches(file.entry.path, list(pattern_matches(file, sought)))


def _sought(request: PatternSearch, roots: Roots) -> tuple[Pattern, str, list[ServedFile]]:
    """Return a pattern, the name of its root, and the files that may be of its language."""
    from assay.corpus.code_pattern import Pattern

    pattern = Pattern(request.pattern, language_named(request.lang))
    root, every = files_of(roots, request.path, request.file)
    return pattern, root, [each for each in every if may_be(each.entry, pattern.language)]


class _Page(NamedTuple):
    """The matches of a page, and the file and the match in it where the next page starts."""

    matches: list[PatternPlace]
    next_file: int
    next_match: int
    files_read: int


def _filled(entries: Sequence[ServedFile], sought: Pattern, start: tuple[int, int], request: PatternSearch) -> _Page:
    left, shown, ends = request.budget - OVERHEAD, list[PatternPlace](), time.monotonic() + DEADLINE_S
    for at in range(start[0], len(entries)):
        for number, match in enumerate(pattern_matches(entries[at], sought)):
            if (at, number) < start:
                continue
            found = _shortened_match(match, int(request.budget * _FRACTION))
            if len(shown) == request.limit or (shown and cost(found) > left):
                return _Page(shown, at, number, files_read=at - start[0] + 1)
            left -= cost(found)
            shown.append(found)
        if time.monotonic() > ends:
            return _Page(shown, at + 1, 0, files_read=at - start[0] + 1)
    return _Page(shown, len(entries), 0, files_read=len(entries) - start[0])


def pattern_matches(file: ServedFile, sought: Pattern) -> Iterator[PatternPlace]:
    """Yield the matches in a file or in its parts of the language, such as the scripts of a page."""
    path, text = file.entry.path, file.text
    for part in parts(path, text, language_of(path, text)) if text is not None else ():
        if part.language == sought.language:
            for each in sought.matches(part.source or text or "", part.text):
                place = (path, each.start_line, each.end_line)
                yield PatternPlace(*place, each.text, dict(each.holes), root=file.root)


def _shortened_match(whole: PatternPlace, most_tokens: int) -> PatternPlace:
    """Return a match, of a long one only the first lines."""
    if cost(whole) <= most_tokens:
        return whole
    most = _MAX_HOLE_CHARS
    holes = {name: text if len(text) <= most else f"{text[:most]}…" for name, text in whole.holes.items()}
    lines = lines_of(whole.text)

    def first(count: int) -> PatternPlace:
        return replace(whole, text="".join(lines[:count]), holes=holes, complete=count == len(lines))

    return first(most_fitting(len(lines), most_tokens, lambda count: cost(first(count))))


def files_of(roots: Roots, path: str, globs: Sequence[str]) -> tuple[str, list[ServedFile]]:
    """Return the files that match the globs, of one root or of all.

    Links are never followed.
    """
    if path or not roots.are_several:
        place = roots.place(path)
        files = _kept_files(place, globs, "")
        if not files and (place.reader.root / place.inside).is_file():
            is_held = bool(globs and _kept_files(place, (), ""))
            no_index = "is a file that no index would hold; its folder's status says why"
            raise InputError(f"file leaves '{path}' out: change the globs" if is_held else f"'{path}' {no_index}")
        return place.reader.name, files
    places = [roots.place(str(root)) for root in roots.roots]
    return "", [file for place in places for file in _kept_files(place, globs, place.reader.name)]


def _kept_files(place: Place, globs: Sequence[str], root: str) -> list[ServedFile]:
    passes = keeping(place.globs(globs))
    found = walk(place.reader.root, open_ignored=place.reader.settings.index.open_ignored)
    return [ServedFile(place, entry, root) for entry in found.files if passes(entry.path)]


def may_be(entry: FileEntry, language: str) -> bool:
    """Return whether a file's name allows a language; C and C++ headers differ only in their text."""
    named = language_of(entry.path)
    return named in (language, "", "notebook") or is_mixed(named) or (language == "c" and entry.path.endswith(".h"))


def _version(files: Sequence[ServedFile]) -> str:
    every = ((file.root, file.entry) for file in files)
    return repr([(root, each.path, each.size, each.mtime_ns, each.ctime_ns, each.inode) for root, each in every])


def outline_of(file: ServedFile) -> FileOutline | None:
    """Return the outline of a file, or None if it declares nothing."""
    path, text = file.entry.path, file.text
    if text is None or not (found := outline(path, text)):
        return None
    return FileOutline(path, language_of(path, text), found, root=file.root)


def _shortened(file_outline: FileOutline, budget: int, cost_of: Callable[[FileOutline], int]) -> FileOutline:
    """Return the outline of one file with as many declarations as fit, and the number of the others."""
    if cost_of(file_outline) <= budget:
        return file_outline
    every = file_outline.declarations

    def first(count: int) -> FileOutline:
        return replace(file_outline, declarations=every[:count], left_out=len(every) - count)

    return first(most_fitting(len(every) - 1, budget, lambda count: cost_of(first(count))))


_MAX_LINE_CHARS = 1000
"""Characters of a line that are shown."""
_AROUND = 20
"""Lines before and after a line that is in no unit."""


@answer_type
class UnitText:
    """Lines of a file."""

    root: str
    path: str
    start_line: int
    end_line: int
    lines: int
    """How many lines the file has."""
    text: str
    kind: str = ""
    """The kind of the unit, if the lines are one."""
    name: str = ""
    """The name of the unit, with the names that enclose it."""
    complete: bool = True
    """False: the budget was too small; the next line is the one after `end_line`."""


class LineSpan(NamedTuple):
    """A range of lines, with the kind and name of its unit."""

    first: int
    last: int
    kind: str = ""
    name: str = ""


def read(request: Read, roots: Roots, *, is_text: bool = False) -> UnitText:
    """Return lines of a file: a range, the unit around a line, the unit of a name, or all."""
    path, line, end_line, name = request.path, request.line, request.end_line, request.name
    if name and (line or end_line):
        raise InputError("give either a name, or line and end_line")
    file = read_file(roots, path)
    if line or file.text is None:
        check_file_line(file, path, line)
    inside, every = file.place.inside, lines_of(file.text or "")
    span = span_of(inside, file.text or "", line, end_line, name)
    shown = clipped = [_clip(line) for line in every[span.first - 1 : span.last]]
    if is_text:
        shown = [with_line_numbers(line, [at]) + "\n" for at, line in enumerate(clipped, span.first)]
    budget = request.budget - OVERHEAD
    count = max(most_fitting(len(shown), budget, lambda count: tokens("".join(shown[:count]))), 1)
    root, last, text = file.place.reader.name, span.first + count - 1, "".join(clipped[:count])
    complete = count == len(clipped)
    return UnitText(root, inside, span.first, last, len(every), text, span.kind, span.name, complete=complete)


def span_of(path: str, text: str, line: int = 0, end_line: int = 0, name: str = "") -> LineSpan:
    """Return the lines of a file that a line, an end line and a name mean; any of them may be missing."""
    if name:
        return _span_named(path, text, composed(name))
    count = len(lines_of(text))
    if end_line:
        if end_line < max(line, 1):
            raise InputError(f"end_line is {end_line}, before line {line}")
        return LineSpan(max(line, 1), min(end_line, count))
    if not line:
        return LineSpan(1, count)
    around = [each for each in _qualified_names(outline(path, text)) if each[1].line <= line <= each[1].end_line]
    if not around:
        return LineSpan(max(line - _AROUND, 1), min(line + _AROUND, count))
    full, entry = min(around, key=lambda each: each[1].end_line - each[1].line)
    return LineSpan(entry.line, entry.end_line, entry.kind, full)


def _span_named(path: str, text: str, name: str) -> LineSpan:
    every = _qualified_names(outline(path, text))
    folded = name.lower()
    found = [each for each in every if f".{each[0].lower()}".endswith(f".{folded}")]
    if not found:
        names = sorted({full for full, _ in every})
        raise InputError(f"'{path}' declares no '{name}'; {nearest(name, names) if names else 'it declares nothing'}")
    if len({full for full, _ in found}) > 1 and name not in {full for full, _ in found}:
        several = ", ".join(f"{full} ({one.line})" for full, one in found[:5])
        raise InputError(f"'{name}' is the name of several units: {several}")
    exact = [each for each in found if each[0] == name] or found
    full, entry = max(exact, key=lambda each: each[1].end_line - each[1].line)  # overloads have no body
    return LineSpan(entry.line, entry.end_line, entry.kind, full)


def _qualified_names(entries: Sequence[OutlineEntry]) -> list[tuple[str, OutlineEntry]]:
    """Return entries with their names below those that enclose them."""
    above: list[str] = []
    found = []
    for entry in entries:
        above[entry.depth :] = [entry.name]
        found.append((".".join(above), entry))
    return found


def _clip(line: str) -> str:
    """Return a line, of a long one its beginning and how many characters are cut."""
    end = "\n" if line.endswith("\n") else ""
    more = len(line) - len(end) - _MAX_LINE_CHARS
    return line if more <= 0 else f"{line[:_MAX_LINE_CHARS]}… {more:,} more characters{end}"


@as_text.register
def _(answer: UnitText) -> str:
    named = f" {answer.kind} {answer.name}".rstrip() if answer.name else ""
    more = "" if answer.complete else f"\n… the budget ends here; read on from line {answer.end_line + 1}"
    head = f"{printable_name(answer.path)}:{answer.start_line}-{answer.end_line} of {answer.lines}{named}"
    return f"{head}\n{with_line_numbers(answer.text, count(answer.start_line))}{more}"


@as_text.register
def _(answer: OutlineAnswer) -> str:
    blocks = ["\n".join((printable_name(rooted_path(file.root, file.path)), *file.rows)) for file in answer.files]
    return joined(blocks or ["no file there declares anything"], answer.cursor)


@as_text.register
def _(answer: PatternAnswer) -> str:
    blocks = list(map(_match, answer.matches)) or [f"no match in {answer.files} files"]
    return joined([*blocks, *([answer.note] if answer.note else [])], answer.cursor)


def _match(match: PatternPlace) -> str:
    part = "" if match.complete else " (its first lines)"
    place = f"{printable_name(rooted_path(match.root, match.path))}:{match.start_line}-{match.end_line}{part}"
    return f"{place}\n{with_line_numbers(match.text, count(match.start_line))}"
