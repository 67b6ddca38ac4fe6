"""Name what commands and settings choose from: kinds of questions, sorts of units, sources of mining."""

from __future__ import annotations

from typing import Literal, get_args

UnitSort = Literal["function", "type", "constant", "documentation"]

QuestionKind = Literal["standard", "hard", "issue"]

SORTS: tuple[UnitSort, ...] = get_args(UnitSort)

KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)
SOURCES = ("history", "docs", "tests")
