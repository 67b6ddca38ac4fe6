"""Add up what a campaign cost and showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.judge.pairs import COUNTED, added

_PLACES = ("model", "sandbox", "install", "person")


@dataclass(slots=True)
class CampaignCosts:
    """What a campaign came to."""

    pairs: int = 0
    """Pairs with a verdict."""
    paths: dict[str, CampaignCosts] = field(default_factory=dict)
    """The same by how verdicts came about."""
    sums: Counter[str] = field(default_factory=Counter)
    """Calls, tokens, seconds, test programs and their cases, and how many of those that ran, can, and were repaired."""
    cost: float | None = 0.0
    """None where no price is known of a call."""
    saved: float | None = 0.0
    """What replies that came from the cache cost when they were asked for; None where a price is not known."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Count a verdict."""
        seconds = record.get("seconds", {})
        self.pairs += 1
        self.cost = added((self.cost, record.get("cost", 0.0)))
        self.saved = added((self.saved, record.get("saved", 0.0)))
        self.sums["calls"] += sum(record.get("calls", {}).values())
        self.sums.update({name: record.get(name, 0) for name in COUNTED})
        self.sums.update({f"{place}_s": seconds.get(place, 0.0) for place in _PLACES})
        if "cases" in record:
            self.sums.update(programs=1, cases=record["cases"])
        if "executable" in record:
            runs = record["executable"]
            self.sums.update(ran=1, executable=runs, repaired=bool(runs and record["fixes"]))

    @property
    def seconds_a_pair(self) -> float:
        """What a pair took of all that worked on it, one after the other; of a person where that labelled it."""
        return sum(self.sums[f"{place}_s"] for place in _PLACES) / max(self.pairs, 1)

    def share(self, part: str, whole: str) -> float | None:
        """Return one sum by another, where there is any."""
        return round(self.sums[part] / self.sums[whole], 4) if self.sums[whole] else None


def accounts(verdicts: Iterable[Mapping[str, Any]]) -> CampaignCosts:
    """Add up the records of verdicts."""
    made = CampaignCosts()
    for record in verdicts:
        made.add(record)
        made.paths.setdefault(record["path"] or "undecided", CampaignCosts()).add(record)
    return made


def costs_as_json(requests: CampaignCosts) -> dict[str, Any]:
    """Return the figures, as JSON has them."""
    return {
        "pairs": requests.pairs,
        "paths": {
            path: {"pairs": each.pairs, "seconds_a_pair": round(each.seconds_a_pair, 3), "cost": each.cost}
            for path, each in requests.paths.items()
        },
        "cost": requests.cost,
        "saved": requests.saved,
        **{name: round(value, 3) for name, value in requests.sums.items()},
        "cases_a_program": requests.share("cases", "programs"),
        "executable_share": requests.share("executable", "ran"),
    }
