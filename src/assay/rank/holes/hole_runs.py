"""A repository's newest commit to which tests run which functions, and candidates for holes to what its tests say.

Everything runs in the sandbox, from a copy of what is committed. A candidate is right if all tests pass that passed
with the original and run the hole, as many of them as are taken; the first failure says how it is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.cage.limits import Ended, Job, Limits
from assay.corpus.git import git
from assay.corpus.pinned import export
from assay.errors import InputError, printable
from assay.faults import Fault

if TYPE_CHECKING:
    from assay.cage.cage_pool import CagePool

HARNESS: Final = ("assay.rank.holes.inside.hole_harness:serve", "assay.programs.harness.test_process:OpenTests")
PROBE: Final = Limits(cpu_s=240, wall_s=480, memory_mb=2048, output_kb=16_384)
"""For all tests of a repository in one go, each call noted."""
RUN: Final = Limits(cpu_s=30, wall_s=90, memory_mb=2048)
"""For the tests of one hole."""
_FAILED: Final = frozenset({"AssertionError", "Failed"})
Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RepositoryTests:
    """What the tests of a repository are like."""

    passed: tuple[str, ...]
    of_function: Mapping[tuple[str, int], tuple[str, ...]]
    """By file and first line, the tests that pass and run that function."""


@dataclass(frozen=True, slots=True)
class FilledHole:
    """A file of a repository with a candidate in it, and the tests that decide."""

    file: str
    text: str
    tests: tuple[str, ...]


def check_out(repository: Path, place: Path) -> Path:
    """Write the newest commit of a repository to a folder that does not exist yet; nothing leads out of it."""
    export(repository, "HEAD", place, links=True)
    return place


def setting_of(repository: Path, runner: CagePool) -> str:
    """Return what decides about every candidate of a repository: its newest commit, the sandbox, and the limits."""
    committed = git(repository, "rev-parse", "HEAD^{tree}", "--show-prefix").decode(errors="replace")
    return repr((committed, runner.name, RUN))


def pytest_folder() -> Path:
    """Return the folder that holds pytest, which programs may not see by themselves."""
    found = find_spec("pytest")
    if found is None or found.origin is None:
        raise InputError("the tests of a repository run with pytest, and it is not installed: pip install pytest")
    return Path(found.origin).parents[1]


def import_folders(root: Path) -> list[str]:
    """Return the folders of a checkout from which its packages are imported."""
    return ["src", "."] if (root / "src").is_dir() else ["."]


def probe(root: Path, runner: CagePool) -> RepositoryTests:
    """Run all tests of a checkout and say which functions those run that pass."""
    [ended] = runner.run([_job("probe", root, FilledHole("", "", ()), trace=True)])
    told = _read(ended)
    if "missing" in told:
        raise InputError(f"the sandbox '{runner.name}' does not find {told['missing']}: choose another with --sandbox")
    if not told.get("passed"):
        why = printable(told.get("said") or told.get("error") or "") or ended.detail or ended.ended
        raise InputError(f"no test passes in the sandbox ({why}): there is nothing that could decide")
    passed = tuple(told["passed"])
    ran: dict[tuple[str, int], list[str]] = {}
    for test in passed:
        for file, line in told["ran"].get(test, ()):
            ran.setdefault((file, line), []).append(test)
    return RepositoryTests(passed, {place: tuple(tests) for place, tests in ran.items()})


def outcomes(root: Path, holes: Sequence[FilledHole], runner: CagePool) -> Iterator[Fault | None]:
    """Yield how each candidate fares, None where the sandbox broke."""
    ran = runner.run(_job(str(number), root, hole) for number, hole in enumerate(holes))
    for hole, ended in zip(holes, ran, strict=True):
        yield fault_of_run(ended, hole.tests)


def fault_of_run(ended: Ended, tests: Iterable[str]) -> Fault | None:
    """Say what a run of the tests of a hole means; one that did not pass, such as a skipped one, is a failure."""
    if ended.ended == "broken":
        return None
    if ended.ended in {"cpu", "wall"}:
        return Fault.TIMEOUT
    told = _read(ended)
    if told.get("status") == 0:
        return Fault.CORRECT if set(tests) <= set(told.get("passed") or ()) else Fault.INTENT_OTHER
    error = told.get("error") or ""
    if error in _FAILED:
        return Fault.INTENT_OTHER
    return next((each for each in Fault if each.is_execution and each == error), Fault.EXECUTION_OTHER)


def _job(name: str, root: Path, hole: FilledHole, *, trace: bool = False) -> Job:
    spec: Spec = {
        "root": str(root.resolve()),
        "folders": import_folders(root),
        "file": hole.file,
        "text": hole.text,
        "tests": list(hole.tests),
        "trace": trace,
    }
    return Job(name, json.dumps(spec).encode(), limits=PROBE if trace else RUN)


def _read(ended: Ended) -> dict[str, Any]:
    lines: Sequence[bytes] = ended.stdout.splitlines()
    try:
        told = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
