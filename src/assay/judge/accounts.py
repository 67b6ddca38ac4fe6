"""Add up what a campaign cost and showed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from assay.judge.pairs import COUNTED

CLEAR = frozenset({"screen"})
_PLACES = ("model", "sandbox", "install")


@dataclass(slots=True)
class CostRoute:
    """Pairs that took the same way."""

    sums: Counter[str] = field(default_factory=Counter)
    taken: list[float] = field(default_factory=list)
    """Seconds of each pair."""

    def add(self, record: Mapping[str, Any], pairs: int, calls: int) -> None:
        """Count a record of so many pairs and calls."""
        cost, seconds = record.get("cost", 0.0), record.get("seconds", {})
        self.sums.update({"pairs": pairs, "calls": calls, "cost": cost or 0.0, "unpriced": pairs * (cost is None)})
        self.sums.update({name: record.get(name, 0) for name in COUNTED})
        self.sums.update({f"{place}_s": seconds.get(place, 0.0) for place in _PLACES})

    def as_json(self) -> dict[str, Any]:
        """Return it for a pair, in the mean."""
        pairs, names = int(self.sums["pairs"]), ("calls", *COUNTED, "cost", *(f"{place}_s" for place in _PLACES))
        each = {name: round(self.sums[name] / max(pairs, 1), 6) for name in names}
        seconds = median(self.taken) if self.taken else 0.0
        return {"pairs": pairs, **each, "unpriced": int(self.sums["unpriced"]), "median_s": round(seconds, 3)}


@dataclass(slots=True)
class CampaignCosts:
    """What a campaign came to."""

    labels: Counter[int | None] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    paths: dict[str, CostRoute] = field(default_factory=lambda: defaultdict(CostRoute))
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
    matched = [count for count in made.queries.values() if count]
    unclear = sum(path.sums["pairs"] for name, path in made.paths.items() if name not in CLEAR)

    def share(part: float, whole: float, digits: int = 4) -> float:
        return round(part / max(whole, 1), digits)

    return {
        "pairs": made.pairs,
        "queries": len(made.matches),
        "codes": len(made.codes),
        "code_length": share(sum(made.codes.values()), len(made.codes), 1),
        "labels": {str(label): made.labels[label] for label in (1, 0, None)},
        "match_share": share(made.labels[1], made.pairs),
        "undecided": dict(made.problems),
        "unclear_share": share(unclear, made.pairs),
        "paths": {name: path.as_json() for name, path in sorted(made.paths.items())},
        "programs": made.programs,
        "cases_a_program": share(made.cases, made.programs, 3),
        "executable_share": share(made.executable, made.ran),
        "repaired_share": share(made.repaired, made.ran),
        "fixes": dict(made.fixes),
        "calls": round(made.total("calls")),
        "asked_again_share": share(made.total("asked_again"), made.total("calls")),
        "cached_share": share(made.total("tokens_cached"), made.total("tokens_in")),
        "matches_a_query": _spread(made.matches.values()),
        "queries_a_code": _spread(matched),
        "codes_of_two_queries": share(sum(count > 1 for count in matched), len(matched)),
    }


def _spread(counts: Iterable[int]) -> dict[str, int]:
    """Return how often each count occurs."""
    return {str(count): often for count, often in sorted(Counter(counts).items())}
