"""Scored examples to figures: the measures of one mode, and of all that was asked beside the plain orders.

The plain orders (words, words and meaning by rank or by score) rank the same candidates by two of their features; they
have learned nothing, so they tell what the learning is worth, for each kind of question and for each writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.measure.compare import interval
from assay.measure.line_spans import Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.search.combine import by_rank, by_score
from assay.search.features import FEATURES
from assay.search.lexical import Array
from assay.search.ranking import RankingName
from assay.search.ranking_examples import JudgedQuery, RankingExample
from assay.search.trained_ranking import RankingFigure, SystemFigures
from assay.types import Chunk, Hit

MEASURES = ("Hit@5", "MRR", "nDCG@10", "lines@5")
COMPARED = ("Hit@5", "MRR")
HARD = "hard"
"""The tag `kind` of queries that share no telling word with their answer."""

_HITS = 20  # that are measured
_FEWEST = 10  # queries of a row of the table
_NOWHERE = Chunk("", "")

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoredExample:
    """The candidates of the second stage with their scores."""

    example: RankingExample
    scores: Array


@dataclass(frozen=True, slots=True)
class RankedAnswer:
    """A query with what was found for it, best first."""

    judged: JudgedQuery
    spans: tuple[Span, ...]


def measured(results: Sequence[ScoredExample]) -> dict[str, Values]:
    """Return the strict measures of each query by name; `hard …` are of the hard ones alone."""
    answered = [RankedAnswer(one.example.judged, _ordered(one.example.spans, one.scores)) for one in results]
    values = _values(answered, MEASURES)
    hard = np.array([one.judged.query.tags.get("kind") == HARD for one in answered])
    return values | ({f"{HARD} Hit@5": values["Hit@5"][hard]} if hard.any() else {})


def figures_of(values: Mapping[str, Values]) -> tuple[RankingFigure, ...]:
    """Return the mean of each measure with its interval."""
    return tuple(RankingFigure(name, float(one.mean()), *interval(one)) for name, one in values.items())


def compared(
    scored: Sequence[ScoredExample],
    examples: Sequence[RankingExample],
    probability: Mapping[RankingName, Callable[[Array], Array]],
) -> list[SystemFigures]:
    """Return how the learned order does beside the plain ones, for all queries, each mode, kind and writer.

    `examples` are the same queries with all of their candidates. A query about code and documentation has one list, in
    the order of calibrated probabilities.
    """
    learned = [(one.example, probability[one.example.ranking](one.scores)) for one in scored]
    systems = {"learned": _merged(learned)}
    for name, order in _PLAIN.items():
        systems[name] = _merged([(one, one.rows[:, _USED]) for one in examples], order)
    values = {name: _values(answers, COMPARED) for name, answers in systems.items()}
    asked = [answer.judged for answer in systems["learned"]]
    return [
        SystemFigures(group, name, int(chosen.sum()), figures_of({m: one[chosen] for m, one in values[name].items()}))
        for group, chosen in _groups(asked)
        for name in systems
    ]


def _groups(asked: Sequence[JudgedQuery]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the rows of the table: everything, then what modes, kinds and writers there are."""
    yield "all", np.ones(len(asked), dtype=bool)
    tags = (
        ("mode", [one.query.mode for one in asked]),
        ("kind", [one.query.tags.get("kind", "") for one in asked]),
        ("writer", [one.query.tags.get("writer", "") for one in asked]),
    )
    for tag, values in tags:
        for value in sorted(set(values) - {""}):
            chosen = np.array([each == value for each in values])
            if chosen.sum() >= _FEWEST:
                yield f"{tag} {value}", chosen


def _merged(
    sides: Sequence[tuple[RankingExample, Array]], order: Callable[[Array], Array] | None = None
) -> list[RankedAnswer]:
    """Return one answer a query, its code and its documentation in one list."""
    together: dict[int, list[tuple[RankingExample, Array]]] = {}
    for example, scores in sides:
        together.setdefault(id(example.judged), []).append((example, scores))
    answers = []
    for parts in together.values():
        spans = [span for example, _ in parts for span in example.spans]
        scores = np.concatenate([scores for _, scores in parts])
        answers.append(RankedAnswer(parts[0][0].judged, _ordered(spans, scores if order is None else order(scores))))
    return answers


def _ordered(spans: Sequence[Span], scores: Array) -> tuple[Span, ...]:
    return tuple(spans[at] for at in np.argsort(-scores, kind="stable")[:_HITS])


def _values(answers: Sequence[RankedAnswer], names: Sequence[str]) -> dict[str, Values]:
    run = {str(at): list(one.spans) for at, one in enumerate(answers)}
    matched = match(run, {str(at): one.judged.entries for at, one in enumerate(answers)}, "line")
    return {name: parse(name).of(matched) for name in names}


# --- plain orders of candidates: columns are the score of words and the cosine

_USED = [FEATURES.index("lexical"), FEATURES.index("dense")]


def _fused(worth: Callable[[Sequence[Hit]], list[float]]) -> Callable[[Array], Array]:
    def order(columns: Array) -> Array:
        total = np.zeros(len(columns), dtype=np.float32)
        for column in columns.T:
            best = np.argsort(-column, kind="stable")
            total[best] += np.array(worth([Hit(_NOWHERE, score, {}) for score in column[best].tolist()]), np.float32)
        return total

    return order


_PLAIN: Mapping[str, Callable[[Array], Array]] = {
    "linear": _fused(by_score),
    "rrf": _fused(by_rank),
    "keywords": lambda columns: columns[:, 0],
}
