"""Ground truth against its checkout: what it names must be there at the pinned commit, and where it is at HEAD.

A problem is a target that is not there at the commit that the ground truth speaks of. Drift is no problem, for a
benchmark searches the pinned commit: it says which lines moved, changed or went since, and `repinned` follows them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from assay.corpus import git_history, pinned
from assay.corpus.pinned import is_repository
from assay.errors import InputError
from assay.truth.drift import Drift, drift_of, fault_of, path_of
from assay.truth.ground_truth import Truth, TruthFile
from assay.truth.target_places import Places
from assay.types import Problem


@dataclass(frozen=True, slots=True)
class TruthCheck:
    """What a check found."""

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
    uncommitted: tuple[str, ...] = ()
    """Files with targets whose work tree is not what was committed."""


def check(reading: TruthFile, root: Path | None) -> TruthCheck:
    """Look every target up; without a folder only what was read is told, for documents there is nothing else."""
    truth = reading.truth
    targets = _targets(reading)
    if truth.documents or root is None:
        return TruthCheck(len(targets), problems=reading.problems)
    _one_checkout(truth)
    places = Places(root, truth.commit)
    places.load(path_of(target) for target in targets)
    faults = {target: fault for target in targets if (fault := fault_of(places, target))}
    problems = [Problem(where, f"{each}: {faults[each]}") for each in faults for where in targets[each]]
    problems = sorted({*reading.problems, *problems}, key=_order)
    head = git_history.head(root) if is_repository(root) else ""
    checked = TruthCheck(len(targets), True, places.commit, head, tuple(problems), broken=frozenset(faults))
    if not head or not places.commit:
        return checked
    sound = {target: wheres for target, wheres in targets.items() if target not in faults}
    drift = tuple(drift_of(places, head, sound)) if head != places.commit else ()
    changed = pinned.changed(root, head, set(map(path_of, sound)))
    return replace(checked, drift=drift, uncommitted=tuple(sorted(changed)))


def repinned(truth: Truth, checked: TruthCheck) -> Truth:
    """Return a ground truth at HEAD: lines that moved or changed followed, what is gone or was broken left out.

    A query that loses all its answers is left out with them.
    """
    if not checked.head or not checked.commit:
        raise InputError(
            "there is nothing to pin again: it takes a git checkout, and a ground truth that names a commit"
        )
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
        commit=checked.head,
    )


def _targets(reading: TruthFile) -> dict[str, list[str]]:
    """Return every target with the places that name it."""
    targets: dict[str, list[str]] = {}
    for at, judgment in enumerate(reading.truth.judgments):
        targets.setdefault(judgment.target, []).append(reading.where(at))
    for target in reading.truth.hidden:
        targets.setdefault(target, []).append(f"{reading.file} (hidden)")
    return targets


def _one_checkout(truth: Truth) -> None:
    """Refuse a ground truth of several repositories or commits: one checkout cannot say whether it is right."""
    found = {(query.tags.get("repository", ""), query.tags.get("commit", "")) for query in truth.queries}
    if len(found) > 1 and not truth.commit:
        raise InputError(f"it speaks of {len(found)} checkouts: split it with assay truth convert --split, check each")


def _order(problem: Problem) -> tuple[str, int, str]:
    file, _, row = problem.where.rpartition(":")
    return (file, int(row), problem.what) if row.isdecimal() else (problem.where, 0, problem.what)
