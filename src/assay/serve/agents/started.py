"""This program and an agent to the words with which the agent starts it, from another folder and with another PATH."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError
from assay.serve.agents.agent import ANYWHERE, Agent, AgentFiles, Entry

PROGRAM = "assay"


@dataclass(frozen=True, slots=True)
class StartCommand:
    """A command, what comes before its arguments, and why it is not just the name; empty where it is."""

    command: str
    first: tuple[str, ...] = ()
    why: str = ""


def started(called: str, interpreter: str, search: str) -> StartCommand:
    """Return how this program is started: by its name where PATH finds it for everybody, else by its path.

    `called` is what it was called as now, `interpreter` is what runs it, and `search` is PATH.
    """
    found = _find_program(PROGRAM, search)
    own = _own(Path(called), Path(interpreter))
    if own is None:
        return StartCommand(_plain(interpreter), ("-P", "-m", "assay"), "it is not installed as a program of its own")
    if found is None:
        return StartCommand(str(own), (), f"'{PROGRAM}' is not on PATH")
    if not own.samefile(found):
        return StartCommand(str(own), (), f"'{PROGRAM}' on PATH is another one, {found}")
    if (Path(found).parent.parent / "pyvenv.cfg").exists():
        return StartCommand(found, (), "PATH leads to it only while its virtual environment is active")
    return StartCommand(PROGRAM)


def entry_of(agent: Agent, place: AgentFiles, how: StartCommand, project: Path, *, fixed: bool) -> Entry:
    """Return the entry for a place: with the project where the agent would not start in it, or where it is `fixed`."""
    serves = place.starts
    if serves == ANYWHERE or (fixed and place is agent.user):
        serves = str(project)
        if project in {Path.home(), Path(project.anchor)}:
            raise InputError(f"{agent.title} would search all of {project}: name the PATH of a project")
    return agent.shape(how.command, [*how.first, "mcp", *([serves] if serves else [])])


def by_path(agent: Agent, how: StartCommand, search: str) -> StartCommand:
    """Return how an agent starts this program that does not look for programs as a shell does."""
    if agent.searches or how.why:
        return how
    return StartCommand(_find_program(how.command, search) or how.command, how.first, f"{agent.title} may not see PATH")


def _find_program(program: str, search: str) -> str | None:
    """Return the path of a program that PATH leads to."""
    found = shutil.which(program, path=search)
    return _plain(found) if found else None


def _plain(path: str) -> str:
    """Return a path from the top and without `..`; the file's own link is kept, for it outlives what it leads to."""
    whole = Path(os.path.normpath(Path(path).absolute()))
    if not Path(path).exists() or (whole.exists() and whole.samefile(path)):
        return str(whole)
    return str(Path(path).parent.resolve() / Path(path).name)  # a folder is a link, with `..` behind it


def _own(called: Path, interpreter: Path) -> Path | None:
    """Return the program that runs now."""
    places = (called, interpreter.parent / PROGRAM)
    return next((Path(_plain(str(place))) for place in places if place.name == PROGRAM and place.is_file()), None)
