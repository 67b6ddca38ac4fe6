"""What can be dropped of programs that are still being written, to lines for a terminal and to JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

from assay.bench.program_ranking import value_cell
from assay.errors import counted
from assay.rank.prefix.early_drop import LOSS, WANTED, EarlyDrop, seen_for_half
from assay.report.document import Column, Number, Phrase, Rows, Table
from assay.report.plain_text import table_lines


def drop_lines(drops: Sequence[EarlyDrop]) -> Iterator[str]:
    """Yield a table with a row a ranker and fraction, then how much has to be seen to drop half of the wrong ones."""
    if not drops:
        return
    yield ""
    tasks = counted(drops[0].dropped.tasks, "task")
    yield f"wrong programs dropped at a loss of {LOSS:.0%} of the right ones: {tasks} with both"
    columns = (Column("ranker", words=True), Column("seen"), Column("dropped"))
    rows: Rows = tuple((Phrase(each.ranker), Number(each.seen), value_cell(each.dropped)) for each in drops)
    yield from table_lines(Table("", columns, rows))
    for name, of_one in _by_ranker(drops).items():
        seen = seen_for_half(of_one)
        most = max(of_one, key=lambda each: each.seen)
        enough = f"from {seen:.2f} of a program on" if not isnan(seen) else f"not even at {most.seen:g} of a program"
        yield f"  {name}: half of the wrong ones {enough}"


def drops_as_json(drops: Sequence[EarlyDrop]) -> dict[str, Any]:
    """Return the same as JSON has it; nothing where nothing was cut."""
    if not drops:
        return {}
    seen = {name: seen_for_half(of_one) for name, of_one in _by_ranker(drops).items()}
    return {
        "early": {
            "loss": LOSS,
            "dropped": [{**asdict(each), "dropped": _plain(asdict(each.dropped))} for each in drops],
            f"seen for {WANTED:g}": _plain(seen),
        }
    }


def _by_ranker(drops: Sequence[EarlyDrop]) -> dict[str, list[EarlyDrop]]:
    found: dict[str, list[EarlyDrop]] = {}
    for each in drops:
        found.setdefault(each.ranker, []).append(each)
    return found


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in values.items()}
