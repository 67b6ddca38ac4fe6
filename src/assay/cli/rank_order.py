"""`assay rank order`: order candidate programs, and say how each one likely fails and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options, tables
from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.cli.rank_parts import RankerOptions, rankers, tasks_of
from assay.errors import counted, printable
from assay.io.files import write_rows
from assay.io.terminal import dumps, say, say_problems
from assay.parameters import Options, argument, form, option, shared, verbose
from assay.report.document import Number

if TYPE_CHECKING:
    from assay.values import Ranked, Task

_FEW = 5
"""Programs of a task that are printed, where there are several tasks."""
_PARTS = 4
"""Parts of a score that are printed."""


class RankOrderOptions(Options):
    """Options of `assay rank order`."""

    samples: Path = argument()
    tasks: Path | None = options.tasks()
    spec: str = option("--ranker SPEC", "The ranker.", default="consensus")
    may: RankerOptions = shared(RankerOptions)
    most: int | None = option("--k K", "Print only the K best programs of each task.  [default: all]", least=1)
    stop: str = options.stop()
    form: str = form("text", "json", "jsonl")
    out: Path | None = option("--out FILE", "Also write the order to FILE.", kind="file")
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
    from assay.rank.pools import notes, read
    from assay.rank.rankers import best_first, parts_of, ranked_pools

    pools = read(given.samples, tasks_of(given.tasks), stop=given.stop)
    groups = list(pools)
    found: list[tuple[Task, list[Ranked]]] = []
    with rankers([given.spec], given.may) as ((ranker,), _), progress() as watch:
        for (task, _), opinions in zip(groups, ranked_pools(ranker, groups), strict=True):
            found.append((task, best_first(opinions, seed=given.seed)))
            watch("tasks", len(found), len(groups))
    are_whole = not any(part.startswith("consensus:") and "unfinished" in part for part in parts_of(given.spec))
    odd = (note for task, programs in groups for note in notes(task, programs, are_whole=are_whole))
    say_problems([*pools.problems, *odd], every=given.verbose)
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
    samples = sum(each.program.n for each in ranked)
    of = f", sampled {samples:,} times" if samples != len(ranked) else ""
    yield f"{printable(task.id)}: {counted(len(ranked), 'program')}{of}"
    rows = [_cells(place, each) for place, each in enumerate(ranked[:most], 1)]
    yield from islice(tables.lines([""] * 6, rows, "    "), 1, None)  # the heads would say nothing new
    if most is not None and len(ranked) > most:
        yield f"       {len(ranked) - most:,} more"


def _cells(place: int, each: Ranked) -> tuple[int | str | Number, ...]:
    """Return the row of a program; a column that is empty in every row is left out."""
    line = f" line {each.line}" if each.line > 0 else ""
    parts = sorted(each.why.items(), key=lambda part: -abs(part[1]))[:_PARTS]
    return (
        place,
        Number(each.score),
        each.program.id,
        f"x{each.program.n}" if each.program.n > 1 else "",
        f"{each.fault or 'not predicted'}{line}",
        ", ".join(f"{name} {value:.2f}" for name, value in parts),
    )
