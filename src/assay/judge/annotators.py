"""Files of labels to annotators: who gives which pair which grade and why, and which pairs they left undecided.

Read are records of `assay judge run`, JSON lines or a JSON list of objects (a ground truth, pairs with a label, CoSQA),
CSV and TSV with a line of names (BEIR's qrels too), and TREC's qrels. A file that says who judges holds as many
annotators as it names. What cannot be used is a problem with its place; the rest is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import rows
from assay.io.rows import first_bytes, plain
from assay.judge import past_records
from assay.types import Problem

Key = tuple[str, str]
"""The ids of a query and of a code."""
_OWN_IDS = ("id", "_id", "idx")
_QUERY_IDS = ("query_id", "query-id", "qid", *_OWN_IDS)
_CODE_IDS = ("code_id", "corpus_id", "corpus-id", "target", "doc_id", "retrieval_idx", *_OWN_IDS)
_GRADES = ("grade", "label", "score", "relevance")
_JUDGES = ("judge", "annotator")
_OF_TRUTH = ("truth", "query", "document")
"""Lines of a ground truth beside its judgments."""
_TREC = ("query_id", "0", "target", "grade")
_TREC_ROW = re.compile(rb"\s*\S+\s+\S+\s+\S+\s+-?\d+\s*(\n|$)")
_WANTED = "wanted records of `assay judge run`, JSON or JSON lines, CSV or TSV with a line of names, or TREC's qrels"


@dataclass(slots=True)
class Annotator:
    """Who labels, and what."""

    name: str
    grades: dict[Key, int | None] = field(default_factory=dict)
    """None is a pair that was looked at and left undecided."""
    reasons: dict[Key, str] = field(default_factory=dict)


@dataclass(slots=True)
class LabelFiles:
    """What files of labels hold."""

    annotators: list[Annotator] = field(default_factory=list)
    texts: dict[Key, tuple[str, str]] = field(default_factory=dict)
    """Query and code of a pair, where the file has them."""
    problems: list[Problem] = field(default_factory=list)


def read(file: Path, name: str = "") -> LabelFiles:
    """Read the labels of a file; its only annotator is called by the name given, or else by the file."""
    found = LabelFiles()
    by: dict[str, Annotator] = {}
    for where, row in _rows(file, found.problems):
        if problem := _add(found, by, row):
            found.problems.append(Problem(where, problem))
    if past_records.is_records(file) and past_records.cut(file):
        found.problems.append(Problem(f"{file}", "the last line is cut, as by a crash: what it said is not counted"))
    if not by:
        why = f" ({found.problems[0]})" if found.problems else ""
        raise InputError(f"{file} holds no label{why}; {_WANTED}")
    called = name or plain(file).stem
    if len(by) == 1:
        by = {called: next(iter(by.values()))}
    for judge, annotator in by.items():
        annotator.name = f"{name}:{judge}" if name and len(by) > 1 else judge or called
        found.annotators.append(annotator)
    return found


def not_matches(file: Path) -> set[Key]:
    """Return the pairs that a file labels with 0 or leaves undecided; one without labels has none."""
    found, by = LabelFiles(), dict[str, Annotator]()
    for _, row in _rows(file, found.problems):
        _add(found, by, row)
    return {key for each in by.values() for key, grade in each.grades.items() if not grade}


def _add(found: LabelFiles, by: dict[str, Annotator], row: Mapping[str, Any]) -> str:
    """Take a row in, or return what is wrong with it."""
    query_id, code_id = _first(row, _QUERY_IDS), _first(row, _CODE_IDS)
    if query_id is None or code_id is None:
        return f"wanted a query_id and a code_id, found {', '.join(sorted(map(str, row)))[:80]}"
    named = next((name for name in _GRADES if name in row), None)
    if named is None:
        return f"no label, wanted one of {', '.join(_GRADES)}"
    grade = _grade(row[named])
    if isinstance(grade, str):
        return grade
    key, judge = (str(query_id), str(code_id)), str(_first(row, _JUDGES) or "")
    annotator = by.setdefault(judge, Annotator(judge))
    if key in annotator.grades:
        same = annotator.grades[key] == grade
        return f"{key[0]}, {key[1]} is labelled twice" + ("" if same else " and otherwise: the first counts")
    annotator.grades[key] = grade
    if row.get("reason"):
        annotator.reasons[key] = str(row["reason"])
    query, code = _first(row, ("query", "doc")), row.get("code")
    if isinstance(query, str) and isinstance(code, str):
        found.texts.setdefault(key, (query, code))
    return ""


def _grade(value: object) -> int | str | None:
    """Return a grade, None for undecided, or what is wrong with it."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else -1.0
    except ValueError:
        number = -1.0
    if number < 0 or not number.is_integer():
        return f"grade {str(value)[:40]!r}, wanted a whole number from 0, or nothing where undecided"
    return int(number)


def _rows(file: Path, problems: list[Problem]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a file, each with its place."""
    if past_records.is_records(file):
        yield from ((str(file), record) for record in past_records.verdicts(file))
    elif rows.form_of(file) == "table" or not _TREC_ROW.match(first_bytes(file)):
        for row, fields in rows.objects(file, problems):
            if fields.get("type") not in _OF_TRUTH:
                yield rows.place(file, row), {name.lower(): value for name, value in fields.items()}
    else:
        for row, line in rows.lines(file, problems):
            cells = line.split()
            if len(cells) == len(_TREC):
                yield rows.place(file, row), dict(zip(_TREC, cells, strict=True))
            elif cells:
                problems.append(Problem(rows.place(file, row), f"{len(cells)} fields, wanted {len(_TREC)}"))


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)
