"""`assay rank order`: candidate programs in, their order out, with how each one likely fails and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.command import COUNT, FILE, argument, command, form, option, shared, verbose
from assay.cli.rank_parts import rankers, tasks_of, tell
from assay.cli.ranker_options import RankerOptions

if TYPE_CHECKING:
    from assay.values import Ranked, Task

_FEW = 5
"""Programs of a task that are printed, where there are several tasks."""
_PARTS = 4
"""Parts of a score that are printed."""


@dataclass(frozen=True, slots=True)
class RankOrderOptions:
    """Options of `assay rank order`."""

    samples: Path = argument()
    tasks: Path | None = options.tasks()
    spec: str = option("--ranker SPEC", "The ranker.", default="consensus")
    may: RankerOptions = shared(RankerOptions)
    most: int | None = option("--k K", "Print only the K best programs of each task.  [default: all]", type=COUNT)
    stop: str = options.stop()
    form: str = form("text", "json", "jsonl")
    out: Path | None = option("--out FILE", "Also write the order to FILE.", type=FILE)
    seed: int = option("--seed N", "The random seed that orders equal scores.", default=0)
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(RankOrderOptions, example="assay rank order candidates.jsonl --tasks HumanEval.jsonl --k 1")
def order(given: RankOrderOptions) -> None:
    """Order the programs of each task by how likely each is right, and say what is wrong with the others.

    SAMPLES has one JSON object a line: a program (code, solution, or completion with its prompt), and the task_id where
    there are several tasks. A folder of .py files is one task's candidates. Rankers are consensus,
    consensus:?unfinished (for programs that are still being written), neural:FOLDER, chat:PROVIDER:MODEL (a language
    model judges the best 20 of consensus), and those that run programs and need --allow-execution: examples and
    agreement. With A+B the second decides between programs that the first holds equal. Scores compare programs of one
    task only. Where a ranker names no fault, it is not predicted (null in JSON): consensus names only faults that it
    can see.

    Text shows five programs a task where there are several tasks; FILE, JSON and JSON lines have all of them.

    Exits 0 if there is an order, 2 on an error.
    """
    from assay.cli.progress import progress
    from assay.io.files import write_rows
    from assay.io.terminal import dumps, say
    from assay.rank.pools import notes, read
    from assay.rank.rankers import best_first, parts_of, ranked_pools

    pools = read(given.samples, tasks_of(given.tasks), stop=given.stop)
    groups = list(pools)
    found: list[tuple[Task, list[Ranked]]] = []
    with rankers([given.spec], given.may) as (ranker,), progress() as watch:
        for (task, _), opinions in zip(groups, ranked_pools(ranker, groups), strict=True):
            found.append((task, best_first(opinions, seed=given.seed)))
            watch("tasks", len(found), len(groups))
    are_whole = not any(part.startswith("consensus:") and "unfinished" in part for part in parts_of(given.spec))
    odd = (note for task, programs in groups for note in notes(task, programs, are_whole=are_whole))
    tell([*pools.problems, *odd], verbose=given.verbose)
    rows = [row for task, ranked in found for row in _rows(task, ranked[: given.most])]
    if given.form == "text":
        shown = given.most or (_FEW if len(found) > 1 else None)
        click.echo("\n".join(line for task, ranked in found for line in _text(task, ranked, shown)))
    elif given.form == "jsonl":
        click.echo("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    else:
        click.echo(dumps({"ranker": ranker.name, "tasks": len(found), "programs": rows}))
    if given.out:
        write_rows(given.out, rows)
        say(f"written to {given.out}")


def _rows(task: Task, ranked: Sequence[Ranked]) -> Iterator[dict[str, Any]]:
    for place, each in enumerate(ranked, 1):
        yield {
            "task_id": task.id,
            "rank": place,
            "id": each.program.id,
            "score": float(each.score),
            "fault": None if each.fault is None else str(each.fault),
            "line": each.line,
            "n": each.program.n,
            "why": {name: float(value) for name, value in each.why.items()},
            "source": each.program.source,
        }


def _text(task: Task, ranked: Sequence[Ranked], most: int | None) -> Iterator[str]:
    from assay.errors import counted, printable

    samples = sum(each.program.n for each in ranked)
    of = f", sampled {samples:,} times" if samples != len(ranked) else ""
    yield f"{printable(task.id)}: {counted(len(ranked), 'program')}{of}"
    rows = [_cells(place, each) for place, each in enumerate(ranked[:most], 1)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for place, score, *cells in rows:
        told = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths[2:], strict=True) if width)
        yield f"{place:>5}  {score:>{max(8, widths[1])}}  {told}".rstrip()
    if most is not None and len(ranked) > most:
        yield f"       {len(ranked) - most:,} more"


def _cells(place: int, each: Ranked) -> tuple[str, ...]:
    """Return what is told of a program: columns of a table, empty where it has nothing to say."""
    from assay.errors import printable

    line = f" line {each.line}" if each.line > 0 else ""
    times = f"x{each.program.n}" if each.program.n > 1 else ""
    return (
        str(place),
        f"{each.score:.3f}",
        printable(each.program.id),
        times,
        f"{each.fault or 'not predicted'}{line}",
        _why(each),
    )


def _why(ranked: Ranked) -> str:
    parts = sorted(ranked.why.items(), key=lambda part: -abs(part[1]))[:_PARTS]
    return ", ".join(f"{name} {value:.2f}" for name, value in parts)
