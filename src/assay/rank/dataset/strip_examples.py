"""A prompt in, the same prompt without its example tests out, as far as they can be told from the rest.

For the study of section A.2.4 of Inala et al. 2022: how much does a ranker read off the examples? Left out are doctest
lines with what they print, asserts, lines of the form `f(x) == y`, and blocks below a heading of examples up to the
next blank line behind them, or the next heading. What a prompt says in running text stays: this is a best effort, as
theirs.
"""

from __future__ import annotations

import re

_HEADING = re.compile(
    r"^\W*(?:(?:sample|example)s?(?:\s+(?:test\s*cases?|tests?|cases?|inputs?|outputs?|usage|[0-9]+))*"
    r"|for\s+(?:example|instance)|e\.?g\.?|test\s*cases?)"
    r"(?:\s*[#0-9]+)?\s*(?::|-{2,}|\W*$)",
    re.IGNORECASE,
)
_SECTION = re.compile(r"^\W*-{3,}\s*(?P<name>[A-Za-z][\w /()]*?)\s*-{3,}\W*$")
_SHOWN_SECTION = re.compile(r"sample|example", re.IGNORECASE)
_GIVEN = re.compile(r"^\W*(?:inputs?|outputs?|explanation)\W*$|^\W*(?:inputs?|outputs?)\s*:", re.IGNORECASE)
_FENCE = "```"
_CALL = re.compile(
    r"^\W*(?:[A-Za-z_][\w.]*\s*)?\b[A-Za-z_][\w.]*\([^\n]*\)\s*;?\s*"
    r"(?:==|=>|->|➞|→|=|returns?\b|should (?:return|be)\b)\s*\S"
)
_DEFINES = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s")
_QUOTES = ('"""', "'''")


def without_examples(prompt: str) -> str:
    """Return a prompt without its examples; one that has none is returned as it is."""
    kept: list[str] = []
    state = ""
    for line in prompt.split("\n"):
        state, keep = _step(line, state)
        if keep:
            kept.append(line)
        elif any(quotes in line for quotes in _QUOTES):
            state = ""
            kept.append(_quotes_of(line))
    return "\n".join(kept)


def _step(line: str, state: str) -> tuple[str, bool]:  # noqa: PLR0911  one a kind of line
    """Return what the next line stands in, and whether this one is kept."""
    bare = line.strip()
    section = _SECTION.match(line)
    if section:
        shown = bool(_SHOWN_SECTION.search(section["name"]))
        return ("section", False) if shown else ("", True)
    if state == "section":
        return state, False
    if bare.startswith(">>>"):
        return "printed", False
    if state == "printed" and bare and not _ends(line):
        return state, False
    if _DEFINES.match(line):
        return "", True
    if _HEADING.match(bare):
        return "below", False
    if re.match(r"^\W*assert\b", bare) or _CALL.match(bare):
        return ("begun" if state == "below" else state), False
    return _below(line, bare, state) if state in {"below", "begun", "behind", "fenced"} else ("", True)


def _below(line: str, bare: str, state: str) -> tuple[str, bool]:  # noqa: PLR0911  one a kind of line
    """Go on below a heading: blank lines before the examples belong to it, the one behind them ends it."""
    if _ends(line):
        return "", True
    if state == "fenced":
        return ("", False) if bare == _FENCE else (state, False)
    if bare.startswith(_FENCE):
        return "fenced", False
    if _GIVEN.match(bare):
        return "below" if bare.rstrip("*: ")[-1:].isalpha() else "begun", False
    if state == "behind":
        return (state, True) if not bare else ("", True)
    if not bare:
        return (state, False) if state == "below" else ("behind", True)
    return "begun", False


def _ends(line: str) -> bool:
    return any(line.strip() == quotes for quotes in _QUOTES)


def _quotes_of(line: str) -> str:
    """Return the closing or opening quotes of a line whose text goes, so that the code around it stays whole."""
    indent = line[: len(line) - len(line.lstrip())]
    quotes = next(quotes for quotes in _QUOTES if quotes in line)
    return f"{indent}{quotes}" if line.count(quotes) == 1 else f"{indent}{quotes}{quotes}"
