"""Results to `RESULTS.md`: a table a set, by kind of query, what differs by more than chance, what to be wary of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.bench.page.study import Study, View
from assay.bench.results import Results, unit_of

_WIDEST = 8
"""Measures in a table; results.json has all of them."""


def markdown(results: Results) -> str:
    """Return the whole file."""
    return "\n".join(_lines(results)) + "\n"


def warnings(results: Results) -> Iterator[str]:
    """Yield what a reader should know before believing a figure."""
    tests = [name for name, told in results["sets"].items() if told["role"] == "test"]
    chosen = [name for name, told in results["systems"].items() if told["chosen_on"] == "test"]
    if chosen:
        yield f"settings of {', '.join(chosen)} were chosen on test sets: their figures there are tuned, not unseen"
    variants = [name for name, told in results["systems"].items() if told["base"]]
    if variants and tests and len(tests) == len(results["sets"]):
        yield "variants are compared on test sets only: whoever picks the best of them has tuned on these sets"
    for system in results["systems"]:
        failed = [cell for cell in results["cells"] if cell["system"] == system and cell["errors"]]
        if failed:
            where = ", ".join(f"{len(cell['errors'])} queries of {cell['set']}" for cell in failed)
            first = next(iter(failed[0]["errors"].values()))
            yield f"{system} had errors on {where}; a query without an answer counts zero ({first})"
    for name, told in results["sets"].items():
        if told["problems"]:
            yield f"{len(told['problems'])} rows of {name} could not be used; the first: {told['problems'][0]}"


def _lines(results: Results) -> Iterator[str]:
    about = results["manifest"]
    yield "# Results"
    yield ""
    yield f"Assay {about['versions']['assay']}, {about['when']}, seed {about['seed']}."
    yield f"Of each query the first {about['k']} results."
    yield "Means with 95% bootstrap intervals over queries; a query without an answer counts zero."
    for warning in warnings(results):
        yield f"\n> **Note**: {warning}."
    yield from _roles(results)
    yield from _together(results)
    for name, told in results["sets"].items():
        cells = [cell for cell in results["cells"] if cell["set"] == name]
        if cells:
            yield from _set(name, told, cells, results)
    yield "\nTo repeat: " + f"`{about['command']}`."


def _roles(results: Results) -> Iterator[str]:
    """Yield tuned and unseen figures beside each other, where there are both."""
    if {"dev", "test"} - {told["role"] for told in results["sets"].values()}:
        return
    measure = results["manifest"]["measures"][0]
    yield f"\n## Tuned and unseen: {measure}\n"
    yield "| system | dev | test |\n|---|---|---|"
    for system in results["systems"]:
        yield (
            f"| {system} | " + " | ".join(_over_role(results, system, role, measure) for role in ("dev", "test")) + " |"
        )


def _over_role(results: Results, system: str, role: str, measure: str) -> str:
    values: list[float] = []
    for cell in results["cells"]:
        if cell["system"] == system and results["sets"][cell["set"]]["role"] == role:
            values += cell["values"][unit_of(cell)][measure]
    return f"{sum(values) / len(values):.3f} ({len(values)} queries)" if values else "not measured"


def _together(results: Results) -> Iterator[str]:
    """Yield the sets of a role as one, where it has several."""
    for view, rows in together(results):
        measures = results["manifest"]["measures"][:_WIDEST]
        yield f"\n## {view.label}\n\n{', '.join(view.sets)}: means over all queries.\n"
        yield f"| system | {' | '.join(measures)} |"
        yield "|---|" + "---|" * len(measures)
        for system, figures in rows.items():
            yield f"| {system} | " + " | ".join(interval(figures[m]) if m in figures else "" for m in measures) + " |"
        yield from _pairs([pair for pair in results["comparisons"] if pair["set"] == view.name])


def together(results: Results) -> Iterator[tuple[View, dict[str, dict[str, tuple[float, float, float]]]]]:
    """Yield each group of sets of one role with the figures of the systems that were asked all of it."""
    study = Study(results)
    for view in study.overviews:
        if len(view.sets) > 1:
            unit = study.units(view)[0]
            found = {
                system: {m: study.figure(view, system, unit, m) for m in study.measures}
                for system in study.here(view)
                if study.whole(view, system)
            }
            yield (
                view,
                {
                    system: {name: (one.mean, one.low, one.high) for name, one in figures.items() if one}
                    for system, figures in found.items()
                },
            )


def _set(name: str, told: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], results: Results) -> Iterator[str]:
    role = f", {told['role']}" if told["role"] else ""
    commit = f" at `{told['commit'][:12]}`" if told["commit"] else ""
    yield f"\n## {name}{role}\n"
    yield f"{len(told['queries'])} queries of `{told['truth']}`{commit}, by {_UNITS[unit_of(cells[0])]}.\n"
    measures = results["manifest"]["measures"][:_WIDEST]
    yield f"| system | {' | '.join(measures)} | unjudged | errors |"
    yield "|---|" + "---|" * (len(measures) + 2)
    for cell in cells:
        figures = [interval(cell["figures"][unit_of(cell)][measure]) for measure in measures]
        yield f"| {cell['system']} | {' | '.join(figures)} | {cell['unjudged']:.0%} | {len(cell['errors'])} |"
    yield from _speed(cells)
    yield from _kinds(cells, measures)
    yield from _pairs([pair for pair in results["comparisons"] if pair["set"] == name])


_UNITS = {"line": "lines that overlap, each right answer once", "file": "file", "function": "function"}


def _speed(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n| system | index | first query | query, median | 95th | peak memory | index size |"
    yield "|---|---|---|---|---|---|---|"
    for cell in cells:
        at = cell["timings"]
        times = " | ".join(milliseconds(at[key]) for key in ("cold_ms", "warm_p50_ms", "warm_p95_ms"))
        sizes = f"{size(at['peak_mb'])} | {_bytes(at['index_bytes'])}"
        yield f"| {cell['system']} | {seconds(at['index_s'])} | {times} | {sizes} |"


def _kinds(cells: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> Iterator[str]:
    kinds = cells[0]["groups"].get("kind", {})
    if not kinds:
        return
    yield f"\n{measures[0]} by kind of query:\n"
    yield "| kind | queries | " + " | ".join(cell["system"] for cell in cells) + " |"
    yield "|---|---|" + "---|" * len(cells)
    for kind, told in kinds.items():
        found = [cell["groups"]["kind"][kind][unit_of(cell)][measures[0]] for cell in cells]
        yield f"| {kind} | {told['queries']} | " + " | ".join(map(interval, found)) + " |"


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not pairs:
        return
    yield f"\nDifferences in {pairs[0]['measure']}, paired by query; p by randomisation, and that corrected by Holm:\n"
    yield "| systems | difference | p | t-test | Holm |\n|---|---|---|---|---|"
    for pair in pairs:
        difference = f"{pair['difference']:+.3f} [{pair['low']:+.3f}, {pair['high']:+.3f}]"
        chances = " | ".join(chance(pair[key]) for key in ("randomisation", "t", "holm"))
        yield f"| {pair['a']} - {pair['b']} | {difference} | {chances} |"


def interval(figure: Sequence[float]) -> str:
    """Return a mean with its interval."""
    mean, low, high = figure
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def chance(p: float) -> str:
    """Return a p-value."""
    return "< .001" if p < 0.001 else f"{p:.3f}"


def milliseconds(value: float | None) -> str:
    """Return a time that people wait for an answer."""
    return "" if value is None else f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"


def seconds(value: float | None) -> str:
    """Return a time that people wait for an index."""
    return "" if value is None else f"{value:.2f} s"


def size(megabytes: float | None) -> str:
    """Return how much memory something takes."""
    return "" if megabytes is None else f"{megabytes:.0f} MB"


def _bytes(value: int | None) -> str:
    return "" if value is None else f"{value / 1e6:.1f} MB"
