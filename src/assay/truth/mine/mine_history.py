"""The newest part of a history to queries on the repository as it was before that part.

The repository is pinned to a commit; what a later commit is called asks for the units that it then changed, as they
were at the pin: nothing that is asked was known to what is searched. Lines are followed commit by commit, and a unit
counts only where the text that was changed is the text that stands at the pin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.corpus import git_history
from assay.corpus.git_history import Commit
from assay.corpus.patches import FileChange, Hunk, LineMap
from assay.protocols import Progress
from assay.truth.mine import subjects
from assay.truth.mine.minable import Files, is_aside, is_prose, is_test
from assay.truth.mine.mine_docs import doc_lines
from assay.truth.mine.mined import MinedQueries, target_of
from assay.truth.mine.question_kinds import kind_of
from assay.types import Chunk, Judgment, Mode, Query

MOST_COMMITS = 5_000
"""Commits that are looked at, however few of them are of use."""
_SPARE = 2.5
"""Plausible commits that are read for each one wanted: many turn out to change nothing that was there."""
_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
_ENOUGH = 1.5
"""Commits that change what was there for each query wanted: some of them turn out to change no unit, or too many."""
_LOOK = 20
"""Lines of a hunk that are looked at to see whether it changes what was there."""
MOST_UNITS = 8
MOST_FILES = 6
_NEW = 3
"""A commit with so many times more lines of new units than of old ones is not about the old ones."""
_PRIMARY = 0.5
"""A unit with this share of the changes of the most changed one is what the commit is about."""


@dataclass(frozen=True, slots=True)
class PinnedCommit:
    """A commit, what came after it, the newest first, and what a reader should know about the choice."""

    commit: str
    newer: tuple[Commit, ...] = ()
    first: tuple[FileChange, ...] = ()
    """What lies between the pin and the commit on which the oldest newer one stands, where that is another."""
    notes: tuple[str, ...] = ()


def pin(root: Path, at: str, limit: int, progress: Progress | None = None) -> PinnedCommit:
    """Choose the commit that is searched: `at`, else one with enough usable commits after it, in the newer half."""
    notes = ("the clone is shallow: older commits are not there",) if git_history.is_shallow(root) else ()
    head = git_history.head(root)
    most = MOST_COMMITS if at else min(MOST_COMMITS, git_history.length(root) // 2)
    newer: list[Commit] = []
    usable = 0
    for commit in git_history.commits(root, since=at) if most else ():
        if commit.parents:
            newer.append(commit)
            usable += not subjects.why_not(commit) and _is_plausible(commit)
        if progress:
            progress("history", min(len(newer), most), most)
        if len(newer) >= most or (not at and usable >= limit * _SPARE):
            break
    if not at:
        newer = newer[: _best(newer, limit)]
    if not newer:
        return PinnedCommit(
            at or head, (), (), (*notes, "the history has no commit after the pin: nothing to ask from it")
        )
    base = newer[-1].parents[0]
    between = git_history.between(root, at, base) if at and at != base else ()
    return PinnedCommit(at or base, tuple(newer), between, notes)


def _best(newer: Sequence[Commit], limit: int) -> int:
    """Return how many of the newest commits to ask from: the fewest that give enough, else those that give most.

    The further back the pin, the more was rewritten since; how much, the patches alone tell.
    """
    counts = sorted({max(1, round(len(newer) * share)) for share in _SHARES}) if newer else [0]
    alive = {count: min(_alive(newer[:count]), limit * _ENOUGH) for count in counts}
    return max(counts, key=lambda count: (alive[count], -count))


def _alive(newer: Sequence[Commit]) -> int:
    """Return how many commits change a line that was there before the oldest of them."""
    now: dict[str, LineMap] = {}
    found = 0
    for commit in reversed(newer):
        asks = not subjects.why_not(commit) and _is_plausible(commit)
        found += asks and any(_was_there(change, now) for change in commit.changes if _may_answer(change.before))
        for change in commit.changes:
            lines = now.pop(change.before, None) or LineMap(new=not change.before)
            lines.apply(change.hunks)
            now[change.after] = lines
            if change.before != change.after:
                now[change.before] = LineMap(new=True)
    return found


def _was_there(change: FileChange, now: dict[str, LineMap]) -> bool:
    lines = now.get(change.before) or LineMap()
    return any(lines.before(hunk.start + at) for hunk in change.hunks for at in range(min(hunk.size, _LOOK)))


def _is_plausible(commit: Commit) -> bool:
    files = [change for change in commit.changes if change.hunks and _may_answer(change.before)]
    return 0 < len(files) <= MOST_FILES


def _may_answer(path: str) -> bool:
    return bool(path) and not is_test(path) and not is_aside(path)


@dataclass(slots=True)
class Touched:
    """How much of a commit lies in which unit of the pinned repository, and how much in none."""

    units: Counter[Chunk] = field(default_factory=Counter)
    new: int = 0
    """Lines of code that belong to no unit of the pin."""
    files: set[str] = field(default_factory=set)


class Tracker:
    """Where the lines of every file were at the pin, brought forward commit by commit."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._now: dict[str, tuple[str, LineMap]] = {}

    def apply(self, changes: Sequence[FileChange]) -> None:
        """Take in what a commit did to all files."""
        then = {change.before: self._of(change.before) for change in changes if change.before}
        for change in changes:
            if change.before and change.before != change.after:
                self._now[change.before] = ("", LineMap(new=True))
        for change in changes:
            if change.after:
                path, lines = then.get(change.before, ("", LineMap(new=True)))
                lines.apply(change.hunks)
                self._now[change.after] = (path, lines)

    def touched(self, changes: Sequence[FileChange]) -> Touched:
        """Return the units of the pin that a commit is about to change."""
        found = Touched()
        for change in changes:
            path, lines = self._of(change.before) if change.before else ("", LineMap(new=True))
            if not _may_answer(change.before or change.after):
                continue
            for hunk in change.hunks:
                self._count(found, path, lines, hunk)
        return found

    def _of(self, path: str) -> tuple[str, LineMap]:
        return self._now.get(path) or (path, LineMap())

    def _count(self, found: Touched, path: str, lines: LineMap, hunk: Hunk) -> None:
        if hunk.removed and sorted(hunk.removed) == sorted(hunk.new):
            return
        units = self._inserted(path, lines, hunk) if not hunk.size else self._replaced(path, lines, hunk)
        if units:
            found.units.update(units)
            found.files.add(path)
        elif not is_prose(path):
            found.new += hunk.added

    def _inserted(self, path: str, lines: LineMap, hunk: Hunk) -> dict[Chunk, int]:
        """Return the unit that new lines were put into: it has the line before them and the line after."""
        before = lines.before(hunk.start) if hunk.start else 0
        after = lines.before(hunk.start + 1)
        unit = self._unit(path, before) if before and after else None
        if unit is None or unit.end_line < after or _only_comments(hunk.new):
            return {}
        return {unit: hunk.added}

    def _replaced(self, path: str, lines: LineMap, hunk: Hunk) -> dict[Chunk, int]:
        counted: Counter[Chunk] = Counter()
        for at, text in enumerate(hunk.removed):
            before = lines.before(hunk.start + at)
            if not before or not text or _squeezed(self._files.line(path, before)) != _squeezed(text):
                continue
            unit = self._unit(path, before)
            if unit is not None and (is_prose(path) or not _is_said(unit, before, text)):
                counted[unit] += 1
        if counted and hunk.added > hunk.size:
            counted[max(counted, key=lambda unit: counted[unit])] += min(hunk.added - hunk.size, 2 * hunk.size)
        return dict(counted)

    def _unit(self, path: str, line: int) -> Chunk | None:
        found = (unit for unit in self._files.units(path) if unit.start_line <= line <= unit.end_line)
        return next(found, None)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _only_comments(lines: Sequence[str]) -> bool:
    return bool(lines) and all(
        line.startswith(("#", "//", "*", "/*", "--", ";", "%", "<!--")) or not line for line in lines
    )


def _is_said(unit: Chunk, line: int, text: str) -> bool:
    """Say whether a line of code is documentation or a comment."""
    if _only_comments([text]) and not text.startswith(("#[", "#include", "#define", "#if", "*p", "--")):
        return True
    said = doc_lines(unit)
    return said is not None and said[0] <= line <= said[1]


def ask(pinned: PinnedCommit, files: Files, limit: int) -> MinedQueries:
    """Return the newest queries of the commits after a pin, the older half of them for tuning, in order of time."""
    told = MinedQueries()
    tracker = Tracker(files)
    tracker.apply(pinned.first)
    found: list[tuple[Commit, dict[Chunk, int]]] = []
    for commit in reversed(pinned.newer):
        reason = subjects.why_not(commit)
        if not reason:
            touched = tracker.touched(commit.changes)
            reason = _why_not(commit, touched)
            if not reason:
                found.append((commit, _graded(touched)))
        if reason:
            told.left_out[reason] += 1
        tracker.apply(commit.changes)
    found = _distinct(found, told.left_out)
    if len(found) > limit:
        told.left_out["more than were wanted"] += len(found) - limit
        found = found[-limit:]
    for at, (commit, graded) in enumerate(found):
        query = _query(commit, tuple(graded), "test" if 2 * at >= len(found) else "dev")
        told.queries.append(query)
        told.judgments.extend(_judgments(query, commit, graded))
    return told


def _why_not(commit: Commit, touched: Touched) -> str:
    """Say why what a commit changed answers nothing, or nothing."""
    return next((reason for wrong, reason in _reasons(commit, touched) if wrong), "")


def _reasons(commit: Commit, touched: Touched) -> Iterator[tuple[bool, str]]:
    """Yield what may be wrong with a commit, in the order in which it is best told."""
    changed = [change for change in commit.changes if change.hunks]
    code = {unit: lines for unit, lines in touched.units.items() if unit.kind != "section"}
    tests = [change.after for change in commit.changes if is_test(change.after)]
    yield not changed, "no line changed but in white space"
    answering = any(_may_answer(change.before or change.after) for change in changed)
    yield not answering, "only tests, changelogs, examples or settings"
    yield not touched.units, "no unit of the pin changed"
    many = len(code or touched.units) > MOST_UNITS or len(touched.files) > MOST_FILES
    yield many, "too many places at once"
    yield bool(code) and subjects.is_about_docs(commit), "a change of comments"
    yield not code and subjects.is_about_form(commit), "a change of form, not of content"
    yield bool(code) and subjects.is_about_tests(commit, tests), "about tests"
    yield bool(code) and touched.new > _NEW * sum(code.values()), "mostly new code"
    yield not code and touched.new > 0, "only new code, and prose about it"


def _graded(touched: Touched) -> dict[Chunk, int]:
    """Return the grade of each unit; where code changed, prose was only brought up to it."""
    code = {unit: size for unit, size in touched.units.items() if unit.kind != "section"}
    sizes = code or dict(touched.units)
    most = max(sizes.values())
    ordered = sorted(sizes, key=lambda unit: (-sizes[unit], unit.path, unit.start_line))
    return {unit: 2 if sizes[unit] >= _PRIMARY * most else 1 for unit in ordered}


def _distinct(
    found: list[tuple[Commit, dict[Chunk, int]]], left_out: Counter[str]
) -> list[tuple[Commit, dict[Chunk, int]]]:
    """Leave out what is asked twice, where nobody can tell which commit is meant."""
    asked = Counter(subjects.cleaned(subjects.title(commit)).casefold() for commit, _ in found)
    kept = [one for one in found if asked[subjects.cleaned(subjects.title(one[0])).casefold()] == 1]
    if len(kept) < len(found):
        left_out["the same subject as another commit"] += len(found) - len(kept)
    return kept


def _query(commit: Commit, answers: Sequence[Chunk], split: str) -> Query:
    subject = subjects.cleaned(subjects.title(commit))
    body = subjects.described(commit)
    prose = all(unit.kind == "section" for unit in answers)
    kind = "docs" if prose else "issue" if body else kind_of(subject, answers)
    text = f"{subject}. {body}" if kind == "issue" else subject
    mode: Mode = "docs" if prose else "code"
    tags = {"kind": kind, "source": "history", "split": split, "date": commit.date, "commit": commit.id[:12]}
    return Query(f"history-{commit.id[:12]}", text, mode, tags=tags)


def _judgments(query: Query, commit: Commit, graded: dict[Chunk, int]) -> list[Judgment]:
    return [Judgment(query.id, target_of(unit), grade, "history", commit.id) for unit, grade in graded.items()]
