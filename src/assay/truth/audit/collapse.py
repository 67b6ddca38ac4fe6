"""A ground truth with twins in, one where each group of them is one document out.

Else the noise of floating point, or the order of a file, decides which of several equal texts is found first, and the
others count as wrong. The first document of a group stays, with every judgment of the group; of several by one judge
for one query the highest grade does, and the others are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.errors import InputError
from assay.truth.audit.shingles import Numbers
from assay.truth.audit.twins import clusters
from assay.truth.ground_truth import Truth, TruthFile
from assay.types import Judgment, Problem


def collapsed(truth: Truth, groups: Numbers) -> TruthFile:
    """Make each group of documents one; the problems are the judgments that contradicted a higher one."""
    if not truth.documents:
        raise InputError(f"'{truth.name}' has no documents to make one: twins in a checkout stay two places")
    names = [document.path or document.id for document in truth.documents]
    first = {names[place]: names[group[0]] for group in clusters(groups) for place in group}
    kept = tuple(each for each, name in zip(truth.documents, names, strict=True) if first.get(name, name) == name)
    judgments, problems = _moved(truth.judgments, first)
    hidden = tuple(dict.fromkeys(first.get(target, target) for target in truth.hidden))
    return TruthFile(replace(truth, documents=kept, judgments=judgments, hidden=hidden), problems)


def _moved(judgments: Sequence[Judgment], first: dict[str, str]) -> tuple[tuple[Judgment, ...], tuple[Problem, ...]]:
    best: dict[tuple[str, str, str], Judgment] = {}
    problems = []
    for judgment in judgments:
        moved = replace(judgment, target=first.get(judgment.target, judgment.target))
        key = moved.query_id, moved.target, moved.judge
        other = best.setdefault(key, moved)
        if other.grade != moved.grade:
            high, low = sorted((other, moved), key=lambda each: -each.grade)
            best[key] = high
            problems.append(_problem_of(high, low, judgment))
    return tuple(best.values()), tuple(problems)


def _problem_of(high: Judgment, low: Judgment, judgment: Judgment) -> Problem:
    by = f" by {high.judge}" if high.judge else ""
    where = high.target if judgment.target == high.target else f"{high.target} (its twin {judgment.target})"
    return Problem(high.query_id, f"{where} is judged {high.grade} and {low.grade}{by}; {high.grade} stays")
