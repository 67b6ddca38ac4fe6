"""A file of samples in, which numbers of each task are still missing out, as the questions that fill them.

A sample is `TASK#NUMBER`. Lines stand in the order in which they were answered, and a run that was cut off may have
left gaps, so that numbers are looked at, never counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import StorageError
from assay.runs.record import differing, read_lines, refuse
from assay.types import Task


@dataclass(frozen=True, slots=True)
class MissingSamples:
    """Samples of one task that are asked for together."""

    task: Task
    numbers: tuple[int, ...]


def numbers_there(out: Path, settings: Mapping[str, Any]) -> dict[str, set[int]]:
    """Return the numbers that each task has in a file; lines of other settings are refused."""
    there: dict[str, set[int]] = defaultdict(set)
    for line in read_lines(out):
        refuse(out, "samples", differing(line, settings))
        name = str(line.get("id"))
        _, _, number = name.rpartition("#")
        if not number.isdecimal():
            raise StorageError(
                f"{out}: the sample {name!r} has no number, as in TASK#0; give another --out, or --fresh"
            )
        there[str(line.get("task_id"))].add(int(number))
    return there


def missing(
    tasks: Sequence[Task], there: Mapping[str, Collection[int]], wanted: int, batch: int
) -> Iterator[MissingSamples]:
    """Yield what is missing until each task has the numbers from 0 on, so many at a time at most."""
    for task in tasks:
        has = there.get(task.id, ())
        gaps = [number for number in range(wanted) if number not in has]
        for start in range(0, len(gaps), batch):
            yield MissingSamples(task, tuple(gaps[start : start + batch]))
