"""`assay rank compare`: a matrix of rankers and samples in, one table with its drawings out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from html import escape
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.rank_parts import allow_option, labelled, rankers, tasks_of, tell, verbose_option

if TYPE_CHECKING:
    from assay.measure.ranked import Measure
    from assay.rank.evaluate import Cell
    from assay.rank.matrix import Column, Matrix, SetSpec

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Rankers compared</title>
<style>body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}}
table{{border-collapse:collapse;font-size:.85rem}}
td,th{{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:left}}
svg{{max-width:100%;height:auto}}</style><h1>Rankers compared</h1>{body}</html>
"""


@click.command(short_help="Compare rankers over sets, models and prompts.")
@click.argument("matrix", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("assay-rank"),
    show_default=True,
    metavar="FOLDER",
    help="Where results go.",
)
@allow_option
@options.form("text", "json")
@verbose_option
def compare(matrix: Path, out: Path, allowed: bool, form: str, verbose: bool) -> None:
    """Measure every ranker on every set of samples that MATRIX names, as one table.

    MATRIX is a TOML file with sets, taken apart by model, configuration or prompt where asked for, and rankers.
    FOLDER gets results.json, RESULTS.md, and with matplotlib a heat map of pass@1 (each column relative to the ranker
    trained on its set, else to the best), training curves of rankers that have a log, and index.html with all of it.
    """
    from assay.cli.progress import progress
    from assay.cli.workspaces import say
    from assay.errors import InputError
    from assay.rank.evaluate import Plan, evaluate
    from assay.rank.matrix import load

    plan = load(matrix)
    specs = [each.spec for each in plan.rankers]
    if len(set(specs)) != len(specs):
        raise InputError(f"two rankers of {matrix} have the same spec: name each once")
    named = {each.spec: each.name for each in plan.rankers}
    rows: list[dict[str, Any]] = []
    with rankers(specs, allowed=allowed) as made, progress() as watch:
        called = {ranker.name: named[spec] for ranker, spec in zip(made, specs, strict=True)}
        for column in _columns(plan, verbose=verbose):
            found = evaluate(column.tasks, column.examples, made, Plan(plan.ks, seed=plan.seed), report=watch)
            rows += [_row(column, replace(cell, ranker=called.get(cell.ranker, cell.ranker))) for cell in found.cells]
    out.mkdir(parents=True, exist_ok=True)
    table = "\n".join(_table(rows))
    (out / "results.json").write_text(json.dumps({"cells": rows}, indent=1) + "\n", "utf-8")
    (out / "RESULTS.md").write_text(table + "\n", "utf-8", "backslashreplace")
    drawn = _draw(plan, rows, out)
    _page(rows, drawn, out)
    click.echo(json.dumps({"cells": rows}, ensure_ascii=False) if form == "json" else table)
    say(f"written to {out}: {', '.join(('results.json', 'RESULTS.md', *(path.name for path in drawn), 'index.html'))}")


def _columns(plan: Matrix, *, verbose: bool) -> Iterator[Column]:
    from assay.errors import InputError
    from assay.rank.matrix import columns

    for spec in plan.sets:
        tasks, examples = _held(spec, verbose=verbose)
        there = list(columns(spec, tasks, examples))
        if not there:
            raise InputError(f"[sets.{spec.name}] holds no program with an outcome")
        yield from there


def _held(spec: SetSpec, *, verbose: bool) -> tuple[Any, Any]:
    """Return the tasks and the labelled programs of a set."""
    from assay.rank.matrix import tasks_of as prompts_of
    from assay.rank.rows import formats

    if spec.samples and spec.outcomes:
        data, tasks = labelled(spec.samples, spec.outcomes, tasks_of(spec.tasks), "")
    else:
        assert spec.data
        data = formats.read(spec.data)
        tasks = tasks_of(spec.tasks) or prompts_of(data.examples)
    tell(data.problems, verbose=verbose)
    return tasks, [each for each in data.examples if not spec.split or each.split == spec.split]


def _row(column: Column, cell: Cell) -> dict[str, Any]:
    return {
        "ranker": cell.ranker,
        "column": column.name,
        "set": column.set,
        "model": column.model,
        "config": column.config,
        "prompt": column.prompt,
        "samples": sum(each.n for each in column.examples),
        "seconds": cell.seconds,
        "values": {str(measure): _plain(asdict(value)) for measure, value in cell.values.items()},
        "gains": {str(measure): _plain(asdict(gain)) for measure, gain in cell.gains.items()},
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in values.items()}


def _table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table as Markdown: a row a cell of the matrix, pass@1 before exec@1."""
    measures = list(dict.fromkeys(name for row in rows for name in row["values"]))
    yield f"| samples | ranker | tasks | gain in pass | {' | '.join(measures)} |"
    yield "|---|---|---|---|" + "---|" * len(measures)
    for row in rows:
        gain = next(iter(row["gains"].values()), None)
        won = f"{gain['value']:+.3f} [{gain['low']:+.3f} {gain['high']:+.3f}]" if gain and gain["tasks"] else ""
        tasks = max(value["tasks"] for value in row["values"].values())
        values = " | ".join(_value(row["values"].get(name), tasks) for name in measures)
        yield f"| {_cell(row['column'])} | {_cell(row['ranker'])} | {tasks} | {won} | {values} |"


def _value(value: dict[str, Any] | None, tasks: int) -> str:
    """Return a value, with how many tasks it is of where that is not all: the others have fewer than k samples."""
    if not value or value["value"] is None:
        return "-"
    of = "" if value["tasks"] == tasks else f" of {value['tasks']}"
    return f"{value['value']:.3f} [{value['low']:.3f}-{value['high']:.3f}]{of}"


def _cell(text: str) -> str:
    from assay.errors import printable

    return printable(text).replace("|", "\\|")


def _draw(plan: Matrix, rows: Sequence[dict[str, Any]], out: Path) -> list[Path]:
    """Draw what there is to draw; without matplotlib that is said, and the table stands alone."""
    from assay.cli.workspaces import say
    from assay.errors import MissingExtra
    from assay.measure.ranked import Measure
    from assay.rank.matrix import relative, training

    try:
        from assay.rank import plots
    except ModuleNotFoundError as error:
        say(str(MissingExtra("drawings", str(error.name), "bench")))
        return []
    first = Measure(plan.ks[0])
    names = list(dict.fromkeys(row["column"] for row in rows))
    sets = [next(row["set"] for row in rows if row["column"] == name) for name in names]
    worth = [[_worth(rows, ranker.name, name, first) for name in names] for ranker in plan.rankers]
    heat = out / "heat.svg"
    title = f"{first} of each ranker, over that\nof the one trained on the set, else of the best"
    plots.heat([each.name for each in plan.rankers], names, relative(plan.rankers, names, sets, worth), title, heat)
    logs = training(plan.rankers)
    if not logs:
        return [heat]
    smooth = {
        ranker: {name: plots.smoothed(curve) for name, curve in curves.items()} for ranker, curves in logs.items()
    }
    plots.curves(smooth, out / "curves.svg")
    return [heat, out / "curves.svg"]


def _worth(rows: Sequence[dict[str, Any]], ranker: str, column: str, measure: Measure) -> float:
    for row in rows:
        if row["ranker"] == ranker and row["column"] == column:
            value = row["values"][str(measure)]["value"]
            return nan if value is None else float(value)
    return nan


def _page(rows: Sequence[dict[str, Any]], drawn: Sequence[Path], out: Path) -> None:
    """Write one page with the table and the drawings in it; it needs nothing else."""
    lines = [line.strip("| ").split(" | ") for line in _table(rows)]
    head = "".join(f"<th>{escape(cell)}</th>" for cell in lines[0])
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines[2:])
    pictures = "".join(path.read_text("utf-8")[path.read_text("utf-8").index("<svg") :] for path in drawn)
    (out / "index.html").write_text(_PAGE.format(body=f"<table><tr>{head}</tr>{body}</table>{pictures}"), "utf-8")
