"""Read a table of patterns with their examples: what people paste and ask, as data beside the code that uses it.

The table of `place_forms` has the forms in which programs name a line of a file; the first that matches at a place is
taken. Its patterns have the groups path and line; unit, file and line; or type and line. Its examples are what a
program prints, the path and the line. That of `operation_questions` has the wordings of questions with an operation in
them, with the groups name; name and other; or kind. A name in angle brackets stands for a part of the table. A new form
or wording is a row there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class PatternRow(NamedTuple):
    """A row of a table."""

    name: str
    compiled: Callable[[], re.Pattern[str]]
    """Returns its pattern, compiled at the first use: a text needs few of dozens."""
    examples: Any
    """What it matches, as the table has it."""
    words: tuple[str, ...] = ()
    """Texts of which every match contains one, in lower case; none if that is not known."""


@cache
def pattern_table(name: str, flags: re.RegexFlag) -> tuple[PatternRow, ...]:
    """Return the rows of a table, in their order."""
    table = json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))
    parts = table["parts"]

    def compiled(text: str) -> Callable[[], re.Pattern[str]]:
        whole = re.sub(r"<([A-Z]+)>", lambda part: parts[part[1]], text)
        return cache(lambda: re.compile(whole, flags))

    return tuple(
        PatternRow(row["name"], compiled(row["pattern"]), row["examples"], tuple(row.get("words", ())))
        for row in table["rows"]
    )


def rows_for(name: str, flags: re.RegexFlag, text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the names and patterns of a table that a text may match."""
    folded = text.lower()
    for row in pattern_table(name, flags):
        if not row.words or any(word in folded for word in row.words):
            yield row.name, row.compiled()
