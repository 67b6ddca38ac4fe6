"""Counts of two outcomes in, the interval of their share and the chance that a fair coin does as much out."""

from __future__ import annotations

from math import exp, lgamma, log, nan, sqrt
from statistics import NormalDist

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


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p of the exact sign test; draws are left out before, and nothing shows nothing."""
    _checked(wins, wins + losses)
    n = wins + losses
    fewer = min(wins, losses)
    logs = (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2) for k in range(fewer + 1))
    return min(1.0, 2 * sum(map(exp, logs)))


def _checked(part: int, whole: int) -> None:
    if not 0 <= part <= whole:
        raise InputError(f"{part} of {whole}: wanted a count from 0 to the whole")
