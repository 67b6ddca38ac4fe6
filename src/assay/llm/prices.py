"""A provider and a model to what a million tokens of it cost; what is not known is nan and never a guess.

The library that the providers' prices are kept in costs 150 ms to import and changes by itself, and a campaign is
planned with figures that stand still: so a short dated table stands here, and `?usd_in=…&usd_out=…` in a spec is
for everything else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens, read and written."""

    usd_in: float
    usd_out: float
    usd_cached: float = math.nan
    """Of those read, for what the endpoint had read before; nan is no other price."""

    def of(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """Return what so many tokens cost, in USD; the cached ones are among those read."""
        cached = self.usd_in if math.isnan(self.usd_cached) else self.usd_cached
        fresh = tokens_in - tokens_cached
        return (self.usd_in * fresh + cached * tokens_cached + self.usd_out * tokens_out) / 1e6

    def times(self, factor: float) -> Price:
        """Return a part of the price, as of a batch."""
        return Price(self.usd_in * factor, self.usd_out * factor, self.usd_cached * factor)


@dataclass(frozen=True, slots=True)
class Spend:
    """Tokens, read and written together, and USD."""

    tokens: int = 0
    usd: float = 0.0


UNKNOWN = Price(math.nan, math.nan)
FREE = Price(0.0, 0.0, 0.0)
BATCH = 0.5
"""What a batch costs of the list price, at each endpoint that takes some."""
CACHE_LEAST: Mapping[str, int] = {"openai": 1024, "deepseek": 64}
"""Tokens that the beginning of a prompt must have for a provider to sell it cheaper the next time."""

# List prices, as in genai-prices 0.2.3, read on 2026-11-23.
_LISTED: Mapping[str, Mapping[str, Price]] = {
    "openai": {
        "gpt-4o": Price(2.50, 10.00, 1.25),
        "gpt-4o-mini": Price(0.15, 0.60, 0.075),
        "gpt-4.1": Price(2.00, 8.00, 0.5),
        "gpt-4.1-mini": Price(0.40, 1.60, 0.1),
        "gpt-4.1-nano": Price(0.10, 0.40, 0.025),
        "gpt-5": Price(1.25, 10.00, 0.125),
        "gpt-5-mini": Price(0.25, 2.00, 0.025),
        "gpt-5-nano": Price(0.05, 0.40, 0.005),
        "o4-mini": Price(1.10, 4.40, 0.275),
    },
    "deepseek": {"deepseek-chat": Price(0.27, 1.10, 0.07), "deepseek-reasoner": Price(0.55, 2.19, 0.14)},
}


def listed(provider: str, model: str) -> Price:
    """Return the listed price of a model at its provider's own address; dated models may cost something else."""
    return _LISTED.get(provider, {}).get(model, UNKNOWN)
