"""The figures of a campaign and its forecast in, text for people out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assay.report.document import Column, Count, Number, Phrase, Rows, Table
from assay.report.plain_text import table_lines

if TYPE_CHECKING:
    from assay.judge.cost_forecast import CostForecast, PlannedPrice


def as_text(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines for people."""
    published = told["published"]
    yield f"{told['pairs']:,} pairs of {told['queries']:,} queries and {told['codes']:,} codes"
    yield f"labels: {', '.join(f'{label} {count:,}' for label, count in told['labels'].items())}".replace(
        "None", "undecided"
    )
    if told["undecided"]:
        yield f"undecided: {', '.join(f'{why} {count:,}' for why, count in told['undecided'].items())}"
    yield (
        f"{told['calls']:,} calls: {told['asked_again_share']:.1%} asked again for an answer that fits, "
        f"{told['failed_calls']:,} without any"
    )
    yield f"unclear: {told['unclear_share']:.1%} (CoSQA+ {published['unclear_share']:.0%})"
    yield from table_lines(routes(told["paths"]), indent="")
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


def routes(paths: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return what pairs cost by how they were decided."""
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


def forecast_text(plan: CostForecast, workers: int) -> Iterator[str]:
    """Yield what more pairs would take."""
    from assay.judge.tally import lasting

    yield ""
    yield (
        f"{plan.pairs:,} pairs like these: {plan.calls:,} calls, {plan.tokens_in / 1e6:,.1f} M tokens read and "
        f"{plan.tokens_out / 1e6:,.1f} M written, ${plan.cost:,.2f}, {lasting(plan.seconds)} with {workers} at a time"
    )
    if plan.tokens_shareable:
        fractions = [tokens / max(plan.tokens_in, 1) for tokens in (plan.tokens_shareable, plan.tokens_cached)]
        yield f"a cache at the endpoint can share {fractions[0]:.0%} of the tokens read; it shared {fractions[1]:.0%}"
    times = f"models {lasting(plan.model_s)}, tests {lasting(plan.sandbox_s)}, this program {lasting(plan.overhead_s)}"
    yield f"the bottleneck is {plan.bottleneck}: {times}"


def prices_text(prices: Mapping[str, PlannedPrice], plan: CostForecast) -> Iterator[str]:
    """Yield what they would cost by the lists of models."""
    if not prices:
        return
    heads = ("by list, $", "with cache, $", "by batch, $")
    rows: Rows = tuple(
        (
            Phrase(spec),
            *(Number(known_price(usd), digits=2) for usd in (price.listed, price.cached, price.batch)),
        )
        for spec, price in prices.items()
    )
    yield from table_lines(Table("", (Column("model", words=True), *map(Column, heads)), rows), indent="")
    for spec, price in prices.items():
        if price.cache_least > plan.beginning:
            yield (
                f"{spec}: its cache keeps beginnings of {price.cache_least:,} tokens or more, and these prompts share "
                f"{plan.beginning:,.0f}"
            )
        if known_price(price.listed) is None:
            yield f"{spec}: its price is not listed; add ?usd_in=…&usd_out=…&usd_cached=… (USD for a million tokens)"


def known_price(usd: float) -> float | None:
    """Return an amount, None where it is not known."""
    import math

    return None if math.isnan(usd) else usd
