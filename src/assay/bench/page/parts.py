"""What every section of the page is made of: names, numbers, tables, panels that a switch shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.bench.page.html import Html, join, said, tag
from assay.bench.page.study import Figure, Study, View, significant
from assay.bench.results import is_quality
from assay.measure.compare import Comparison

COLOURS = 8
"""How many colours style.css has, `--c0` and so on; markers tell apart what shares one."""

_HEAD = 12


class Column(NamedTuple):
    """The head of a column; numbers stand to the right."""

    title: str
    hint: str = ""
    number: bool = True


def name(study: Study, system: str) -> Html:
    """Return a system's name behind the dot that has its colour."""
    place = study.systems.index(system)
    return tag(
        "span",
        tag("i", class_=f"dot c{place % COLOURS}", aria_hidden="true"),
        said(system, longest=60),
        class_="system",
    )


def number(measure: str, value: float) -> str:
    """Return a value as people read it: three digits, or none for a count of lines."""
    return f"{value:.3f}" if not measure.startswith("lines@") else f"{value:.0f}"


def span(measure: str, figure: Figure | Comparison) -> str:
    """Return the ends of an interval."""
    digits = 0 if measure.startswith("lines@") else 3 if isinstance(figure, Comparison) else 2
    low, high = (f"{end:.{digits}f}".replace("-", "\N{MINUS SIGN}") for end in (figure.low, figure.high))
    return f"{low}\N{EN DASH}{high}" if figure.low >= 0 else f"{low} to {high}"


def signed(value: float) -> str:
    """Return a difference with its sign."""
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def chance(p: float) -> str:
    """Return a p value."""
    return "<\N{NO-BREAK SPACE}0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def score(study: Study, view: View, system: str, unit: str, measure: str) -> Html:
    """Return the cell of a figure: its mean, quietly its interval, and what is known against the best of its column."""
    figure = study.figure(view, system, unit, measure)
    if figure is None:
        return tag("td", "\N{EN DASH}", class_="none")
    best = study.best(view, unit, measure) if is_quality(measure) else []
    if system in best:
        return figure_cell(measure, figure, _hidden("best"), "best")
    return figure_cell(measure, figure, _mark(study, view, unit, measure, (system, best[0] if best else "")))


def figure_cell(measure: str, figure: Figure, mark: str = "", class_: str | None = None) -> Html:
    """Return a cell with a mean and its interval."""
    mean = tag("span", number(measure, figure.mean), class_="mean")
    return tag("td", mark, mean, tag("small", span(measure, figure)), class_=class_)


def _mark(study: Study, view: View, unit: str, measure: str, pair: tuple[str, str]) -> Html:
    system, best = pair
    compared = study.compared(view, unit, measure, (system, best)) if best and study.whole(view, system) else None
    if compared is None:
        return Html("")
    if significant(compared):
        return tag(
            "span",
            tag("span", "\N{BLACK DOWN-POINTING SMALL TRIANGLE}", aria_hidden="true"),
            _hidden("below the best"),
            class_="below",
        )
    return tag(
        "span",
        tag("span", "\N{ALMOST EQUAL TO}", aria_hidden="true"),
        _hidden("not told apart from the best"),
        class_="tied",
    )


def _hidden(words: str) -> Html:
    return tag("span", f"({words}) ", class_="unseen")


def table(caption: str, columns: Sequence[Column], rows: Iterable[Html], above: str = "") -> Html:
    """Return a table with a caption that scrolls by itself where it is too wide; `above` is a row of wider heads."""
    heads = [
        tag(
            "th",
            _broken(column.title),
            scope="col",
            title=column.hint or None,
            class_=None if column.number else "words",
        )
        for column in columns
    ]
    body = tag(
        "table", tag("caption", tag("span", caption)), tag("thead", above, tag("tr", *heads)), tag("tbody", *rows)
    )
    return tag("div", body, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _broken(title: str) -> Html:
    """Return a head, which may break after the @ of a long measure."""
    return join(title.split("@"), Html("@<wbr>" if len(title) > _HEAD else "@"))


def row(head: str, cells: Iterable[Html]) -> Html:
    """Return a row whose first cell names it."""
    return tag("tr", tag("th", head, scope="row"), *cells)


def words(*parts: str) -> Html:
    """Return a cell of text."""
    return tag("td", *parts, class_="words")


def section(key: str, title: str, *children: str) -> Html:
    """Return a part of the page that the contents link to."""
    return tag("section", tag("h2", title, id=f"{key}-title"), *children, id=key, aria_labelledby=f"{key}-title")


def note(*parts: str) -> Html:
    """Return a quiet paragraph."""
    return tag("p", *parts, class_="note")


def options(choices: Iterable[tuple[str, str]]) -> Html:
    """Return the choices of a list, each with its value."""
    return join(tag("option", label, value=value) for value, label in choices)


def listed(items: Sequence[str], most: int = 3) -> str:
    """Return `a, b and c`, or `a, b, c and 4 more`."""
    if len(items) > most + 1:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def counted(count: int, noun: str) -> str:
    """Return `1 query`, `2 queries`, `3 sets`."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}"
