"""Show what a campaign cost and how its labels spread: as text, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import counted
from assay.report.document import (
    BarPanel,
    Bars,
    Block,
    Column,
    Count,
    Number,
    Phrase,
    Report,
    Rows,
    Section,
    Table,
    fraction,
    words,
)
from assay.report.plain_text import table_lines
from assay.report.web_page import write_page

if TYPE_CHECKING:
    from assay.judge.accounts import CostForecast, PlannedPrice


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
    yield f"queries by matching codes: {_spread_text(told['matches_a_query'])}"
    yield f"codes by queries they match: {_spread_text(told['queries_a_code'])}"
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


def _spread_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{often:,} with {count}" for count, often in counts.items()) or "none"


def forecast_text(plan: CostForecast, workers: int) -> Iterator[str]:
    """Yield what more pairs would take."""
    from assay.judge.campaign import lasting

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
        (Phrase(spec), *(Number(known_price(usd), digits=2) for usd in (price.listed, price.cached, price.batch)))
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


_MOST_BARS = 21
"""Counts that have a bar of their own, those of 20 candidates a query; the others share the last one."""


def write(told: Mapping[str, Any], path: Path) -> None:
    """Write the page; one that is there is replaced at once or not at all."""
    write_page(report_of(told), path)


def report_of(told: Mapping[str, Any]) -> Report:
    """Return what a campaign labelled, what it cost, and how its labels spread."""
    title = f"{counted(told['pairs'], 'pair')} judged"
    facts = (counted(told["queries"], "query"), counted(told["codes"], "code snippet"))
    sections = (
        Section("statistics", "Statistics", tuple(_statistics(told))),
        Section("costs", "Costs by path", (routes(told["paths"]),)),
        Section("spread", "How labels spread", tuple(_spread(told))),
    )
    return Report(title, "Assay judge", facts, sections, "Written by Assay.")


def _statistics(told: Mapping[str, Any]) -> Iterator[Block]:
    """Yield table II beside the published figures."""
    heads = ("pairs", "code snippets", "characters a snippet", "test cases a program", "programs that run")
    published = told["published"]
    run = told["programs"] > 0
    rows: Rows = (
        (
            Phrase("these records"),
            Count(told["pairs"]),
            Count(told["codes"]),
            Number(told["code_length"], digits=1),
            Number(told["cases_a_program"] if run else None, digits=2),
            fraction(told["executable_share"] if run else None, digits=2),
        ),
        (
            Phrase("CoSQA+"),
            Count(published["pairs"]),
            Count(published["codes"]),
            Number(published["code_length"], digits=1),
            Number(published["cases_a_program"], digits=2),
            fraction(published["executable_share"], digits=2),
        ),
    )
    yield Table("", (Column("", words=True), *map(Column, heads)), rows)
    labels = told["labels"]
    yield words(f"{labels['1']:,} match, {labels['0']:,} do not, {labels['None']:,} are undecided.")


def _spread(told: Mapping[str, Any]) -> Iterator[Block]:
    """Yield figures 3 and 7."""
    panels = (
        _panel("queries by matching snippets", told["matches_a_query"]),
        _panel("snippets by queries they match", told["queries_a_code"]),
    )
    two, theirs = told["codes_of_two_queries"], told["published"]["codes_of_two_queries"]
    caption = (
        "Left: how many queries have so many matching snippets (figure 3 of CoSQA+). Right: how many snippets match so "
        f"many queries, without those that match none (figure 7). {two:.1%} of these match two or more; in CoSQA+ "
        f"{theirs:.1%}."
    )
    yield Bars("Matches", caption, ("count",), tuple(panel for panel in panels if panel.names), x="count")


def _panel(title: str, counts: Mapping[str, int]) -> BarPanel:
    own = {name: often for name, often in counts.items() if int(name) < _MOST_BARS - 1}
    rest = sum(counts.values()) - sum(own.values())
    bars = {**own, **({f"{_MOST_BARS - 1} and more": rest} if rest else {})}
    return BarPanel(title, tuple(bars), (tuple(map(float, bars.values())),))
