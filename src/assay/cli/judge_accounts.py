"""`assay judge accounts`: records in, what they cost and what they came to out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.judge.accounts import Plan


@click.command(short_help="What records cost, and what more pairs would.")
@click.argument("records", type=click.Path(path_type=Path))
@click.option("--pairs", type=click.IntRange(min=1), metavar="N", help="Plan N pairs.  [default: 412,080, CoSQA+'s]")
@click.option("--workers", type=click.IntRange(min=1), default=8, show_default=True, help="Pairs at a time, planned.")
@click.option("--cores", type=click.IntRange(min=1), metavar="N", help="Programs at a time, planned.  [default: all]")
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def accounts(records: Path, pairs: int | None, workers: int, cores: int | None, form: str) -> None:
    """Say what the verdicts in RECORDS cost by the way they took, what test programs did, and how labels spread.

    Beside each figure stands what CoSQA+ says of its own, where it says something.
    """
    import os
    from dataclasses import asdict

    from assay.cli.answer import dumps
    from assay.errors import InputError
    from assay.judge import accounts as made
    from assay.judge.past import verdicts

    added = made.accounts(verdicts(records))
    if not added.pairs:
        raise InputError(f"no verdict in {records}; `assay judge run` writes some")
    told = made.told(added)
    plan = made.planned(added, pairs or made.PUBLISHED["pairs"], workers=workers, cores=cores or os.cpu_count() or 1)  # type: ignore[arg-type]
    if form == "json":
        click.echo(dumps({**told, "plan": {**asdict(plan), "seconds": plan.seconds}}))
    else:
        click.echo("\n".join((*_text(told), *_planned(plan, workers))))


def _text(told: Mapping[str, Any]) -> Iterator[str]:
    published = told["published"]
    yield f"{told['pairs']:,} pairs of {told['queries']:,} queries and {told['codes']:,} codes"
    yield f"labels: {', '.join(f'{label} {count:,}' for label, count in told['labels'].items())}".replace(
        "None", "undecided"
    )
    if told["undecided"]:
        yield f"undecided: {', '.join(f'{why} {count:,}' for why, count in told['undecided'].items())}"
    yield f"unclear: {told['unclear_share']:.1%} (CoSQA+ {published['unclear_share']:.0%})"
    yield f"{'path':<12}{'pairs':>9}{'calls':>8}{'tokens':>9}{'$ a pair':>12}{'model s':>10}{'sandbox s':>11}"
    for name, path in told["paths"].items():
        tokens = path["tokens_in"] + path["tokens_out"]
        yield (
            f"{name:<12}{path['pairs']:>9,}{path['calls']:>8.2f}{tokens:>9,.0f}{path['cost']:>12.6f}"
            f"{path['model_s']:>10.2f}{path['sandbox_s']:>11.2f}"
        )
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


def _spread(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{often:,} with {count}" for count, often in counts.items()) or "none"


def _planned(plan: Plan, workers: int) -> Iterator[str]:
    from assay.judge.tally import lasting

    yield ""
    yield (
        f"{plan.pairs:,} pairs like these: {plan.calls:,} calls, {plan.tokens / 1e6:,.1f} M tokens, ${plan.cost:,.2f}, "
        f"{lasting(plan.seconds)} with {workers} at a time"
    )
    times = f"models {lasting(plan.model_s)}, tests {lasting(plan.sandbox_s)}, this program {lasting(plan.overhead_s)}"
    yield f"the bottleneck is {plan.bottleneck}: {times}"
