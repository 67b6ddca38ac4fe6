"""What figures become when a judge labels what nobody had judged: a section of its own, never mixed with the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.bench.markdown import with_labels
from assay.bench.page.html import Html, said, tag
from assay.bench.page.parts import Column, figure_cell, name, note, row, section, table
from assay.bench.page.study import Figure, Study
from assay.bench.results import unit_of


def judged(study: Study) -> list[Html]:
    """Return the section, or nothing where no judge was asked."""
    sets = {of: told["unseen"] for of, told in study.sets.items() if "unseen" in told}
    if not sets:
        return []
    tables = [part for of, told in sets.items() for part in _set(study, of, told)]
    return [section("judged", "With labels of a judge", note(_NOTE), *tables)]


_NOTE = "Nothing else on this page counts these labels."


def _set(study: Study, of: str, told: Mapping[str, Any]) -> Iterator[Html]:
    cells = [cell for (where, _), cell in study.cells.items() if where == of]
    yield note(said(f"{of}: {with_labels(told)}."))
    columns = [Column("System", number=False), *map(Column, study.measures), Column("Unjudged")]
    yield table(f"With labels of a judge on {said(of)}", columns, (_row(study, cell) for cell in cells))


def _row(study: Study, cell: Mapping[str, Any]) -> Html:
    figures = cell["judged"]["figures"][unit_of(cell)]
    shown = [
        figure_cell(measure, Figure(*figures[measure])) if measure in figures else tag("td", "\N{EN DASH}")
        for measure in study.measures
    ]
    unjudged = tag("td", f"{cell['judged']['unjudged']:.0%}", tag("small", f"before {cell['unjudged']:.0%}"))
    return row(name(study, cell["system"]), [*shown, unjudged])
