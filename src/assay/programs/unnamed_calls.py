"""Find examples in prose with arguments and a result, but without the function's name, as in `[1, 2] -> 3`.

Only where a whole line reads that way, and only where as many values stand on its left as the function has parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from assay.programs.text_literals import ATOL, MAX_EXAMPLES, value_at
from assay.values import Call

_MAX_LINE_CHARS: Final = 1000
_LEAD: Final = re.compile(
    r"[ \t]{0,40}(?:[-*•\d.)]{1,4} )?(?:examples?|e\.g\.|ex)?[ \t]{0,2}\d{0,2}[.:]{0,2}[ \t]{0,8}"
    r"(?:(?:for|given|if|when|with)\b(?: the)?(?: input| list| array| string)?|input[ \d]{0,3})?[ \t]{0,4}:?[ \t]{0,8}",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"[`*]{0,2}[A-Za-z_]\w{0,40}[`*]{0,2}[ \t]{0,3}={1,2}[ \t]{0,3}")
_BETWEEN: Final = re.compile(r"[ \t`*]{0,6}(?:[,;]|and\b|&)(?: and)?[ \t`*]{0,6}")
_UNNAMED_RELATION: Final = re.compile(
    r"[ \t`*]{0,8},?[ \t]{0,4}(?:[=-]{1,3}>|[➞→⇒⟹⟶↦➡]|==|,?[ \t]{0,4}(?:the |your |it |function |program )*"
    r"(?:(?:expected )?(?:output|result|answer|sum|value)?:? ?(?:is|(?:should|will|would|must) (?:be|return|output))?"
    r"|returns?|outputs?|return value:?))(?: the output)?[ \t`*:]{1,8}",
    re.IGNORECASE,
)
_RETURNS: Final = re.compile(r"[ \t]{0,40}(?:output|returns?|result)[ \d]{0,3}:[ \t`*]{0,8}", re.IGNORECASE)
_INPUT: Final = re.compile(r"[ \t*`-]{0,40}(?:example[ \d:]{0,4})?input[ \d]{0,3}[*`]{0,2}:", re.IGNORECASE)
_END: Final = re.compile(r"[ \t`*.,;\"']{0,8}(?:$|#|//|\()")


def unnamed_calls_in(text: str, width: int | None) -> Iterator[Call]:
    """Return the calls of a function with this number of parameters, one if unknown."""
    lines = (line for line in _joined(text.splitlines()) if len(line) <= _MAX_LINE_CHARS)
    return islice(filter(None, (_call(line, width or 1) for line in lines)), MAX_EXAMPLES)


def _joined(lines: list[str]) -> Iterator[str]:
    """Yield the lines, with a line of input and the line of output below it joined."""
    waiting = ""
    for line in lines:
        returns = _RETURNS.match(line)
        if waiting and returns:
            yield f"{waiting} => {line[returns.end() :]}"
            waiting = ""
        elif _INPUT.match(line):
            waiting = line.rstrip()
        elif line.strip() or not waiting:
            waiting = ""
            yield line


def _call(line: str, width: int) -> Call | None:
    lead = _LEAD.match(line)
    place = lead.end() if lead else 0
    args: list[Any] = []
    while len(args) < width:
        named = _NAMED.match(line, place)
        value = value_at(line, named.end() if named else len(line) - len(line[place:].lstrip("`*")))
        if value is None:
            return None
        args.append(value[0])
        place = value[1]
        if len(args) < width:
            between = _BETWEEN.match(line, place)
            if between is None:
                return _spread(args, line, place, width)
            place = between.end()
    return _returning(args, line, place)


def _spread(args: list[Any], line: str, place: int, width: int) -> Call | None:
    """Return the call whose arguments are in one pair of parentheses."""
    is_spread = len(args) == 1 and isinstance(args[0], tuple) and len(args[0]) == width
    return _returning(list(args[0]), line, place) if is_spread else None


def _returning(args: list[Any], line: str, place: int) -> Call | None:
    relation = _UNNAMED_RELATION.match(line, place)
    value = relation and value_at(line, relation.end())
    return Call(tuple(args), value[0], ATOL) if value and _END.match(line, value[1]) else None
