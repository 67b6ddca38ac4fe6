"""A sandbox with what programs import: what is missing is found, and installed where that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.cli.workspaces import counted, say
from assay.errors import InputError
from assay.sandbox.distributions import Known, known
from assay.sandbox.imports import Needs, forkable, needs
from assay.sandbox.installer import Refused
from assay.sandbox.overlay import Overlay, overlay
from assay.sandbox.pool import Sandbox
from assay.sandbox.samples import Samples
from assay.sandbox.tasks.reading import Reading
from assay.types import Problem

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Room:
    """An open sandbox, and what is known of its modules."""

    sandbox: Sandbox
    missing: Mapping[str, str]
    """Modules that are imported and not there, with the distribution that brings each."""
    installed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@contextmanager
def furnished(
    opened: Callable[..., Sandbox], reading: Reading, samples: Samples, allow: Path | None, *, install: bool
) -> Iterator[Room]:
    """Open a sandbox in which programs find what they import, as far as that was asked for and is allowed."""
    if allow and not install:
        raise InputError("--allow FILE says what --install may install: give both")
    names = known(allow)
    with opened() as plain:
        found = needs(reading, samples.programs, plain, names)
        wanted = {module: brings for module, brings in found.missing.items() if names.allows(brings)}
        if not install or not wanted:
            yield Room(plain, found.missing, problems=_left_out(found, names) if install else ())
            return
        if plain.name == "container":
            raise InputError("the sandbox 'container' has the modules of its image: --install cannot add to them")
    say(f"installing {', '.join(sorted(set(wanted.values())))}")
    made, refused = _had(sorted(set(wanted.values())))
    problems = [*_left_out(found, names), *refused]
    missing = {module: brings for module, brings in found.missing.items() if brings not in _names(made)}
    with opened(paths=(made.folder,)) as bare:
        common = forkable((name for name in found.common if name not in missing), bare)
    with opened(paths=(made.folder,), modules=common) as sandbox:
        yield Room(sandbox, missing, made.distributions, tuple(problems))


def _had(names: list[str]) -> tuple[Overlay, list[Problem]]:
    """Install all of these; those that cannot be had alone are left out and told."""
    try:
        return overlay(names), []
    except Refused as refused:
        if len(names) == 1:
            raise
        why = refused
    problems = []
    for name in names:
        try:
            overlay([name])
        except Refused as alone:
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
        what = f"{counted(len(found.unknown), 'module')} of no known distribution, not installed: {some}"
        told.append(Problem("imports", f"{what}; --allow FILE takes lines MODULE = DISTRIBUTION"))
    return tuple(told)


def _names(made: Overlay) -> set[str]:
    return {pin.partition("==")[0] for pin in made.distributions}
