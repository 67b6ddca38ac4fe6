"""What opens a runner to a runner in which programs find what they import: what is missing is installed, if allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.programs.modules.distributions import Known, known
from assay.programs.modules.importable import importable
from assay.programs.modules.imports import Needs, forkable, needs
from assay.programs.modules.installer import InstallRefused
from assay.programs.modules.overlay import Overlay, overlay
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.types import Problem

if TYPE_CHECKING:
    from assay.cage.cage_pool import ProgramRunner
    from assay.protocols import Say

_NAMED = 5


@dataclass(frozen=True, slots=True)
class EquippedRunner:
    """An open runner, and what is known of its modules."""

    runner: ProgramRunner
    missing: Mapping[str, str]
    """Modules that are imported and not there, with the distribution that brings each."""
    importable: tuple[str, ...]
    """What programs find there, `importable` says."""
    installed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@contextmanager
def install_missing_modules(  # noqa: PLR0913  each is one thing
    open_runner: Callable[..., AbstractContextManager[ProgramRunner]],
    reading: TaskFile,
    samples: Samples,
    say: Say,
    *,
    install: bool = False,
    allow: Path | None = None,
) -> Iterator[EquippedRunner]:
    """Open a runner in which programs find what they import, as far as that was asked for and is allowed."""
    if allow and not install:
        raise InputError("--allow FILE says what --install may install: give both")
    names = known(allow)
    with open_runner() as plain:
        found = needs(reading, samples.programs, plain, names)
        wanted = sorted({brings for brings in found.missing.values() if names.allows(brings)})
        if not install or not wanted:
            problems = _left_out(found, names) if install else ()
            yield EquippedRunner(plain, found.missing, importable(plain), problems=problems)
            return
    say(f"installing {', '.join(wanted)}")
    made, refused = _had(wanted)
    problems = (*_left_out(found, names), *refused)
    missing = {module: brings for module, brings in found.missing.items() if brings not in _names(made)}
    with open_runner(paths=(made.folder,)) as bare:
        common = forkable((name for name in found.common if name not in missing), bare)
    with open_runner(paths=(made.folder,), modules=common) as runner:
        yield EquippedRunner(runner, missing, importable(runner), made.distributions, problems)


def _had(names: list[str]) -> tuple[Overlay, list[Problem]]:
    """Install all of these; those that cannot be had alone are left out and told."""
    try:
        return overlay(names), []
    except InstallRefused as refused:
        if len(names) == 1:
            raise
        why = refused
    problems = []
    for name in names:
        try:
            overlay([name])
        except InstallRefused as alone:
            problems.append(Problem(name, str(alone)))
    if not problems:
        raise why
    left = [name for name in names if name not in {problem.where for problem in problems}]
    if not left:
        raise why
    return overlay(left), problems


def _left_out(found: Needs, names: Known) -> tuple[Problem, ...]:
    """Name what is not on the list of what may be installed."""
    refused = sorted({brings for brings in found.missing.values() if not names.allows(brings)})
    told = [
        Problem(name, "not on the list of what may be installed: name it in a file, --allow FILE") for name in refused
    ]
    if found.unknown:
        some = ", ".join(found.unknown[:_NAMED]) + (", …" if len(found.unknown) > _NAMED else "")
        modules = "1 module" if len(found.unknown) == 1 else f"{len(found.unknown):,} modules"
        what = f"{modules} of no known distribution, not installed: {some}"
        told.append(Problem("imports", f"{what}; --allow FILE takes lines MODULE = DISTRIBUTION"))
    return tuple(told)


def _names(made: Overlay) -> set[str]:
    return {pin.partition("==")[0] for pin in made.distributions}
