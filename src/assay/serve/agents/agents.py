"""Read the table of coding agents, agents.toml, and work out their files, their entries and how they start Assay."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import InputError, nearest

NAME = "assay"
"""The key of the entry in every file."""

ANYWHERE = "/"
"""The agent has no variable for the project: its path is written out."""

Entry = dict[str, Any]


class AgentFiles(NamedTuple):
    """The files in which an agent may look, of which the first that exists counts, and where it starts a server."""

    files: Sequence[str]
    starts: str = ANYWHERE
    remark: str = ""
    """A note for the user after the entry is written."""


class InstructionFiles(NamedTuple):
    """The files of which an agent reads the first that exists, the one to create, and how a new one starts."""

    files: Sequence[str]
    new: str = ""
    """The file to create if none exists; by default the first."""
    head: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Agent:
    """Where an agent keeps its servers, and how to see that it is installed; agents.toml explains the fields."""

    name: str
    title: str
    signs: Sequence[str] = ()
    project: AgentFiles | None = None
    user: AgentFiles | None = None
    keys: Sequence[str] = ("mcpServers",)
    first: Mapping[str, Any] = field(default_factory=dict)
    last: Mapping[str, Any] = field(default_factory=dict)
    is_joined: bool = False
    searches: bool = True
    instructions: Mapping[str, InstructionFiles] = field(default_factory=dict)
    hooks: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    guides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def shape(self, command: str, args: Sequence[str]) -> Entry:
        """Return the entry that starts a command."""
        words = {"command": [command, *args]} if self.is_joined else {"command": command, "args": [*args]}
        return {**self.first, **words, **self.last}

    def places(self) -> dict[str, AgentFiles]:
        """Return its settings files of the project and of the user, the usual one first."""
        both = {"project": self.project, "user": self.user}
        return {scope: place for scope, place in both.items() if place}

    def place(self, scope: str | None) -> AgentFiles:
        """Return the place of a scope, or the usual one."""
        places = self.places()
        if scope and scope not in places:
            raise InputError(f"{self.title} has no file of the {scope}: leave --scope out")
        return places[scope] if scope else next(iter(places.values()), AgentFiles(()))


@dataclass(frozen=True, slots=True)
class SettingsPlaces:
    """The folders of settings on a platform."""

    platform: str
    home: Path
    environment: Mapping[str, str]

    @classmethod
    def here(cls) -> SettingsPlaces:
        """Return those of this machine."""
        return cls(sys.platform, Path.home(), os.environ)

    def path(self, template: str) -> Path:
        """Return the path of a template on this machine."""
        config = self._folder("XDG_CONFIG_HOME", ".config")
        mac = self.platform == "darwin"
        app = self.home / "Library/Application Support" if mac else config
        named = {
            "home": self.home,
            "config": config,
            "app": app,
            "code": app / "Code/User",
            "zed": self.home / ".config/zed" if mac else config / "zed",
            "codex": self._folder("CODEX_HOME", ".codex"),
            "copilot": self._folder("COPILOT_HOME", ".copilot"),
            "cline": self._folder("CLINE_DIR", ".cline"),
        }
        return Path(template.format_map(named))

    def has(self, agent: Agent) -> bool:
        """Return whether an agent is installed, as far as its files or programs show."""
        search = self.environment.get("PATH", "")
        return any(self.path(sign).exists() if "{" in sign else shutil.which(sign, path=search) for sign in agent.signs)

    def file(self, place: AgentFiles, project: Path) -> Path:
        """Return the file of a place that exists, else the one to create."""
        every = [project / self.path(file) for file in place.files]
        return next((file for file in every if file.exists()), every[0])

    def _folder(self, variable: str, default: str) -> Path:
        return Path(self.environment.get(variable) or self.home / default)


def ours(entry: object) -> bool:
    """Return whether an entry starts `assay mcp`, whoever wrote it."""
    words = _words(entry)
    names = {Path(word).stem for word in words if isinstance(word, str)}
    return "mcp" in words and not names.isdisjoint({"assay", "assay.cli"})


def served_by(entry: object) -> list[Any]:
    """Return the folders that an entry of ours serves; none if it serves that of each session."""
    words = _words(entry)
    return words[words.index("mcp") + 1 :] if ours(entry) else []


def _words(entry: object) -> list[Any]:
    parts = (entry.get("command"), entry.get("args")) if isinstance(entry, dict) else ()
    return [word for part in parts for word in (part if isinstance(part, list) else [part])]


def _agent(name: str, row: dict[str, Any]) -> Agent:
    for scope in {"project", "user"} & row.keys():
        row[scope] = AgentFiles(**row[scope])
    lines = {scope: InstructionFiles(**each) for scope, each in row.pop("instructions", {}).items()}
    return Agent(name, **row, instructions=lines)


_TABLE = tomllib.loads(files("assay.serve.agents").joinpath("agents.toml").read_text("utf-8"))
AGENTS = tuple(_agent(name, row) for name, row in _TABLE.items())
OTHER = Agent("", "another agent")
"""The entry that most agents accept that are not in the table."""


def agent_named(name: str) -> Agent:
    """Return the row of a name."""
    if found := next((agent for agent in AGENTS if agent.name == name), None):
        return found
    near = nearest(name, list(_TABLE))
    raise InputError(f"unknown agent '{name}'; {near}; for others: assay install --print")


PROGRAM = "assay"


@dataclass(frozen=True, slots=True)
class StartCommand:
    """A command, the arguments that come first, and why it is not the plain name (empty if it is)."""

    command: str
    first: tuple[str, ...] = ()
    why: str = ""


def start_command(program: str, interpreter: str, search: str) -> StartCommand:
    """Return how to start this program: by its name if every process finds it on PATH, else by its path.

    `program` is what it was called as now, `interpreter` is what runs it, and `search` is PATH.
    """
    found = _find_program(PROGRAM, search)
    own = _own_program(Path(program), Path(interpreter))
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
    """Return the entry for a place; it names the project if the agent would not start in it, or if it is `fixed`."""
    serves = place.starts
    if serves == ANYWHERE or (fixed and place is agent.user):
        serves = str(project)
        if project in {Path.home(), Path(project.anchor)}:
            raise InputError(f"{agent.title} would search all of {project}: name the PATH of a project")
    return agent.shape(how.command, [*how.first, "mcp", *([serves] if serves else [])])


def by_path(agent: Agent, how: StartCommand, search: str) -> StartCommand:
    """Return the start command for an agent that does not look for programs as a shell does."""
    if agent.searches or how.why:
        return how
    return StartCommand(_find_program(how.command, search) or how.command, how.first, f"{agent.title} may not see PATH")


def _find_program(program: str, search: str) -> str | None:
    """Return the path of a program that PATH leads to."""
    found = shutil.which(program, path=search)
    return _plain(found) if found else None


def _plain(path: str) -> str:
    """Return an absolute path without `..`; the last link is kept, as it outlives its target."""
    whole = Path(os.path.normpath(Path(path).absolute()))
    if not Path(path).exists() or (whole.exists() and whole.samefile(path)):
        return str(whole)
    return str(Path(path).parent.resolve() / Path(path).name)  # a folder is a link, with `..` behind it


def _own_program(program: Path, interpreter: Path) -> Path | None:
    """Return the program that runs now."""
    places = (program, interpreter.parent / PROGRAM)
    return next((Path(_plain(str(place))) for place in places if place.name == PROGRAM and place.is_file()), None)
