"""What was chosen for judging in, a page with table I and figure 4 of CoSQA+ out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.assemble.choose_pairs import PairChoice
from assay.errors import counted
from assay.judge.candidates import Depths
from assay.report.document import (
    Block,
    Column,
    Count,
    CurvePanel,
    Curves,
    Fold,
    Mean,
    Number,
    Phrase,
    Report,
    Rows,
    Section,
    Series,
    Table,
    words,
)
from assay.report.web_page import write_page


def write(choice: PairChoice, path: Path) -> None:
    """Write the page; one that is there is replaced at once or not at all."""
    write_page(report_of(choice), path)


def report_of(choice: PairChoice) -> Report:
    """Return which encoders agree with the mean of all, and what each rank is worth."""
    title = f"{counted(choice.counts.pairs, 'pair')} worth judging"
    facts = (counted(choice.counts.queries, "query"), counted(choice.codes, "code snippet"))
    sections = [Section("overlap", "Overlap of each encoder with the mean of all", tuple(_overlap(choice)))]
    if choice.depths:
        sections.append(Section("depth", "What each rank is worth", tuple(_depth(choice.depths))))
    return Report(title, "Assay candidates", facts, tuple(sections), "Written by Assay.")


def _overlap(choice: PairChoice) -> Iterator[Block]:
    rows: Rows = tuple((Phrase(name), Number(share)) for name, share in choice.counts.overlap.items())
    yield words(
        "The fraction of an encoder's own candidates that the mean of all chose, too (table I of CoSQA+): where it is "
        "low, the others overrule it."
    )
    yield Table("", (Column("encoder", words=True), Column("overlap")), rows)


def _depth(depths: Depths) -> Iterator[Block]:
    counts = f"{depths.known:,} right pairs are known"
    gone = f", beside {depths.gone:,} whose code is not in this corpus" if depths.gone else ""
    yield words(f"{counts}{gone}. A pair without a label is not a wrong one.")
    panels = (
        CurvePanel("right at this rank", (_line("right", depths.rates),)),
        CurvePanel("found down to it", (_line("found", depths.recall_by_depth),)),
    )
    caption = (
        "Left: the fraction of the snippets at a rank that are right (figure 4 of CoSQA+). Right: the fraction of all "
        "right snippets that are known down to it. Judge as many as it takes for the right line to level off."
    )
    yield Curves("By depth", caption, panels, x="rank")
    heads = ("right", "judged", "pairs", "right at it", "found down to it")
    columns = (Column("rank", words=True), *map(Column, heads))
    zipped = zip(depths.right, depths.judged, depths.pairs, depths.rates, depths.recall_by_depth, strict=True)
    rows: Rows = tuple(
        (Count(rank), Count(right), Count(judged), Count(pairs), Number(rate), Number(found))
        for rank, (right, judged, pairs, rate, found) in enumerate(zipped, 1)
    )
    yield Fold("Each rank", Table("", columns, rows))


def _line(name: str, values: list[float]) -> Series:
    figures = tuple(Mean(value, value, value) for value in values)
    return Series(name, 0, tuple(map(float, range(1, len(values) + 1))), figures)
