"""Score candidates by a small learned ranking whose weights ship with the package.

A corpus of single functions (a data set such as CoSQA, snippets saved one a file) has no repository around them: the
rest of a file and its path say nothing there. Repositories are far from that: of 34 looked at, none had more than a
quarter of its files of code with exactly one function.

A linear part, which explains itself, and one hidden layer for what only counts together (a test file, unless tests are
asked for). `assay train ranking` learns the weights on judged queries of many repositories; a folder of others
(`search.weights`) takes the place of those that ship.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.search.features import FEATURES
from assay.search.list_order import ORDER_WEIGHTS, ListOrder
from assay.search.path_filters import PROSE
from assay.search.relevance import RELEVANCE_FEATURES, relevance_row
from assay.search.retrievers import Array
from assay.search.text_features import ALL_FEATURES
from assay.store.segment import Mask, Segment
from assay.store.snapshot import Snapshot
from assay.values import CALLABLE_KINDS, KINDS, Mode

RankingName = Literal["code", "docs", "functions"]
"""`functions` is code of a corpus whose files hold one function each."""
RANKING_NAMES: tuple[RankingName, ...] = get_args(RankingName)

_CALLABLE = np.array([kind in CALLABLE_KINDS for kind in KINDS])
_SINGLE_FUNCTION_FRACTION = 0.75  # of the files of code, so many with exactly one function make a corpus of functions
_MIN_FILES = 20  # files from which a corpus is of any sort


def ranking_name(snapshot: Snapshot, mode: Mode) -> RankingName:
    """Return the name of the ranking for code or for documentation of a corpus."""
    if mode == "docs":
        return "docs"
    if snapshot.single_functions is None:
        snapshot.single_functions = holds_single_functions(snapshot)
    return "functions" if snapshot.single_functions else "code"


def holds_single_functions(snapshot: Snapshot) -> bool:
    """Return whether nearly every file of code holds exactly one function."""
    callables = [np.zeros(0, np.int64), *(_callables(*part) for part in snapshot.parts)]
    in_file = np.concatenate(callables)
    return len(in_file) >= _MIN_FILES and bool((in_file == 1).mean() > _SINGLE_FUNCTION_FRACTION)


def _callables(segment: Segment, live: Mask | None) -> NDArray[np.int64]:
    """Count the functions of each file of code that has a living chunk, shape `(files of code,)`."""
    file, kind = segment.file, segment.kind
    if live is not None:
        file, kind = file[live], kind[live]
    prose = np.array([language in PROSE for language in segment.languages], dtype=bool)
    known = np.bincount(file, minlength=len(prose)) > 0
    functions: NDArray[np.int64] = np.bincount(file[_CALLABLE[kind]], minlength=len(prose))[known & ~prose]
    return functions


BESIDE = ("message", "list", "name", "answerable")
"""What is added to a score beside the features of the candidate."""
PARTS = (*dict.fromkeys(name.partition("@")[0] for name in ALL_FEATURES), *BESIDE, "together")
"""What a score is explained by: features that differ only in their level are one part."""
SECOND_STAGE: Mapping[RankingName, int] = {"code": 30, "docs": 60, "functions": 30}
"""Candidates that reach the second stage, which reads their texts."""
SHIPPED = Path(__file__).parent / "data"

_MAX_EXPONENT = 80.0  # of e, in float32
_PART_OF = [name.partition("@")[0] for name in ALL_FEATURES]
_PART_STARTS = np.array([_PART_OF.index(part) for part in dict.fromkeys(_PART_OF)])
_WEIGHTS = ("linear", "hidden", "bias", "output")


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """Weights over features: score = rows · linear + relu(rows · hidden + bias) · output."""

    linear: Array
    hidden: Array
    bias: Array
    output: Array

    def scores(self, rows: Array) -> Array:
        """Return one score a row; higher is better."""
        layer = np.maximum(rows @ self.hidden + self.bias, 0.0)
        scores: Array = rows @ self.linear + layer @ self.output
        return scores

    def times(self, factor: float) -> RankingWeights:
        """Return these weights multiplied by a factor."""
        return replace(self, linear=self.linear * np.float32(factor), output=self.output * np.float32(factor))

    def plus(self, feature: int, weight: float) -> RankingWeights:
        """Return these weights with more weight on a feature."""
        linear = self.linear.copy()
        linear[feature] += np.float32(weight)
        return replace(self, linear=linear)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Two stages: `first` orders all candidates by `FEATURES`, `second` the best of them by `ALL_FEATURES`."""

    first: RankingWeights
    second: RankingWeights
    relevance: RankingWeights
    """Over `RELEVANCE_FEATURES`: what is added to the log odds of all candidates of a query."""
    scale: float
    offset: float
    """Platt's calibration: the probability that a hit is right is the logistic of scale · score + offset."""
    floor: float
    """When the best probability is below this, nothing relevant was found."""
    order: ListOrder | None = None
    """How the best candidates become a list; None lists them by their scores."""

    def probabilities(self, scores: Array, answerable: float = 0.0) -> Array:
        """Return how likely each score's hit is right, in [0, 1]; the order stays.

        `answerable` is in log odds: how likely the corpus answers the query at all.
        """
        odds = self.scale * scores + (self.offset + answerable)
        probabilities: Array = 1.0 / (1.0 + np.exp(np.minimum(-odds, _MAX_EXPONENT)))
        return probabilities

    def answerable(self, query: Array, rows: Array, scores: Array) -> float:
        """Return the log odds that the corpus answers a query with these candidates."""
        return float(self.relevance.scores(relevance_row(query, rows, scores)[None, :])[0])

    def explain(self, rows: Array, beside: Mapping[str, Array] | None = None) -> list[Mapping[str, float]]:
        """Return for each row what its features add to the linear part, strongest first; `together` is the rest.

        `beside` holds what else was added to each score, by its part.
        """
        together = np.maximum(rows @ self.second.hidden + self.second.bias, 0.0) @ self.second.output
        parts = np.zeros((len(rows), len(PARTS)), dtype=np.float32)
        parts[:, : len(_PART_STARTS)] = np.add.reduceat(rows * self.second.linear, _PART_STARTS, axis=1)
        for name, values in (beside or {}).items():
            parts[:, PARTS.index(name)] = values
        parts[:, -1] = together
        order = np.argsort(-np.abs(parts), axis=1, kind="stable").tolist()
        contributions: list[Mapping[str, float]] = []
        for row, strongest in zip(parts.tolist(), order, strict=True):
            shown = (at for at in strongest if row[at] or at == len(PARTS) - 1)
            contributions.append({PARTS[at]: row[at] for at in shown})
        return contributions


def as_json(ranking: Ranking) -> str:
    """Return the text of a file of weights, with four decimals each."""
    stored = {
        "features": ALL_FEATURES,
        "first": _rounded(ranking.first),
        "second": _rounded(ranking.second),
        "relevance": {"features": RELEVANCE_FEATURES, **_rounded(ranking.relevance)},
        "scale": ranking.scale,
        "offset": ranking.offset,
        "floor": ranking.floor,
    }
    if ranking.order is not None:
        stored["order"] = dict(zip(ORDER_WEIGHTS, np.round(ranking.order.weights, 4).tolist(), strict=True))
    return json.dumps(stored) + "\n"


def _rounded(weights: RankingWeights) -> dict[str, list[float]]:
    return {name: np.round(getattr(weights, name).astype(float), 4).tolist() for name in _WEIGHTS}


@cache
def load_ranking(name: RankingName, folder: Path = SHIPPED, *, reads_order: bool) -> Ranking:
    """Load weights by name from a folder, for encoders that read the order of words or for those that do not.

    A folder without weights for single functions orders them as other code.
    """
    file = folder / weights_file(name, reads_order=reads_order)
    if name == "functions" and not file.exists():
        file = folder / weights_file("code", reads_order=reads_order)
    try:
        stored = json.loads(file.read_text("utf-8"))
        names = [str(name) for name in stored["features"]]
        first = [name for name in names if name in FEATURES]
        stages = _weights(stored["first"], first, FEATURES), _weights(stored["second"], names, ALL_FEATURES)
        relevance = _relevance(stored.get("relevance"))
        order = ListOrder.of(stored["order"]) if "order" in stored else None
        scale, offset, floor = (float(stored[name]) for name in ("scale", "offset", "floor"))
        ranking = Ranking(*stages, relevance, scale, offset, floor, order)
    except FileNotFoundError as error:
        raise InputError(f"no ranking weights '{file}': train them with assay train ranking") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"'{file}' does not hold ranking weights ({error}): {_RETRAIN}") from error
    if not set(names) <= set(ALL_FEATURES):
        raise InputError(f"'{file}' was trained on other features than this version computes: {_RETRAIN}")
    return ranking


_RETRAIN = "train them again with assay train ranking"


def weights_file(name: RankingName, *, reads_order: bool) -> str:
    """Return the name of a file of weights; a cosine of word bags and one of a transformer differ in worth."""
    return f"{name}-contextual.json" if reads_order else f"{name}.json"


def _relevance(stored: Mapping[str, Any] | None) -> RankingWeights:
    """Return the weights over `RELEVANCE_FEATURES`; files of contextual encoders have none."""
    if stored is None:
        return no_weights(len(RELEVANCE_FEATURES))
    return _weights(stored, [str(name) for name in stored["features"]], RELEVANCE_FEATURES)


def no_weights(features: int) -> RankingWeights:
    """Return weights that score everything 0."""
    nothing = np.zeros(0, dtype=np.float32)
    return RankingWeights(np.zeros(features, np.float32), np.zeros((features, 0), np.float32), nothing, nothing)


def _weights(stored: Mapping[str, Any], names: Sequence[str], features: Sequence[str]) -> RankingWeights:
    """Return one stage; a feature that it does not know weighs nothing."""
    linear, hidden, bias, output = (np.array(stored[name], dtype=np.float32) for name in _WEIGHTS)
    if linear.shape != (len(names),) or hidden.shape != (len(names), len(bias)):
        raise ValueError(f"the weights are of shape {hidden.shape}, expected ({len(names)}, any)")
    spread = np.zeros((len(features), len(names)), dtype=np.float32)
    known = {name: at for at, name in enumerate(features)}
    for at, name in enumerate(names):
        if name in known:
            spread[known[name], at] = 1
    return RankingWeights(spread @ linear, spread @ hidden, bias, output)
