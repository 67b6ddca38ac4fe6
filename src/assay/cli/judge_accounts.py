"""`assay judge accounts`: records in, what they cost and what they came to out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.command import COUNT, PATH, argument, command, form, option, verbose
from assay.report.plain_text import table_lines
from assay.report.table import Column, Count, Number, Phrase, Rows, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.judge.accounts import CostForecast


@dataclass(frozen=True, slots=True)
class JudgeAccountsOptions:
    """Options of `assay judge accounts`."""

    records: Path = argument(type=PATH)
    pairs: int | None = option(
        "--pairs", type=COUNT, metavar="N", help="Plan for N pairs.  [default: 412,080, those of CoSQA+]"
    )
    workers: int = option("--workers", type=COUNT, default=8, metavar="N", help="Plan for N pairs at a time.")
    cores: int | None = option(
        "--cores", type=COUNT, metavar="N", help="Plan for N programs at a time.  [default: the cores]"
    )
    form: str = form("text", "json")
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    JudgeAccountsOptions,
    example="assay judge accounts records.jsonl --pairs 10000",
)
def accounts(given: JudgeAccountsOptions) -> None:
    """Print what the verdicts in RECORDS cost, by how they were reached, and how tests and labels came out.

    Beside each figure stands the one that the authors of CoSQA+ report, if they report one.
    """
    import os
    from dataclasses import asdict

    from assay.cli.answer import dumps
    from assay.errors import InputError
    from assay.judge import accounts as made
    from assay.judge.past_records import verdicts

    added = made.accounts(verdicts(given.records))
    if not added.pairs:
        raise InputError(f"no verdict in {given.records}; `assay judge run` writes some")
    told = made.costs_as_json(added)
    pairs = given.pairs or int(made.PUBLISHED["pairs"])
    plan = made.planned(added, pairs, workers=given.workers, cores=given.cores or os.cpu_count() or 1)
    if given.form == "json":
        click.echo(dumps({**told, "plan": {**asdict(plan), "seconds": plan.seconds}}))
    else:
        click.echo("\n".join((*_text(told), *_planned(plan, given.workers))))


def _text(told: Mapping[str, Any]) -> Iterator[str]:
    published = told["published"]
    yield f"{told['pairs']:,} pairs of {told['queries']:,} queries and {told['codes']:,} codes"
    yield f"labels: {', '.join(f'{label} {count:,}' for label, count in told['labels'].items())}".replace(
        "None", "undecided"
    )
    if told["undecided"]:
        yield f"undecided: {', '.join(f'{why} {count:,}' for why, count in told['undecided'].items())}"
    yield f"unclear: {told['unclear_share']:.1%} (CoSQA+ {published['unclear_share']:.0%})"
    yield from table_lines(_routes(told["paths"]), indent="")
    if told["programs"]:
        yield f"test cases a program: {told['cases_a_program']:.2f} (CoSQA+ {published['cases_a_program']})"
        yield (
            f"executable: {told['executable_share']:.2%}, of them repaired first "
            f"{told['repaired_share']:.2%} of all (CoSQA+ {published['executable_share']:.2%})"
        )
    yield f"queries by matching codes: {_spread(told['matches_a_query'])}"
    yield f"codes by queries they match: {_spread(told['queries_a_code'])}"
    two = f"{told['codes_of_two_queries']:.1%} (CoSQA+ {published['codes_of_two_queries']:.1%})"
    yield f"codes that match two queries or more, of those that match any: {two}"


def _routes(paths: Mapping[str, Mapping[str, Any]]) -> Table:
    heads = ("pairs", "calls", "tokens", "$ a pair", "model s", "sandbox s")
    rows: Rows = tuple(
        (
            Phrase(name),
            Count(path["pairs"]),
            Number(path["calls"], digits=2),
            Number(path["tokens_in"] + path["tokens_out"], digits=0),
            Number(path["cost"], digits=6),
            Number(path["model_s"], digits=2),
            Number(path["sandbox_s"], digits=2),
        )
        for name, path in paths.items()
    )
    return Table("", (Column("path", words=True), *map(Column, heads)), rows)


def _spread(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{often:,} with {count}" for count, often in counts.items()) or "none"


def _planned(plan: CostForecast, workers: int) -> Iterator[str]:
    from assay.judge.tally import lasting

    yield ""
    yield (
        f"{plan.pairs:,} pairs like these: {plan.calls:,} calls, {plan.tokens / 1e6:,.1f} M tokens, ${plan.cost:,.2f}, "
        f"{lasting(plan.seconds)} with {workers} at a time"
    )
    times = f"models {lasting(plan.model_s)}, tests {lasting(plan.sandbox_s)}, this program {lasting(plan.overhead_s)}"
    yield f"the bottleneck is {plan.bottleneck}: {times}"
