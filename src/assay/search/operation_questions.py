"""Parse a question for an operation on a name: who calls it, what tests it, what changed in it.

Such a question is answered by looking up, not by likeness. It is one only in usual wordings, and only where its name is
declared, so that a question that merely sounds alike is searched for as any other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from assay.search.pattern_table import rows_for
from assay.search.query_filters import LONG

Operation = Literal["callers", "uses", "callees", "tests", "changes", "add", "what", "versus"]


class AskedOperation(NamedTuple):
    """An operation question."""

    operation: Operation
    name: str
    """Its subject; for `add` the kind of thing in words."""
    other: str = ""
    """The name that it is compared with."""


_KINDS = (
    "function|method|class|type|struct|enum|trait|interface|macro|constant|module|file|symbol|constructor|variable"
    "|field|property"
)
_BESIDE = re.compile(
    rf"(?<![\w.:])(?:the|an?|my|our|please|(?:can|could) you|{_KINDS}) (?=\S)| (?:{_KINDS})(?= |$)|[`\"]|\(\)"
)
"""Words beside a name that do not change the question."""
_AT_THE_END = re.compile(
    r"(?:\s*[?.!]|\s+(?:here|anywhere|from|directly|exactly|lately|recently|last|ever|again|in the past"
    r"|in (?:this|the) (?:repo|repository|code|codebase|project)|and why|and when|and by whom|since .{1,40}"
    r"|this (?:week|month|year)))*\s*$",
    re.IGNORECASE,
)
_NAME = re.compile(r"~?[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|/|-(?=[\w-]*\.\w))~?[A-Za-z_$][\w$]*)*[!?]?")
_NO_NAMES = frozenset("it this that them these those they what which who there all any a an the me you i we".split())


@lru_cache(64)
def operations_asked(text: str) -> tuple[AskedOperation, ...]:
    """Return the operations that a question may ask for, likeliest first; the caller checks for a declaration."""
    rows = list(rows_for("operation_questions", re.IGNORECASE, text)) if len(text) <= LONG else []
    if not rows or "\n" in text.strip():
        return ()
    whole = _AT_THE_END.sub("", " ".join(text.split()))
    plain = " ".join(_BESIDE.sub(" ", whole).split())
    found = []
    for operation, pattern in rows:
        match = pattern.fullmatch(whole if operation == "add" else plain)
        if match and (asked := _asked_operation(cast("Operation", operation), match, text)):
            found.append(asked)
    return tuple(dict.fromkeys(found))


def _asked_operation(operation: Operation, match: re.Match[str], text: str) -> AskedOperation | None:
    groups = match.groupdict()
    if operation == "add":
        return AskedOperation(operation, groups["kind"].strip(" `'\""))
    names = [name.strip("',") for name in (groups["name"], groups.get("other")) if name]
    is_word = names[0].lower() in _NO_NAMES and f"{names[0]}(" not in text
    if is_word or not all(map(_NAME.fullmatch, names)):
        return None
    return AskedOperation(operation, *names)
