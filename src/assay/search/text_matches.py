"""Find quoted texts and regular expressions: the chunks that hold them, and every place where they stand.

Expressions are those of RE2, whose time is linear in the text whatever they are: no stranger's expression holds a
server up. Those that `grep` takes are translated. Letter case counts where a quoted text has a capital, as people
expect from search tools; an expression is taken as it is written, line by line. Places are those of indexed chunks, so
filters mean what they mean for the ranked list.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, Literal

import numpy as np
import re2

from assay.errors import InputError
from assay.store.segment import Mask, Segment
from assay.store.snapshot import Snapshot
from assay.values import Chunk, Query

LONGEST_PATTERN = 1000
"""Characters of an expression."""
DEADLINE_S = 10.0
"""How long texts are read for one query."""
MOST_MATCHES = 100_000
"""Places that are counted."""
_MEMORY = 1 << 20
"""Bytes that an expression may take while it is matched."""
_CLOCK = 256  # chunks between two looks at the clock


@dataclass(frozen=True, slots=True, order=True)
class TextMatch:
    """A match: its path, its 1-based line and column."""

    path: str
    line: int
    column: int


def exact(text: str) -> Any:
    """Return what finds a text letter by letter."""
    _check_letters(text)
    return _compile(f"(?i){re2.escape(text)}" if text == text.lower() else re2.escape(text), lines=False)


def pattern(expression: str) -> Any:
    """Return what finds an expression in lines; raise InputError if it is too long or none of RE2's."""
    if len(expression) > LONGEST_PATTERN:
        raise InputError(f"the expression has {len(expression):,} characters, at most {LONGEST_PATTERN:,} are matched")
    _check_letters(expression)
    return _compile(f"(?m){expression}", lines=True)


Syntax = Literal["basic", "extended", "fixed", "perl"]
"""How `grep` reads a pattern: as -G, -E, -F or -P say; the last is as RE2 has it."""
_SETS_AND_LETTERS = re.compile(
    r"(?P<set>\[\^?\]?(?:\[[:.=].*?[:.=]\]|[^\]])*\])|\\(?P<escaped>.)|(?P<plain>.)", re.DOTALL
)
_LITERAL_IN_SET = re.compile(r"(?<=^\[)\]|(?<=^\[\^)\]|\\|(?!^)\[(?!:)")
_NOT_WORD = r"[^_\pL\pN]"
_ESCAPES = {
    **dict.fromkeys("<>", r"\b"),
    "w": r"[_\pL\pN]",
    "W": _NOT_WORD,
    **{one: f"\\{one}" for one in "sSbBdDt123456789"},
}
"""What an escaped letter means; `\\d` and `\\t`, which POSIX leaves undefined, are what people mean by them."""
_DECLARES = (
    r"^\s*(?:[\w@()]+\s+)*(?:class|def|fn|func|fun|function|interface|struct|enum|union|trait|type|typedef|protocol|object"
    r"|record|module|macro_rules!|const|let|var|val|#\s*define)\s+(?:\([^)]*\)\s*)?(?:[\w:.]*[:.])?"
)


def line_finder(
    patterns: Sequence[str], syntax: Syntax, *, ignore_case: bool = False, word: bool = False, line: bool = False
) -> Any:
    """Return what finds any of some patterns as grep does, in its first group.

    With `word`, it begins and ends where words do; with `line`, it is a whole line.
    """
    before, after = (f"(?:^|{_NOT_WORD})", f"(?:{_NOT_WORD}|$)") if word else ("^", "$") if line else ("", "")
    return _line_finder(patterns, syntax, f"{before}(%s){after}", ignore_case=ignore_case)


def declaration_finder(patterns: Sequence[str], syntax: Syntax, *, ignore_case: bool = False) -> Any:
    """Return what finds lines that seem to declare what matches a pattern."""
    around = rf"{_DECLARES}(?:%s)(?:\b|\W|$)|^(?:%s)\s*(?::[^=]+)?=(?:[^=]|$)"
    return _line_finder(patterns, syntax, around, ignore_case=ignore_case)


def _line_finder(patterns: Sequence[str], syntax: Syntax, around: str, *, ignore_case: bool) -> Any:
    either = "|".join(f"(?:{as_re2(one, syntax)})" for each in patterns for one in each.split("\n"))
    _check_letters(either)
    whole = f"(?{'im' if ignore_case else 'm'}){around.replace('%s', either)}"
    return _compile(whole, lines=True, typed="\n".join(patterns), longest=syntax != "perl")


def as_re2(expression: str, syntax: Syntax) -> str:
    """Return a pattern of grep as RE2 has it: in a basic one `|` and `(` are operators after a backslash only."""
    if syntax in {"fixed", "perl"}:
        return str(re2.escape(expression)) if syntax == "fixed" else expression
    written, starts = "", True
    for token in _SETS_AND_LETTERS.finditer(expression):
        after = expression[token.end() :][:2]
        letter = token["escaped"] or token["plain"] or ""
        operates = letter in {*"+?(){}|"} and bool(token["escaped"]) == (syntax == "basic")
        one = f"\\{letter}" if letter in {*r".+*?()|[]{}^$\\"} else letter
        if token["set"]:
            one = _LITERAL_IN_SET.sub(r"\\\g<0>", token["set"])
        elif operates or token["plain"] == "*":
            is_perl = syntax == "extended" and letter == "?" and written.endswith("(")
            if not starts or letter not in {*"*+?"} or is_perl:
                one = "{0" if letter == "{" and after[:1] == "," else letter
            elif syntax == "extended":
                one = ""
        elif token["escaped"]:
            one = _ESCAPES.get(letter, one)
        elif letter in {*".[\\"} or (
            letter in {*"^$"} and (syntax == "extended" or _is_anchor(letter, after, starts=starts))
        ):
            one = letter
        starts = (operates and letter in {*"(|"}) or one == "^" or (starts and not one)
        written += one
    return written


def _is_anchor(letter: str, after: str, *, starts: bool) -> bool:
    """Say whether `^` or `$` of a basic pattern is at an edge of what it stands in."""
    return starts if letter == "^" else after in {"", "\\)", "\\|"}


def _check_letters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError("the query has bytes that are not UTF-8, in quotes or between slashes") from error


@lru_cache(maxsize=64)
def _compile(expression: str, *, lines: bool, typed: str = "", longest: bool = False) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_nl = lines
    options.longest_match = longest
    options.max_mem = _MEMORY * (32 if typed else 1)  # who types it waits alone
    typed, slash = (f"'{typed}'", "") if typed else (f"/{expression.removeprefix('(?m)')}/", ", and / is written \\/")
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        what = str(error.args[0], "utf-8", "replace").partition(": (?m")[0]
        raise InputError(
            f"{typed} is not a regular expression that can be searched: {what}; look-around "
            f"and back-references are not supported{slash}"
        ) from error


def finders(query: Query) -> list[Any]:
    """Return what finds each text that a query quotes, and each of its expressions."""
    return [*map(exact, query.exact), *map(pattern, query.patterns)]


def holding(
    segments: Sequence[Segment], kept: Sequence[Mask], wanted: Sequence[Any], deadline_s: float = DEADLINE_S
) -> list[Mask]:
    """Return which of the chunks of some segments that are kept match all that is wanted; refuse what takes longer."""
    until, masks = time.monotonic() + deadline_s, []
    for segment, keep in zip(segments, kept, strict=True):
        mask = np.zeros(len(keep), dtype=bool)
        for done, number in enumerate(np.flatnonzero(keep).tolist()):
            if not done % _CLOCK:
                _check_time(until, deadline_s)
            text = _unix_lines(segment.texts.bytes_at(number))
            mask[number] = all(one.search(text) for one in wanted)
        masks.append(mask)
    return masks


def text_matches(snapshot: Snapshot, query: Query, allowed: Mask | None, most: int = MOST_MATCHES) -> list[TextMatch]:
    """Return every place of what a query quotes and of its expressions, in order, in the chunks that its filters allow.

    Of more than `most`, those of the first chunks are returned. Paths begin with the root if there are several.
    """
    wanted = finders(query)
    numbers = np.arange(snapshot.size) if allowed is None else np.flatnonzero(allowed)
    until, found = time.monotonic() + DEADLINE_S, set[TextMatch]()
    for number in numbers.tolist():
        _check_time(until, DEADLINE_S)
        found.update(islice(_places(snapshot.chunk(number), wanted), most - len(found)))
        if len(found) >= most:
            break
    return sorted(found)


def _check_time(until: float, deadline_s: float) -> None:
    if time.monotonic() > until:
        wanted = "keep fewer files, as with file:src or lang:py"
        raise InputError(f"not all texts could be read in {deadline_s:g} s: {wanted}")


def lines_matching(chunk: Chunk, query: Query) -> list[int]:
    """Return the lines of a chunk that hold what a query quotes or one of its expressions, ascending."""
    return sorted({place.line for place in _places(chunk, finders(query))})


def cut_at_matches(line: str, query: Query) -> list[str]:
    """Return a line cut where matches begin and end, so that every second piece is a match."""
    line, cuts = line.encode("utf-8", "replace").decode(), [0]
    for start, end in sorted(found.span() for one in finders(query) for found in one.finditer(line)):
        if end > start >= cuts[-1]:
            cuts += (start, end)
    return [line[start:end] for start, end in pairwise([*cuts, len(line)])]


def _places(chunk: Chunk, wanted: Sequence[Any]) -> Iterator[TextMatch]:
    """Yield where a chunk's text holds any of what is wanted; an empty match is none."""
    text = _unix_lines(chunk.text.encode("utf-8", "surrogatepass"))
    path = f"{chunk.root}/{chunk.path}" if chunk.root else chunk.path
    for one in wanted:
        at, line, column = 0, chunk.start_line, 1
        for found in one.finditer(text):
            start, end = found.span()
            if start == end:
                continue
            between = text[at:start]
            if lines := between.count(b"\n"):
                line, column = line + lines, 1
                between = between[between.rfind(b"\n") + 1 :]
            at, column = start, column + len(between.decode("utf-8", "replace"))
            yield TextMatch(path, line, column)


def _unix_lines(text: bytes) -> bytes:
    """Return a text whose lines end as `$` expects; columns stay what they are."""
    return text.replace(b"\r\n", b"\n")
