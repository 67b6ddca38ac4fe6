"""Measure for how long a search server gives old answers after files changed.

A small repository is written to a temporary folder, and the system is started on it. Each change is made once; then the
system is asked for a generated word that only the changed code contains, until the first answer is right and no answer
names a file that is gone. This is a benchmark: it reads the clock.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.bench.ask_worker import Worker
from assay.bench.matrix import SystemSpec
from assay.bench.system import SystemCorpus, small_environment
from assay.bench.systems.system_worker import SystemTask
from assay.errors import AssayError, InputError
from assay.io.processes import ProcessLimits, run_bounded
from assay.measure.line_spans import Span
from assay.protocols import Progress
from assay.report import document as doc
from assay.values import Query

_POLL_S = 0.1
_ANSWERS = 5
_START_S = 60.0
_LINES = 5
_FILLERS = 20
"""Files besides those that change, so that a first answer is not right by accident."""
_GIT = "git -c user.name=assay -c user.email=assay@example.invalid -c commit.gpgsign=false -c core.hooksPath=/dev/null"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change that was just made, and what a fresh answer to a word is."""

    name: str
    root: Path
    word: str
    expected: Span
    gone: str = ""
    """A file that had the word before and is gone now."""


@dataclass(frozen=True, slots=True)
class FreshnessFigure:
    """How long one system took to see one change."""

    system: str
    change: str
    seconds: float | None
    """From the change to the end of the first right answer; None where there was none within the limit."""
    answers: int
    """Answers that it took, the right one included."""
    stale: int
    """Those of them that named a file that was gone."""
    error: str = ""
    """The last error of an answer that was not right."""


def measure(systems: Sequence[SystemSpec], limit_s: float, watch: Progress | None = None) -> list[FreshnessFigure]:
    """Return the figures of each system, on a repository of its own."""
    found = []
    for at, system in enumerate(systems):
        with TemporaryDirectory(prefix="assay-freshness-") as folder:
            for figure in _figures(system, Path(folder).resolve(), limit_s):
                found.append(figure)
                if watch:
                    watch(f"{system.name}: {figure.change}", at, len(systems))
    if not any(figure.answers for figure in found):
        why = dict.fromkeys(f"{figure.system}: {figure.error}" for figure in found)
        raise InputError(f"nothing could be measured: {'; '.join(why)}")
    return found


def _figures(system: SystemSpec, folder: Path, limit_s: float) -> Iterator[FreshnessFigure]:
    """Start the system on each of the two folders, and ask it after each change; its start is one."""
    for root, changes in groupby(_changes(folder / "repository"), key=attrgetter("root")):
        begun = time.perf_counter()
        task = SystemTask(system.spec, {"timeout_s": limit_s, **system.options}, SystemCorpus(root.name, root))
        with Worker(task, index_timeout_s=max(limit_s, _START_S)) as worker:
            worker.prepare()
            for change in changes:
                yield _ask(system.name, worker, change, begun or time.perf_counter(), limit_s)
                begun = 0.0


def _ask(system: str, worker: Worker, change: FileChange, begun: float, limit_s: float) -> FreshnessFigure:
    """Ask until the answer is right, the limit passes or the system gives up."""
    asked, stale, error, seconds = 0, 0, "", 0.0
    while seconds < limit_s and not worker.preparation.error:
        time.sleep(_POLL_S if asked else 0)
        answer = worker.ask(Query(f"{change.name} {asked}", change.word), _ANSWERS)
        seconds, asked = time.perf_counter() - begun, asked + 1
        named = {*(span.path for span in answer.spans), *answer.error.replace(",", " ").split()}
        if change.gone in named:
            stale += 1
        elif answer.spans and answer.spans[0].overlaps(change.expected):
            return FreshnessFigure(system, change.name, seconds, asked, stale)
        error = answer.error or error
    return FreshnessFigure(system, change.name, None, asked, stale, worker.preparation.error or error)


def _word() -> str:
    """Return a word that no language has."""
    return "".join(random.choice("bdfgklmnprtvz") + random.choice("aeiou") for _ in range(6))  # noqa: S311  no secret


def _write(root: Path, path: str, words: Sequence[str]) -> None:
    """Write a function for each word, of as many lines as `_LINES` says."""
    text = [f'def {word}(value):\n    """Return the {word} of a value."""\n    return value\n\n\n' for word in words]
    (root / "src").mkdir(parents=True, exist_ok=True)
    (root / "src" / path).write_text("".join(text), "utf-8")


def _git(root: Path, *commands: str) -> None:
    for each in commands:
        words = [*_GIT.split(), *each.split()]
        done = run_bounded(words, ProcessLimits(60, 1 << 20), cwd=root, env=small_environment([]))
        if done.status:
            raise AssayError(f"git {each} failed: {done.complaint}")


def _changes(root: Path) -> Iterator[FileChange]:
    """Write and commit a repository, then make each change, and yield it once it is made.

    No outdated index knows an expected place. The branch `other` has one file more than `main`.
    """
    started, new, edited, renamed, deleted, other, both = (_word() for _ in range(7))
    for number in range(_FILLERS):
        _write(root, f"filler{number:02}.py", [_word() for _ in range(5)])
    _write(root, "edited.py", [started, *(_word() for _ in range(20))])
    for name, word in (("renamed", renamed), ("deleted", deleted), ("kept", deleted), ("shared", both)):
        _write(root, f"{name}.py", [word])
    _git(root, "init -q -b main", "add -A", "commit -qm first", "switch -qc other")
    _write(root, "branch.py", [other, both])
    _git(root, "add -A", "commit -qm branch", "switch -q main")
    yield FileChange("start", root, started, Span("src/edited.py", 1, 5))
    _write(root, "added.py", [new])
    yield FileChange("new file", root, new, Span("src/added.py"))
    file = root / "src" / "edited.py"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    added = [line.replace(started, edited) for line in lines[:_LINES]]
    file.write_text("".join((*lines[_LINES:], *lines[_LINES : 2 * _LINES], *added)), "utf-8")
    yield FileChange("edit", root, edited, Span("src/edited.py", len(lines) + 1, len(lines) + _LINES))
    _git(root, "checkout -q -- src/edited.py")
    yield FileChange("revert", root, started, Span("src/edited.py", 1, _LINES))
    (root / "src" / "renamed.py").rename(root / "src" / "moved.py")
    yield FileChange("rename", root, renamed, Span("src/moved.py"), "src/renamed.py")
    (root / "src" / "deleted.py").unlink()
    yield FileChange("delete", root, deleted, Span("src/kept.py"), "src/deleted.py")
    _git(root, "add -A", "commit -qm changes", "switch -q other")
    yield FileChange("branch switch", root, other, Span("src/branch.py"))
    _git(root, "switch -q main")
    yield FileChange("branch switched back", root, both, Span("src/shared.py"), "src/branch.py")
    _git(root, "worktree add -q ../second other")
    yield FileChange("worktree start", root.parent / "second", other, Span("src/branch.py"), "src/moved.py")


def report_of(figures: Sequence[FreshnessFigure], limit_s: float) -> doc.Report:
    """Return a table with a row for each change and a column for each system."""
    systems, changes = (list(dict.fromkeys(getattr(each, key) for each in figures)) for key in ("system", "change"))
    cells = {(each.change, each.system): _cell(each, limit_s) for each in figures}
    rows = [(change, *(cells[change, system] for system in systems)) for change in changes]
    notes = dict.fromkeys(f"{each.system}: {each.error}" for each in figures if each.error)
    title = "Time from a change to the first right answer (answers before it; stale ones name a file that is gone)"
    table = doc.table(title, (*doc.columns("Change"), *systems), rows)
    return doc.Report("", "", (), (doc.Section("", "", (table, *map(doc.words, notes)), untitled=True),))


def _cell(figure: FreshnessFigure, limit_s: float) -> str:
    if not figure.answers:
        return "not measured"
    wrong = figure.answers - (figure.seconds is not None)
    seconds = f"> {limit_s:g} s" if figure.seconds is None else f"{figure.seconds:.2f} s"
    stale = f", {figure.stale} stale" if figure.stale else ""
    return f"{seconds} ({wrong} before{stale})" if wrong else seconds
