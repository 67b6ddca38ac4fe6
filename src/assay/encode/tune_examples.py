"""Judged pairs to the examples of each objective: right ones against the batch with wrong ones beside them, or grades.

A code that was judged wrong for a query stands beside each right code of that query. A query that has no right code
stands, as a wrong query, beside the right query of the same code. A wrong pair of neither kind is pushed apart by its
cosine, as grades are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.encode.recipes import Recipe
from assay.encode.split_queries import code_of, words_of
from assay.encode.training_pairs import TrainingPair
from assay.encode.tune_settings import TuneSettings

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class TuneExamples:
    """Rows by objective; the first text of a row asks, the second is right, the others are wrong."""

    right: Rows
    """A query and its code."""
    wrong_codes: Rows
    """The same, and codes that were judged wrong."""
    wrong_queries: Rows
    """A code, its query, and queries for which that code was judged wrong."""
    graded: Rows
    """A query, a code, and how near they should be from 0 to 1."""

    def named(self) -> dict[str, Rows]:
        """Return those that there are, by name."""
        every = {name: getattr(self, name) for name in ("right", "wrong_codes", "wrong_queries", "graded")}
        return {name: rows for name, rows in every.items() if rows}


def examples_of(pairs: Sequence[TrainingPair], recipe: Recipe, settings: TuneSettings) -> TuneExamples:
    """Return what is learned from pairs, with the prefixes that the model wants."""
    random = np.random.default_rng(settings.seed)
    wrong = [pair for pair in pairs if not pair.grade] if settings.negatives else []
    by_query = _by_text(wrong, "query")
    right: Rows = []
    wrong_codes: Rows = []
    answered = {words_of(pair.query) for pair in pairs if pair.grade}
    asked_wrong = _by_text([pair for pair in wrong if words_of(pair.query) not in answered], "code")
    wrong_queries: Rows = []
    used: set[str] = set()
    for pair in pairs:
        if not pair.grade:
            continue
        query, code = recipe.query + pair.query, recipe.code + pair.code
        codes = by_query.get(words_of(pair.query), [])
        beside = _some(codes, settings.negatives, random)
        (wrong_codes if beside else right).append(
            {"query": query, "code": code} | {f"wrong_{at}": recipe.code + one for at, one in enumerate(beside)}
        )
        queries = asked_wrong.get(code_of(pair.code), [])
        used.update(queries)
        if queries:
            others = _some(queries, settings.negatives, random)
            wrong_queries.append(
                {"code": code, "query": query} | {f"wrong_{at}": recipe.query + one for at, one in enumerate(others)}
            )
    unused = [pair for pair in wrong if words_of(pair.query) not in answered and pair.query not in used]
    return TuneExamples(right, wrong_codes, wrong_queries, _graded(pairs, unused, recipe, random))


def _graded(
    pairs: Sequence[TrainingPair], unused: Sequence[TrainingPair], recipe: Recipe, random: np.random.Generator
) -> Rows:
    """Return all pairs where there are grades, else those that nothing uses with as many right ones."""
    highest = max(pair.grade for pair in pairs)
    chosen = list(pairs)
    if highest <= 1:
        right = [pair for pair in pairs if pair.grade]
        chosen = [*unused, *(right[at] for at in random.permutation(len(right))[: len(unused)])]
    return [
        {"query": recipe.query + pair.query, "code": recipe.code + pair.code, "score": pair.grade / highest}
        for pair in chosen
    ]


def _by_text(pairs: Sequence[TrainingPair], side: str) -> Mapping[str, list[str]]:
    """Return the wrong texts of the other side, by the words of a query or by a code."""
    found: dict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        key, text = (words_of(pair.query), pair.code) if side == "query" else (code_of(pair.code), pair.query)
        found[key].append(text)
    return found


def _some(texts: Sequence[str], count: int, random: np.random.Generator) -> list[str]:
    """Return so many of some texts; where there are fewer, they come again."""
    if not texts:
        return []
    return [texts[at] for at in random.choice(len(texts), count, replace=len(texts) < count)]
