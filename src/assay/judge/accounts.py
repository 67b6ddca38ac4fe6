"""Add up what a campaign cost and showed, and forecast what more pairs would take."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from assay.llm.endpoint import BATCH, BATCHED, CACHE_LEAST, Price

CLEAR = frozenset({"screen"})
PUBLISHED = {
    "pairs": 412_080,
    "codes": 132_952,
    "code_length": 378.052,
    "cost_a_pair": 0.00062,
    "seconds_clear": 10.0,
    "seconds_unclear": 50.0,
    "unclear_share": 0.33,
    "cases_a_program": 4.31,
    "executable_share": 0.8367,
    "codes_of_two_queries": 0.367,
}
"""What CoSQA+ says of itself (table II, IV-C, IV-E, VI-A)."""


_COUNTED = ("tokens_in", "tokens_out", "tokens_cached", "tokens_shareable", "asked_again")
"""Numbers of a verdict that are added up: `asked_again` are answers that fitted no schema, and of the tokens read,
`tokens_cached` had been read by the endpoint before, `tokens_shareable` are of the beginning that all prompts share."""
_PLACES = ("model", "sandbox", "install")


@dataclass(slots=True)
class CostRoute:
    """Pairs that took the same way."""

    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    taken: list[float] = field(default_factory=list)
    """Seconds of each pair."""

    def add(self, record: Mapping[str, Any], pairs: int, calls: int) -> None:
        """Count a record of so many pairs and calls."""
        cost, seconds = record.get("cost", 0.0), record.get("seconds", {})
        counts = {name: record.get(name, 0) for name in _COUNTED}
        times = {f"{place}_s": seconds.get(place, 0.0) for place in _PLACES}
        known = {"pairs": pairs, "calls": calls, "cost": cost or 0.0, "unpriced": pairs * (cost is None)}
        for name, value in {**known, **counts, **times}.items():
            self.sums[name] += value

    def as_json(self) -> dict[str, Any]:
        """Return it for a pair, in the mean."""
        pairs, names = int(self.sums["pairs"]), ("calls", *_COUNTED, "cost", *(f"{place}_s" for place in _PLACES))
        each = {name: round(self.sums[name] / max(pairs, 1), 6) for name in names}
        seconds = median(self.taken) if self.taken else 0.0
        return {"pairs": pairs, **each, "unpriced": int(self.sums["unpriced"]), "median_s": round(seconds, 3)}


@dataclass(slots=True)
class CampaignCosts:
    """What a campaign came to."""

    labels: Counter[int | None] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    paths: dict[str, CostRoute] = field(default_factory=lambda: defaultdict(CostRoute))
    failed_calls: int = 0
    """That gave no answer: refused, cut, or of no use each time."""
    programs: int = 0
    cases: int = 0
    ran: int = 0
    executable: int = 0
    repaired: int = 0
    """Programs that run because somebody fixed them."""
    fixes: Counter[str] = field(default_factory=Counter)
    matches: Counter[str] = field(default_factory=Counter)
    """Matching codes of each query, by its id."""
    queries: Counter[str] = field(default_factory=Counter)
    """Queries that each code matches, by its id."""
    codes: dict[str, int] = field(default_factory=dict)
    """Characters of each code."""

    @property
    def pairs(self) -> int:
        """Pairs with a verdict."""
        return sum(self.labels.values())

    def total(self, name: str) -> float:
        """Return the sum of a figure over all paths."""
        return float(sum(path.sums[name] for path in self.paths.values()))

    def add(self, record: Mapping[str, Any]) -> None:
        """Count a verdict."""
        grade = record["grade"]
        self.labels[grade] += 1
        self.codes[record["code_id"]] = len(record["code"])
        self.matches[record["query_id"]] += grade == 1
        self.queries[record["code_id"]] += grade == 1
        if grade is None:
            self.problems[record["problem"]] += 1
        path = self.paths[record["path"] or "undecided"]
        path.add(record, 1, sum(record.get("calls", {}).values()))
        path.taken.append(sum(record.get("seconds", {}).values()))
        if "cases" in record:
            self._add_program(record)

    def add_failed(self, record: Mapping[str, Any]) -> None:
        """Count a call that gave no answer, and what it took all the same."""
        self.failed_calls += 1
        self.paths["undecided"].add(record, 0, 1)

    def _add_program(self, record: Mapping[str, Any]) -> None:
        self.programs += 1
        self.cases += record["cases"]
        if "executable" in record:
            self.ran += 1
            self.executable += record["executable"]
            self.repaired += bool(record["executable"] and record["fixes"])
            self.fixes.update(record["fixes"])


def accounts(verdicts: Iterable[Mapping[str, Any]]) -> CampaignCosts:
    """Add up the records of verdicts."""
    made = CampaignCosts()
    for record in verdicts:
        made.add(record)
    return made


def costs_as_json(made: CampaignCosts) -> dict[str, Any]:
    """Return the figures, as JSON has them."""
    pairs = max(made.pairs, 1)
    matched = [count for count in made.queries.values() if count]
    length = sum(made.codes.values()) / max(len(made.codes), 1)
    return {
        "pairs": made.pairs,
        "queries": len(made.matches),
        "codes": len(made.codes),
        "code_length": round(length, 1),
        "labels": {str(label): made.labels[label] for label in (1, 0, None)},
        "match_share": round(made.labels[1] / pairs, 4),
        "undecided": dict(made.problems),
        "unclear_share": round(
            sum(path.sums["pairs"] for name, path in made.paths.items() if name not in CLEAR) / pairs, 4
        ),
        "paths": {name: path.as_json() for name, path in sorted(made.paths.items())},
        "programs": made.programs,
        "cases_a_program": round(made.cases / max(made.programs, 1), 3),
        "executable_share": round(made.executable / max(made.ran, 1), 4),
        "repaired_share": round(made.repaired / max(made.ran, 1), 4),
        "fixes": dict(made.fixes),
        "calls": round(made.total("calls")),
        "failed_calls": made.failed_calls,
        "asked_again_share": round(made.total("asked_again") / max(made.total("calls"), 1), 4),
        "shareable_share": round(made.total("tokens_shareable") / max(made.total("tokens_in"), 1), 4),
        "cached_share": round(made.total("tokens_cached") / max(made.total("tokens_in"), 1), 4),
        "matches_a_query": _spread(made.matches.values()),
        "queries_a_code": _spread(matched),
        "codes_of_two_queries": round(sum(count > 1 for count in matched) / max(len(matched), 1), 4),
        "published": PUBLISHED,
    }


def _spread(counts: Iterable[int]) -> dict[str, int]:
    """Return how often each count occurs."""
    return {str(count): often for count, often in sorted(Counter(counts).items())}


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
    counts = ("calls", "tokens_in", "tokens_out", "tokens_shareable", "tokens_cached")
    return CostForecast(
        pairs,
        **{name: round(whole(name)) for name in counts},
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
