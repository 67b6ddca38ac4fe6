"""Translate the patterns of grep (basic, extended, fixed, Perl's) to expressions of RE2."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import re2

from assay.errors import InputError
from assay.search.expressions import MEMORY_BYTES, ExpressionOptions, compile_re2, compiled, without_borders

Syntax = Literal["basic", "extended", "fixed", "perl"]
"""The syntax of a pattern, as options -G, -E, -F or -P select it; the last is that of RE2."""
_MEMORY_BYTES = 8 * MEMORY_BYTES
"""Bytes that a pattern may take while it is matched, on the machine of the user who typed it."""
_SETS_AND_LETTERS = re.compile(
    r"(?P<set>\[\^?\]?(?:\[[:.=].*?[:.=]\]|[^\]])*\])|\\(?P<escaped>.)|(?P<plain>.)", re.DOTALL
)
_COLLATED = re.compile(r"\[([.=])(.)\1\]", re.DOTALL)
_LITERAL_IN_SET = re.compile(r"(?<=^\[)\]|(?<=^\[\^)\]|\\|(?!^)\[(?!:)")
_BARE_CLASS = re.compile(r"\[:\w+:\]")
_COMMON_ESCAPES = frozenset("wWsSbBdDt<>123456789")
"""What means something behind a backslash: `\\d` and `\\t`, which POSIX leaves undefined, what people mean by them."""
_DECLARES = (
    r"^\s*(?:[\w@()]+\s+)*(?:class|def|fn|func|fun|function|interface|struct|enum|union|trait|type|typedef|protocol|object"
    r"|record|module|macro_rules!|const|let|var|val|#\s*define)\s+(?:\([^)]*\)\s*)?(?:[\w:.]*[:.])?"
)
_PIECE = r"[^()\\]|\\.|\((?:\?:)?(?:[^()\\?]|\\.|(?<!\()\?)*\)"
"""A letter, an escape, or a group without groups in it."""
_BEFORE = re.compile(rf"\(\?<=((?:{_PIECE})*)\)(.*)|((?:(?!\|)(?:{_PIECE}))*?)\\K(.*)", re.DOTALL)
_AFTER = re.compile(rf"(.*)\(\?=((?:{_PIECE})*)\)", re.DOTALL)
_CAPTURES = re.compile(r"(?<!\\)\((?!\?)")


@dataclass(frozen=True, slots=True)
class PatternOptions:
    """How patterns are read and matched."""

    syntax: Syntax = "basic"
    ignores_case: bool = False
    is_word: bool = False
    """Whether a match begins and ends at word boundaries."""
    is_line: bool = False
    """Whether a match is a whole line."""
    is_null: bool = False
    """Whether lines end in NUL."""


def line_finder(patterns: Sequence[str], options: PatternOptions) -> Any:
    """Return a finder of any of some patterns, as grep reads them; the match is its first group."""
    lead, either, trail = _around(patterns, options.syntax)
    expression_options = replace(
        _expression_options(patterns, options),
        is_longest=options.syntax != "perl",
        is_word=options.is_word and not options.is_line,
        is_null=options.is_null,
    )
    return compiled(f"^(?:{either})$" if options.is_line else either, expression_options, (lead, trail))


def declaration_finder(patterns: Sequence[str], options: PatternOptions) -> Any:
    """Return a finder of lines that seem to declare what matches a pattern."""
    either = without_borders(_around(patterns, options.syntax)[1])
    whole = rf"{_DECLARES}(?:{either})(?:\b|\W|$)|^(?:{either})\s*(?::[^=]+)?=(?:[^=]|$)"
    return compile_re2(whole, _expression_options(patterns, options))


def _expression_options(patterns: Sequence[str], options: PatternOptions) -> ExpressionOptions:
    typed = "\n".join(patterns)
    return ExpressionOptions(f"'{typed}'", "i" if options.ignores_case else "", memory_bytes=_MEMORY_BYTES)


def _either(patterns: Sequence[str], syntax: Syntax) -> str:
    """Join patterns, one a line, into one expression; without patterns, into one that matches nothing."""
    lines = [line for each in patterns for line in each.split("\n")]
    read = [as_re2(one, syntax) for one in dict.fromkeys(lines)]
    return read[0] if len(read) == 1 else "|".join(f"(?:{one})" for one in read) if read else r"[^\x00-\x{10ffff}]"


def _around(patterns: Sequence[str], syntax: Syntax) -> tuple[str, str, str]:
    r"""Split patterns into what has to come before a match, the match, and what has to follow it.

    Of looking around, this much of Perl's needs no memory: `(?<=A)` first, or `A\K`, and `(?=B)` last.
    """
    lead, body, trail = "", _either(patterns, syntax), ""
    if syntax == "perl" and (found := _AFTER.fullmatch(body)):
        body, trail = found[1], found[2]
    if syntax == "perl" and (found := _BEFORE.fullmatch(body)):
        is_behind = found[1] is not None
        lead, body = (found[1], found[2]) if is_behind else (found[3], found[4])
    lead, trail = (_CAPTURES.sub("(?:", each) for each in (lead, trail))
    return f"(?:{lead})" if lead else "", body, trail


def as_re2(expression: str, syntax: Syntax) -> str:
    """Return a pattern of grep as RE2 has it: in a basic one `|` and `(` are operators after a backslash only."""
    if syntax in {"fixed", "perl"}:
        return str(re2.escape(expression)) if syntax == "fixed" else expression
    _check(expression)
    written, starts, depth = "", True, 0
    for token in _SETS_AND_LETTERS.finditer(expression):
        after = expression[token.end() :][:2]
        letter = token["escaped"] or token["plain"] or ""
        operates = letter in {*"+?(){}|"} and bool(token["escaped"]) == (syntax == "basic")
        operates &= not (letter == ")" and syntax == "extended" and not depth)
        depth += operates and (letter == "(") - (letter == ")")
        one = f"\\{letter}" if letter in {*r".+*?()|[]{}^$\\"} else letter
        if token["set"]:
            one = _LITERAL_IN_SET.sub(r"\\\g<0>", _COLLATED.sub(_escaped, token["set"]))
        elif operates or token["plain"] == "*":
            is_perl = syntax == "extended" and letter == "?" and written.endswith("(")
            if not starts or letter not in {*"*+?"} or is_perl:
                one = "{0" if letter == "{" and after[:1] == "," else letter
            elif syntax == "extended":
                one = ""
        elif token["escaped"]:
            one = f"\\{letter}" if letter in _COMMON_ESCAPES else one
        elif letter in {*".[\\"} or (
            letter in {*"^$"} and (syntax == "extended" or _is_anchor(letter, after, starts=starts))
        ):
            one = letter
        starts = (operates and letter in {*"(|"}) or one == "^" or (starts and not one)
        written += one
    return written


def _check(expression: str) -> None:
    """Refuse common mistakes."""
    if re.search(r"(?<!\\)(?:\\\\)*\\\Z", expression):
        raise InputError(f"'{expression}' ends in a backslash: write \\\\ to match one")
    if _BARE_CLASS.fullmatch(expression):
        raise InputError(f"'{expression}' is a set of letters: a class is written [{expression}]")


def _escaped(match: re.Match[str]) -> str:
    """Return the letter of `[.-.]` or `[=a=]`, escaped."""
    return f"\\{match[2]}" if match[2] in {*r"]\^-["} else match[2]


def _is_anchor(letter: str, after: str, *, starts: bool) -> bool:
    """Return whether `^` or `$` of a basic pattern is at an edge of what it stands in."""
    return starts if letter == "^" else after in {"", "\\)", "\\|"}
