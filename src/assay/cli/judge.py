"""Commands that choose pairs, judge them and export their labels: `assay judge run` and its like."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.bench.requests import JudgeTablesRequest
from assay.cli.adapter import command
from assay.cli.progress import ProgressReporter, progress
from assay.errors import InputError, counted, lasting, rate_text
from assay.io.files import dumps
from assay.io.terminal import say, say_problems
from assay.judge.requests import CandidatesRequest, ExportRequest, JudgeRequest

if TYPE_CHECKING:
    from assay.judge.campaign import Tally
    from assay.operations.judge import PairChoice


@command(JudgeRequest, example="assay judge run pairs.jsonl --judge signals --out records.jsonl")
def run(request: JudgeRequest) -> int:
    """Label each of PAIRS with 1 if the code answers the query and 0 if not, with the reason.

    PAIRS is JSON lines with query_id, query, code_id and code; JSON lines of ids with --queries and --corpus; or
    the JSON list of CoSQA. Every question and answer is written to FILE as it comes, then one verdict per pair.

    Exits 0 if done, 1 if it stopped before the end or nothing could be decided, 2 on an error, 3 if no machine of
    the cluster is left.
    """
    from assay.operations.judge import judge_file

    with ProgressReporter("no verdict yet", every=request.verbose).lines() as reporter:
        tally = judge_file(request, say, reporter)
    reporter.close()
    first = reporter.problems[0] if reporter.problems else ""
    fields = {**_tally_as_json(tally), "out": str(request.out)}
    click.echo(dumps(fields) if request.form == "json" else "\n".join(_tally_text(tally, first)))
    if request.out.exists():
        say(f"written to {request.out}")
    is_open = tally.judged == tally.undecided and (tally.judged or not tally.before)
    return 1 if tally.stopped or is_open else 0


def _tally_as_json(tally: Tally) -> dict[str, object]:
    names = ("judged", "before", "problems", "undecided", "unclear", "unpriced", "stopped")
    counts = {name: getattr(tally, name) for name in names}
    grades = {"match": tally.matches, "non_match": tally.grades[0]}
    return {**counts, **grades, "paths": dict(tally.paths), "cost": round(tally.cost, 6)}


def _tally_text(tally: Tally, problem: str) -> Iterator[str]:
    if tally.judged:
        unclear = f"; {tally.unclear:,} unclear, labeled as what is likelier" if tally.unclear else ""
        yield f"{tally.matches:,} match, {tally.grades[0]:,} do not, {tally.undecided:,} undecided{unclear}"
        yield f"by {', '.join(f'{name} {count:,}' for name, count in tally.paths.most_common())}"
    elif not tally.before:
        yield f"no pair could be judged: {problem or tally.stopped}"
    if tally.before:
        yield f"{tally.before:,} had a verdict before"
    if tally.problems:
        yield f"{tally.problems:,} cannot be judged"
    cost = "cost unknown" if tally.unpriced == tally.judged else f"${tally.cost:.4f}"
    if tally.judged:
        yield f"{cost}, {lasting(tally.judged / tally.rate)}, pairs: {rate_text(tally.rate)}"
    if tally.undecided:
        yield f"undecided, the last one: {tally.last_problem}; --retry judges these pairs again"
    if tally.stopped:
        left = tally.total - tally.done
        yield f"stopped: {tally.stopped}; {left:,} pairs are left, and the same command continues with them"


@command(ExportRequest, example="assay judge export records.jsonl --to benchmark")
def export(request: ExportRequest) -> None:
    """Write the labels in RECORDS as a benchmark: labels, splits 8:1:1 by query, statistics.

    RECORDS is what assay judge run writes, or ground truth with its code in any format, such as a folder of CoSQA+.

    all.jsonl and one file for each split are ground truth, which assay truth convert writes in the formats of others.
    With --format parquet they are corpus.parquet, queries.parquet and a file of labels for each split instead, in the
    layout of CoIR (extra bench).

    pairs.jsonl holds the labels with their texts, judge and reason; statistics.json and README.md hold the figures.
    README.md is a dataset card that the Hugging Face hub reads. queries-by-matches and codes-by-queries (.svg, .png)
    draw how many codes match a query, and how many queries a code answers (extra bench).

    DIR is written whole or not at all; if it is there, files of the same names are replaced.

    CORPUS is any that assay candidates reads: code that was never a candidate is then searched too.
    """
    from assay.judge.export import write_benchmark

    if not request.records.exists():
        raise InputError(f"no such file: '{request.records}'; `assay judge run` writes some")
    click.echo(write_benchmark(request, say), nl=False)
    say(f"written to {request.folder}")


@command(JudgeTablesRequest, example="assay judge tables table6 --pairs p.jsonl --gold g.jsonl --chat deepseek:CHAT")
def tables(request: JudgeTablesRequest) -> int:
    """Make a table or figure of the paper on CoSQA+; without TABLE, list them with what each takes.

    It is made by commands of Assay, which are printed; one that was cut off goes on. table1 and figure4 take --queries
    and --corpus, table2 --labels, table3 --train and --test, table4 and table6 --pairs and --gold, table5 --truth.

    Exits 0 if the table was made, 2 if it could not be.
    """
    from assay.bench.papers import cosqaplus
    from assay.cli.main import run_shown

    if not request.table:
        for name, (_, about, _, takes) in cosqaplus.TABLES.items():
            click.echo(f"{name:<9}{about}\n{'':<9}{takes}")
        return 0
    steps = cosqaplus.commands(request.table, request)
    if request.truth:
        os.environ["TRUTH"] = str(request.truth.resolve())
    for words in steps:
        run_shown(words, is_dry=request.is_dry)
    if request.table == "table3" and not request.is_dry:
        click.echo(cosqaplus.table_three(request))
    return 0


@command(CandidatesRequest, example="assay candidates queries.jsonl codes.jsonl --k 50 --out pairs.jsonl")
def candidates(request: CandidatesRequest) -> None:
    """Write the K code snippets of CORPUS nearest to each of QUERIES, by the mean cosine of several encoders.

    QUERIES and CORPUS are ground truth of any format (the same file twice if it holds both), JSON lines of id and
    query or of id and code, lines of text with one query each, or a folder of code, whose functions are the code
    snippets. `assay judge run` reads the output.

    It also prints which fraction of each encoder's own candidates the mean of all chose, and with --labels (ground
    truth, or records of assay judge run) how many snippets are right at each rank, which helps to choose K.
    """
    from assay.operations.judge import choose_pairs

    with progress() as watch:
        choice = choose_pairs(request, lambda problems: say_problems(problems, every=request.verbose), watch)
    fields = _choice_as_json(choice, request.out)
    click.echo(dumps(fields) if request.form == "json" else "\n".join(_choice_text(fields)))


def _choice_as_json(choice: PairChoice, out: Path) -> dict[str, Any]:
    """Return the result of a choice for JSON."""
    kinds = {} if choice.kinds is None else {"testable": choice.kinds.get("testable", 0), "kinds": choice.kinds}
    counts = choice.counts
    return {
        **{name: getattr(choice, name) for name in ("queries", "asked", "codes", "twins")},
        **kinds,
        "pairs": counts.pairs,
        "overlap": dict(counts.overlap),
        "out": str(out),
        **({"depths": choice.depths.as_dict()} if choice.depths else {}),
    }


def _choice_text(fields: Mapping[str, Any]) -> Iterator[str]:
    twins = f", {fields['twins']:,} of them with the text of another" if fields["twins"] else ""
    drawn = f", {fields['asked']:,} of them drawn" if fields["asked"] < fields["queries"] else ""
    yield f"{counted(fields['queries'], 'query')}{drawn}, {counted(fields['codes'], 'code')}{twins}"
    if "kinds" in fields:
        why = ", ".join(f"{kind} {count:,}" for kind, count in fields["kinds"].items() if kind != "testable")
        fraction = fields["testable"] / fields["codes"]
        yield f"testable: {fields['testable']:,} ({fraction:.1%}); left out: {why or 'none'}"
    yield f"{counted(fields['pairs'], 'pair')} written to {fields['out']}"
    yield "share of an encoder's own candidates that the mean of all chose, too:"
    width = max(map(len, fields["overlap"]))
    yield from (f"  {name:<{width}}  {share:.3f}" for name, share in fields["overlap"].items())
    if "depths" in fields:
        yield from _depths(fields["depths"])


def _depths(fields: Mapping[str, Any]) -> Iterator[str]:
    from assay.report.document import Number
    from assay.report.plain_text import rows_as_lines

    ranks = fields["ranks"]
    gone = f", beside {fields['gone']:,} whose code is not in this corpus" if fields["gone"] else ""
    yield f"{fields['known']:,} right pairs are known{gone}"
    shown = (row for row in ranks if row["rank"] <= 5 or not row["rank"] % 5 or row is ranks[-1])
    names = ("rank", "right", "judged", "pairs", "rate", "found")
    rows = ((*(row[name] for name in names[:4]), Number(row["rate"]), Number(row["found"])) for row in shown)
    yield from rows_as_lines(names, rows, "  ")
