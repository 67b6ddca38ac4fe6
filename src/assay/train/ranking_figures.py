"""Measure scored examples: the measures of one mode, and of all queries beside the plain orders.

The plain orders (words, words and meaning by rank or by score) rank the same candidates by two of their features; they
have learned nothing, so they tell what the learning is worth, for each kind of question and for each writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from assay.measure.compare import interval
from assay.measure.line_spans import Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.search.features import ALL_FEATURES, FEATURES
from assay.search.ranking import SECOND_STAGE, Ranking, RankingName
from assay.search.retrievers import Array, by_rank, by_score
from assay.train.card import page, rows_of
from assay.train.ranking_examples import JudgedQuery, RankingExample
from assay.train.settings import RankingSettings
from assay.values import Chunk, Hit


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
COMPARED = ("Hit@5", "MRR")
HARD = "hard"
"""The tag `kind` of queries that share no telling word with their answer."""

_HITS = 20  # that are measured
_FEWEST = 10  # queries of a row of the table
_NOWHERE = Chunk("", "")

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
    queries = [judged for judged, _ in systems["learned"]]
    return [
        SystemFigures(group, name, int(chosen.sum()), figures_of({m: one[chosen] for m, one in values[name].items()}))
        for group, chosen in _groups(queries)
        for name in systems
    ]


def _groups(queries: Sequence[JudgedQuery]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the rows of the table: everything, then what modes, kinds and writers there are."""
    yield "all", np.ones(len(queries), dtype=bool)
    for tag in ("mode", "kind", "writer"):
        values = [one.query.mode if tag == "mode" else one.query.tags.get(tag, "") for one in queries]
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
    answers: list[RankedAnswer] = []
    for parts in together.values():
        spans = [span for example, _ in parts for span in example.spans]
        scores = np.concatenate([scores for _, scores in parts])
        answers.append((parts[0][0].judged, _ordered(spans, scores if order is None else order(scores))))
    return answers


def _ordered(spans: Sequence[Span], scores: Array) -> list[Span]:
    return [spans[at] for at in np.argsort(-scores, kind="stable")[:_HITS]]


def _values(answers: Sequence[RankedAnswer], names: Sequence[str]) -> dict[str, Values]:
    run = {str(at): spans for at, (_, spans) in enumerate(answers)}
    matched = match(run, {str(at): judged.entries for at, (judged, _) in enumerate(answers)}, "line")
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
_PLAIN_ORDERS = """
The same candidates in the learned order, by the sum of the standardized scores of words and vectors (`linear`), by the
sum of their reciprocal ranks (`rrf`) and by words alone (`keywords`): Hit@5 / MRR. A query about code and documentation
(mode `all`) has one list.
"""
_LIMITS = """
The queries were written and judged by few people, in English, for a few languages. Retraining with another seed moves
Hit@5 and MRR by about 0.01. *Nothing relevant here* is for questions of another field: the floor lets
{false_alarms:.0%} of the queries that are answered in the first five fall under it, and the tables say how many of
those put to a wrong repository, and of those that none answers, it catches.
"""


def ranking_card(trained: Sequence[TrainedRanking], table: Sequence[SystemFigures], settings: RankingSettings) -> str:
    """Return the model card of a run."""
    facts = {"first": len(FEATURES), "all": len(ALL_FEATURES), **asdict(settings)}
    facts |= {f"second_{name}": SECOND_STAGE[name] for name in ("code", "docs")}
    results = "\n\n".join(map(_results, trained))
    sections = {
        "Intended use": _USE.format_map(facts),
        "Model": _MODEL.format_map(facts),
        "Training": _TRAINING.format_map(facts),
        "Results": f"{_RESULTS.format_map(facts)}\n{results}",
        "Beside plain orders": f"{_PLAIN_ORDERS}\n{_compared(table)}",
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


def _compared(table: Sequence[SystemFigures]) -> str:
    """Return a row a group of queries and a column a system."""
    rows: dict[str, list[object]] = {}
    for one in table:
        hit, mrr = one.figures
        cells = rows.setdefault(one.group, [one.group, one.queries])
        cells.append(f"{hit.value:.3f} [{hit.low:.3f}, {hit.high:.3f}] / {mrr.value:.3f}")
    return rows_of(" | ".join(("queries", "number", *dict.fromkeys(one.system for one in table))), rows.values())
