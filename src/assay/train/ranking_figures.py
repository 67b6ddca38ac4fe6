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
from assay.search.features import ALL_FEATURES, FEATURES
from assay.search.ranking import SECOND_STAGE, Ranking, RankingName
from assay.search.retrievers import Array
from assay.train.card import page, rows_of
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

_OPENING = """
Written by `assay train ranking`, which also writes `manifest.json`: every setting, the versions of all libraries and a
hash of the queries. Use its folder with `--set search.weights=FOLDER`.
"""
_USE = """
Code search with the encoder `{encoder}` or one of its sort: the candidates of one query in, ordered and with the
probability that each is right. Not for comparing answers to different queries beyond that probability, and not for
rankers of programs.
"""
_MODEL = """
Two stages. The first scores all candidates (some 300) by {first} features, the second the best {second_code} of
code and {second_docs} of documentation by {all},
which `docs/formats.md` explains. Each is a linear part and, for each seed, a hidden layer of {hidden_code} units for
code, {hidden_docs} for documentation; {seeds} seeds, averaged. A third network, of {relevance_hidden} hidden units,
adds the same to every candidate of a query, as the corpus is likely to answer it or not.
"""
_TRAINING = """
Listwise softmax over the candidates of a query. A candidate's target is its grade times the square root of the
fraction of its lines that answer. AdamW, one cycle of {steps} steps of {batch} queries, rate {rate}, decay {decay_code}
(code) and {decay_docs} (documentation); {hide:.0%} of the features are hidden from each query. Seed {seed}.
"""
_RESULTS = """
Each query scored by weights that were learned without its repository and without its writer, where he is known
({folds} folds), strict measures over the first 20 hits, 95% bootstrap intervals over queries.
"""
_LIMITS = """
The queries were written and judged by few people, in English, for a few languages. Retraining with another seed moves
Hit@5 and MRR by about 0.01. *Nothing relevant here* is for questions of another field: the floor lets
{false_alarms:.0%} of the queries that are answered in the first five fall under it, and the tables say how many of
those put to a wrong repository, and of those that none answers, it catches.
"""


def ranking_card(trained: Sequence[TrainedRanking], settings: RankingSettings) -> str:
    """Return the model card of a run."""
    facts = {"first": len(FEATURES), "all": len(ALL_FEATURES), **asdict(settings)}
    facts |= {f"second_{name}": SECOND_STAGE[name] for name in ("code", "docs")}
    results = "\n\n".join(map(_results, trained))
    sections = {
        "Intended use": _USE.format_map(facts),
        "Model": _MODEL.format_map(facts),
        "Training": _TRAINING.format_map(facts),
        "Results": f"{_RESULTS.format_map(facts)}\n{results}",
        "Limits": _LIMITS.format_map(facts),
    }
    return page("Weights of the learned ranking", _OPENING, sections)


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
    parts = [
        f"### {trained.name}: {trained.queries:,} queries of {len(trained.repositories)} repositories",
        f"{', '.join(trained.repositories)}.",
        rows_of("measure | mean | interval", rows),
        rows_of("truth names | queries | list | measure | mean | interval", lists) if trained.lists else "",
    ]
    return "\n\n".join(filter(None, parts))
