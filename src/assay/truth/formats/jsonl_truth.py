"""Our own JSON lines: everything a ground truth holds, one record a line.

The first record says what the file speaks of; queries, judgments and documents follow in any order. A field that
has its default is left out, an unknown one is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from assay.errors import nearest
from assay.io import files, rows
from assay.truth.formats.shared import Gathered, Glimpse, fault_of_target, grade_of, name_of
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import KINDS, Chunk, Judgment, Query

_FORMAT = 1
_ABOUT = ("format", "name", "repository", "commit", "hidden")
_KINDS: Mapping[str, type[Any]] = {"query": Query, "judgment": Judgment, "document": Chunk}
_TYPES = ("truth", *_KINDS)
_LARGEST = 10**9
_MODES = ("all", "code", "docs")


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


_NAMES = {kind: frozenset(field.name for field in fields(kind)) for kind in _KINDS.values()}
_NEEDED = {kind: {field.name for field in fields(kind) if _default(field) is MISSING} for kind in _KINDS.values()}


def fits(seen: Glimpse) -> bool:
    """Say whether a file looks like this."""
    return any(row.get("type") in _TYPES for row in seen.rows)


def read(path: Path) -> TruthFile:
    """Read a ground truth."""
    found = Gathered(path)
    about: dict[str, Any] = {}
    judgments: list[tuple[int, Judgment]] = []
    for row, record in rows.objects(path, found.problems):
        kind = record.pop("type", "")
        if kind == "truth":
            about = _about(found, row, record)
        elif not isinstance(kind, str) or kind not in _KINDS:
            found.problem(row, f"unknown type {kind!r}; known: truth, {', '.join(_KINDS)}")
        elif (value := _value(found, row, _KINDS[kind], record)) is not None:
            _take(found, row, value, judgments)
    for row, judgment in judgments:
        _judge(found, row, judgment)
    name = about.get("name") or name_of(path)
    return found.reading(name=name, about={**about, "repo": about.get("repository", "")})


def losses(truth: Truth) -> Iterator[str]:
    """Yield what cannot be held: nothing."""
    del truth
    yield from ()


def write(truth: Truth, path: Path) -> None:
    """Write a ground truth."""
    files.write_rows(path, _records(truth))


def _records(truth: Truth) -> Iterator[dict[str, Any]]:
    about = {"name": truth.name, "repository": truth.repository, "commit": truth.commit, "hidden": list(truth.hidden)}
    yield {"type": "truth", "format": _FORMAT, **{key: value for key, value in about.items() if value}}
    for values in (truth.queries, truth.documents, truth.judgments):
        yield from map(record_of, values)


def record_of(value: object) -> dict[str, Any]:
    """Return the record of one value, as a line of a file holds it."""
    kind = next(name for name, held in _KINDS.items() if isinstance(value, held))
    return {"type": kind, **_fields(value)}


def _fields(value: Any) -> dict[str, Any]:
    told = {field.name: getattr(value, field.name) for field in fields(value)}
    plain = {field.name: _default(field) for field in fields(value)}
    return {name: dict(each) if name == "tags" else each for name, each in told.items() if each != plain[name]}


def _about(found: Gathered, row: int, record: Mapping[str, Any]) -> dict[str, Any]:
    if record.get("format", _FORMAT) != _FORMAT:
        found.problem(row, f"format {record['format']!r}, this reads {_FORMAT}: a newer assay wrote it")
    for name in record.keys() - set(_ABOUT):
        found.problem(row, f"unknown field '{name}'; {nearest(name, _ABOUT)}")
    wrong = [name for name in _ABOUT[1:4] if not isinstance(record.get(name, ""), str)]
    hidden = record.get("hidden", [])
    if not isinstance(hidden, list) or not all(isinstance(each, str) for each in hidden):
        wrong.append("hidden")
    for name in wrong:
        found.problem(row, f"field '{name}' is of the wrong type")
    return {name: record[name] for name in _ABOUT if name in record and name not in wrong}


def _value(found: Gathered, row: int, kind: type[Any], record: dict[str, Any]) -> Any:
    """Return the value a record holds, or tell what is wrong with it."""
    known = _NAMES[kind]
    for name in record.keys() - known:
        found.problem(row, f"unknown field '{name}'; {nearest(name, sorted(known))}")
        del record[name]
    missing = sorted(_NEEDED[kind] - record.keys())
    wrong = [name for name, value in record.items() if not _fits(name, value)]
    if missing or wrong:
        what = f"no field '{missing[0]}'" if missing else f"field '{wrong[0]}' is of the wrong type"
        found.problem(row, what)
        return None
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in record.items()})


def _fits(name: str, value: object) -> bool:
    if name in {"languages", "paths", "kinds"}:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if name == "tags":
        return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    if name in {"grade", "start_line", "end_line"}:
        return type(value) is int and abs(value) <= _LARGEST
    if name == "kind":
        return value in KINDS
    return value in _MODES if name == "mode" else isinstance(value, str)


def _take(found: Gathered, row: int, value: Any, judgments: list[tuple[int, Judgment]]) -> None:
    if isinstance(value, Query):
        found.query(row, value)
    elif isinstance(value, Judgment):
        judgments.append((row, value))
    else:
        found.document(row, value)


def _judge(found: Gathered, row: int, judgment: Judgment) -> None:
    """Take a judgment in when all of the file is known, for queries may stand after it."""
    fault = ""
    if judgment.query_id not in found.queries:
        fault = f"there is no query '{judgment.query_id}'"
    elif found.documents and judgment.target not in found.documents:
        fault = f"there is no document '{judgment.target}'"
    elif judgment.grade < 0:
        fault = f"grade {judgment.grade} is below 0"
    elif grade_of(judgment.grade) is None:
        fault = f"grade {judgment.grade} is beyond any scale: wanted 0 to 1000"
    elif not found.documents:
        fault = fault_of_target(judgment.target)
    if fault:
        found.problem(row, fault)
    else:
        found.judgment(row, judgment)
