"""Agents and what is wanted of them in, their files changed out: all changes are shown, agreed to once, and written."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from assay.cli.install_text import block, show
from assay.cli.workspaces import say
from assay.errors import AssayError, InputError
from assay.serve.agents.agent import ANYWHERE, NAME, Agent, AgentFiles, Entry, SettingsPlaces
from assay.serve.agents.configured import SettingsEdit, installing, undoing, write
from assay.serve.agents.started import StartCommand, by_path, entry_of, started


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """What the command line says about the entry."""

    project: Path
    scope: str | None
    fixed: bool
    """Whether the project was named, and is not just where somebody is."""
    undo: bool

    def entry(self, agent: Agent) -> Entry:
        """Return the entry of an agent."""
        return entry_of(agent, agent.place(self.scope), _how(agent), self.project, fixed=self.fixed)

    def explain(self, agents: Sequence[Agent]) -> None:
        """Say why entries start this program by a path, where they do."""
        for how in dict.fromkeys(map(_how, agents)):
            if how.why:
                say(f"the entry starts {how.command}: {how.why}")
        for agent in agents:
            if agent.project and agent.place(self.scope) is agent.project:
                self._explain_shared(agent)

    def _explain_shared(self, agent: Agent) -> None:
        """Say what it means that a path of this machine stands in a file of the project, where one does."""
        user = ", or use --scope user" if agent.user else ""
        steps = []
        if _how(agent).why:
            steps.append(
                f"install assay so that it is on everybody's PATH, for example with pipx or uv tool install{user}"
            )
        if agent.project and agent.project.starts == ANYWHERE:
            named = f"it names {self.project}, for {agent.title} does not start servers in the project"
            steps.append(f"{named}{'; use --scope user' if agent.user else '; keep the file out of git'}")
        for step in steps:
            say(f"{agent.title}: others who clone this cannot use the entry: {step}")

    def change(self, agent: Agent) -> SettingsEdit:
        """Return the change that is wanted; one is undone in the first file that has something of ours."""
        keys = [*agent.keys, NAME]
        if not self.undo:
            return installing(self._file(agent.place(self.scope)), keys, self.entry(agent))
        places = [agent.place(self.scope)] if self.scope else agent.places().values()
        changes = [undoing(self._file(place), keys) for place in places]
        return next((change for change in changes if change.real), changes[0])

    def _file(self, place: AgentFiles) -> Path:
        return SettingsPlaces.here().file(place, self.project)


def change_all(agents: Sequence[Agent], asked: InstallOptions, *, yes: bool) -> int:
    """Show all changes, ask once, write them, and return the exit status."""
    plans: list[tuple[Agent, SettingsEdit]] = []
    status = 0
    for agent in agents:
        try:
            change = asked.change(agent)
        except (AssayError, OSError) as error:
            status = 2
            _refused(error, agent, asked)
            continue
        show(change)
        if change.real:
            plans.append((agent, change))
        else:
            say(f"{agent.title}: nothing to {'take back' if asked.undo else 'change'} in {change.file}")
    if not asked.undo:
        asked.explain([agent for agent, _ in plans])
    if plans and not (yes or _agreed(len(plans), undo=asked.undo)):
        return status or 1
    for agent, change in plans:
        write(change)
        _tell(agent, change, asked.scope)
    return status


def _how(agent: Agent) -> StartCommand:
    search = os.environ.get("PATH", "")
    return by_path(agent, started(sys.argv[0], sys.executable, search), search)


def _tell(agent: Agent, change: SettingsEdit, scope: str | None) -> None:
    """Say what was done, and what follows from it."""
    if change.undoes:
        say(f"{'removed' if change.after is None else 'wrote'} {change.file}")
        return
    say(f"wrote {change.file}; {agent.title} reads it at its next start")
    if remark := agent.place(scope).remark:
        say(f"{agent.title}: {remark}")


def _refused(error: Exception, agent: Agent, asked: InstallOptions) -> None:
    """Say why a file was left alone, and print what may be pasted into it."""
    say(f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.strerror else str(error))
    if asked.undo:
        return
    try:
        pasted = block(agent, asked.entry(agent))
    except InputError:  # what is wrong with the entry itself is what was said
        return
    say(f"nothing was written for {agent.title}; by hand it is this")
    click.echo(pasted)


def _agreed(files: int, *, undo: bool) -> bool:
    """Ask whether to go on; nobody to ask is no."""
    if not sys.stdin.isatty():
        say("nothing was written, for nobody can be asked here: add --yes")
        return False
    what = "this" if files == 1 else f"these {files} changes"
    if click.confirm(f"Take {what} back?" if undo else f"Write {what}?", err=True):
        return True
    say("nothing was written")
    return False
