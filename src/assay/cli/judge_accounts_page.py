"""The figures of a campaign in, a page with table II, the costs, and figures 3 and 7 of CoSQA+ out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.cli.judge_accounts_text import routes
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
from assay.report.web_page import write_page

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
