"""Draw seeded samples: a sample of 100 is part of the sample of 200 with the same seed.

Each key has a hash of the seed and itself, and the lowest ones are drawn. Within strata each gets its part of the
sample (largest remainders), the lowest of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.errors import InputError, counted
from assay.io.digest import digest


def draw(keys: Iterable[str], size: int | None, seed: int, noun: str = "query") -> frozenset[str]:
    """Draw `size` keys, or all for None; raise InputError if there are fewer."""
    return draw_within(dict.fromkeys(keys, ""), size or 0, seed, noun)


def draw_within(strata: Mapping[str, str], size: int, seed: int, noun: str = "pair") -> frozenset[str]:
    """Draw `size` keys from a mapping to their strata, in proportion to these; all of them for 0."""
    if size > len(strata):
        there = counted(len(strata), noun)
        raise InputError(f"--sample {size:,}: there are only {there}; leave --sample out to take all")
    if not size:
        return frozenset(strata)
    members: dict[str, list[str]] = {}
    for key, stratum in strata.items():
        members.setdefault(stratum, []).append(key)
    parts = _parts({name: len(each) for name, each in members.items()}, size)
    return frozenset(
        key
        for name, each in members.items()
        for key in sorted(each, key=lambda key: (_order(key, seed), key))[: parts[name]]
    )


def _parts(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Return how many to draw of each stratum: its exact part rounded down, the rest to the largest remainders."""
    whole = sum(sizes.values())
    exact = {name: divmod(size * total, whole) for name, size in sizes.items()}
    parts = {name: floor for name, (floor, _) in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: (-exact[name][1], name))
    for name in by_remainder[: total - sum(parts.values())]:
        parts[name] += 1
    return parts


def _order(key: str, seed: int) -> bytes:
    return digest(repr((seed, key)))
