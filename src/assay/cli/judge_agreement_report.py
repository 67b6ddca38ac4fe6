"""Show how far labels agree and where they differ: as text, as JSON, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.errors import counted, printable
from assay.judge.accounts import CampaignCosts
from assay.judge.labels import Key, LabelAgreement, LabelDifference, Texts
from assay.measure.agreement import Estimate
from assay.report.document import (
    Cell,
    Choice,
    Column,
    Count,
    Detail,
    Entries,
    ListEntry,
    Mark,
    Number,
    Phrase,
    Report,
    Rows,
    Section,
    Table,
    fraction,
    words,
)
from assay.report.plain_text import cell_text, one_line, shown_line, table_lines
from assay.report.web_page import write_page

Costs = Mapping[str, CampaignCosts]
"""By annotator, what those took that are records of a campaign."""
NO_COSTS: Costs = MappingProxyType({})
Reasons = Mapping[str, Mapping[Key, str]]
MARKS = {1: "match", 0: "no match", None: "undecided"}
_LINES, _WIDEST = 8, 110
_FIGURES = ("accuracy", "of_all", "precision", "recall", "f1", "kappa")


def as_dict(found: LabelAgreement, reasons: Reasons, texts: Texts) -> dict[str, Any]:
    """Return all of it as JSON has it; what is not defined is null."""
    plain = nulled(asdict(found))
    for told, difference in zip(plain["differences"], found.differences, strict=True):
        told["query_id"], told["code_id"] = told.pop("key")
        told["query"], told["code"] = texts.get(difference.key, (None, None))
        why = {name: reasons[name].get(difference.key) for name in difference.said}
        told["reasons"] = {name: reason for name, reason in why.items() if reason}
    return dict(plain)


def as_text(
    found: LabelAgreement, reasons: Reasons, texts: Texts, costs: Costs = NO_COSTS, *, show: int, problems: int
) -> Iterator[str]:
    """Yield lines for people."""
    yield f"{counted(found.pairs, 'pair')} of {counted(found.queries, 'query')}" + (
        f"; {problems:,} rows cannot be used" if problems else ""
    )
    for table in tables(found, costs):
        yield from ("", *([one_line(table.title)] if table.title else []), *table_lines(table, indent=""))
    if found.kappas:
        alpha = cell_text(estimate(found.alpha))
        yield f"alpha of all  {alpha}  over {found.labelled_twice:,} pairs with two labels or more"
    yield ""
    yield from _differences(found, reasons, texts, show)


def tables(found: LabelAgreement, costs: Costs) -> Iterator[Table]:
    """Yield how labels spread, how far they agree with the truth, and with one another, and what they took."""
    columns = (Column("annotator", words=True), *map(Column, ("match", "no match", "undecided", "absent")))
    named = (("(the truth)", found.true), *found.counts.items())
    yield Table(
        "Labels",
        columns,
        tuple(
            (Phrase(name), *map(Count, (counts.match, counts.non_match, counts.undecided, counts.absent)))
            for name, counts in named
            if counts
        ),
    )
    if found.true:
        yield _against(found)
    if found.kappas:
        yield _together(found)
    if costs:
        yield _costs(costs)


def _costs(costs: Costs) -> Table:
    heads = ("pairs", "calls", "tokens", "$ a pair", "$", "model s", "sandbox s", "programs that run")
    rows: list[tuple[Cell, ...]] = []
    for name, made in costs.items():
        pairs, usd = max(made.pairs, 1), made.total("cost")
        priced = not made.total("unpriced")
        rows.append(
            (
                Phrase(name),
                Count(made.pairs),
                Number(made.total("calls") / pairs, digits=2),
                Number((made.total("tokens_in") + made.total("tokens_out")) / pairs, digits=0),
                Number(usd / pairs if priced else None, digits=6),
                Number(usd if priced else None, digits=2),
                Number(made.total("model_s") / pairs, digits=2),
                Number(made.total("sandbox_s") / pairs, digits=2),
                fraction(made.executable / made.ran if made.ran else None, digits=1),
            )
        )
    return Table("What a pair took", (Column("annotator", words=True), *map(Column, heads)), tuple(rows))


def estimate(one: Estimate) -> Number:
    """Return the cell of a value with its interval; what is not defined has none."""
    return Number(None) if isnan(one.value) else Number(one.value, one.low, one.high)


def _against(found: LabelAgreement) -> Table:
    of = " and ".join(found.truth) if len(found.truth) < 3 else f"{len(found.truth)} annotators"
    alpha = f" (alpha of those: {cell_text(estimate(found.truth_alpha))})" if found.truth_alpha else ""
    heads = ("decided", "accuracy", "of all pairs", "precision", "recall", "F1", "kappa")
    rows: Rows = tuple(
        (Phrase(name), Count(one.decided), *(estimate(getattr(one, each)) for each in _FIGURES))
        for name, one in found.against.items()
    )
    title = f"against {'the majority of ' if len(found.truth) > 1 else ''}{of}{alpha}"
    return Table(title, (Column("annotator", words=True), *map(Column, heads)), rows)


def _together(found: LabelAgreement) -> Table:
    columns = (Column("annotators", words=True), Column("kappa"), Column("the same"), Column("pairs in common"))
    rows: Rows = tuple(
        (
            Phrase(f"{two.a}, {two.b}"),
            estimate(two.kappa),
            fraction(two.same / two.pairs if two.pairs else None, digits=1),
            Count(two.pairs),
        )
        for two in found.kappas
    )
    return Table("Two at a time", columns, rows)


def _differences(found: LabelAgreement, reasons: Reasons, texts: Texts, show: int) -> Iterator[str]:
    total = len(found.differences)
    yield f"{total:,} pairs are labelled in two ways" + (f"; the first {show:,}:" if total > show > 0 else "")
    for difference in found.differences[:show]:
        yield ""
        yield from _side_by_side(difference, reasons, texts)


def _side_by_side(difference: LabelDifference, reasons: Reasons, texts: Texts) -> Iterator[str]:
    query, code = texts.get(difference.key, ("", ""))
    yield f"{', '.join(map(printable, difference.key))}  {_cut(query)}".rstrip()
    for name, label in difference.said.items():
        yield _cut(f"    {MARKS[label]:<10}{printable(name)}  {printable(reasons[name].get(difference.key, ''))}")
    lines = [line for line in code.splitlines() if line.strip()]
    for line in lines[:_LINES]:
        yield _cut(f"    | {shown_line(line)}")
    if len(lines) > _LINES:
        yield f"    | … {len(lines) - _LINES:,} more lines"


def _cut(text: str) -> str:
    text = text if text.startswith("    ") else printable(text)
    return (text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…").rstrip()


def nulled(value: Any) -> Any:
    """Return plain data in which what is not a number is null."""
    if isinstance(value, dict):
        return {key: nulled(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [nulled(inner) for inner in value]
    return None if isinstance(value, float) and isnan(value) else value


_MOST_SHOWN = 1_000
_COLORS: dict[int | None, Mark] = {1: "good", 0: "bad", None: ""}


def write(found: LabelAgreement, reasons: Reasons, texts: Texts, costs: Costs, path: Path) -> None:
    """Write the page; one that is there is replaced at once or not at all."""
    write_page(report_of(found, reasons, texts, costs), path)


def report_of(found: LabelAgreement, reasons: Reasons, texts: Texts, costs: Costs) -> Report:
    """Return how far labels agree, and each pair that they divide."""
    total, shown = len(found.differences), found.differences[:_MOST_SHOWN]
    names = list(dict.fromkeys(name for each in shown for name in each.said))
    by = Choice("missing", "Undecided by", {"": "anybody", **{str(at): name for at, name in enumerate(names)}})
    entries = tuple(_entry(each, reasons, texts, names) for each in shown)
    cut = [words(f"The {_MOST_SHOWN:,} most divided are shown; JSON has all.", "note")] if total > _MOST_SHOWN else []
    pairs = Section("pairs", "Pairs", (*cut, Entries("pair", "pair", (by,), entries)))
    agreement = Section("agreement", "Agreement", tuple(tables(found, costs)))
    title = f"{total:,} pairs labelled in two ways"
    return Report(title, "Assay judge", tuple(_facts(found)), (agreement, pairs), "Written by Assay.")


def _facts(found: LabelAgreement) -> Iterator[str]:
    yield f"{found.pairs:,} pairs of {found.queries:,} queries"
    if len(found.counts) > 1:
        yield f"alpha {cell_text(estimate(found.alpha))}"
    for name, one in found.against.items():
        yield f"{name}: accuracy {cell_text(estimate(one.accuracy))}"


def _entry(difference: LabelDifference, reasons: Reasons, texts: Texts, names: list[str]) -> ListEntry:
    query, code = texts.get(difference.key, ("(the files do not hold the texts of this pair)", ""))
    return ListEntry(
        title=query,
        about=", ".join(difference.key),
        badges=(),
        status=", ".join(f"{name}: {MARKS[label]}" for name, label in difference.said.items()),
        dots=(),
        state={"missing": tuple(str(names.index(name)) for name, label in difference.said.items() if label is None)},
        details=tuple(
            Detail(
                Phrase(name), (Phrase(MARKS[label], mark=_COLORS[label]), Phrase(reasons[name].get(difference.key, "")))
            )
            for name, label in difference.said.items()
        ),
        text=code,
    )
