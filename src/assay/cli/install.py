"""`assay install`: names of coding agents in, `assay mcp` in their settings; shown first, and taken back on request."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.serve.agents.agent import Agent, Entry, Place
    from assay.serve.agents.configured import Change
    from assay.serve.agents.started import Started


@click.command(short_help="Let coding agents use `assay mcp`.")
@click.argument("path", required=False, metavar="[PATH]")
@click.option("--agent", "names", multiple=True, metavar="NAME", help="Which agent; without it all are listed.")
@click.option("--scope", type=click.Choice(["project", "user"]), help="Which of its files; else the project's, if any.")
@click.option("--undo", is_flag=True, help="Take back what was written.")
@click.option("--print", "printed", is_flag=True, help="Only print the block; without --agent for one not listed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-v", "--verbose", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def install(
    context: click.Context,
    path: str | None,
    names: tuple[str, ...],
    scope: str | None,
    undo: bool,
    printed: bool,
    yes: bool,
) -> None:
    """Let coding agents use `assay mcp`, by an entry in their settings.

    PATH is the project, without it the git checkout around the current folder. What would change is shown as a diff
    before anything is written, and --undo takes it back. Everything else in the file stays as it is: other servers,
    comments, order, indentation.

    Leaves with 0 when all is written or was so already, 1 when nothing was written, 2 on an error. Needs the extra mcp.
    """
    from assay.cli.install_text import table
    from assay.errors import InputError
    from assay.serve.agents.table import OTHER, agent_named

    agents = [agent_named(name) for name in dict.fromkeys(names)]
    if undo and (printed or not agents):
        raise InputError("--undo takes back what was written for an agent: add --agent NAME, without --print")
    asked = Asked(_project(path), scope, fixed=path is not None)
    if not agents and not printed:
        click.echo(table(asked.project))
        return
    if not undo:
        _needs_mcp()
    if printed:
        wanted = agents or [OTHER]
        asked.explain(wanted)
        for agent in wanted:
            click.echo(asked.block(agent))
        return
    context.exit(_change(agents, asked, undo=undo, yes=yes))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says about the entry that is wanted."""

    project: Path
    scope: str | None
    fixed: bool
    """Whether the project was named, and is not just where somebody is."""

    def file(self, place: Place) -> Path:
        """Return the file of a place."""
        from assay.serve.agents.agent import Machine

        return Machine.here().file(place, self.project)

    def entry(self, agent: Agent) -> Entry:
        """Return the entry of an agent."""
        from assay.serve.agents.started import entry_of, place_of

        return entry_of(agent, place_of(agent, self.scope), self._how(agent), self.project, fixed=self.fixed)

    def explain(self, agents: Sequence[Agent]) -> None:
        """Say why entries start this program by a path, where they do."""
        from assay.cli.workspaces import say

        for how in dict.fromkeys(map(self._how, agents)):
            if how.why:
                say(f"the entry starts {how.command}: {how.why}")

    def _how(self, agent: Agent) -> Started:
        from assay.serve.agents.started import by_path, started

        search = os.environ.get("PATH", "")
        return by_path(agent, started(sys.argv[0], sys.executable, search), search)

    def block(self, agent: Agent) -> str:
        """Return an entry with what stands around it, in the language of the agent's file."""
        from assay.cli.install_text import block

        return block(agent, self.entry(agent))

    def installed(self, agent: Agent) -> Change:
        """Return the change that an agent needs."""
        from assay.serve.agents.agent import NAME
        from assay.serve.agents.configured import installing
        from assay.serve.agents.started import place_of

        return installing(self.file(place_of(agent, self.scope)), [*agent.keys, NAME], self.entry(agent))

    def undone(self, agent: Agent) -> Change:
        """Return the change that takes it back, in the first file of the agent that has something of ours."""
        from assay.serve.agents.agent import NAME
        from assay.serve.agents.configured import undoing
        from assay.serve.agents.started import place_of

        places = [place_of(agent, self.scope)] if self.scope else agent.places().values()
        changes = [undoing(self.file(place), [*agent.keys, NAME]) for place in places]
        return next((change for change in changes if change.real), changes[0])


def _change(agents: Sequence[Agent], asked: Asked, *, undo: bool, yes: bool) -> int:
    """Show all changes, ask once, write them, and return the exit status."""
    from assay.cli.install_text import show
    from assay.cli.workspaces import say
    from assay.errors import AssayError

    plans: list[tuple[Agent, Change]] = []
    status = 0
    for agent in agents:
        try:
            change = asked.undone(agent) if undo else asked.installed(agent)
        except (AssayError, OSError) as error:
            status = 2
            _refused(error, agent, asked, undo=undo)
            continue
        show(change)
        if change.real:
            plans.append((agent, change))
        else:
            say(f"{agent.title}: nothing to {'take back' if undo else 'change'} in {change.file}")
    if not undo:
        asked.explain([agent for agent, _ in plans])
    if plans and not (yes or _agreed(len(plans), undo=undo)):
        return status or 1
    for agent, change in plans:
        _write(agent, change, asked.scope, undo=undo)
    return status


def _write(agent: Agent, change: Change, scope: str | None, *, undo: bool) -> None:
    """Write one change and say what follows from it."""
    from assay.cli.workspaces import say
    from assay.serve.agents.configured import write
    from assay.serve.agents.started import place_of

    write(change, undo=undo)
    if undo:
        say(f"{'removed' if change.after is None else 'wrote'} {change.file}")
        return
    say(f"wrote {change.file}; {agent.title} reads it at its next start")
    if remark := place_of(agent, scope).remark:
        say(f"{agent.title}: {remark}")


def _refused(error: Exception, agent: Agent, asked: Asked, *, undo: bool) -> None:
    """Say why a file was left alone, and print what may be pasted into it."""
    from assay.cli.workspaces import say
    from assay.errors import InputError

    what = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.strerror else str(error)
    say(what)
    if undo:
        return
    try:
        block = asked.block(agent)
    except InputError:  # what is wrong with the entry itself is what was said
        return
    say(f"nothing was written for {agent.title}; by hand it is this")
    click.echo(block)


def _agreed(files: int, *, undo: bool) -> bool:
    """Ask whether to go on; nobody to ask is no."""
    from assay.cli.workspaces import say

    if not sys.stdin.isatty():
        say("nothing was written, for nobody can be asked here: add --yes")
        return False
    what = "this" if files == 1 else f"these {files} changes"
    if click.confirm(f"Take {what} back?" if undo else f"Write {what}?", err=True):
        return True
    say("nothing was written")
    return False


def _project(path: str | None) -> Path:
    """Return the folder PATH, else the git checkout around the current folder, else the current folder."""
    from assay.assemble import root_of
    from assay.corpus.clone import is_url
    from assay.errors import InputError

    if path is not None and is_url(path):
        raise InputError(f"'{path}' is no folder: an agent starts in one, and can name the URL when it searches")
    root = root_of(path if path is not None else ".")
    around = [root, *root.parents] if path is None else []
    return next((folder for folder in around if (folder / ".git").exists() and folder != Path.home()), root)


def _needs_mcp() -> None:
    """Say what is missing before an agent finds out."""
    from importlib.util import find_spec

    from assay.errors import MissingExtra

    for library in ("mcp", "tomlkit"):
        if find_spec(library) is None:
            raise MissingExtra("assay mcp", library, "mcp")
