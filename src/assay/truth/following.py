"""Make a ground truth independent of commits: targets by symbol, and hidden places found in any state of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from assay.corpus.blocks import lines_of
from assay.corpus.languages import language_of
from assay.corpus.outline import named_units
from assay.errors import InputError
from assay.measure.line_spans import Span, span_of
from assay.truth.ground_truth import Truth
from assay.truth.minable import MinedQueries
from assay.truth.mine_units import doc_lines
from assay.truth.target_places import Places
from assay.values import Chunk, Query

_SLACK = 3
"""Lines by which a chunk and the declaration of its name may differ, but for comments above it."""
UNDOCUMENTED = "its documentation, which was the question, is gone"
_GONE = "a place without a name of its own, or that is gone since"


def by_symbol(before: MinedQueries, mined: Path, now: Places) -> MinedQueries:
    """Return mined queries with symbols as targets that the folder has now; `mined` is the folder that was mined.

    Queries that lose all their targets are counted as left out.
    """
    then = Places(mined, "")
    names = {each.target: _name_now(each.target, then, now) for each in before.judgments}
    kept = [replace(each, target=name) for each in before.judgments if (name := names[each.target])]
    answered = {each.query_id for each in kept}
    queries = [without_commit(query) for query in before.queries if query.id in answered]
    lost = len(before.queries) - len(queries)
    documented = [each.target for each in kept if each.judge == "docs"]  # of these the documentation asks
    tests = [] if documented else [name for each in before.hidden if (name := _name_now(each, then, now))]
    left_out = before.left_out + Counter({_GONE: lost} if lost else {})
    return MinedQueries(queries, kept, tests, left_out, documented)


def without_commit(query: Query) -> Query:
    """Return a query without the commits that it refers to and comes from."""
    return replace(query, tags={name: value for name, value in query.tags.items() if name != "commit"})


def _name_now(target: str, then: Places, now: Places) -> str:
    """Return the symbol of some lines, if it is declared once in their file or in one other; or else empty."""
    span = span_of(target)
    names = [name for first, last, name in sorted(then.declared(span.path)) if _is_named(span, first, last)]
    place = _span(f"{span.path}::{names[0]}", now) if names else None
    if place and [each.name for each in now.declared(place.path)].count(names[0]) == 1:
        return f"{place.path}::{names[0]}"
    return ""


def _is_named(span: Span, first: int, last: int) -> bool:
    return span.start - _SLACK <= first <= span.end and abs(span.end - last) <= _SLACK


@dataclass(frozen=True, slots=True)
class HiddenPlaces:
    """The lines that contain questions, and the symbols whose documentation was a question and is gone."""

    lines: tuple[str, ...]
    undocumented: tuple[str, ...] = ()


def hidden_places(truth: Truth, open_places: Callable[[], Places]) -> HiddenPlaces:
    """Find the places with the questions of a ground truth; a missing symbol hides nothing.

    The files are opened only where symbols are hidden.
    """
    lines = [target for target in truth.hidden if "::" not in target]
    symbols = [target for target in truth.hidden if "::" in target]
    if not symbols and not truth.hidden_docs:
        return HiddenPlaces(tuple(lines))
    places = open_places()
    lines += [str(span) for target in symbols if (span := _span(target, places))]
    undocumented = []
    for target in truth.hidden_docs:
        if span := _span(target, places):
            found = list(_documentation(target.partition("::")[2], span.path, places.text(span.path)))
            lines += found
            undocumented += [] if found else [target]
    return HiddenPlaces(tuple(lines), tuple(undocumented))


def _span(target: str, places: Places) -> Span | None:
    with suppress(InputError):
        return places.span(target)
    return None


def _documentation(symbol: str, path: str, text: str) -> Iterator[str]:
    """Yield the lines of a function's documentation, also of tiny functions, which chunks merge."""
    rows, language = lines_of(text), language_of(path, text)
    for unit in named_units(path, text, language):
        if unit.path.replace("::", ".") == symbol.replace("::", "."):
            own = "".join(rows[unit.start : unit.end])
            if lines := doc_lines(Chunk("", own, language, path, unit.start + 1, unit.end, doc=unit.doc)):
                yield str(Span(path, *lines))
