"""The queries whose first ten results held nothing right: what was asked, what was right, what came instead.

A result counts as right when it shares a line with a right answer, whatever the measures are. Those that most systems
missed come first; how many are left out is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assay.bench.page.html import Html, join, said, tag
from assay.bench.page.parts import COLOURS, counted, name, note, options, section
from assay.bench.page.study import Study
from assay.measure.lines import Span, span_of

_DEPTH = 10
_SHOWN = 5
_MOST = 1200
"""Pairs of query and system in the page: enough to read for days, and the page still opens at once."""
_TARGETS = 8


@dataclass(frozen=True, slots=True)
class Miss:
    """One query that some systems answered with nothing right."""

    set: str
    query: Mapping[str, Any]
    right: tuple[str, ...]
    got: Mapping[str, Sequence[str]]
    """By system that missed it."""
    ranks: Mapping[str, int]
    """By system that did not, where its first right result stands."""
    errors: Mapping[str, str]


def misses(study: Study) -> Html:
    """Return the section of misses."""
    found = sorted(_found(study), key=lambda miss: -len(miss.got))
    if not found:
        return section(
            "misses", "Misses", tag("p", "Every system found something right in its first ten results of every query.")
        )
    shown: list[Miss] = []
    pairs = 0
    for miss in found:
        pairs += len(miss.got)
        if shown and pairs > _MOST:
            break
        shown.append(miss)
    left = len(found) - len(shown)
    told = (
        f"{counted(len(found), 'query')} for which some system's first ten results held nothing right, hardest first."
    )
    told += f" The {left:,} that fewest systems missed are left out; results.json has them all." if left else ""
    items = [_item(study, miss) for miss in shown]
    return section(
        "misses",
        "Misses",
        note(told),
        _controls(study, shown),
        tag("div", *items, id="miss-list"),
        tag("button", "Show more", type="button", id="miss-more", hidden=True),
    )


def _found(study: Study) -> Iterator[Miss]:
    for of, told in study.sets.items():
        cells = {system: study.cells[of, system] for system in study.systems if (of, system) in study.cells}
        for at, query in enumerate(told["queries"]):
            right = tuple(target for target, grade in query["expected"] if grade > 0)
            ranks = {system: _rank(cell["answers"][at], right) for system, cell in cells.items()}
            got = {system: cells[system]["answers"][at] for system, rank in ranks.items() if not rank}
            if right and got:
                errors = {
                    system: cell["errors"][query["id"]]
                    for system, cell in cells.items()
                    if query["id"] in cell["errors"]
                }
                yield Miss(of, query, right, got, {system: rank for system, rank in ranks.items() if rank}, errors)


def _rank(answers: Sequence[str], right: Sequence[str]) -> int:
    """Return where the first right answer stands, 0 for nowhere."""
    spans = [_span(target) for target in right]
    held = (any(_span(answer).overlaps(span) for span in spans) for answer in answers[:_DEPTH])
    return next((at for at, good in enumerate(held, 1) if good), 0)


@lru_cache(maxsize=65_536)
def _span(target: str) -> Span:
    return span_of(target)


def _controls(study: Study, shown: Sequence[Miss]) -> Html:
    systems = [system for system in study.systems if any(system in miss.got for miss in shown)]
    sets = list(dict.fromkeys(miss.set for miss in shown))
    search = tag("label", "Filter ", tag("input", type="search", id="miss-text", placeholder="word in query or path"))
    choice = options([("", "any system"), *((str(study.systems.index(system)), system) for system in systems)])
    system = tag("label", "Missed by ", tag("select", choice, id="miss-system"))
    wanted = options([("", "all sets"), *((str([*study.sets].index(name)), name) for name in sets)])
    where = tag("label", "In ", tag("select", wanted, id="miss-set")) if len(sets) > 1 else ""
    count = tag("output", counted(len(shown), "query"), id="miss-count", aria_live="polite")
    return tag("form", search, system, where, count, class_="switch", id="miss-form", hidden=True)


def _item(study: Study, miss: Miss) -> Html:
    tags = [tag("span", value, class_="badge", title=key) for key, value in miss.query.get("tags", {}).items() if value]
    missed = f"missed by {len(miss.got)} of {len(miss.got) + len(miss.ranks)}"
    dots = [tag("i", class_=f"dot c{study.systems.index(system) % COLOURS}", title=system) for system in miss.got]
    about = tag(
        "span", f"{miss.set} {miss.query['id']}", *tags, tag("span", missed, " ", *dots, class_="by"), class_="about"
    )
    summary = tag("summary", said(miss.query["text"], "span", class_="query said"), about)
    places = " ".join(str(study.systems.index(system)) for system in miss.got)
    at = [*study.sets].index(miss.set)
    return tag("details", summary, _inside(study, miss), data_systems=places, data_set=at)


def _inside(study: Study, miss: Miss) -> Html:
    grades = dict(miss.query["expected"])
    several = len(set(grades.values())) > 1
    right = [_target(target, f" grade {grades[target]}" if several else "") for target in miss.right[:_TARGETS]]
    expected = _told("Expected", tag("ol", *right, class_="plain"), _more(len(miss.right) - _TARGETS))
    rows = [expected, *(_got(study, miss, system) for system in miss.got)]
    if miss.ranks:
        found = join(
            [join([name(study, system), f" at {rank}"]) for system, rank in sorted(miss.ranks.items(), key=_second)],
            ", ",
        )
        rows.append(_told("Found by", found))
    return tag("dl", *rows, class_="miss")


def _second(pair: tuple[str, int]) -> int:
    return pair[1]


def _got(study: Study, miss: Miss, system: str) -> Html:
    if system in miss.errors:
        return _told(name(study, system), tag("span", "failed: ", class_="bad"), said(miss.errors[system]))
    answers = miss.got[system]
    if not answers:
        return _told(name(study, system), tag("em", "no result"))
    files = {_span(target).path for target in miss.right}
    items = [
        _target(answer, " right file, other lines" if _span(answer).path in files else "")
        for answer in answers[:_SHOWN]
    ]
    return _told(name(study, system), tag("ol", *items), _more(len(answers) - _SHOWN))


def _told(what: str, *parts: str) -> Html:
    return tag("div", tag("dt", what), tag("dd", *parts))


def _target(target: str, remark: str) -> Html:
    return tag("li", said(target, "code", 200), tag("span", remark, class_="remark") if remark else "")


def _more(count: int) -> Html:
    return tag("span", f"and {count} more", class_="remark") if count > 0 else Html("")
