"""Evidence in, one score a candidate out: a small learned ranking whose weights ship with the package.

A linear part, which says why, and one hidden layer for what only counts together (a test file, unless tests are
asked for). The weights are learned on mined and hand-judged queries of many repositories (`benchmarks/ranking.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from assay.encode.view import is_word_bag
from assay.search.features import COLUMNS
from assay.search.lexical import Array
from assay.search.nearness import NEAR_COLUMNS

ALL_COLUMNS = (*COLUMNS, *NEAR_COLUMNS)
_PARTS = (*ALL_COLUMNS, "together")


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights over columns: score = rows · linear + relu(rows · hidden + bias) · output."""

    linear: Array
    hidden: Array
    bias: Array
    output: Array

    def scores(self, rows: Array) -> Array:
        """Return one score a row; higher is better."""
        layer = np.maximum(rows @ self.hidden + self.bias, 0.0)
        scores: Array = rows @ self.linear + layer @ self.output
        return scores


@dataclass(frozen=True, slots=True)
class Ranking:
    """Two rounds: `first` orders all candidates by `COLUMNS`, `second` the best of them by `ALL_COLUMNS`."""

    first: Weights
    second: Weights
    scale: float
    offset: float
    """Platt's calibration: the chance that a hit is right is the logistic of scale · score + offset."""
    floor: float
    """When the best chance is below this, nothing relevant was found."""

    def chances(self, scores: Array) -> Array:
        """Return how likely each score's hit is right, in [0, 1]; the order stays."""
        chances: Array = 1.0 / (1.0 + np.exp(-(self.scale * scores + self.offset)))
        return chances

    def whys(self, rows: Array) -> list[Mapping[str, float]]:
        """Return for each row what its columns add to the linear part, strongest first, and `together` for the rest."""
        together = np.maximum(rows @ self.second.hidden + self.second.bias, 0.0) @ self.second.output
        parts = np.column_stack((rows * self.second.linear, together))
        order = np.argsort(-np.abs(parts), axis=1, kind="stable").tolist()
        return [
            {_PARTS[at]: values[at] for at in strongest if values[at] or at == len(ALL_COLUMNS)}
            for values, strongest in zip(parts.tolist(), order, strict=True)
        ]


@cache
def default_ranking(mode: str, encoder: str) -> Ranking:
    """Return the shipped weights for `code` or `docs` and for the sort of encoder that a name says."""
    file = weights_file(mode, encoder)
    stored = json.loads((Path(__file__).parent / "data" / file).read_text("utf-8"))
    if tuple(stored["columns"]) != ALL_COLUMNS:
        raise ValueError(f"{file} holds other columns than the code; train it again")
    rounds = (_weights(stored["first"]), _weights(stored["second"]))
    return Ranking(*rounds, scale=stored["scale"], offset=stored["offset"], floor=stored["floor"])


def weights_file(mode: str, encoder: str) -> str:
    """Return the file of weights; a cosine of word bags and one of a transformer are worth different things."""
    return f"{mode}.json" if is_word_bag(encoder) else f"{mode}-contextual.json"


def _weights(stored: Mapping[str, Sequence[float]]) -> Weights:
    return Weights(*(np.array(stored[name], dtype=np.float32) for name in ("linear", "hidden", "bias", "output")))
