"""Read and write Assay's own JSON lines: a complete ground truth, one record per line.

The first record says what the file speaks of; queries, judgments and documents follow in any order. A field that
has its default is left out, an unknown one is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io import files, rows
from assay.io.fields import as_json, read_value
from assay.truth.formats.shared import Gathered, Glimpse, fault_of_target, grade_of, name_of
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Chunk, Judgment, Query

_FORMAT = 1
_KINDS: Mapping[str, type[Any]] = {"query": Query, "judgment": Judgment, "document": Chunk}


@dataclass(frozen=True, slots=True)
class _About:
    """The first record, about the ground truth and its corpus."""

    format: int = _FORMAT
    name: str = ""
    repository: str = ""
    commit: str = ""
    hidden: tuple[str, ...] = ()
    hidden_docs: tuple[str, ...] = ()


def fits(glimpse: Glimpse) -> bool:
    """Say whether a file looks like this."""
    return any(row.get("type") in ("truth", *_KINDS) for row in glimpse.rows)


def read(path: Path) -> TruthFile:
    """Read a ground truth."""
    gathered = Gathered(path)
    about = _About()
    judgments: list[tuple[int, Judgment]] = []
    for row, record in rows.objects(path, gathered.problems):
        kind = record.pop("type", "")
        if not isinstance(kind, str) or kind not in ("truth", *_KINDS):
            gathered.problem(row, f"unknown type {kind!r}; known: truth, {', '.join(_KINDS)}")
            continue
        value = _value(gathered, row, _KINDS.get(kind, _About), record)
        if isinstance(value, _About):
            about = value
            if about.format != _FORMAT:
                gathered.problem(row, f"format {about.format}, this reads {_FORMAT}: a newer assay wrote it")
        elif isinstance(value, Query):
            gathered.query(row, value)
        elif isinstance(value, Judgment):
            judgments.append((row, value))
        elif value is not None:
            gathered.document(row, value)
    for row, judgment in judgments:
        _judge(gathered, row, judgment)
    hidden = {"hidden": about.hidden, "hidden_docs": about.hidden_docs}
    corpus = {"repo": about.repository, "commit": about.commit, **hidden}
    return gathered.reading(name=about.name or name_of(path), about=corpus)


def write(truth: Truth, path: Path) -> None:
    """Write a ground truth."""
    files.write_rows(path, _records(truth))


def _records(truth: Truth) -> Iterator[dict[str, Any]]:
    about = _About(_FORMAT, truth.name, truth.repository, truth.commit, truth.hidden, truth.hidden_docs)
    yield {"type": "truth", "format": _FORMAT, **_set_fields(about)}
    for values in (truth.queries, truth.documents, truth.judgments):
        yield from map(record_of, values)


def record_of(value: object) -> dict[str, Any]:
    """Return the record of one value for a line of a file."""
    return {"type": next(name for name, held in _KINDS.items() if isinstance(value, held)), **_set_fields(value)}


def _set_fields(value: Any) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    held = ((field, getattr(value, field.name)) for field in fields(value))
    return {
        field.name: as_json(each)
        for field, each in held
        if each != (field.default if field.default_factory is MISSING else field.default_factory())
    }


def _value(gathered: Gathered, row: int, kind: type[Any], record: dict[str, Any]) -> Any:
    """Return the value of a record, or report its problem."""
    known = [field.name for field in fields(kind)]
    for name in record.keys() - set(known):
        gathered.problem(row, f"unknown field '{name}'; {nearest(name, known)}")
    try:
        return read_value(kind, record)
    except InputError as error:
        gathered.problem(row, str(error))
        return None


def _judge(gathered: Gathered, row: int, judgment: Judgment) -> None:
    """Add a judgment after the whole file is read, since queries may follow it."""
    fault = ""
    if judgment.query_id not in gathered.queries:
        fault = f"there is no query '{judgment.query_id}'"
    elif gathered.documents and judgment.target not in gathered.documents:
        fault = f"there is no document '{judgment.target}'"
    elif grade_of(judgment.grade) is None:
        fault = f"grade {judgment.grade} is beyond any scale: wanted 0 to 1000"
    elif not gathered.documents:
        fault = fault_of_target(judgment.target)
    if fault:
        gathered.problem(row, fault)
    else:
        gathered.judgment(row, judgment)
