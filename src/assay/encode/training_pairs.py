"""What an encoder is trained on: a question-like text, a code, whether it answers, and where both came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError, counted
from assay.io.fields import FieldError, Fields

_QUERIES = ("query", "doc")
_GRADES = ("grade", "label", "score", "relevance")
_HIGHEST = 1000


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """Two texts that should be near, or apart; the source (a package, a repository) is the unit of most splits."""

    query: str
    code: str
    source: str
    kind: str
    """`doc` to code without it, `rest` of a doc, `section` below a heading, or a data set's name."""
    grade: int = 1
    """How well the code answers; 0 is a code that was judged wrong."""


def pair_of(row: Mapping[str, Any], source: str) -> TrainingPair | None:
    """Return the pair of a row of a file, None where nobody decided it; a row without a grade is a right pair."""
    fields = Fields(row)
    query = next((fields.text(name) for name in _QUERIES if name in fields), None)
    if query is None:
        raise FieldError("no field 'query' (or 'doc', as CoSQA calls it)")
    code = fields.text("code")
    if not query.strip() or not code.strip():
        raise FieldError(f"the {'query' if not query.strip() else 'code'} is empty")
    graded = next((name for name in _GRADES if name in row), "")
    if graded and graded not in fields:
        return None
    grade = fields.whole(graded, most=_HIGHEST) if graded else 1
    return TrainingPair(query, code, str(row.get("source") or source), str(row.get("kind") or "given"), grade)


def texts_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the query and the code of a row, whatever its label; one of them may be missing, and is empty then."""
    fields = Fields(row)
    query = next((fields.text(name) for name in _QUERIES if name in fields), "").strip()
    code = fields.text("code", "").strip()
    if not query and not code:
        raise FieldError("no field 'query' (or 'doc', as CoSQA calls it) and no field 'code' with text")
    return query, code


def write_pairs(path: Path, pairs: Iterable[TrainingPair]) -> None:
    """Write one JSON object a line."""
    path.write_text("".join(json.dumps(asdict(pair)) + "\n" for pair in pairs), "utf-8")


def refuse_wrong_pairs(pairs: Iterable[TrainingPair]) -> None:
    """Raise InputError where a pair is judged wrong: a table has no use for it, and must not learn it."""
    every = list(pairs)
    if wrong := sum(pair.grade == 0 for pair in every):
        raise InputError(
            f"of {counted(len(every), 'pair')} {wrong:,} have label 0, and a table learns from right pairs alone: "
            "take them out, or train a transformer on both with assay train encoder --base"
        )
