"""Check a ground truth against a checkout, and follow its targets through later changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from assay.corpus import git_history, pinned
from assay.corpus.blocks import lines_of
from assay.corpus.patches import FileChange, Hunk
from assay.corpus.pinned import is_repository
from assay.errors import InputError
from assay.measure.line_spans import Span, span_of
from assay.truth.following import UNDOCUMENTED, hidden_places
from assay.truth.ground_truth import Truth, TruthFile
from assay.truth.target_places import Places, fault_of, path_of
from assay.values import Problem

MOVED, CHANGED, GONE = "moved", "changed", "gone"


@dataclass(frozen=True, slots=True)
class Drift:
    """The change of a target since the pinned commit."""

    where: str
    target: str
    state: str
    """`moved`, `changed` or `gone`."""
    to: str = ""
    """The target now; of changed lines, where what became of them lies."""

    def __str__(self) -> str:
        """Return the change as one line."""
        to = {MOVED: f" to {self.to}", CHANGED: f", now {self.to}", GONE: ""}[self.state]
        return f"{self.where}: {self.target}: {self.state}{to}"


def drift_of(places: Places, head: str, targets: Mapping[str, Iterable[str]]) -> Iterator[Drift]:
    """Yield the change of each target that is not where it was."""
    changes = {each.before: each for each in git_history.between(places.root, places.commit, head) if each.before}
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
    """Return the change of a symbol or a whole file; None for lines."""
    path, colons, symbol = target.partition("::")
    to = f"{change.after}::{symbol}" if colons else change.after
    if not colons and span_of(target).start:
        return None
    if fault_of(now, to):
        return GONE, ""
    return (MOVED, to) if change.after != path else ("", "")


def _moved(places: Places, lines: Callable[[str], Sequence[str]], change: FileChange, target: str) -> tuple[str, str]:
    """Return the change of some lines; rewritten ones are searched for elsewhere in their file."""
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


class FollowedLines(NamedTuple):
    """The lines of a span after some changes; the end is before the start if no line is left."""

    start: int
    end: int
    untouched: int


def follow(span: Span, hunks: Sequence[Hunk]) -> FollowedLines:
    """Return a span after some changes."""
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
    return FollowedLines(new_start, new_end, untouched=kept)


def _find_place(old: Sequence[str], new: Sequence[str]) -> int | None:
    """Return the only place of some lines; None if there are none or several."""
    wanted, size = [line.strip() for line in old], len(old)
    if not any(wanted):
        return None
    stripped = [line.strip() for line in new]
    places = [
        at for at in range(len(new) - size + 1) if stripped[at] == wanted[0] and stripped[at : at + size] == wanted
    ]
    return places[0] if len(places) == 1 else None


@dataclass(frozen=True, slots=True)
class TruthCheck:
    """The result of a check."""

    targets: int
    looked: bool = False
    """Whether they were looked up in a checkout."""
    commit: str = ""
    """The pinned commit; empty where the files were taken as they are."""
    head: str = ""
    """The commit that drift was looked for at; empty where it was not."""
    problems: tuple[Problem, ...] = ()
    drift: tuple[Drift, ...] = ()
    broken: frozenset[str] = frozenset()
    """The targets that are not there at the pinned commit."""
    undocumented: frozenset[str] = frozenset()
    """The symbols whose documentation was a question and is gone."""
    uncommitted: tuple[str, ...] = ()
    """Files with targets whose work tree is not what was committed."""


def check(reading: TruthFile, root: Path | None) -> TruthCheck:
    """Look up every target; without a folder, report only problems of reading, as for documents."""
    truth = reading.truth
    targets = _targets(reading)
    if truth.documents or root is None:
        return TruthCheck(len(targets), problems=reading.problems)
    _one_checkout(truth)
    places = Places(root, truth.commit, follow=not truth.commit)
    places.load(path_of(target) for target in targets)
    faults = {target: fault for target in targets if (fault := fault_of(places, target))}
    problems = [Problem(where, f"{each}: {faults[each]}") for each in faults for where in targets[each]]
    undocumented = hidden_places(truth, lambda: places).undocumented if not truth.commit else ()
    problems += [
        Problem(where, f"{each}: {UNDOCUMENTED}") for each in undocumented for where in targets.get(each, ())[-1:]
    ]
    problems = sorted({*reading.problems, *problems}, key=_order)
    head = git_history.head(root) if is_repository(root) else ""
    moved = tuple(
        Drift(where, target, MOVED, f"{to}::{target.partition('::')[2]}")
        for target, to in places.moved.items()
        for where in targets[target]
    )
    checked = TruthCheck(
        len(targets), True, places.commit, head, tuple(problems), moved, frozenset(faults), frozenset(undocumented)
    )
    if not head or not places.commit:
        return checked
    sound = {target: wheres for target, wheres in targets.items() if target not in faults}
    drift = tuple(drift_of(places, head, sound)) if head != places.commit else ()
    changed = pinned.changed(root, head, set(map(path_of, sound)))
    return replace(checked, drift=drift, uncommitted=tuple(sorted(changed)))


def repinned(truth: Truth, checked: TruthCheck) -> Truth:
    """Return a ground truth at HEAD: changed and moved lines are followed, missing and invalid targets left out.

    A query that loses all its answers is left out with them.
    """
    if truth.commit and not checked.head:
        raise InputError("there is nothing to follow: a ground truth that names a commit takes a git checkout")
    now = {each.target: each.to for each in checked.drift}
    now |= dict.fromkeys(checked.broken, "")
    judgments = [replace(each, target=now.get(each.target, each.target)) for each in truth.judgments]
    had = {each.query_id for each in truth.judgments}
    have = {each.query_id for each in judgments if each.target}
    return replace(
        truth,
        queries=tuple(query for query in truth.queries if query.id in have or query.id not in had),
        judgments=tuple(each for each in judgments if each.target and each.query_id in have),
        hidden=tuple(filter(None, (now.get(target, target) for target in truth.hidden))),
        hidden_docs=tuple(
            filter(None, (now.get(each, each) for each in truth.hidden_docs if each not in checked.undocumented))
        ),
        commit=checked.head if truth.commit else "",
    )


def _targets(reading: TruthFile) -> dict[str, list[str]]:
    """Return every target with the places that refer to it."""
    targets: dict[str, list[str]] = {}
    for at, judgment in enumerate(reading.truth.judgments):
        targets.setdefault(judgment.target, []).append(reading.where(at))
    for target in (*reading.truth.hidden, *reading.truth.hidden_docs):
        if reading.truth.commit or target in targets:  # without a commit, what is gone hides nothing
            targets.setdefault(target, []).append(f"{reading.file} (hidden)")
    return targets


def _one_checkout(truth: Truth) -> None:
    """Refuse a ground truth of several repositories or commits, which one checkout cannot verify."""
    found = {(query.tags.get("repository", ""), query.tags.get("commit", "")) for query in truth.queries}
    if len(found) > 1 and not truth.commit:
        raise InputError(f"it refers to {len(found)} checkouts: split it with assay truth convert --split, check each")


def _order(problem: Problem) -> tuple[str, int, str]:
    file, _, row = problem.where.rpartition(":")
    return (file, int(row), problem.what) if row.isdecimal() else (problem.where, 0, problem.what)
