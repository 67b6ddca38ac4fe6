"""The command `assay judge accounts`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import tables
from assay.cli.adapter import command
from assay.errors import InputError
from assay.io.terminal import dumps
from assay.parameters import Options, argument, form, option, verbose
from assay.report.document import Number

if TYPE_CHECKING:
    from assay.judge.accounts import CostForecast


class JudgeAccountsOptions(Options):
    """Options of `assay judge accounts`."""

    records: Path = argument()
    pairs: int | None = option("--pairs N", "Plan for N pairs.  [default: 412,080, those of CoSQA+]", least=1)
    workers: int = option("--workers N", "Plan for N pairs at a time.", least=1, default=8)
    cores: int | None = option("--cores N", "Plan for N programs at a time.  [default: the cores]", least=1)
    prices: tuple[str, ...] = option(
        "--price SPEC",
        "Plan with the price of this model, PROVIDER:MODEL. Repeatable.  [default: the models that judged]",
    )
    form: str = form("text", "json")
    verbose: bool = verbose("Show the traceback of an error.")


@command(JudgeAccountsOptions, example="assay judge accounts records.jsonl --pairs 10000")
def accounts(given: JudgeAccountsOptions) -> None:
    """Print what the verdicts in RECORDS cost, by how they were reached, and how tests and labels came out.

    Beside each figure stands the one that the authors of CoSQA+ report, if they report one.
    """
    from assay.judge import accounts as costs
    from assay.judge.records import failures, verdicts
    from assay.llm.endpoint import price_of
    from assay.runs.record import stored_settings

    added = costs.accounts(verdicts(given.records))
    if not added.pairs:
        raise InputError(f"no verdict in {given.records}; `assay judge run` writes some")
    for failure in failures(given.records):
        added.add_failed(failure)
    figures = costs.costs_as_json(added)
    pairs = given.pairs or int(costs.PUBLISHED["pairs"])
    plan = costs.planned(added, pairs, workers=given.workers, cores=given.cores or os.cpu_count() or 1)
    models = given.prices or (stored_settings(given.records) or {}).get("chats", ())
    prices = costs.priced(plan, {spec: price_of(spec) for spec in models})
    if given.form == "json":
        usd = {spec: {"listed": _known(listed), "batch": _known(batch)} for spec, (listed, batch) in prices.items()}
        click.echo(dumps({**figures, "plan": {**asdict(plan), "seconds": plan.seconds, "usd": usd}}))
    else:
        click.echo("\n".join((*_text(figures), *_forecast(plan, given.workers), *_prices(prices))))


def _text(figures: Mapping[str, Any]) -> Iterator[str]:
    published = figures["published"]
    yield f"{figures['pairs']:,} pairs of {figures['queries']:,} queries and {figures['codes']:,} codes"
    yield f"labels: {_counts(figures['labels'])}".replace("None", "undecided")
    if figures["undecided"]:
        yield f"undecided: {_counts(figures['undecided'])}"
    yield (
        f"{figures['calls']:,} calls: {figures['asked_again_share']:.1%} asked again for an answer that fits, "
        f"{figures['failed_calls']:,} without any"
    )
    yield f"unclear: {figures['unclear_share']:.1%} (CoSQA+ {published['unclear_share']:.0%})"
    heads = ("path", "pairs", "calls", "tokens", "$ a pair", "model s", "sandbox s")
    digits = {"calls": 2, "tokens": 0, "cost": 6, "model_s": 2, "sandbox_s": 2}
    paths = {
        name: {**path, "tokens": path["tokens_in"] + path["tokens_out"]} for name, path in figures["paths"].items()
    }
    yield from tables.lines(
        heads,
        (
            (name, path["pairs"], *(Number(path[key], digits=places) for key, places in digits.items()))
            for name, path in paths.items()
        ),
    )
    if figures["programs"]:
        yield f"test cases a program: {figures['cases_a_program']:.2f} (CoSQA+ {published['cases_a_program']})"
        yield (
            f"executable: {figures['executable_share']:.2%}, of them repaired first "
            f"{figures['repaired_share']:.2%} of all (CoSQA+ {published['executable_share']:.2%})"
        )
    for title, key in (
        ("queries by matching codes", "matches_a_query"),
        ("codes by queries they match", "queries_a_code"),
    ):
        yield f"{title}: {', '.join(f'{often:,} with {count}' for count, often in figures[key].items()) or 'none'}"
    two = f"{figures['codes_of_two_queries']:.1%} (CoSQA+ {published['codes_of_two_queries']:.1%})"
    yield f"codes that match two queries or more, of those that match any: {two}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _forecast(plan: CostForecast, workers: int) -> Iterator[str]:
    """Yield what more pairs would take."""
    from assay.errors import lasting

    yield ""
    yield (
        f"{plan.pairs:,} pairs like these: {plan.calls:,} calls, {plan.tokens_in / 1e6:,.1f} M tokens read and "
        f"{plan.tokens_out / 1e6:,.1f} M written, ${plan.cost:,.2f}, {lasting(plan.seconds)} with {workers} at a time"
    )
    if plan.tokens_cached:
        yield f"{plan.tokens_cached / max(plan.tokens_in, 1):.0%} of the tokens read come from the endpoint's cache"
    times = f"models {lasting(plan.model_s)}, tests {lasting(plan.sandbox_s)}, this program {lasting(plan.overhead_s)}"
    yield f"the bottleneck is {plan.bottleneck}: {times}"


def _prices(prices: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """Yield what they would cost by the lists of models."""
    if prices:
        yield from tables.lines(
            ("model", "by list, $", "by batch, $"),
            ((spec, *(Number(_known(usd), digits=2) for usd in both)) for spec, both in prices.items()),
        )
    for spec, (listed, _) in prices.items():
        if isnan(listed):
            yield f"{spec}: its price is not listed; add ?usd_in=…&usd_out=…&usd_cached=… (USD for a million tokens)"


def _known(usd: float) -> float | None:
    return None if isnan(usd) else usd
