"""Learn the order of a list: coordinate ascent on what is measured, over few weights.

Gradients of a softmax over candidates do not know that a second hit of a file adds nothing to a question for files, and
trees and networks over the same evidence carried over worse than a dozen weights (`docs/log.md`). So each weight is
moved while the mean figure of the questions rises: nDCG@10 of files where truth names files, half Hit@5 and half
reciprocal rank where it names lines, lines as a whole counting twice as much as files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.search.question import Question
from assay.search.ranking import EVIDENCE, FIXED, ORDER_WEIGHTS, ListEvidence, ListOrder
from assay.search.retrievers import Array
from assay.train.ranking_examples import RankingExample
from assay.train.ranking_figures import SystemFigures, figures_of

START = {
    "typed": 0.5,
    "typed_type": 0.3,
    "member_of_typed": 0.2,
    "parent_words": 0.35,
    "file_words": 0.3,
    "file_words_short": 0.4,
    "file_whole_short": 0.4,
    "file_how": 0.35,
    "file_topic": 0.15,
    "file_other": 0.05,
    "again_name": 0.1,
    "again_how": 0.4,
    "again_topic": 0.25,
    "again_other": 0.03,
}
"""Set by hand; the ascent starts here."""
FILES, LINES = "files", "lines"
"""What truth names as answers."""

_IMPORTANCE = {FILES: 1.0, LINES: 2.0}
_MOST_AGAIN = 0.6  # log odds that a further hit of a file may lose: the second may be the right one
_FIRST, _FIRST_LINES = 10, 5
_ROUNDS, _STEP, _LEAST_GAIN, _COST = 4, 0.3, 1e-5, 0.002  # the last is of a weight's size

_LEAST = np.array([-np.inf if name in EVIDENCE else 0.0 for name in ORDER_WEIGHTS])
_MOST = np.array([_MOST_AGAIN if name.startswith("again_") else np.inf for name in ORDER_WEIGHTS])

Scores = NDArray[np.float64]
_DISCOUNT = 1 / np.log2(np.arange(_FIRST) + 2)


@dataclass(frozen=True, slots=True)
class ListExample:
    """One question with the candidates of its list."""

    question: Question
    group: str
    manner: str
    odds: Scores
    """(candidates) what each is worth alone, in log odds."""
    listed: ListEvidence
    answers: NDArray[np.bool_]
    """(answers, candidates) which candidate shows which answer."""

    def figures(self, order: ListOrder | None) -> tuple[float, ...]:
        """Return nDCG@10 of files, or Hit@5 and reciprocal rank of lines, in this order."""
        odds = self.odds if order is None else order.scores(self.question, self.odds, self.listed)
        shown = self.answers[:, np.argsort(-odds, kind="stable")[: 2 * _FIRST]]
        if self.manner == FILES:
            ranks = np.unique([int(row.argmax()) for row in shown[:, :_FIRST] if row.any()]).astype(int)
            return (float(_DISCOUNT[ranks].sum() / _DISCOUNT[: len(self.answers)].sum()),)
        right = np.flatnonzero(shown.any(axis=0))
        return float(len(right) > 0 and right[0] < _FIRST_LINES), 1.0 / (right[0] + 1) if len(right) else 0.0


def list_example(example: RankingExample, odds: Array) -> ListExample:
    """Return what an order is learned from, of candidates with their log odds: the best of each unit."""
    best = np.argsort(-odds, kind="stable")
    _, first = np.unique(example.units[best], return_index=True)
    kept = np.sort(best[first])
    right = [entry.span for entry in example.judged.entries if entry.grade]
    spans = [example.spans[at] for at in kept]
    return ListExample(
        example.question,
        example.judged.group,
        FILES if example.judged.names_files else LINES,
        odds[kept].astype(np.float64),
        example.listed.only(kept.tolist()),
        np.array([[span.overlaps(one) for one in spans] for span in right], bool).reshape(len(right), -1),
    )


def fit_order(examples: Sequence[ListExample]) -> ListOrder:
    """Return the weights with the best mean figures, within bounds for what follows in a file."""
    weights = ListOrder.of(START).weights
    step = np.full(len(weights), _STEP)
    best = _worth(examples, weights)
    for _ in range(_ROUNDS):
        before = best
        for at in (at for at, name in enumerate(ORDER_WEIGHTS) if name not in FIXED):
            for change in (step[at], -step[at]):
                tried = weights.copy()
                tried[at] += change
                if not (tried >= _LEAST).all() or not (tried <= _MOST).all():
                    continue
                worth = _worth(examples, tried)
                if worth > best + _LEAST_GAIN:
                    best, weights = worth, tried
                    step[at] *= 1.3
                    break
            else:
                step[at] /= 2
        if best == before:
            break
    return ListOrder(weights)


def _worth(examples: Sequence[ListExample], weights: Scores) -> float:
    order, figures = ListOrder(weights), dict[str, list[float]]()
    for one in examples:
        figures.setdefault(one.manner, []).append(float(np.mean(one.figures(order))))
    gained = sum(_IMPORTANCE[manner] * float(np.mean(values)) for manner, values in figures.items())
    return gained - _COST * float(np.abs(weights).sum())


def order_figures(examples: Sequence[ListExample], folds: int) -> list[SystemFigures]:
    """Return how lists do with an order that was learned without their repository and writer, and without any."""
    groups = {name: at % folds for at, name in enumerate(sorted({one.group for one in examples}))}
    orders = [fit_order([one for one in examples if groups[one.group] != fold]) for fold in range(folds)]
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for one in examples:
        found.setdefault((one.manner, "by score"), []).append(one.figures(None))
        found.setdefault((one.manner, "as a list"), []).append(one.figures(orders[groups[one.group]]))
    names = {FILES: ("nDCG@10",), LINES: ("Hit@5", "MRR")}
    return [
        SystemFigures(manner, system, len(of), figures_of(dict(zip(names[manner], np.array(of).T, strict=True))))
        for (manner, system), of in found.items()
    ]
