"""Intervals, tests of a difference between systems, and correction for many tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import atan, ceil, cos, erfc, exp, inf, lgamma, log, nan, pi, sin, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError


def wilson(part: int, whole: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval (1927) of a share: right for few and for extreme ones too; nan of nothing."""
    _checked(part, whole)
    if not whole:
        return nan, nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, width = part / whole, z * z / whole
    middle = (share + width / 2) / (1 + width)
    half = sqrt(share * (1 - share) * width + width * width / 4) / (1 + width)
    return (0.0 if part == 0 else middle - half), (1.0 if part == whole else middle + half)


def _checked(part: int, whole: int) -> None:
    if not 0 <= part <= whole:
        raise InputError(f"{part} of {whole}: wanted a count from 0 to the whole")


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p of the exact sign test; draws are left out before, and nothing shows nothing."""
    _checked(wins, wins + losses)
    n = wins + losses
    logs = (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2) for k in range(min(wins, losses) + 1))
    return min(1.0, 2 * sum(map(exp, logs)))


Values = NDArray[np.float64]
_RESAMPLES = 2_000
_FLIPS = 10_000
_HALVINGS = 64
_AT_ONCE = 2**18  # numbers drawn at a time: they stay in the cache


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same queries by one measure."""

    a: str
    b: str
    difference: float
    """The mean of a less that of b."""
    low: float
    high: float
    randomisation: float
    t: float
    holm: float
    """The p of the randomisation test, corrected for all comparisons made together."""
    queries: int


def compare(
    values: Mapping[str, Values], pairs: Sequence[tuple[str, str]] | None = None, *, level: float = 0.95, seed: int = 0
) -> tuple[Comparison, ...]:
    """Compare some pairs of systems, or all, by values in the same order of queries; Holm corrects for these alone."""
    counts = {name: len(one) for name, one in values.items()}
    if len(set(counts.values())) > 1:
        raise InputError(f"systems compared need the same queries, found {counts}")
    pairs = list(combinations(values, 2)) if pairs is None else pairs
    chances = [randomisation(values[a], values[b], seed=seed) for a, b in pairs]
    found = []
    for (a, b), chance, adjusted in zip(pairs, chances, holm(chances), strict=True):
        apart = values[a] - values[b]
        t = t_test(values[a], values[b])
        low, high = interval(apart, level=level, seed=seed)
        found.append(Comparison(a, b, float(np.mean(apart)), low, high, chance, t, adjusted, counts[a]))
    return tuple(found)


def interval(values: Values, *, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
    """Return the bootstrap percentile interval of the mean, expanded for small samples.

    Plain percentiles (Efron and Tibshirani 1993, chapter 13) are too narrow there: of ten queries they hold the truth
    82 to 91 times of 100. Hesterberg (The American Statistician, 2015) takes those farther out that make up for it.
    What one query does says nothing of others: both ends are its value then.
    """
    if not len(values):
        raise InputError("an interval needs at least one query, found none")
    draws = np.random.default_rng(seed)
    pieces = _pieces(_RESAMPLES, len(values))
    means = [values[draws.integers(0, len(values), (count, len(values)))].mean(axis=1) for count in pieces]
    return _ends(np.concatenate(means), len(values), level)


def interval_of(
    parts: Values, statistic: Callable[[Values], Values], *, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Return the same interval of a statistic of sums, such as a ratio; `parts` has a row a unit.

    `statistic` takes sums, a row a resample, and gives a value a row; where it gives nan a resample says nothing.
    Units that are alike are drawn together: how often each comes is multinomial, so that many units cost no more.
    """
    if not len(parts):
        raise InputError("an interval needs at least one unit, found none")
    kinds, counts = np.unique(parts, axis=0, return_counts=True)
    draws = np.random.default_rng(seed)
    pieces = _pieces(_RESAMPLES, len(kinds))
    drawn = (draws.multinomial(len(parts), counts / len(parts), count) @ kinds for count in pieces)
    values = np.concatenate([statistic(sums) for sums in drawn])
    values = values[~np.isnan(values)]
    return _ends(values, len(parts), level) if len(values) else (nan, nan)


def _ends(resampled: Values, items: int, level: float) -> tuple[float, float]:
    tail = _tail(items, level)
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return float(low), float(high)


@cache
def _tail(queries: int, level: float) -> float:
    """Return the chance below the lower end: that of a normal deviate as far out as Student's t of so many queries."""
    if queries == 1:
        return (1 - level) / 2
    low, high = 0.0, 1e6
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if outside(middle, queries - 1) > 1 - level else (low, middle)
    return erfc(low * sqrt(queries / (queries - 1)) / sqrt(2)) / 2


def randomisation(a: Values, b: Values, *, seed: int = 0) -> float:
    """Return the two-sided p of the paired randomisation test: signs of the differences are flipped at random.

    As recommended for retrieval by Smucker, Allan and Carterette (CIKM 2007); one is added to the flips that differ as
    much and to all flips, so that p is never 0 (Phipson and Smyth 2010).
    """
    differences = a - b
    differences = differences[differences != 0]
    observed = abs(differences.sum()) - 1e-9 * np.abs(differences).sum()
    draws = np.random.default_rng(seed)
    as_much = 0
    for count in _pieces(_FLIPS, len(differences)):
        drawn = draws.integers(0, 256, (count, -(-len(differences) // 8)), dtype=np.uint8)
        bits = np.unpackbits(drawn, axis=1)
        flipped = bits[:, : len(differences)] @ differences
        as_much += int(np.count_nonzero(np.abs(differences.sum() - 2 * flipped) >= observed))
    return (1 + as_much) / (1 + _FLIPS)


def t_test(a: Values, b: Values) -> float:
    """Return the two-sided p of the paired t-test; 1 for less than two queries, which show nothing."""
    differences = a - b
    degrees = len(differences) - 1
    if degrees < 1 or not differences.any():
        return 1.0
    error = float(differences.std(ddof=1)) / sqrt(len(differences))
    return outside(abs(float(differences.mean())) / error if error else inf, degrees)


def sample_size(differences: Values, size: float, *, level: float = 0.95, power: float = 0.8) -> int:
    """Return how many pairs show a mean difference of a size with a probability of `power`, if they vary like these.

    By the normal approximation of the paired t-test; at least two.
    """
    normal = NormalDist()
    reach = (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) / size
    return max(2, ceil(float(differences.var(ddof=min(1, len(differences) - 1))) * reach * reach))


def outside(t: float, degrees: int) -> float:
    """Return the chance that Student's t leaves [-t, t], for whole degrees of freedom.

    By the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4; exact to about 1e-13, so that smaller chances come
    out as about 0.
    """
    angle = atan(t / sqrt(degrees))
    odd = degrees % 2
    steps = np.arange(1, (degrees - odd) // 2)
    factors = 2 * steps / (2 * steps + 1) if odd else (2 * steps - 1) / (2 * steps)
    series = 1 + float(np.cumprod(factors * cos(angle) ** 2).sum())
    if not odd:
        within = sin(angle) * series
    elif degrees == 1:
        within = 2 * angle / pi
    else:
        within = 2 / pi * (angle + sin(angle) * cos(angle) * series)
    return min(max(1 - within, 0.0), 1.0)


def holm(chances: Sequence[float]) -> list[float]:
    """Return the p of several tests corrected for their number, in the order given (Holm 1979)."""
    adjusted = [0.0] * len(chances)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(chances)), key=lambda index: chances[index])):
        highest = max(highest, min(1.0, (len(chances) - place) * chances[index]))
        adjusted[index] = highest
    return adjusted


def _pieces(rows: int, width: int) -> Iterator[int]:
    """Yield how many rows to draw at a time."""
    size = max(1, _AT_ONCE // max(width, 1))
    for done in range(0, rows, size):
        yield min(size, rows - done)
