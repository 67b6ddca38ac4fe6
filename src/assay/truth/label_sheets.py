"""A pool to a file that a person or a model fills in, and such a file back into a ground truth.

JSON lines for programs, CSV for people. Who found what lies in a file beside it, `NAME.sources.jsonl`, which a judge is
not given. A row without a grade is not labelled yet; a row that cannot be used is a problem, and the rest counts. What
somebody judged before stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io import files, rows
from assay.truth.formats.truth_rows import fault_of_target, grade_of, text_of
from assay.truth.formats.write_truth import csv_row
from assay.truth.ground_truth import Truth, TruthFile
from assay.truth.judging_pool import Pool
from assay.types import Judgment, Problem

COLUMNS = ("query_id", "query", "target", "text", "grade", "reason")
_NEEDED = ("query_id", "target", "grade")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would run when a cell begins with it."""


def write_pool(pool: Pool, out: Path) -> Path:
    """Write the pairs to be judged, and beside them who found what; return where that is."""
    pairs = [{**asdict(pair), "grade": "", "reason": ""} for pair in pool.pairs]
    beside = out.with_suffix(".sources.jsonl")
    if out.suffix.lower() == ".csv":
        sheet = (csv_row([_harmless(name, pair[name]) for name in COLUMNS]) for pair in pairs)
        files.write(out, [csv_row(COLUMNS), *sheet], errors="strict")
    elif out.suffix.lower() == ".jsonl":
        files.write_rows(out, pairs)
    else:
        raise InputError(f"'{out.name}' is neither .jsonl nor .csv: give the pool one of these endings")
    files.write_rows(beside, map(asdict, pool.sources))
    return beside


def read_labels(truth: Truth, file: Path, judge: str = "") -> TruthFile:
    """Add the labels of a file to a ground truth; its problems are the rows that could not be used.

    Each row's `judge` says who judged, else `judge` does; one of the two has to.
    """
    problems: list[Problem] = []
    queries = {query.id for query in truth.queries}
    known = {_key(judgment): judgment for judgment in truth.judgments}
    added: list[Judgment] = []
    for row, record in _records(file, problems):
        where = rows.place(file, row)
        try:
            judgment = _judgment(record, queries, judge)
        except InputError as error:
            problems.append(Problem(where, str(error)))
            continue
        if judgment is None:
            continue
        if not judgment.judge:
            raise InputError(f"{where} does not say who judged: give --judge NAME, or a column 'judge'")
        earlier = known.setdefault(_key(judgment), judgment)
        if earlier is judgment:
            added.append(judgment)
        elif earlier.grade != judgment.grade:
            problems.append(
                Problem(where, f"{judgment.target} is judged {earlier.grade} already: {judgment.grade} is left out")
            )
    return TruthFile(replace(truth, judgments=(*truth.judgments, *added)), tuple(problems))


def _key(judgment: Judgment) -> tuple[str, str, str]:
    return judgment.query_id, judgment.target, judgment.judge


def _judgment(record: Mapping[str, Any], queries: set[str], judge: str) -> Judgment | None:
    """Return what a row says, None where it says nothing yet."""
    said = record.get("grade")
    if said is None or (isinstance(said, str) and not said.strip()):
        return None
    grade = grade_of(said)
    if grade is None:
        raise InputError(f"'{said}' is no grade, wanted a whole number from 0 (wrong) up, or nothing")
    query_id, target = text_of(record.get("query_id")), text_of(record.get("target"))
    if query_id not in queries:
        raise InputError(f"the ground truth has no query '{query_id}'")
    if fault := fault_of_target(target):
        raise InputError(fault)
    return Judgment(query_id, target, grade, text_of(record.get("judge")) or judge, text_of(record.get("reason")))


def _records(file: Path, problems: list[Problem]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if rows.form_of(file) == "table":
        _, names = next(rows.cells(file, []), (1, []))
        if missing := [name for name in _NEEDED if name not in names]:
            raise InputError(f"{file} has no column '{missing[0]}'; {nearest(missing[0], names or ['none'])}")
    yield from rows.objects(file, problems)


def _harmless(name: str, cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; only what is not read back is changed."""
    return f"'{cell}" if name in {"query", "text"} and cell.startswith(_FORMULA) else cell
