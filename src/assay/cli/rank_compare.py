"""`assay rank compare`: compare rankers over sets of samples, in one table with its drawings."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.cli.options import GateOptions
from assay.cli.progress import progress
from assay.cli.rank_parts import RankerOptions, labelled, rankers, tasks_of
from assay.errors import InputError, MissingExtra
from assay.io import files
from assay.io.terminal import say, say_problems
from assay.parameters import Options, argument, flag, form, option, shared, verbose
from assay.report.document import Figure, Report, as_json_text
from assay.report.plain_text import as_markdown, as_text
from assay.report.web_page import write_page, write_picture

if TYPE_CHECKING:
    from assay.bench.program_ranking import Matrix, RankedColumn, RankingColumn
    from assay.protocols import Ranker


class RankCompareOptions(Options):
    """Options of `assay rank compare`."""

    matrix: Path = argument()
    out: Path = option("--out FOLDER", "Where orders and results go.", kind="folder", default="assay-rank")
    fresh: bool = flag("--fresh", "Rank everything again; earlier orders are moved to FOLDER/runs.old.")
    all_pairs: bool = flag("--all-pairs", "Test every two rankers, not only each against the unranked order.")
    gating: GateOptions = shared(GateOptions)
    may: RankerOptions = shared(RankerOptions)
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(RankCompareOptions, example="assay rank compare matrix.toml --out runs/compare")
def compare(given: RankCompareOptions) -> int:
    """Measure every ranker on every set of samples that MATRIX names, as one table.

    MATRIX is a TOML file with sets, taken apart by model, configuration or prompt where asked for, and rankers.
    FOLDER gets results.json, RESULTS.md, report.json, and with matplotlib a heat map of pass@1 (each column relative to
    the ranker trained on its set, else to the best), training curves of rankers that have a log, index.html with all
    of it, and report.html with what differs and how surely. Orders are kept in FOLDER/runs: what is there is not
    ranked again.

    Exits 0 if all gates hold, 1 if one does not, 2 on an error.
    """
    from assay.bench import experiment, gates, results
    from assay.bench.program_ranking import as_rows, load, report_of, results_of
    from assay.measure.passk import measures

    plan = load(given.matrix)
    experiment.claim_output(given.out)
    names, gating = [str(measure) for measure in measures(plan.ks)], given.gating
    gate = gates.gates_of(gating.floors, gating.baseline, fail_if_worse=gating.fail_if_worse, names=names)
    if given.fresh:
        experiment.move_aside(given.out / "runs")
    specs = [each.spec for each in plan.rankers]
    if len(set(specs)) != len(specs):
        raise InputError("two rankers of the matrix have the same spec: name each once")
    with rankers(specs, given.may) as (made, importable):
        ranked = ranked_columns(plan, made, given.out, importable(), verbose=given.verbose)
    rows, report = as_rows(ranked), report_of(plan, ranked)
    earlier = experiment.earlier_in(given.out / experiment.RESULTS)
    held = results_of(ranked, plan, f"assay {shlex.join(sys.argv[1:])}", all_pairs=given.all_pairs)
    results.save(held, given.out / experiment.RESULTS)
    experiment.write_report(held, given.out, say, earlier)
    drawn = _write(report, given.out)
    is_json = given.form == "json"
    click.echo(json.dumps({"cells": rows}, ensure_ascii=False) if is_json else as_text(report), nl=is_json)
    failed = gates.failures(held, gate, say)
    written = ("results.json", "report.json", "RESULTS.md", *drawn, "index.html", "report.html")
    say(f"written to {given.out}: {', '.join(name for name in written if (given.out / name).exists())}")
    return 1 if failed else 0


def ranked_columns(
    plan: Matrix, rankers: Sequence[Ranker], out: Path, importable: Sequence[str] = (), *, verbose: bool = False
) -> list[RankedColumn]:
    """Return what the opened rankers of a matrix come to on each column; orders are kept in a folder."""
    from assay.bench.program_ranking import RankedColumn, recorded, with_spared
    from assay.rank.evaluate_rankers import EvaluationOptions, evaluate

    names = [each.name for each in plan.rankers]
    wanted, done = EvaluationOptions(plan.ks, seed=plan.seed), []
    with recorded(rankers, names, out, importable) as kept, progress() as watch:
        called = {ranker.name: (ranker, name) for ranker, name in zip(kept, names, strict=True)}
        for column in _columns(plan, verbose=verbose):
            found = evaluate(column.tasks, column.examples, kept, wanted, report=watch)
            cells = tuple(with_spared(cell, called) for cell in found.cells)
            done.append(RankedColumn(column, cells))
    return done


def _write(report: Report, out: Path) -> list[str]:
    """Write the report as values, Markdown and a page; return the names of its drawings, none without matplotlib."""
    figures = [block for section in report.sections for block in section.blocks if isinstance(block, Figure)]
    named: list[str] = []
    try:
        for figure in figures:
            write_picture(figure, out / f"{figure.kind}.svg")
            named.append(f"{figure.kind}.svg")
    except MissingExtra as missing:
        say(str(missing))
        report = replace(report, sections=report.sections[:1])
    files.write(out / "report.json", as_json_text(report))
    files.write(out / "RESULTS.md", as_markdown(report))
    write_page(report, out / "index.html")
    return named


def _columns(plan: Matrix, *, verbose: bool) -> Iterator[RankingColumn]:
    from assay.bench.program_ranking import columns
    from assay.bench.program_ranking import tasks_of as prompts_of
    from assay.rank.dataset import formats

    for spec in plan.sets:
        tasks = tasks_of(spec.tasks)
        if spec.samples and spec.outcomes:
            data, tasks = labelled(spec.samples, spec.outcomes, tasks, "")
        else:
            assert spec.data
            data = formats.read(spec.data)
            tasks = tasks or prompts_of(data.examples)
        say_problems(data.problems, every=verbose)
        examples = [each for each in data.examples if not spec.split or each.split == spec.split]
        there = list(columns(spec, tasks, examples))
        if not there:
            raise InputError(f"[sets.{spec.name}] holds no program with an outcome")
        yield from there
