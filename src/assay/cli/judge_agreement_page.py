"""Pairs that were labelled in two ways in, a page with each of them out. How many are left out is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.cli.judge_agreement_text import MARKS, Costs, Reasons, estimate, tables
from assay.judge.label_agreement import LabelAgreement, LabelDifference, Texts
from assay.report.document import Choice, Detail, Entries, ListEntry, Mark, Phrase, Report, Section, words
from assay.report.plain_text import cell_text
from assay.report.web_page import write_page

_MOST = 1_000
_COLORS: dict[int | None, Mark] = {1: "good", 0: "bad", None: ""}


def write(found: LabelAgreement, reasons: Reasons, texts: Texts, costs: Costs, path: Path) -> None:
    """Write the page; one that is there is replaced at once or not at all."""
    write_page(report_of(found, reasons, texts, costs), path)


def report_of(found: LabelAgreement, reasons: Reasons, texts: Texts, costs: Costs) -> Report:
    """Return how far labels agree, and each pair that they divide."""
    total, shown = len(found.differences), found.differences[:_MOST]
    names = list(dict.fromkeys(name for each in shown for name in each.said))
    by = Choice("missing", "Undecided by", {"": "anybody", **{str(at): name for at, name in enumerate(names)}})
    entries = tuple(_entry(each, reasons, texts, names) for each in shown)
    cut = [words(f"The {_MOST:,} most divided are shown; JSON has all.", "note")] if total > _MOST else []
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
                Phrase(name),
                (Phrase(MARKS[label], mark=_COLORS[label]), Phrase(reasons[name].get(difference.key, ""))),
            )
            for name, label in difference.said.items()
        ),
        text=code,
    )
