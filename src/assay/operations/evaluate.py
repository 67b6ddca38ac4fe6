"""Offer `assay.evaluate`: the measures of a run against judgments, with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.errors import InputError
from assay.measure.agreement import Estimate
from assay.measure.compare import interval
from assay.measure.line_spans import Entry, Span, span_of
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.operations.hits import FoundUnit
from assay.values import Hit, Judgment

Run = Mapping[str, Iterable[FoundUnit | Hit | str]]
"""The results of each query by its id, best first: hits, or targets such as `path:3-9` and `path`."""
Grades = Mapping[str, Mapping[str, int] | Iterable[str]]
"""The targets of each query by its id, with their grades; targets alone are right."""
MEASURES = ("Hit@5", "MRR", "nDCG@10")


def evaluate(
    run: Run, qrels: Grades | Iterable[Judgment], measures: Sequence[str] = MEASURES, *, seed: int = 0
) -> dict[str, Estimate]:
    """Return the mean of each measure over the queries that were judged, with its 95% bootstrap interval.

    A result is right where its lines meet a target's; where no target has lines, files are compared. A query without
    results counts 0. Raises `assay.InputError` for an unknown measure and for a target that cannot be read.

    >>> import assay
    >>> run = {"1": assay.search("where is mail sent", "."), "2": ["web/router.js", "README.md"]}
    >>> figures = assay.evaluate(run, {"1": ["mail/send.py"], "2": {"README.md": 1}}, ["Hit@1", "MRR"])
    >>> figures["MRR"].value, figures["Hit@1"].value
    (0.75, 0.5)
    >>> figures["MRR"].low <= 0.75 <= figures["MRR"].high
    True
    """
    grades = _grades(qrels)
    if not grades:
        raise InputError("nothing was judged: give the right targets of each query, such as {'1': ['mail/send.py']}")
    truth = {key: [Entry(span_of(target), grade) for target, grade in found.items()] for key, found in grades.items()}
    has_lines = any(entry.span.start for entries in truth.values() for entry in entries)
    results = {key: [_span(result) for result in run.get(key, ())] for key in truth}
    matched = match(results, truth, "line" if has_lines else "file")
    values = {str(measure): measure.of(matched) for measure in map(parse, measures)}
    return {name: Estimate(float(each.mean()), *interval(each, seed=seed)) for name, each in values.items()}


def _grades(qrels: Grades | Iterable[Judgment]) -> dict[str, dict[str, int]]:
    """Return the grade of each target; of several judges the highest counts."""
    if isinstance(qrels, Mapping):
        return {key: dict(each) if isinstance(each, Mapping) else dict.fromkeys(each, 1) for key, each in qrels.items()}
    grades: dict[str, dict[str, int]] = {}
    for judgment in qrels:
        targets = grades.setdefault(judgment.query_id, {})
        targets[judgment.target] = max(judgment.grade, targets.get(judgment.target, 0))
    return grades


def _span(result: FoundUnit | Hit | str) -> Span:
    if isinstance(result, str):
        return span_of(result)
    chunk = result.chunk
    return Span(chunk.path, chunk.start_line, chunk.end_line) if chunk.path else Span(chunk.id)
