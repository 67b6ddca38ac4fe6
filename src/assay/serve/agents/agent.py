"""What is known of a coding agent: the files in which it keeps its servers, and what an entry looks like there.

Paths are templates, so that the table of agents reads the same on every platform.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError

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
