"""Records to the same verdicts again, with no model and no sandbox: what differs is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.judge.campaign import line
from assay.judge.pair_verdict import Judge
from assay.judge.pairs import Pair
from assay.judge.past_records import verdicts
from assay.judge.steps import is_step
from assay.runs.record import ReadOnlySteps, Steps
from assay.types import Chunk, Query

FAILED = frozenset({"chat", "reply", "sandbox"})
"""What went wrong then, of which there is no step."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A verdict as it was recorded, and as it comes about again."""

    recorded: dict[str, Any]
    again: dict[str, Any]

    @property
    def skipped(self) -> bool:
        """Whether it failed then: there is nothing to tell again."""
        return self.recorded["problem"] in FAILED

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.skipped and self.recorded == self.again


def replay(file: Path, judge_of: Callable[[Steps], Judge]) -> Iterator[Replay]:
    """Judge each pair of a file of records again, from its steps alone."""
    judge = judge_of(ReadOnlySteps(file, is_step))
    for record in verdicts(file):
        pair = pair_of(record)
        yield Replay(record, line(pair, judge.judge(pair), judge.name))


def pair_of(record: dict[str, Any]) -> Pair:
    """Return the pair that a verdict is about."""
    code = Chunk(record["code_id"], record["code"], record["language"])
    return Pair(Query(record["query_id"], record["query"]), code)
