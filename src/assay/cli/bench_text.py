"""Results of a bench to text for a terminal: one aligned table a set, then what differs and what to be wary of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.bench.caveats import caveats
from assay.bench.markdown import chance, milliseconds, seconds, size, together, with_labels
from assay.bench.page.study import View
from assay.bench.results import Results, unit_of
from assay.cli.workspaces import counted

_SHOWN = 3
"""Measures in the table; results.json has all of them."""


def text(results: Results) -> str:
    """Return all of it, plain."""
    lines = []
    for name, told in results["sets"].items():
        cells = [cell for cell in results["cells"] if cell["set"] == name]
        if cells:
            lines += [*_set(name, told, cells, results), ""]
    for view, rows in together(results):
        lines += [*_together(view, rows, results), ""]
    lines += [f"note: {warning}" for warning in caveats(results)]
    return "\n".join(map(_plain, lines)).rstrip() + "\n"


def _plain(line: str) -> str:
    """Return a line with its spaces, and nothing in it that moves a cursor."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line)


def _set(name: str, told: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], results: Results) -> Iterator[str]:
    role = f" ({told['role']})" if told["role"] else ""
    at = f" at {told['commit'][:12]}" if told["commit"] else ""
    asked = counted(len(told["queries"]), "query")
    yield f"{name}{role}: {asked}{at}, by {unit_of(cells[0])}; means with 95% intervals"
    measures = results["manifest"]["measures"][:_SHOWN]
    rows = [["system", *measures, "query", "95th", "index", "memory", "errors"]]
    rows += [_row(cell, measures) for cell in cells]
    yield from aligned(rows)
    yield from _pairs(name, cells[0]["system"], results)
    if "unseen" in told:
        yield from _unseen(told["unseen"], cells, measures)


def _unseen(told: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> Iterator[str]:
    """Yield the figures with the labels of a judge, which are never mixed with the others."""
    yield f"  {with_labels(told)}:"
    rows = [["system", *measures, "unjudged"]]
    for cell in cells:
        figures = cell["judged"]["figures"][unit_of(cell)]
        shares = f"{cell['unjudged']:.0%} to {cell['judged']['unjudged']:.0%}"
        rows.append([cell["system"], *(_interval(figures[m]) if m in figures else "" for m in measures), shares])
    yield from aligned(rows)


def _pairs(name: str, first: str, results: Results) -> Iterator[str]:
    """Yield how the first system differs from each other one."""
    for pair in results["comparisons"]:
        if pair["set"] == name and first in (pair["a"], pair["b"]):
            difference = f"{pair['difference']:+.3f} [{pair['low']:+.3f}, {pair['high']:+.3f}]"
            yield f"  {pair['a']} - {pair['b']}: {pair['measure']} {difference}, p {chance(pair['holm'])} (Holm)"


def _together(view: View, rows: Mapping[str, Mapping[str, Sequence[float]]], results: Results) -> Iterator[str]:
    yield f"{view.label}: {sum(len(results['sets'][name]['queries']) for name in view.sets)} queries"
    measures = results["manifest"]["measures"][:_SHOWN]
    table = [[system, *(_interval(told[m]) if m in told else "" for m in measures)] for system, told in rows.items()]
    yield from aligned([["system", *measures], *table])
    yield from _pairs(view.name, next(iter(rows), ""), results)


def _row(cell: Mapping[str, Any], measures: Sequence[str]) -> list[str]:
    figures = cell["figures"][unit_of(cell)]
    at = cell["timings"]
    times = [
        milliseconds(at["warm_p50_ms"]),
        milliseconds(at["warm_p95_ms"]),
        seconds(at["index_s"]),
        size(at["peak_mb"]),
    ]
    return [
        cell["system"],
        *(_interval(figures[measure]) if measure in figures else "" for measure in measures),
        *times,
        str(len(cell["errors"]) or ""),
    ]


def _interval(figure: Sequence[float]) -> str:
    mean, low, high = figure
    return f"{mean:.3f} [{low:.2f}-{high:.2f}]"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows with their columns one below the other; a column without a value is left out."""
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
