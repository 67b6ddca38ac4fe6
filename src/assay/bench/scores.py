"""The answers of one system to one set of queries in, its figures at every unit out.

One run is measured by line ranges (strict, and as octocode's script does), by function and by file. A ground truth of
whole documents has files only. Values are kept for each query, so that systems are compared in pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.bench.results import Figures, GroupFigures
from assay.bench.system_corpus import SystemCorpus, lines_of
from assay.corpus.functions import functions
from assay.measure.compare import interval
from assay.measure.line_spans import Span, Unit
from assay.measure.matched import Matched, match
from assay.measure.measures import Measure
from assay.report.document import Mean
from assay.terms import tokens
from assay.truth.ground_truth import Qrels

Values = NDArray[np.float64]

Units = Sequence[tuple[int, int, str]]
"""First line, last line and name of what a file declares."""

_GROUPS = ("kind", "folder", "language", "source", "split")
"""Tags that measures are told by."""
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Scored:
    """One system on one set."""

    values: Mapping[Unit, Mapping[str, Values]]
    """By unit and measure, one value a query in the order of the set's."""
    unjudged: float
    """The share of its first ten results that nobody judged."""
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By tag, its value for each query."""
    seed: int = 0
    """Of the intervals."""

    def figures(self) -> Figures:
        """Return mean and 95% interval by unit and measure."""
        return {unit: self._means(values, slice(None)) for unit, values in self.values.items()}

    def groups(self) -> dict[str, dict[str, GroupFigures]]:
        """Return the figures of each group of queries, by tag and its value; a tag with one value says nothing."""
        return {tag: dict(self._grouped(values)) for tag, values in self.tags.items() if len(set(values)) > 1}

    def _grouped(self, told: Sequence[str]) -> Iterator[tuple[str, GroupFigures]]:
        members: dict[str, list[int]] = defaultdict(list)
        for place, value in enumerate(told):
            members[value or "(none)"].append(place)
        for value, places in sorted(members.items()):
            figures: Figures = {unit: self._means(values, np.array(places)) for unit, values in self.values.items()}
            yield value, GroupFigures(len(places), figures)

    def _means(self, values: Mapping[str, Values], members: Any) -> dict[str, Mean]:
        chosen = {name: every[members] for name, every in values.items()}
        return {name: Mean(_mean(some), *interval(some, seed=self.seed)) for name, some in chosen.items() if len(some)}


def score(
    truth: Qrels,
    answers: Mapping[str, Sequence[Span]],
    corpus: SystemCorpus,
    measures: Sequence[Measure],
    *,
    seed: int = 0,
) -> Scored:
    """Measure ranked answers; a query without one counts zero."""
    reader = _Reader(corpus)
    values: dict[Unit, dict[str, Values]] = {}
    judged = 0.0
    for unit in truth.units:
        matched = match(answers, truth.entries, unit, cost=reader.cost, units=reader.functions)
        computed = {str(measure): measure.of(matched) for measure in measures}
        values[unit] = {name: each for name, each in computed.items() if not np.isnan(each).any()}  # lines of a file
        if unit == truth.units[0]:
            judged = _judged(matched)
    tags = {tag: [query.tags.get(tag, "") for query in truth.queries] for tag in _GROUPS}
    return Scored(values, 1 - judged, tags, seed)


def _judged(matched: Matched) -> float:
    """Return the share of the results within reach of a reader that somebody judged."""
    filled = int(np.minimum(matched.filled, _DEPTH).sum())
    return float(matched.judged[:, :_DEPTH].sum()) / filled if filled else 1.0


def _mean(values: Values) -> float:
    """Add up in order, for then a figure equals that of a plain loop to the last digit."""
    return float(sum(values.tolist())) / len(values)


class _Reader:
    """What measuring has to know of a corpus; each file is read and cut once."""

    def __init__(self, corpus: SystemCorpus) -> None:
        self._corpus = corpus
        self._files = {document.id: document.path for document in corpus.documents}
        self.lines = cache(self._lines)
        self.functions = cache(self._functions)

    def cost(self, span: Span) -> int:
        """Return how many tokens a reader pays for a result."""
        lines = self.lines(span.path)
        return tokens("\n".join(lines[span.start - 1 : span.end] if span.start else lines))

    def _lines(self, path: str) -> list[str]:
        return lines_of(self._corpus, self._files.get(path, path))

    def _functions(self, path: str) -> Units:
        return functions(path, "\n".join(self.lines(path)))
