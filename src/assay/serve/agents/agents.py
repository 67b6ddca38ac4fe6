"""Describe coding agents: in which files each keeps its servers and reads instructions, and what an entry looks like.

One row an agent, taken from its own documentation (docs/serving.md has the sources, with their dates); what could not
be verified there has no row. Paths are templates, so that the table reads the same on every platform.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest

NAME = "assay"
"""What the entry is called in every file."""

THERE = ""
"""The agent starts servers in the project, so that no path is needed."""
FOLDER = "${workspaceFolder}"
"""The agent puts the project in the place of this."""
ANYWHERE = "/"
"""Nobody says where the agent starts servers: the path is written out."""

Entry = dict[str, Any]
Shape = Callable[[str, Sequence[str]], Entry]


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """The files an agent may look in, of which the first that exists is meant, and where it starts a server."""

    files: tuple[str, ...]
    starts: str = ANYWHERE
    remark: str = ""
    """What somebody should know who has written it."""


@dataclass(frozen=True, slots=True)
class Agent:
    """Where an agent keeps its servers, and what shows that it is installed."""

    name: str
    title: str
    project: AgentFiles | None
    user: AgentFiles | None
    signs: tuple[str, ...]
    """Folders and programs, of which one is enough."""
    keys: tuple[str, ...] = ("mcpServers",)
    shape: Shape = lambda command, args: {"command": command, "args": [*args]}
    searches: bool = True
    """Whether it finds programs as a shell does; a desktop application may not."""

    def places(self) -> dict[str, AgentFiles]:
        """Return what it has of a file in the project and one of the user, the usual one first."""
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
    """Where people keep their settings on a platform."""

    platform: str
    home: Path
    environment: Mapping[str, str]

    @classmethod
    def here(cls) -> SettingsPlaces:
        """Return this one."""
        return cls(sys.platform, Path.home(), os.environ)

    def path(self, template: str) -> Path:
        """Return the path that a template means here."""
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
        """Say whether an agent is installed, as far as that can be seen."""
        search = self.environment.get("PATH", "")
        return any(self.path(sign).exists() if "{" in sign else shutil.which(sign, path=search) for sign in agent.signs)

    def file(self, place: AgentFiles, project: Path) -> Path:
        """Return the file of a place that is there, else the one to make."""
        files = [project / self.path(file) for file in place.files]
        return next((file for file in files if file.exists()), files[0])

    def _folder(self, variable: str, default: str) -> Path:
        return Path(self.environment.get(variable) or self.home / default)


def ours(entry: object) -> bool:
    """Say whether an entry starts `assay mcp`, whoever wrote it."""
    if not isinstance(entry, dict):
        return False
    command, args = entry.get("command"), entry.get("args")
    words = [word for part in (command, args) for word in (part if isinstance(part, list) else [part])]
    names = {Path(word).stem for word in words if isinstance(word, str)}
    return "mcp" in words and not names.isdisjoint({"assay", "assay.cli"})


def _stdio(**more: Any) -> Shape:
    """Return the shape of an entry that says its type first."""
    return lambda command, args: {"type": "stdio", "command": command, "args": [*args], **more}


def _listed(command: str, args: Sequence[str]) -> Entry:
    return {"type": "local", "command": [command, *args], "enabled": True}


def _zed(command: str, args: Sequence[str]) -> Entry:
    return {"source": "custom", "command": command, "args": [*args], "env": {}}


AGENTS = (
    Agent(
        "claude-code",
        "Claude Code",
        AgentFiles((".mcp.json",), THERE, "it asks once whether it may start the servers of a project"),
        AgentFiles(("{home}/.claude.json",), THERE),
        ("claude", "{home}/.claude"),
        shape=_stdio(),
    ),
    Agent(
        "claude-desktop",
        "Claude Desktop",
        None,
        AgentFiles(("{app}/Claude/claude_desktop_config.json",)),
        ("{app}/Claude",),
        searches=False,
    ),
    Agent(
        "cursor",
        "Cursor",
        AgentFiles((".cursor/mcp.json",), FOLDER),
        AgentFiles(("{home}/.cursor/mcp.json",)),
        ("cursor", "{home}/.cursor"),
        shape=_stdio(),
    ),
    Agent(
        "vscode",
        "VS Code",
        AgentFiles((".vscode/mcp.json",), FOLDER),
        AgentFiles(("{code}/mcp.json",), FOLDER),
        ("code", "{code}"),
        keys=("servers",),
        shape=_stdio(),
    ),
    Agent(
        "windsurf",
        "Windsurf (Cascade)",
        None,
        AgentFiles(("{home}/.codeium/windsurf/mcp_config.json",)),
        ("windsurf", "{home}/.codeium/windsurf"),
    ),
    Agent(
        "zed",
        "Zed",
        AgentFiles((".zed/settings.json",)),
        AgentFiles(("{zed}/settings.json",)),
        ("zed", "zeditor", "{zed}"),
        keys=("context_servers",),
        shape=_zed,
    ),
    Agent(
        "codex",
        "Codex",
        AgentFiles((".codex/config.toml",), THERE, "it reads the file of a project that is trusted only"),
        AgentFiles(("{codex}/config.toml",), THERE),
        ("codex", "{codex}"),
        keys=("mcp_servers",),
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        AgentFiles((".gemini/settings.json",), THERE),
        AgentFiles(("{home}/.gemini/settings.json",), THERE),
        ("gemini", "{home}/.gemini/settings.json"),
    ),
    Agent(
        "qwen",
        "Qwen Code",
        AgentFiles((".qwen/settings.json",), THERE),
        AgentFiles(("{home}/.qwen/settings.json",), THERE),
        ("qwen", "{home}/.qwen"),
    ),
    Agent(
        "opencode",
        "OpenCode",
        AgentFiles(("opencode.json", "opencode.jsonc"), THERE),
        AgentFiles(("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"), THERE),
        ("opencode", "{config}/opencode"),
        keys=("mcp",),
        shape=_listed,
    ),
    Agent(
        "kilo",
        "Kilo Code",
        AgentFiles((".kilo/kilo.jsonc", ".kilo/kilo.json", "kilo.jsonc", "kilo.json")),
        AgentFiles(("{config}/kilo/kilo.jsonc", "{config}/kilo/kilo.json")),
        ("kilo", "{config}/kilo"),
        keys=("mcp",),
        shape=_listed,
    ),
    Agent(
        "cline",
        "Cline (command line, and its extension since June 2026)",
        None,
        AgentFiles(("{cline}/data/settings/cline_mcp_settings.json",)),
        ("cline", "{cline}/data"),
    ),
    Agent(
        "cline-vscode",
        "Cline's extension for VS Code",
        None,
        AgentFiles(
            ("{code}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",),
            remark="from June 2026 on the extension reads the file of --agent cline, and takes this one over once",
        ),
        ("{code}/globalStorage/saoudrizwan.claude-dev",),
    ),
    Agent("continue", "Continue", AgentFiles((".continue/mcpServers/assay.json",)), None, ("cn", "{home}/.continue")),
    Agent(
        "amp",
        "Amp",
        AgentFiles((".amp/settings.json",), THERE),
        AgentFiles(("{config}/amp/settings.json",), THERE),
        ("amp", "{config}/amp"),
        keys=("amp.mcpServers",),
    ),
    Agent(
        "copilot",
        "GitHub Copilot CLI",
        None,
        AgentFiles(("{copilot}/mcp-config.json",), THERE),
        ("copilot", "{copilot}"),
        shape=_stdio(tools=["*"]),
    ),
    Agent(
        "kiro",
        "Kiro",
        AgentFiles((".kiro/settings/mcp.json",)),
        AgentFiles(("{home}/.kiro/settings/mcp.json",)),
        ("kiro", "kiro-cli", "{home}/.kiro"),
    ),
    Agent(
        "junie",
        "JetBrains Junie",
        AgentFiles((".junie/mcp/mcp.json",)),
        AgentFiles(("{home}/.junie/mcp/mcp.json",)),
        ("junie", "{home}/.junie"),
    ),
    Agent(
        "warp",
        "Warp",
        AgentFiles((".warp/.mcp.json",)),
        AgentFiles(("{home}/.warp/.mcp.json",)),
        ("warp-terminal", "{home}/.warp"),
    ),
)

OTHER = Agent("", "another agent", None, None, ())
"""What most agents that are not in the table take."""


def agent_named(name: str) -> Agent:
    """Return the row of a name."""
    for agent in AGENTS:
        if agent.name == name:
            return agent
    raise InputError(
        f"unknown agent '{name}'; {nearest(name, [agent.name for agent in AGENTS])}; for others: assay install --print"
    )


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
