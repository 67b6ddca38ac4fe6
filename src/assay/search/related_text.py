"""What is related to a unit in, text for people and models out: a heading for each group, one line for each place."""

from __future__ import annotations

from collections.abc import Iterator

from assay.errors import printable
from assay.search.related_code import GROUPS, RelatedCode, RelatedPlace

_WIDEST = 100
"""Characters of a line of code that are shown."""
_ALSO = 5
"""Further lines of a caller that call."""
_NOTHING = {"callers": "no caller found", "callees": "calls nothing of this repository", "tests": "no test calls it"}


def related_text(code: RelatedCode, *, explain: bool = False) -> str:
    """Return what is related as lines of text; with `explain`, every line that calls, and how alike the alike are."""
    return "\n".join(_rows(code, explain)) + "\n"


def _rows(code: RelatedCode, explain: bool) -> Iterator[str]:  # noqa: FBT001  of one function
    subject = code.subject
    place = f"{printable(subject.path)}:{subject.line}-{subject.end_line}{_among(subject)}"
    yield f"{subject.name or subject.kind or 'lines'}  {place}"
    if code.note:
        yield code.note
    for group in GROUPS:
        places = code.groups[group]
        if not places:
            if group in _NOTHING and not code.note:
                yield f"{group}: {_NOTHING[group]}"
            continue
        more = code.total[group] - len(places)
        rest = f", {more:,} more" if more > 0 and group != "alike" else ""
        yield f"{group} ({len(places)}{rest})"
        yield from (f"  {place_text(place, explain=explain)}" for place in places)


def place_text(place: RelatedPlace, *, explain: bool = False) -> str:
    """Return one place on one line."""
    row = f"{printable(place.path)}:{place.line} {printable(place.name or place.kind)}".rstrip()
    if place.group == "callers" and place.text:
        row += f"  {printable(place.text)[:_WIDEST]}"
    if len(place.lines) > 1 and place.group == "callers":
        others = place.lines[1:] if explain else place.lines[1 : 1 + _ALSO]
        more = f" and {len(place.lines) - 1 - len(others)} more" if len(place.lines) - 1 > len(others) else ""
        row += f"  (also {', '.join(map(str, others))}{more})"
    row += _among(place)
    if explain and place.group == "alike":
        row += f"  {place.score:.2f}"
    return row


def _among(place: RelatedPlace) -> str:
    return f"  (one of {place.among} definitions of that name)" if place.among > 1 else ""
