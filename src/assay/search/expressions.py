r"""Compile expressions whose words, classes and word boundaries are those of Unicode.

RE2 matches in time linear in the text, whatever the expression is: no stranger's expression holds a server up. But its
`\w` and `\b` know ASCII alone. Classes are written out. A border that ASCII cannot decide is read from the text: each
line that the expression finds without its borders gets a tag in each gap between two letters, which says whether a word
begins, ends, goes on or is not there, and the expression is written so that it reads those tags. The tags are code
points that are no letters and never will be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise, zip_longest
from typing import Any, Literal

import re2

from assay.errors import InputError

MAX_CHARS = 1000
"""Characters of an expression."""
MEMORY_BYTES = 4 << 20
"""Bytes that an expression may take while it is matched."""
_WORD = r"_\pL\p{Mc}\p{Nd}\p{Nl}"
_SPACE = r"\t-\r \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}"
_NO_LETTERS = r"\x{fdd0}-\x{fdef}"
_NOT = {
    "W": r"\pC\pZ\pS\p{Mn}\p{Me}\p{No}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\x{203f}\x{2040}\x{2054}\x{fe33}\x{fe34}"
    r"\x{fe4d}-\x{fe4f}\x{ff3f}",
    "S": r"\x00-\x08\x0e-\x1f!-\x{167f}\x{1681}-\x{1fff}\x{2007}\x{200b}-\x{2027}\x{202a}-\x{205e}\x{2060}-\x{2fff}"
    r"\x{3001}-\x{fdcf}\x{fdf0}-\x{10ffff}",
    "D": r"\x00-/:-\x{fdcf}\x{fdf0}-\x{10ffff}",
}
_CLASSES = {"w": _WORD, "s": _SPACE, "d": "0-9", **_NOT}
_NAMED = {
    "alpha": r"\pL\p{Mc}\p{Nl}", "alnum": r"\pL\p{Mc}\p{Nd}\p{Nl}", "upper": r"\p{Lu}\p{Lt}", "lower": r"\p{Ll}ªº",
    "space": _SPACE, "blank": r"\t \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{205f}\x{3000}",
    "cntrl": r"\p{Cc}\x{2028}\x{2029}", "punct": r"\pP\pS\p{Mn}\p{Me}\p{No}\p{Cf}\p{Co}\x{a0}\x{2007}\x{202f}",
    "graph": r"\pL\pM\pN\pP\pS\p{Cf}\p{Co}\x{a0}\x{2007}\x{202f}",
    "print": r"\pL\pM\pN\pP\pS\p{Zs}\p{Cf}\p{Co}",
}  # fmt: skip
"""What the classes of POSIX hold in a Unicode locale; digits and hexadecimal digits are those of ASCII."""
_IN_SET = re.compile(r"\[:(?P<named>\w+):\]|\\(?P<letter>[wWsSdDn])|\\.", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<borders>(?:\\[bB<>]|[\^$])+)
    | (?P<set>\[\^?\]?(?:\[:\^?\w+:\]|\\[pPx]\{[^}]*\}|\\.|[^\]])*\])
    | (?P<ends>\\[Az])
    | (?P<operator>\(\?[^:)>]*[:)>]|[()|]|[*+?]\??|\{\d+(?:,\d*)?\}\??)
    | (?P<letter>\\(?:[pPx]\{[^}]*\}|[pP].|x..|[0-7]{1,3}|.)|.)""",
    re.VERBOSE | re.DOTALL,
)
_OTHERS = re.compile(r"^\[\^(\]?)")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL)
_IS_WORD = re.compile(r"\\?w|\w", re.ASCII)
_WORD_LETTER = re2.compile(f"[{_WORD}]")
_STARTS, _ENDS, _INSIDE, _OUTSIDE, _FIRST, _LAST = 0, 1, 2, 3, 4, 8
"""What a tag means: whether a word starts in its gap, ends, goes on or is absent, whether a line begins or ends."""
_TAGS = [chr(0xFDD0 + number) for number in range(16)]
_SAYS = [{number & 3, *(edge for edge in (_FIRST, _LAST) if number & edge)} for number in range(16)]
_KIND_OF = {(False, True): _STARTS, (True, False): _ENDS, (True, True): _INSIDE, (False, False): _OUTSIDE}
_BORDERS = {
    "b": {_STARTS, _ENDS}, "B": {_INSIDE, _OUTSIDE}, "<": {_STARTS}, ">": {_ENDS}, "^": {_FIRST}, "$": {_LAST},
    "before": {_STARTS, _OUTSIDE}, "after": {_ENDS, _OUTSIDE},
}  # fmt: skip
"""The tags that each boundary accepts; the last two are those around a word."""
_MAX_COPIES = 8
"""Tags in each gap at most, of which each border reads one."""
_TAG_BYTES = 3
_TAG_ENCODED = frozenset(tag.encode() for tag in _TAGS)
_ANY_TAGS, _NOTHING, _NUL = f"[{''.join(_TAGS)}]*", r"[^\x00-\x{10ffff}]", r"\x00"
_SHIELDED = str.maketrans(dict.fromkeys(_TAGS, chr(0xFDEF)))


@dataclass(frozen=True, slots=True)
class Span:
    """Where a match is, with the interface of a match of RE2."""

    begin: int
    stop: int

    def span(self, _group: int = 0) -> tuple[int, int]:
        """Return where it begins and ends."""
        return self.begin, self.stop

    def start(self, _group: int = 0) -> int:
        """Return where it begins."""
        return self.begin


@dataclass(frozen=True, slots=True)
class Bordered:
    """An expression with word boundaries, which RE2 alone would decide by ASCII letters."""

    candidates: Any
    """Finds every line that matches, and others."""
    tagged: Any
    """Its first group is what matches of a line with tags."""
    copies: int
    """Tags in each gap."""
    ascii: Any = None
    """Its first group is what matches of ASCII; nothing where only tags can decide."""

    def search(self, text: bytes, at: int = 0) -> Any:
        """Return the first match from the start of a line on."""
        return next(self.finditer(text, at), None)

    def finditer(self, text: bytes, at: int = 0) -> Iterator[Span]:
        """Yield the matches from the start of a line on, line by line; they do not overlap."""
        while at <= len(text) and (hit := self.candidates.search(text, at)):
            start = text.rfind(b"\n", 0, hit.start()) + 1
            end = text.find(b"\n", hit.start())
            at = (len(text) if end < 0 else end) + 1
            line = text[start : at - 1]
            spans = spans_in(self.ascii, line) if self.ascii and line.isascii() else self._tagged_spans(line)
            yield from (Span(start + first, start + last) for first, last in spans)

    def _tagged_spans(self, line: bytes) -> Iterator[tuple[int, int]]:
        """Yield the matches of a line, whose positions do not count the tags."""
        text, seen, place = tagged(line.decode("utf-8", "surrogateescape"), self.copies), 0, 0
        for start, end in spans_in(self.tagged, text, _TAG_BYTES):
            begin = place + _plain_length(text[seen:start])
            seen, place = end, begin + _plain_length(text[start:end])
            yield begin, place


def suited(expression: Any, text: bytes) -> Any:
    """Return an expression that finds the same in a text, faster if the text is ASCII."""
    return expression.ascii or expression if isinstance(expression, Bordered) and text.isascii() else expression


def matches_in(expression: Any, line: bytes) -> Iterator[tuple[int, int]]:
    """Yield where a line matches, in order."""
    if isinstance(expression, Bordered):
        return (each.span() for each in expression.finditer(line))
    return spans_in(expression, line)


def spans_in(expression: Any, text: bytes, tag_bytes: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the matches of an expression's first group, in order.

    Tags at the end of one may begin the next. After an empty match, the next one is looked for behind the next byte.
    """
    at = 0
    while at <= len(text) and (hit := expression.search(text, at)):
        start, end = hit.span(1)
        while tag_bytes and end - tag_bytes >= start and text[end - tag_bytes : end] in _TAG_ENCODED:
            end -= tag_bytes
        yield start, end
        at = max(end, hit.start() + 1) if end == start else end


def tagged(line: str, copies: int) -> bytes:
    """Return a line with tags in each of its gaps, its ends included; tags in the line itself are replaced."""
    line = line.translate(_SHIELDED)
    said = [_KIND_OF[pair] for pair in pairwise([False, *map(_is_word, line), False])]
    said[0] += _FIRST
    said[-1] += _LAST
    tags = (_TAGS[each] * copies for each in said)
    return "".join(chain.from_iterable(zip_longest(tags, line, fillvalue=""))).encode("utf-8", "surrogateescape")


@lru_cache(maxsize=1 << 16)
def _is_word(letter: str) -> bool:
    return bool(_WORD_LETTER.match(letter.encode("utf-8", "surrogateescape")))


def _plain_length(text: bytes) -> int:
    return len(text) - _TAG_BYTES * sum(map(text.count, _TAG_ENCODED))


@dataclass(frozen=True, slots=True)
class ExpressionOptions:
    """How an expression is read."""

    typed: str
    """What the user typed, for error messages."""
    flags: str = ""
    """Flags of RE2: `i` ignores letter case."""
    is_longest: bool = False
    """Whether of the matches that begin at one place the longest wins, as in POSIX, rather than the first choice."""
    is_word: bool = False
    """Whether a match begins and ends at word boundaries."""
    is_null: bool = False
    """Whether NUL and the end of a line have changed places."""
    memory_bytes: int = MEMORY_BYTES
    hint: str = ""
    """What an error message adds."""


def pattern(expression: str) -> Any:
    """Return a finder of an expression in lines; raise InputError if it is too long or not an expression of RE2."""
    if len(expression) > MAX_CHARS:
        raise InputError(f"the expression has {len(expression):,} characters, at most {MAX_CHARS:,} are matched")
    return compiled(expression, ExpressionOptions(f"/{expression}/", hint="; / is written \\/"))


def exact(text: str) -> Any:
    """Return a finder of a literal text; letter case counts if it has a capital."""
    _check_letters(text)
    given = ExpressionOptions(f'"{text}"', "i" if text == text.lower() else "")
    return compile_re2(f"({re2.escape(text)})", given, is_lines=False)


def compiled(expression: str, options: ExpressionOptions, around: tuple[str, str] = ("", "")) -> Any:
    """Return what finds an expression in lines, in its first group: an expression of RE2, or one with borders of words.

    What has to stand `around` it is not part of a match.
    """
    _check_letters("".join((*around, expression)))
    parts = [list(_TOKEN.finditer(_without_quotes(part))) for part in (around[0], expression, around[1])]
    kinds = "".join(_kind(each) for part in parts for each in part)

    def compile_form(form: _Form, before: str = "", after: str = "") -> Any:
        lead, body, trail = ("".join(_written(each, form, is_null=options.is_null) for each in part) for part in parts)
        return compile_re2(f"{lead}{before}({body}){after}{trail}", options)

    border = r"\b" if options.is_word else ""
    plain = compile_form("ascii", border, border)
    if not border and not _HAS_BORDERS.search(kinds):
        return plain
    is_exact = not (_NEEDS_TAGS.search(kinds) or (border and _MAY_BE_NO_WORD.search(kinds)))
    sides = (_tags(["before"]), _tags(["after"])) if border else ("", "")
    copies = min(len(_HAS_BORDERS.findall(kinds)) + kinds.count("e") + 2 * options.is_word, _MAX_COPIES)
    return Bordered(compile_form("candidates"), compile_form("tagged", *sides), copies, plain if is_exact else None)


def without_borders(expression: str) -> str:
    """Return an expression for RE2 that ignores word boundaries, so that it matches at least as much."""
    return "".join(_written(each, "candidates") for each in _TOKEN.finditer(_without_quotes(expression)))


_Form = Literal["ascii", "candidates", "tagged"]
_HAS_BORDERS = re.compile("[b<>?]")
_NEEDS_TAGS = re.compile(r"<(?!w(?!q))|(?<!w)(?<!wp)>|\?")
"""Where ASCII does not decide: RE2 has no borders that are only a beginning or only an end."""
_MAY_BE_NO_WORD = re.compile(r"(?:^|[o|])(?!o|w(?!q))|(?<![cw])(?<!wp)(?:$|[c|])|cq|^$")
"""Where an expression may begin or end otherwise than in a word, whose borders then say nothing about it."""


def _kind(token: re.Match[str]) -> str:
    """Return the kind of a token as a letter."""
    text = token[0]
    if borders := token["borders"]:
        if "\\" not in borders:
            return "e"
        return borders[1] if borders in {r"\<", r"\>"} else "?" if re.search("[<>]", borders) else "b"
    if token["operator"]:
        return {"(": "o", ")": "c", "|": "|", "+": "p"}.get(text[0], "q")
    return "w" if token["letter"] and _IS_WORD.fullmatch(text) else "x"


def _without_quotes(expression: str) -> str:
    return _QUOTED.sub(lambda found: str(re2.escape(found[1])), expression)


def _written(token: re.Match[str], form: _Form, *, is_null: bool = False) -> str:
    """Return a token as RE2 has to read it in a text of a form."""
    text = token[0]
    if borders := token["borders"]:
        return _borders(borders.replace("\\", ""), form)
    if token["operator"] or token["ends"]:
        return text
    written = _set(text, is_null=is_null) if token["set"] else _letter(text, is_null=is_null)
    if form != "tagged":
        return written
    return f"(?:{_ANY_TAGS}{_OTHERS.sub(_without_tags, written)})"


def _without_tags(match: re.Match[str]) -> str:
    return f"[^{_NO_LETTERS}" + (r"\]" if match[1] else "")


def _borders(kinds: str, form: _Form) -> str:
    """Return an expression of the boundaries at one place, all of which have to hold."""
    if form == "tagged":
        return _tags(kinds)
    edges = "".join(kind if kind in "^$" else r"\B" if kind == "B" else r"\b" for kind in kinds)
    return edges if form == "ascii" else "(?:" + re.sub(r"\\.", "", edges) + ")"


def _tags(kinds: Iterable[str]) -> str:
    """Return an expression of one tag that fulfills all of some boundaries."""
    asked = [_BORDERS[kind] for kind in kinds]
    wanted = [tag for tag, says in zip(_TAGS, _SAYS, strict=True) if all(says & each for each in asked)]
    return f"[{''.join(wanted)}]" if wanted else _NOTHING


def _letter(text: str, *, is_null: bool) -> str:
    """Return an expression of one letter."""
    if text == r"\W":
        return f"[^{_WORD}]"
    if text[1:] in _CLASSES and text[0] == "\\":
        return f"[{_CLASSES[text[1:]]}{_NUL if is_null and text == chr(92) + 's' else ''}]"
    if text == ".":
        return r"[^\n]"
    if text[:2] == r"\P":
        return f"[^{text.replace('P', 'p', 1)}]"
    return _NUL if is_null and text == r"\n" else text


def _set(text: str, *, is_null: bool) -> str:
    """Return a set of letters with its classes written out."""

    def item(match: re.Match[str]) -> str:
        if match["named"]:
            return _NAMED.get(match["named"], match[0])
        letter = match["letter"]
        if not letter:
            return match[0]
        return (
            (_NUL if is_null else r"\n")
            if letter == "n"
            else _CLASSES[letter] + (_NUL if is_null and letter == "s" else "")
        )

    return _IN_SET.sub(item, text)


def _check_letters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError("the query has bytes that are not UTF-8, in quotes or between slashes") from error


@lru_cache(maxsize=64)
def compile_re2(expression: str, options: ExpressionOptions, *, is_lines: bool = True) -> Any:
    """Compile an expression with RE2; raise InputError, which shows what was typed, if it is not valid."""
    re2_options = re2.Options()
    re2_options.log_errors = False
    re2_options.never_nl = is_lines
    re2_options.longest_match = options.is_longest
    re2_options.max_mem = options.memory_bytes
    try:
        return re2.compile(f"(?m{options.flags}){expression}", re2_options)
    except re2.error as error:
        what = str(error.args[0], "utf-8", "replace").partition(": (?m")[0]
        raise InputError(
            f"{options.typed} is not a regular expression that can be searched: {what}; look-around and "
            f"back-references are not supported: search without them and filter what is found{options.hint}"
        ) from error
