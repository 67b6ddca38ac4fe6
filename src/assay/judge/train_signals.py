"""Labelled pairs in, the weights of the judge `signals` out.

Run as `python -m assay.judge.train_signals TRAIN OUT --leave-out FILE`.

Both files hold `query` (or `doc`), `code` and `label` (0 or 1), as one JSON list or one object a line. Evidence for a
match may only count for it: with labels as noisy as people's, free signs fit the noise. Every pair is learned twice,
the second time with its documentation unread, so that code without any is judged as well. Thresholds come from
held-out folds by code, and only where most labels beyond them agree.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import default_static
from assay.errors import InputError
from assay.judge.evidence import COLUMNS, GROUPS, Rows, evidence
from assay.types import Chunk, Query

Numbers = NDArray[np.float64]

FREE = frozenset((*GROUPS["code"], *GROUPS["query"]))
"""Columns that may count either way."""
AGAINST = frozenset(("missing", "kind_missed"))
SURE = 0.75
"""The share of held-out labels that must agree beyond a threshold, by the lower end of its 95% interval."""
_UNREAD_WEIGHT = 0.5
_PENALTY = 300.0
_STEPS = 1_000
_FOLDS = 5
_LEAST_SURE = 50  # pairs beyond a threshold
_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class LabeledPair:
    """A pair and what a person says of it."""

    query: str
    code: str
    label: int


def read_labelled(file: Path) -> list[LabeledPair]:
    """Read labelled pairs of a JSON list, or of one object a line."""
    text = file.read_text("utf-8")
    try:
        records = (
            json.loads(text) if text.lstrip().startswith("[") else [*map(json.loads, filter(None, text.split("\n")))]
        )
        return [LabeledPair(one.get("query") or one["doc"], one["code"], int(one["label"])) for one in records]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file}: {error!r}; wanted objects with query, code and label") from error


def apart(pairs: Sequence[LabeledPair], others: Sequence[LabeledPair]) -> list[LabeledPair]:
    """Return the pairs whose query is none of the others', in any letter case."""
    taken = {_plain(one.query) for one in others}
    return [one for one in pairs if _plain(one.query) not in taken]


def learn(pairs: Sequence[LabeledPair]) -> dict[str, Any]:
    """Return what a file of weights holds."""
    labels = np.array([one.label for one in pairs], dtype=np.float64)
    if not 0 < labels.sum() < len(labels):
        raise InputError(f"{len(labels)} pairs with {labels.sum():.0f} matches; wanted some of both labels")
    fold = np.array([crc32(_plain(one.code).encode("utf-8", "replace")) % _FOLDS for one in pairs])
    if len(np.unique(fold)) < 2:
        raise InputError(f"{len(pairs)} pairs of too few different codes; wanted enough to hold some out")
    rows, unread = _rows(pairs, documented=True), _rows(pairs, documented=False)
    held_out = np.zeros(len(pairs))
    for one in np.unique(fold):
        linear, bias = fit(rows[fold != one], unread[fold != one], labels[fold != one])
        held_out[fold == one] = _chance(rows[fold == one] @ linear + bias)
    linear, bias = fit(rows, unread, labels)
    low, high = thresholds(held_out, labels)
    return {
        "linear": {column: round(float(weight), 5) for column, weight in zip(COLUMNS, linear, strict=True)},
        "bias": round(bias, 5),
        "base": round(float(labels.mean()), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "pairs": len(pairs),
        "held_out": _fold_summary(held_out, labels, low, high),
    }


def fit(rows: Rows, unread: Rows, labels: Numbers) -> tuple[Numbers, float]:
    """Return weights and bias of the logistic model, by accelerated projected gradient (Beck and Teboulle, 2009)."""
    both, wanted = np.concatenate((rows, unread)).astype(np.float64), np.concatenate((labels, labels))
    weight = np.concatenate((np.ones(len(rows)), np.full(len(unread), _UNREAD_WEIGHT)))
    middle, spread = both.mean(axis=0), both.std(axis=0) + 1e-6
    scaled = np.column_stack(((both - middle) / spread, np.ones(len(both))))
    penalty = np.append(np.full(len(COLUMNS), _PENALTY), 0.0)
    low = np.array([-np.inf if column in FREE | AGAINST else 0.0 for column in COLUMNS] + [-np.inf])
    high = np.array([0.0 if column in AGAINST else np.inf for column in COLUMNS] + [np.inf])
    step = 1 / (np.linalg.eigvalsh((scaled * weight[:, None]).T @ scaled)[-1] / 4 + _PENALTY)
    at = ahead = np.zeros(len(penalty))
    speed = 1.0
    for _ in range(_STEPS):
        slope = scaled.T @ (weight * (_chance(scaled @ ahead) - wanted)) + penalty * ahead
        after = np.clip(ahead - step * slope, low, high)
        faster = (1 + np.sqrt(1 + 4 * speed**2)) / 2
        at, ahead, speed = after, after + (speed - 1) / faster * (after - at), faster
    linear = at[:-1] / spread
    return linear, float(at[-1] - linear @ middle)


def thresholds(chances: Numbers, labels: Numbers) -> tuple[float, float]:
    """Return up to which chance a no is sure and from which a yes is; -1 and 2 where nothing is."""
    order = np.argsort(chances, kind="stable")
    no = _sure(1 - labels[order])
    yes = _sure(labels[order][::-1])
    return float(chances[order[no - 1]]) if no else -1.0, float(chances[order[-yes]]) if yes else 2.0


def _sure(right: Numbers) -> int:
    """Return how many of the most extreme pairs are enough in agreement: the most, by Wilson's lower bound."""
    count = np.arange(1, len(right) + 1)
    share = right.cumsum() / count
    z = 1.96
    bound = (share + z**2 / (2 * count) - z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))) / (
        1 + z**2 / count
    )
    sure = np.flatnonzero((bound >= SURE) & (count >= _LEAST_SURE))
    return int(count[sure[-1]]) if len(sure) else 0


def _fold_summary(chances: Numbers, labels: Numbers, low: float, high: float) -> dict[str, float]:
    """Return how the folds that were held out came out."""
    order = chances.argsort(kind="stable").argsort(kind="stable") + 1
    ones = labels.sum()
    area = (order[labels == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(labels) - ones))
    told = {"roc_auc": float(area), "accuracy": float(((chances >= 0.5) == labels).mean())}
    for name, chosen, right in (("no", chances <= low, 1 - labels), ("yes", chances >= high, labels)):
        told[f"clear_{name}"] = float(chosen.mean())
        if chosen.any():
            told[f"clear_{name}_precision"] = float(right[chosen].mean())
    return {name: round(value, 4) for name, value in told.items()}


def _rows(pairs: Sequence[LabeledPair], *, documented: bool) -> Rows:
    posed = [(Query(str(at), one.query), Chunk(str(at), one.code)) for at, one in enumerate(pairs)]
    encoder = default_static()
    pieces = [posed[start : start + _AT_ONCE] for start in range(0, len(posed), _AT_ONCE)]
    return np.concatenate([evidence(piece, encoder, documented=documented) for piece in pieces])


def _plain(text: str) -> str:
    return " ".join(text.lower().strip('"').split())


def _chance(scores: Numbers) -> Numbers:
    chances: Numbers = 1 / (1 + np.exp(-np.clip(scores, -50.0, 50.0)))
    return chances


def main() -> None:
    """Learn from a file and write the weights."""
    parser = argparse.ArgumentParser(description="Learn the weights of the judge 'signals'.")
    parser.add_argument("train", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--leave-out", type=Path, help="pairs to report on: their queries are not learned from")
    given = parser.parse_args()
    pairs = read_labelled(given.train)
    if given.leave_out:
        pairs = apart(pairs, read_labelled(given.leave_out))
    given.out.write_text(json.dumps(learn(pairs), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
