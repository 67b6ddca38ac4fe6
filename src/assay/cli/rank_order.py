"""`assay rank order`: candidate programs in, their order out, with how each one likely fails and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.rank_parts import allow_option, rankers, stop_option, tasks_of, tasks_option, tell, verbose_option

if TYPE_CHECKING:
    from assay.types import Ranked, Task

_FEW = 5
"""Programs of a task that are printed, where there are several tasks."""
_PARTS = 4
"""Parts of a score that are printed."""


@click.command(short_help="Order candidate programs: best first.")
@click.argument("samples", type=click.Path(path_type=Path))
@tasks_option
@click.option("--ranker", "spec", default="consensus", show_default=True, metavar="SPEC", help="What decides.")
@allow_option
@click.option("--k", "most", type=click.IntRange(min=1), metavar="K", help="The K best of each task.  [default: all]")
@stop_option
@options.form("text", "json", "jsonl")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the order, too.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides between equal scores.")
@verbose_option
def order(
    samples: Path,
    tasks: Path | None,
    spec: str,
    allowed: bool,
    most: int | None,
    stop: str,
    form: str,
    out: Path | None,
    seed: int,
    verbose: bool,
) -> None:
    """Order the programs of each task by how likely each is right, and say what is wrong with the others.

    SAMPLES has one JSON object a line: a program (code, solution, or completion with its prompt), and the task_id where
    there are several tasks. A folder of .py files is one task's candidates. Rankers are consensus, neural:FOLDER, and
    those that run programs and need --allow-execution: examples and agreement. With A+B the second decides between
    programs that the first holds equal. Scores compare programs of one task only.

    Text shows five programs a task where there are several tasks; FILE, JSON and JSON lines have all of them.

    Leaves with 0 when there is an order, 2 on an error.
    """
    from assay.cli.answer import dumps
    from assay.cli.progress import progress
    from assay.cli.workspaces import say
    from assay.rank.order import best_first
    from assay.rank.pools import notes, read

    pools = read(samples, tasks_of(tasks), stop=stop)
    groups = list(pools)
    found: list[tuple[Task, list[Ranked]]] = []
    with rankers([spec], allowed=allowed) as (ranker,), progress() as watch:
        for task, programs in groups:
            found.append((task, best_first(ranker.rank(task, programs), seed=seed)))
            if watch:
                watch("tasks", len(found), len(groups))
    tell([*pools.problems, *(note for task, programs in groups for note in notes(task, programs))], verbose=verbose)
    rows = [row for task, ranked in found for row in _rows(task, ranked[:most])]
    if form == "text":
        shown = most or (_FEW if len(found) > 1 else None)
        click.echo("\n".join(line for task, ranked in found for line in _text(task, ranked, shown)))
    elif form == "jsonl":
        click.echo("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    else:
        click.echo(dumps({"ranker": ranker.name, "tasks": len(found), "programs": rows}))
    if out:
        _write(out, rows)
        say(f"written to {out}")


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
    from assay.cli.workspaces import counted
    from assay.errors import printable

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
    return str(place), f"{each.score:.3f}", printable(each.program.id), times, f"{each.fault or '-'}{line}", _why(each)


def _why(ranked: Ranked) -> str:
    parts = sorted(ranked.why.items(), key=lambda part: -abs(part[1]))[:_PARTS]
    return ", ".join(f"{name} {value:.2f}" for name, value in parts)


def _write(out: Path, rows: Sequence[dict[str, Any]]) -> None:
    from assay.errors import StorageError

    beside = out.with_name(f"{out.name}.new")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        beside.write_text("".join(lines), "utf-8", "backslashreplace")
        beside.replace(out)
    except OSError as error:
        raise StorageError(f"cannot write {out}: {error.strerror or error}") from error
