"""Accounts of a campaign to what more pairs like these would take: calls, tokens, hours, and USD three ways.

The price of a model is told by list, with a cache at the endpoint that has read what all prompts of a step begin with,
and by batch. A cache that only keeps longer beginnings than these prompts have saves nothing, and that is what is told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from assay.judge.accounts import CampaignCosts
from assay.llm.endpoint import BATCH, BATCHED, CACHE_LEAST, Price

OVERHEAD_S = 0.0015
"""Time of a pair beside models and sandboxes, one after another, measured; see docs/judging.md."""


@dataclass(frozen=True, slots=True)
class PlannedPrice:
    """What a model would cost, in USD; nan is not to be had, or unknown."""

    listed: float
    cached: float
    batch: float
    cache_least: int = 0
    """Tokens from which on this provider's cache keeps a beginning."""


@dataclass(frozen=True, slots=True)
class CostForecast:
    """What some number of pairs would take, if they are like those of the records."""

    pairs: int
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_shareable: int
    tokens_cached: int
    cost: float
    """As the records price it."""
    model_s: float
    """All waiting for models, on the clock, with so many pairs at a time."""
    sandbox_s: float
    """All running of tests, on the clock, with so many programs at a time."""
    overhead_s: float
    """What is left: prompts, records, threads."""
    bottleneck: str

    @property
    def seconds(self) -> float:
        """The longest of them: they go on side by side."""
        return max(self.model_s, self.sandbox_s, self.overhead_s)

    @property
    def beginning(self) -> float:
        """Tokens of the beginning that prompts of a step share, in the mean of all calls."""
        return self.tokens_shareable / max(self.calls, 1)


def planned(made: CampaignCosts, pairs: int, *, workers: int, cores: int) -> CostForecast:
    """Return what so many pairs would take with so many pairs at a time and so many programs at a time."""
    factor = pairs / max(made.pairs, 1)

    def whole(name: str) -> float:
        return factor * made.total(name)

    model_s, sandbox_s, overhead_s = whole("model_s") / workers, whole("sandbox_s") / cores, pairs * OVERHEAD_S
    times = {"the model's answers": model_s, "running tests": sandbox_s, "this program": overhead_s}
    return CostForecast(
        pairs,
        calls=round(whole("calls")),
        tokens_in=round(whole("tokens_in")),
        tokens_out=round(whole("tokens_out")),
        tokens_shareable=round(whole("tokens_shareable")),
        tokens_cached=round(whole("tokens_cached")),
        cost=whole("cost"),
        model_s=model_s,
        sandbox_s=sandbox_s,
        overhead_s=overhead_s,
        bottleneck=max(times, key=lambda name: times[name]),
    )


def priced(plan: CostForecast, prices: Mapping[str, Price]) -> dict[str, PlannedPrice]:
    """Return what a plan costs with each of these models, by their specs."""
    return {spec: _priced(plan, spec.partition(":")[0], price) for spec, price in prices.items()}


def _priced(plan: CostForecast, provider: str, price: Price) -> PlannedPrice:
    listed = price.of(plan.tokens_in, plan.tokens_out)
    least = CACHE_LEAST.get(provider, 0)
    shared = plan.tokens_shareable if plan.beginning >= least else 0
    cached = math.nan if math.isnan(price.usd_cached) else price.of(plan.tokens_in, plan.tokens_out, shared)
    return PlannedPrice(listed, cached, listed * BATCH if provider in BATCHED else math.nan, least)
