"""Annotators against labels of people as systems of an experiment: the value of a query is how many pairs were right.

Labels of one query are given with one reading of it, so that the query is the unit that is drawn and whose signs are
flipped: its value is the number of its pairs that were labelled as the truth has them, scaled so that the mean over
queries is the accuracy over pairs. A pair that was left undecided is not right (`of_all`); precision, recall, F1 and
kappa are figures with intervals, of which no test is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assay.bench.experiment import concluded
from assay.bench.results import MeasuredCell, MeasuredQuery, MeasuredSet, MeasuredSystem, Results, plain_cell
from assay.bench.scores import manifest_from
from assay.errors import InputError
from assay.judge.labels import LabelAgreement, Labels
from assay.measure.agreement import AgainstTruth
from assay.report.document import Mean
from assay.runs.record import manifest

UNIT = "pair"
MEASURES = ("of_all", "accuracy", "precision", "recall", "f1", "kappa")
"""The first one decides."""


@dataclass(frozen=True, slots=True)
class _Truth:
    """What is the same for all annotators."""

    truth: tuple[str, ...]
    sample: str = ""
    """How the pairs were drawn; empty where all were taken."""


def results_of(found: LabelAgreement, labels: Labels, command: str, sample: str = "") -> Results:
    """Return agreement with the truth as any experiment has it; `command` is what was typed."""
    if not found.truth:
        raise InputError("nothing says which labels are right: give the truth with --gold FILE")
    name = " + ".join(found.truth)
    places = [place for place, truth in enumerate(labels.truth) if truth is not None]
    known = [labels.queries[place] for place in places]
    queries = tuple(MeasuredQuery(query, query, {}, ()) for query in dict.fromkeys(known))
    cells = []
    for annotator, against in found.against.items():
        right = [labels.by_annotator[annotator][place] == labels.truth[place] for place in places]
        values = _by_query(known, right)
        cells.append(_cell(name, annotator, against, values))
    results = Results(
        format=1,
        manifest=manifest_from(manifest(_Truth(found.truth, sample), seed=0), MEASURES, 0, command, "labelling"),
        sets={name: MeasuredSet("", name, "", queries, ())},
        unusable={},
        systems={each: MeasuredSystem(each, "", "", {}, each, how="saved") for each in found.against},
        cells=tuple(cells),
        comparisons=(),
    )
    return concluded(results, all_pairs=True)


def _by_query(queries: Sequence[str], right: Sequence[bool]) -> tuple[float, ...]:
    """Return one value a query, whose mean is the fraction of all pairs that are right."""
    count: Counter[str] = Counter(dict.fromkeys(queries, 0))
    for query, good in zip(queries, right, strict=True):
        count[query] += good
    return tuple(good * len(count) / len(queries) for good in count.values())


def _cell(name: str, annotator: str, against: AgainstTruth, values: tuple[float, ...]) -> MeasuredCell:
    estimates = {measure: getattr(against, measure) for measure in MEASURES}
    figures = {name: Mean(one.value, one.low, one.high) for name, one in estimates.items() if one.value == one.value}
    return plain_cell(name, annotator, UNIT, len(values), figures, {MEASURES[0]: values})
