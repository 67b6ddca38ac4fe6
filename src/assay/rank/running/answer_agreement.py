"""What programs answered, and how often each was sampled, to a score each: the more alike others answer, the higher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt

from assay.programs.answers import ProgramAnswer

Row = tuple[ProgramAnswer, ...]
"""What one program answered to each input."""


def dual(held: Sequence[frozenset[int]], counts: Sequence[int], times: Sequence[int]) -> list[float]:
    """Score sets of programs that pass the same tests: the root of their samples times the tests, as CodeT does.

    `held` are the tests that each program passes, `times` how often each test was generated.
    """
    samples: Counter[frozenset[int]] = Counter()
    for passed, count in zip(held, counts, strict=True):
        samples[passed] += count
    return [sqrt(samples[passed]) * sum(times[test] for test in passed) for passed in held]


def alike(rows: Sequence[Row], counts: Sequence[int]) -> list[float]:
    """Score each program by the square of the share of the pool that answers as it does, in the mean over inputs.

    A text weighs the root of its samples. An input weighs what share of the pool answers it at all; an answer that is
    None or nothing counts `_EMPTY`, and an error, however common, nothing: counting errors cost 5 points on MBPP.
    """
    masses = [sqrt(count) for count in counts]
    whole = sum(masses)
    scores, weights = [0.0] * len(rows), 0.0
    for column in zip(*rows, strict=True):
        shares: dict[tuple[str, bool], float] = {}
        for answer, mass in zip(column, masses, strict=True):
            shares[answer.key] = shares.get(answer.key, 0.0) + mass / whole
        weight = sum(share for (_, answered), share in shares.items() if answered)
        weights += weight
        for number, answer in enumerate(column):
            scores[number] += weight * _worth(answer) * shares[answer.key] ** 2
    return [score / weights if weights else 0.0 for score in scores]


def same_as(rows: Sequence[Row], counts: Sequence[int]) -> list[int]:
    """Return how many samples answer every input as each program does, itself among them."""
    keys = [tuple(answer.key for answer in row) for row in rows]
    samples: Counter[tuple[tuple[str, bool], ...]] = Counter()
    for key, count in zip(keys, counts, strict=True):
        samples[key] += count
    return [samples[key] for key in keys]


_EMPTY = 0.3


def _worth(answer: ProgramAnswer) -> float:
    if answer.fault is not None:
        return 0.0
    return 1.0 if answer.says else _EMPTY
