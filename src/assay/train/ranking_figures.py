"""Measure scored examples, and write the card of a ranking.

What the learning is worth beside plain orders (`keywords`, `rrf`, `linear`), `assay bench` measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from assay.measure.compare import interval
from assay.measure.line_spans import Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.search.features import FEATURES
from assay.search.ranking import SECOND_STAGE, Ranking, RankingName
from assay.search.retrievers import Array
from assay.search.text_features import ALL_FEATURES
from assay.train.card import filled, rows_of
from assay.train.ranking_examples import JudgedQuery, RankingExample
from assay.train.settings import RankingSettings


@dataclass(frozen=True, slots=True)
class RankingFigure:
    """One measure with its 95% interval over queries."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """How one way of ordering does on one group of queries."""

    group: str
    """`all`, or a mode, a kind or a writer."""
    system: str
    queries: int
    figures: tuple[RankingFigure, ...]


@dataclass(frozen=True, slots=True)
class TrainedRanking:
    """The ranking of one name, learned from everything, with figures of the cross-validation."""

    name: RankingName
    queries: int
    mined: int
    """Queries that commits ask, which are learned from beside these."""
    repositories: tuple[str, ...]
    figures: tuple[RankingFigure, ...]
    rejected: float | None
    """The fraction of queries put to a wrong repository that fall below the floor; None if there were none."""
    foreign_rejected: float | None
    """The same of queries that no repository answers."""
    ranking: Ranking
    lists: tuple[SystemFigures, ...] = ()
    """How lists do by score alone and in the learned order, for each manner of truth."""


MEASURES = ("Hit@5", "MRR", "nDCG@10", "lines@5")
HARD = "hard"
"""The tag `kind` of queries that share no telling word with their answer."""

_HITS = 20  # that are measured

Values = NDArray[np.float64]
RankedAnswer = tuple[JudgedQuery, list[Span]]
"""A query with where its hits stand, best first."""


@dataclass(frozen=True, slots=True)
class ScoredExample:
    """The candidates of the second stage with their scores."""

    example: RankingExample
    scores: Array


def measured(results: Sequence[ScoredExample]) -> dict[str, Values]:
    """Return the strict measures of each query by name; `hard …` are of the hard ones alone."""
    answered = [(one.example.judged, _ordered(one.example.spans, one.scores)) for one in results]
    values = _values(answered, MEASURES)
    hard = np.array([judged.query.tags.get("kind") == HARD for judged, _ in answered])
    return values | ({f"{HARD} Hit@5": values["Hit@5"][hard]} if hard.any() else {})


def figures_of(values: Mapping[str, Values]) -> tuple[RankingFigure, ...]:
    """Return the mean of each measure with its interval."""
    return tuple(RankingFigure(name, float(one.mean()), *interval(one)) for name, one in values.items())


def _ordered(spans: Sequence[Span], scores: Array) -> list[Span]:
    return [spans[at] for at in np.argsort(-scores, kind="stable")[:_HITS]]


def _values(answers: Sequence[RankedAnswer], names: Sequence[str]) -> dict[str, Values]:
    run = {str(at): spans for at, (_, spans) in enumerate(answers)}
    matched = match(run, {str(at): judged.entries for at, (judged, _) in enumerate(answers)}, "line")
    return {name: parse(name).of(matched) for name in names}


# --- the model card


def ranking_card(trained: Sequence[TrainedRanking], settings: RankingSettings) -> str:
    """Return the model card of a run."""
    facts = {"first": len(FEATURES), "all": len(ALL_FEATURES), **asdict(settings)}
    facts |= {f"second_{name}": SECOND_STAGE[name] for name in ("code", "docs")}
    return filled("ranking", {**facts, "results": "\n\n".join(map(_results, trained))})


def _results(trained: TrainedRanking) -> str:
    rows = [(one.name, f"{one.value:.3f}", f"{one.low:.3f} to {one.high:.3f}") for one in trained.figures]
    foreign = (
        ("put to a wrong repository", trained.rejected),
        ("that no repository answers", trained.foreign_rejected),
    )
    rows += [(f"{name}, and rejected", f"{value:.3f}", "") for name, value in foreign if value is not None]
    lists = (
        (each.group, each.queries, each.system, one.name, f"{one.value:.3f}", f"{one.low:.3f} to {one.high:.3f}")
        for each in trained.lists
        for one in each.figures
    )
    mined = f", and {trained.mined:,} that commits ask" if trained.mined else ""
    parts = [
        f"### {trained.name}: {trained.queries:,} queries of {len(trained.repositories)} repositories{mined}",
        f"{', '.join(trained.repositories)}.",
        rows_of("measure | mean | interval", rows),
        rows_of("truth names | queries | list | measure | mean | interval", lists) if trained.lists else "",
    ]
    return "\n\n".join(filter(None, parts))
