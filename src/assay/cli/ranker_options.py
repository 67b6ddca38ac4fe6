"""The options of commands that rank: what rankers may do, and how they ask models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import options
from assay.cli.command import COUNT, FILE, flag, option, shared
from assay.cli.options import ClusterOptions

if TYPE_CHECKING:
    from assay.assemble.open_rankers import RankerChatOptions


@dataclass(frozen=True, slots=True)
class AskingOptions:
    """What the options say about the models that rankers ask."""

    budget: str = options.budget("rankers of the kind chat:MODEL may")
    rate: str = options.rate("they ask of a model")
    in_flight: int | None = option("--in-flight N", "Questions to models at a time.  [default: 8]", type=COUNT)
    records: Path | None = option(
        "--records FILE",
        "Where the replies of models go; what stands there is not asked again.  [default: rank-records.jsonl]",
        type=FILE,
    )
    replay: bool = flag("--replay", "Ask no model: take all replies from the records.")
    no_cache: bool = flag(
        "--no-cache",
        "Do not use replies to other commands: ask, and pay, again; what stands in --records is never asked again.",
    )

    def chat_options(self) -> RankerChatOptions:
        """Return them as models are opened with."""
        from assay.assemble.open_rankers import IN_FLIGHT, RankerChatOptions

        in_flight, records = self.in_flight or IN_FLIGHT, self.records or Path("rank-records.jsonl")
        return RankerChatOptions(self.budget, self.rate, in_flight, records, replay=self.replay, no_cache=self.no_cache)

    @property
    def first_given(self) -> str:
        """The first option that says something which only a model can heed, empty if none does."""
        said = {
            "--budget": self.budget,
            "--rate": self.rate,
            "--in-flight": self.in_flight,
            "--records": self.records,
            "--replay": self.replay,
            "--no-cache": self.no_cache,
        }
        return next((name for name, value in said.items() if value), "")


@dataclass(frozen=True, slots=True)
class RankerOptions:
    """What the options say about what rankers may do: run programs, ask models."""

    allow_execution: bool = options.allow_execution()
    where: ClusterOptions = shared(ClusterOptions)
    asking: AskingOptions = shared(AskingOptions)
