"""Labels of what systems found in, a ground truth with new right answers out, as text that can be compared.

A label adds an answer, or overturns what stood there; one that says the same again changes nothing, whatever its scale.
Only lines that change are written anew, with the ends that a file has, so that the difference shows nothing else.
A line ends at a line feed, as where rows are counted: texts may hold other separators.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.errors import InputError
from assay.io.rows import on_disk
from assay.truth.formats.jsonl_truth import record_of
from assay.truth.ground_truth import Truth, TruthFile
from assay.truth.truth_formats import form_of, write
from assay.types import Judgment, Problem

_OWN = "jsonl"
_ANSWERS = 2


@dataclass(frozen=True, slots=True)
class Correction:
    """What labels change in a ground truth."""

    right: tuple[Judgment, ...] = ()
    """New right answers."""
    wrong: tuple[Judgment, ...] = ()
    """What was found, and answers nothing."""
    overturned: tuple[tuple[int, Judgment], ...] = ()
    """Judgments that stand there, by their place, each with the one that takes it."""
    same: int = 0
    """Labels that say what stood there."""
    problems: tuple[Problem, ...] = ()


def correction_of(truth: Truth, labels: Iterable[Judgment]) -> Correction:
    """Compare labels with a ground truth; of several for one pair the first counts."""
    known: dict[tuple[str, str], int] = {}
    for at, each in enumerate(truth.judgments):
        known.setdefault((each.query_id, each.target), at)
    queries = {query.id for query in truth.queries}
    labels = list(labels)
    graded = _graded(truth.judgments) & _graded(labels)
    right, wrong, problems = list[Judgment](), list[Judgment](), list[Problem]()
    overturned, said, same = list[tuple[int, Judgment]](), set[tuple[str, str]](), 0
    for label in labels:
        key = label.query_id, label.target
        if key[0] not in queries or key in said:
            why = "was labelled before: the first label counts" if key in said else "is of a query that nobody asks"
            problems.append(Problem(label.query_id, f"{label.target} {why}"))
            continue
        said.add(key)
        if key not in known:
            (right if label.grade else wrong).append(label)
        elif _says(truth.judgments[known[key]].grade, graded) != _says(label.grade, graded):
            overturned.append((known[key], label))
        else:
            same += 1
    return Correction(tuple(right), tuple(wrong), tuple(overturned), same, tuple(problems))


def _graded(judgments: Iterable[Judgment]) -> bool:
    """Say whether grades are 0, 1 and 2; below 2 they may be plain labels."""
    return max((each.grade for each in judgments), default=0) == _ANSWERS


def _says(grade: int, graded: bool) -> int:  # noqa: FBT001  # what is compared, and how
    return grade if graded else int(bool(grade))


def corrected(truth: Truth, correction: Correction, *, keep_wrong: bool = False) -> Truth:
    """Return a ground truth with a correction; what was judged wrong is kept on demand, to be asked no more."""
    held = dict(correction.overturned)
    judgments = [held.get(at, each) for at, each in enumerate(truth.judgments)]
    return replace(truth, judgments=(*judgments, *_added(correction, keep_wrong=keep_wrong)))


def corrected_text(
    reading: TruthFile, path: Path, correction: Correction, *, keep_wrong: bool = False
) -> tuple[str, str, list[str]]:
    """Return the text of a file as it is and as it would be, and what its format cannot hold of that."""
    if path.is_dir() or on_disk(path).suffix in {".gz", ".zst"}:
        raise InputError(f"'{path}' is a folder or compressed: make it JSON lines first, with assay truth convert")
    before = _text_of(path)
    form = form_of(path)
    if form == _OWN:
        return before, _edited(before, reading, correction, keep_wrong=keep_wrong), []
    with TemporaryDirectory(prefix="assay-") as folder:
        new = Path(folder) / path.name
        dropped = write(corrected(reading.truth, correction, keep_wrong=keep_wrong), new, form, lossy=True)
        after = _text_of(new)
    if on_disk(path).suffix == ".csv":
        return before, _with_rows_that_stay(before, after), dropped
    return before, "".join(_ended(line, before) for line in _lines(after)), dropped


def difference(before: str, after: str, name: str) -> str:
    """Return a unified difference, as `patch` reads it; empty where there is none."""
    old, new = _lines(before), _lines(after)
    return "".join(unified_diff(old, new, f"a/{name}", f"b/{name}", n=0))


def _with_rows_that_stay(before: str, after: str) -> str:
    """Return a table with the rows of an earlier one in the place of those that say the same, as they were written."""
    old, new = _lines(before), _lines(after)
    if len(old) != len(new) or list(csv.reader(new)) != [row for line in new for row in csv.reader([line])]:
        return after  # a cell goes over several lines
    rows = zip(old, new, strict=True)
    return "".join(one if _cells(one) == _cells(other) else _ended(other, before) for one, other in rows)


def _text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig")  # line ends stay as they are


def _lines(text: str) -> list[str]:
    return list(StringIO(text, newline="\n"))


def _ended(line: str, before: str) -> str:
    """Return a line with the end that the first line of a text has."""
    first = before.partition("\n")[0]
    return line.removesuffix("\n").removesuffix("\r") + ("\r\n" if first.endswith("\r") else "\n")


def _cells(line: str) -> list[str]:
    cells = next(csv.reader([line]), [])
    while cells and not cells[-1].strip():
        cells.pop()
    return cells


def _edited(before: str, reading: TruthFile, correction: Correction, *, keep_wrong: bool) -> str:
    lines = _lines(before)
    for at, judgment in correction.overturned:
        lines[reading.rows[at] - 1] = _ended(_line(judgment), before)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] = _ended(lines[-1], before)
    added = _added(correction, keep_wrong=keep_wrong)
    return "".join([*lines, *(_ended(_line(each), before) for each in added)])


def _added(correction: Correction, *, keep_wrong: bool) -> tuple[Judgment, ...]:
    return (*correction.right, *correction.wrong) if keep_wrong else correction.right


def _line(judgment: Judgment) -> str:
    return json.dumps(record_of(judgment), ensure_ascii=False) + "\n"
