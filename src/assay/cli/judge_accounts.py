"""The command `assay judge accounts`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from assay.cli.command import COUNT, FILE, argument, command, form, option, verbose


@dataclass(frozen=True, slots=True)
class JudgeAccountsOptions:
    """Options of `assay judge accounts`."""

    records: Path = argument()
    pairs: int | None = option("--pairs N", "Plan for N pairs.  [default: 412,080, those of CoSQA+]", type=COUNT)
    workers: int = option("--workers N", "Plan for N pairs at a time.", type=COUNT, default=8)
    cores: int | None = option("--cores N", "Plan for N programs at a time.  [default: the cores]", type=COUNT)
    prices: tuple[str, ...] = option(
        "--price SPEC",
        "Plan with the price of this model, PROVIDER:MODEL. Repeatable.  [default: the models that judged]",
    )
    out: Path | None = option("--out FILE.html", "Also write a page with the figures, drawn.", type=FILE)
    form: str = form("text", "json")
    verbose: bool = verbose("Show the traceback of an error.")


@command(JudgeAccountsOptions, example="assay judge accounts records.jsonl --pairs 10000")
def accounts(given: JudgeAccountsOptions) -> None:
    """Print what the verdicts in RECORDS cost, by how they were reached, and how tests and labels came out.

    Beside each figure stands the one that the authors of CoSQA+ report, if they report one.
    """
    import os
    from dataclasses import asdict

    from assay.cli.judge_accounts_report import as_text, forecast_text, known_price, prices_text
    from assay.errors import InputError
    from assay.io.terminal import dumps
    from assay.judge import accounts as made
    from assay.judge.accounts import planned, priced
    from assay.judge.records import failures, verdicts
    from assay.llm.endpoint import price_of

    added = made.accounts(verdicts(given.records))
    if not added.pairs:
        raise InputError(f"no verdict in {given.records}; `assay judge run` writes some")
    for failure in failures(given.records):
        added.add_failed(failure)
    told = made.costs_as_json(added)
    pairs = given.pairs or int(made.PUBLISHED["pairs"])
    plan = planned(added, pairs, workers=given.workers, cores=given.cores or os.cpu_count() or 1)
    prices = priced(plan, {spec: price_of(spec) for spec in given.prices or _models(given.records)})
    if given.form == "json":
        usd = {
            spec: {name: known_price(value) for name, value in asdict(price).items()} for spec, price in prices.items()
        }
        click.echo(dumps({**told, "plan": {**asdict(plan), "seconds": plan.seconds, "usd": usd}}))
    else:
        click.echo("\n".join((*as_text(told), *forecast_text(plan, given.workers), *prices_text(prices, plan))))
    if given.out:
        from assay.cli.judge_accounts_report import write
        from assay.io.terminal import say

        write(told, given.out)
        say(f"written to {given.out}")


def _models(records: Path) -> tuple[str, ...]:
    """Return the models that judged, as far as the manifest says."""
    from assay.runs.record import stored_settings

    return tuple((stored_settings(records) or {}).get("chats", ()))
