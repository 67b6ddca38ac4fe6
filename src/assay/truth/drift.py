"""Targets of one commit to where they are at another: moved, changed or gone, by what git says changed between.

White space does not count as a change. Lines that were rewritten where they stood are looked for elsewhere in their
file before they count as changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from assay.corpus import git_history
from assay.corpus.blocks import lines_of
from assay.corpus.patches import FileChange, Hunk
from assay.errors import InputError
from assay.measure.line_spans import Span, span_of
from assay.truth.target_places import Places

MOVED, CHANGED, GONE = "moved", "changed", "gone"


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of a target since the pinned commit."""

    where: str
    target: str
    state: str
    """`moved`, `changed` or `gone`."""
    to: str = ""
    """The target now; of changed lines, where what became of them lies."""

    def __str__(self) -> str:
        """Return one line for people."""
        to = {MOVED: f" to {self.to}", CHANGED: f", now {self.to}", GONE: ""}[self.state]
        return f"{self.where}: {self.target}: {self.state}{to}"


def fault_of(places: Places, target: str) -> str:
    """Say why a target is not there, or nothing."""
    try:
        places.span(target)
    except InputError as error:
        return str(error)
    return ""


def path_of(target: str) -> str:
    """Return the file of a target."""
    path, colons, _ = target.partition("::")
    return path if colons else span_of(target).path


def drift_of(places: Places, head: str, targets: Mapping[str, Iterable[str]]) -> Iterator[Drift]:
    """Yield what became of each target that is no longer where it was."""
    changes = {
        change.before: change for change in git_history.between(places.root, places.commit, head) if change.before
    }
    touched = [target for target in targets if path_of(target) in changes]
    if not touched:
        return
    now = Places(places.root, head)
    now.load(filter(None, (changes[path_of(target)].after for target in touched)))
    lines = cache(lambda path: lines_of(now.text(path)))
    for target in touched:
        change = changes[path_of(target)]
        state, to = (
            (GONE, "") if not change.after else _symbol(now, change, target) or _moved(places, lines, change, target)
        )
        if state:
            for where in targets[target]:
                yield Drift(where, target, state, to)


def _symbol(now: Places, change: FileChange, target: str) -> tuple[str, str] | None:
    """Return what became of a symbol or a whole file, None for lines."""
    path, colons, symbol = target.partition("::")
    to = f"{change.after}::{symbol}" if colons else change.after
    if not colons and span_of(target).start:
        return None
    if fault_of(now, to):
        return GONE, ""
    return (MOVED, to) if change.after != path else ("", "")


def _moved(places: Places, lines: Callable[[str], Sequence[str]], change: FileChange, target: str) -> tuple[str, str]:
    """Return what became of some lines; those that were rewritten are looked for elsewhere in their file."""
    span = span_of(target)
    if change.binary:
        return GONE, ""
    start, end, kept = follow(span, change.hunks)
    to = str(Span(change.after, start, end)) if end >= start else ""
    if kept == span.end - span.start + 1 and end - start == span.end - span.start:
        return ("", "") if to == target else (MOVED, to)
    old = lines_of(places.text(span.path))[span.start - 1 : span.end]
    if (at := _find_place(old, lines(change.after))) is not None:
        return MOVED, str(Span(change.after, at + 1, at + len(old)))
    return (CHANGED, to) if to else (GONE, "")


def follow(span: Span, hunks: Sequence[Hunk]) -> tuple[int, int, int]:
    """Return the first and last line that a span has after some changes, and how many of its lines are untouched.

    The end lies before the start where nothing is left.
    """
    start, end, kept, shift = span.start, span.end, span.end - span.start + 1, 0
    new_start, new_end = start, end
    for hunk in hunks:
        first = hunk.start if hunk.size else hunk.start + 1
        last = hunk.start + hunk.size - 1 if hunk.size else hunk.start
        if first > end:
            break
        grown = hunk.added - hunk.size
        kept -= max(0, min(last, end) - max(first, start) + 1)
        if last < start:
            new_start += grown
        elif first < start:
            new_start = first + shift
        new_end = first + shift + hunk.added - 1 if last > end else new_end + grown
        shift += grown
    return new_start, new_end, kept


def _find_place(old: Sequence[str], new: Sequence[str]) -> int | None:
    """Return the only place where some lines stand, None where there is none or several."""
    wanted, size = [line.strip() for line in old], len(old)
    if not any(wanted):
        return None
    stripped = [line.strip() for line in new]
    places = [
        at for at in range(len(new) - size + 1) if stripped[at] == wanted[0] and stripped[at : at + size] == wanted
    ]
    return places[0] if len(places) == 1 else None
