"""Results to `RESULTS.md`: a table a set, by kind of query, what differs by more than chance, what to be wary of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.bench.caveats import caveats
from assay.bench.page.study import Study, View
from assay.bench.results import Results, deciding, unit_of

_WIDEST = 8
"""Measures in a table; results.json has all of them."""
_MARKS = re.compile(r"[\\|`<\[*]")
_LONGEST = 500


def markdown(results: Results) -> str:
    """Return the whole file."""
    return "\n".join(_lines(results)) + "\n"


def plain(text: str) -> str:
    """Return what a stranger wrote as text of one line: no mark of Markdown or HTML, nothing that is not seen."""
    return _MARKS.sub(lambda mark: f"\\{mark[0]}", _line(text))


def verbatim(text: str) -> str:
    """Return the same as code, between more backticks than it holds."""
    line = _line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def _line(text: str) -> str:
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + " …"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in " ".join(cut.split()))


def _lines(results: Results) -> Iterator[str]:
    about = results["manifest"]
    yield "# Results"
    yield ""
    yield f"Assay {about['versions']['assay']}, {about['when']}, seed {about['seed']}."
    yield f"Of each query the first {about['k']} results."
    yield "Means with 95% bootstrap intervals over queries; a query without an answer counts zero."
    for warning in caveats(results):
        yield f"\n> **Note**: {plain(warning)}."
    yield from _roles(results)
    yield from _together(results)
    for name, told in results["sets"].items():
        cells = [cell for cell in results["cells"] if cell["set"] == name]
        if cells:
            yield from _set(name, told, cells, results)
    yield f"\nTo repeat: {verbatim(about['command'])}."


def _roles(results: Results) -> Iterator[str]:
    """Yield tuned and unseen figures beside each other, where there are both."""
    if {"dev", "test"} - {told["role"] for told in results["sets"].values()}:
        return
    measure = deciding(results["manifest"]["measures"])
    study = Study(results)
    views = [next((each for each in study.overviews if each.role == role), None) for role in ("dev", "test")]
    yield f"\n## Tuned and unseen: {measure}\n"
    yield "| system | dev | test |\n|---|---|---|"
    for system in results["systems"]:
        yield f"| {plain(system)} | " + " | ".join(_over(study, view, system, measure) for view in views) + " |"


def _over(study: Study, view: View | None, system: str, measure: str) -> str:
    """Return what a system scored on all sets of a role, at the unit that all of them have."""
    unit = next(iter(study.units(view)), "") if view else ""
    values = study.values(view, system, unit, measure) if view else []
    told = f"{sum(values) / len(values):.3f} ({len(values)} queries" if values else "not measured"
    if view is None or not values:
        return told
    return f"{told})" if study.whole(view, system) else f"{told}, {len(study.of(view, system))} of its sets)"


def _together(results: Results) -> Iterator[str]:
    """Yield the sets of a role as one, where it has several."""
    for view, rows in together(results):
        measures = results["manifest"]["measures"][:_WIDEST]
        yield f"\n## {plain(view.label)}\n\n{plain(', '.join(view.sets))}: means over all queries.\n"
        yield f"| system | {' | '.join(measures)} |"
        yield "|---|" + "---|" * len(measures)
        for system, figures in rows.items():
            yield (
                f"| {plain(system)} | "
                + " | ".join(interval(figures[m]) if m in figures else "" for m in measures)
                + " |"
            )
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
    commit = f" at {verbatim(told['commit'][:12])}" if told["commit"] else ""
    yield f"\n## {plain(name)}{role}\n"
    yield f"{len(told['queries'])} queries of {verbatim(told['truth'])}{commit}, by {_UNITS[unit_of(cells[0])]}.\n"
    measures = results["manifest"]["measures"][:_WIDEST]
    yield f"| system | {' | '.join(measures)} | unjudged | errors |"
    yield "|---|" + "---|" * (len(measures) + 2)
    for cell in cells:
        figures = [interval(cell["figures"][unit_of(cell)].get(measure)) for measure in measures]
        yield f"| {plain(cell['system'])} | {' | '.join(figures)} | {cell['unjudged']:.0%} | {len(cell['errors'])} |"
    yield from _speed(cells)
    yield from _kinds(cells, deciding(measures))
    yield from _pairs([pair for pair in results["comparisons"] if pair["set"] == name])
    if "unseen" in told:
        yield from _unseen(told["unseen"], cells, measures)


def _unseen(told: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> Iterator[str]:
    yield f"\n{plain(with_labels(told))}; nothing above or below counts them:\n"
    yield f"| system | {' | '.join(measures)} | unjudged |"
    yield "|---|" + "---|" * (len(measures) + 1)
    for cell in cells:
        figures = [interval(cell["judged"]["figures"][unit_of(cell)].get(measure)) for measure in measures]
        yield f"| {plain(cell['system'])} | {' | '.join(figures)} | {cell['judged']['unjudged']:.0%} |"


def with_labels(told: Mapping[str, Any]) -> str:
    """Return what a judge labelled that no person had."""
    undecided = f", {told['undecided']:,} undecided" if told["undecided"] else ""
    stopped = ", stopped early" if told["stopped"] else ""
    return (
        f"With labels of {told['judge']} on what nobody judged of the first {told['depth']} of any system "
        f"({told['asked']:,} pairs: {told['right']:,} right, {told['wrong']:,} wrong{undecided}{stopped})"
    )


_UNITS = {"line": "lines that overlap, each right answer once", "file": "file", "function": "function"}


def _speed(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n| system | index | first query | query, median | 95th | peak memory | index size |"
    yield "|---|---|---|---|---|---|---|"
    for cell in cells:
        at = cell["timings"]
        times = " | ".join(milliseconds(at[key]) for key in ("cold_ms", "warm_p50_ms", "warm_p95_ms"))
        sizes = f"{size(at['peak_mb'])} | {_bytes(at['index_bytes'])}"
        yield f"| {plain(cell['system'])} | {seconds(at['index_s'])} | {times} | {sizes} |"


def _kinds(cells: Sequence[Mapping[str, Any]], measure: str) -> Iterator[str]:
    kinds = cells[0]["groups"].get("kind", {})
    if not kinds:
        return
    yield f"\n{measure} by kind of query:\n"
    yield "| kind | queries | " + " | ".join(plain(cell["system"]) for cell in cells) + " |"
    yield "|---|---|" + "---|" * len(cells)
    for kind, told in kinds.items():
        found = [cell["groups"].get("kind", {}).get(kind, {}).get(unit_of(cell), {}).get(measure) for cell in cells]
        if told["queries"] == 1:  # which says nothing of others
            figures = [f"{figure[0]:.3f}" if figure else "" for figure in found]
        else:
            figures = [interval(figure) for figure in found]
        yield f"| {plain(kind)} | {told['queries']} | " + " | ".join(figures) + " |"


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not pairs:
        return
    yield f"\nDifferences in {pairs[0]['measure']}, paired by query; p by randomisation, and that corrected by Holm:\n"
    yield "| systems | difference | p | t-test | Holm |\n|---|---|---|---|---|"
    for pair in pairs:
        difference = f"{pair['difference']:+.3f} [{pair['low']:+.3f}, {pair['high']:+.3f}]"
        chances = " | ".join(chance(pair[key]) for key in ("randomisation", "t", "holm"))
        yield f"| {plain(pair['a'])} - {plain(pair['b'])} | {difference} | {chances} |"


def interval(figure: Sequence[float] | None) -> str:
    """Return a mean with its interval; nothing where nothing was measured."""
    if figure is None:
        return ""
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
