"""This program and an agent to the words with which the agent starts it, from another folder and with another PATH."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError
from assay.serve.agents.agent import ANYWHERE, Agent, Entry, Place

PROGRAM = "assay"


@dataclass(frozen=True, slots=True)
class Started:
    """A command, what comes before its arguments, and why it is not just the name; empty where it is."""

    command: str
    first: tuple[str, ...] = ()
    why: str = ""


def started(called: str, interpreter: str, search: str) -> Started:
    """Return how this program is started: by its name where PATH finds it for everybody, else by its path.

    `called` is what it was called as now, `interpreter` is what runs it, and `search` is PATH.
    """
    found = shutil.which(PROGRAM, path=search)
    own = _own(Path(called), Path(interpreter))
    if own is None:
        return Started(interpreter, ("-m", "assay.cli.main"), "it is not installed as a program of its own")
    if found is None:
        return Started(str(own), (), f"'{PROGRAM}' is not on PATH")
    if not own.samefile(found):
        return Started(str(own), (), f"'{PROGRAM}' on PATH is another one, {found}")
    if (Path(found).parent.parent / "pyvenv.cfg").exists():
        return Started(found, (), "PATH leads to it only while its virtual environment is active")
    return Started(PROGRAM)


def place_of(agent: Agent, scope: str | None) -> Place:
    """Return the place of a scope, or the usual one."""
    places = agent.places()
    if scope and scope not in places:
        raise InputError(f"{agent.title} has no file of the {scope}: leave --scope out")
    return places[scope or next(iter(places))] if places else Place((), ANYWHERE)


def entry_of(agent: Agent, place: Place, how: Started, project: Path, *, fixed: bool) -> Entry:
    """Return the entry for a place: with the project where the agent would not start in it, or where it is `fixed`."""
    serves = place.starts
    if serves == ANYWHERE or (fixed and place is agent.user):
        serves = str(project)
        if project in {Path.home(), Path(project.anchor)}:
            raise InputError(f"{agent.title} would search all of {project}: name the PATH of a project")
    return agent.shape(how.command, [*how.first, "mcp", *([serves] if serves else [])])


def by_path(agent: Agent, how: Started, search: str) -> Started:
    """Return how an agent starts this program that does not look for programs as a shell does."""
    if agent.searches or how.why:
        return how
    return Started(shutil.which(how.command, path=search) or how.command, how.first, f"{agent.title} may not see PATH")


def _own(called: Path, interpreter: Path) -> Path | None:
    """Return the program that runs now."""
    names = (PROGRAM, f"{PROGRAM}.exe")
    places = [called, *(interpreter.parent / name for name in names)]
    return next((place.absolute() for place in places if place.name in names and place.is_file()), None)
