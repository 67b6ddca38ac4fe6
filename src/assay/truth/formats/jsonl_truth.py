"""Our own JSON lines: everything a ground truth holds, one record a line.

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
    """The first record."""

    format: int = _FORMAT
    name: str = ""
    repository: str = ""
    commit: str = ""
    hidden: tuple[str, ...] = ()
    hidden_docs: tuple[str, ...] = ()


def fits(seen: Glimpse) -> bool:
    """Say whether a file looks like this."""
    return any(row.get("type") in ("truth", *_KINDS) for row in seen.rows)


def read(path: Path) -> TruthFile:
    """Read a ground truth."""
    found = Gathered(path)
    about = _About()
    judgments: list[tuple[int, Judgment]] = []
    for row, record in rows.objects(path, found.problems):
        kind = record.pop("type", "")
        if not isinstance(kind, str) or kind not in ("truth", *_KINDS):
            found.problem(row, f"unknown type {kind!r}; known: truth, {', '.join(_KINDS)}")
            continue
        value = _value(found, row, _KINDS.get(kind, _About), record)
        if isinstance(value, _About):
            about = value
            if about.format != _FORMAT:
                found.problem(row, f"format {about.format}, this reads {_FORMAT}: a newer assay wrote it")
        elif isinstance(value, Query):
            found.query(row, value)
        elif isinstance(value, Judgment):
            judgments.append((row, value))
        elif value is not None:
            found.document(row, value)
    for row, judgment in judgments:
        _judge(found, row, judgment)
    hidden = {"hidden": about.hidden, "hidden_docs": about.hidden_docs}
    corpus = {"repo": about.repository, "commit": about.commit, **hidden}
    return found.reading(name=about.name or name_of(path), about=corpus)


def write(truth: Truth, path: Path) -> None:
    """Write a ground truth."""
    files.write_rows(path, _records(truth))


def _records(truth: Truth) -> Iterator[dict[str, Any]]:
    about = _About(_FORMAT, truth.name, truth.repository, truth.commit, truth.hidden, truth.hidden_docs)
    yield {"type": "truth", "format": _FORMAT, **_set_fields(about)}
    for values in (truth.queries, truth.documents, truth.judgments):
        yield from map(record_of, values)


def record_of(value: object) -> dict[str, Any]:
    """Return the record of one value, as a line of a file holds it."""
    return {"type": next(name for name, held in _KINDS.items() if isinstance(value, held)), **_set_fields(value)}


def _set_fields(value: Any) -> dict[str, Any]:
    """Return the fields that are not as they are by default."""
    held = ((field, getattr(value, field.name)) for field in fields(value))
    return {
        field.name: as_json(each)
        for field, each in held
        if each != (field.default if field.default_factory is MISSING else field.default_factory())
    }


def _value(found: Gathered, row: int, kind: type[Any], record: dict[str, Any]) -> Any:
    """Return the value a record holds, or tell what is wrong with it."""
    known = [field.name for field in fields(kind)]
    for name in record.keys() - set(known):
        found.problem(row, f"unknown field '{name}'; {nearest(name, known)}")
    try:
        return read_value(kind, record)
    except InputError as error:
        found.problem(row, str(error))
        return None


def _judge(found: Gathered, row: int, judgment: Judgment) -> None:
    """Take a judgment in when all of the file is known, for queries may stand after it."""
    fault = ""
    if judgment.query_id not in found.queries:
        fault = f"there is no query '{judgment.query_id}'"
    elif found.documents and judgment.target not in found.documents:
        fault = f"there is no document '{judgment.target}'"
    elif grade_of(judgment.grade) is None:
        fault = f"grade {judgment.grade} is beyond any scale: wanted 0 to 1000"
    elif not found.documents:
        fault = fault_of_target(judgment.target)
    if fault:
        found.problem(row, fault)
    else:
        found.judgment(row, judgment)
