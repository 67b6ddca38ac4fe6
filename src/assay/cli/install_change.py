"""Install `assay mcp` in coding agents: show all edits of their files, ask once, and write or undo them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

import click

from assay.errors import AssayError, InputError, MissingExtra
from assay.io.terminal import harmless, say, wants_color
from assay.serve.agents import agents as table_of
from assay.serve.agents import edits
from assay.serve.agents.agents import NAME, Agent, AgentFiles, Entry, SettingsPlaces, StartCommand
from assay.serve.agents.edits import SettingsEdit, entry_in, resolved
from assay.serve.agents.hooks import add_guide, add_hooks, hook_command, remove_guide, remove_hooks
from assay.serve.agents.instructions import add_lines, has_lines, instructions_of, remove_lines

_COLORS = {"+": "green", "-": "red", "@": "cyan"}

_LONG = 400
"""Characters of a line above which only the changed piece is shown."""
_MAX_PATH_PARTS = 5
"""Folders and names of a path that are shown."""

_HINTS = """\
assay install --agent NAME                 show what would change in the project's file, ask, write
assay install --agent NAME --scope user    the same with the file of the user
assay install --agent NAME --undo          take it back
assay install --print                      the block to paste, for an agent that is not listed"""


def table(project: Path) -> str:
    """Return a table of all agents with their files, and the next steps."""
    rows = [("agent", "", "file of the project", "file of the user"), *_rows(project)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", _HINTS])


def block(agent: Agent, entry: Entry) -> str:
    """Return an entry with its enclosing keys, in the format of the agent's file."""
    file = Path(next((file for place in agent.places().values() for file in place.files), ""))
    written: str = edits.format_of(file).put("", [*agent.keys, NAME], entry)
    return written.rstrip("\n")


def _show(change: SettingsEdit) -> None:
    """Print the diff of an edit, and its notes."""
    for note in change.notes:
        say(note)
    for row in diff(change) if change.real else ():
        named = row.startswith(("--- ", "+++ "))
        styled = click.style(harmless(row), fg=None if named else _COLORS.get(row[:1]), bold=named or None)
        click.echo(styled, color=wants_color())


def diff(change: SettingsEdit) -> list[str]:
    """Return the lines of an edit, as `diff -u` prints them."""
    before, after = change.before or "", change.after or ""
    old, new = _lines(before), _lines(after)
    real = resolved(change.file)
    leads = "" if real == change.file.absolute() else f" -> {real}"
    names = [
        "/dev/null" if text is None else f"{side}/{str(change.file).lstrip('/')}{leads}"
        for side, text in (("a", change.before), ("b", change.after))
    ]
    rows = [row.rstrip("\n") for row in unified_diff(old, new, names[0], names[1])]
    if all(len(row) <= _LONG for row in rows):
        return rows
    piece = edits.step(before, after)
    parts = (("-", piece.removed), ("+", piece.added))
    head = [f"--- {names[0]}", f"+++ {names[1]}", f"@@ character {piece.at:,} of a long line @@"]
    return head + [f"{sign}{line[:_LONG]}" for sign, text in parts for line in text.splitlines()]


def _lines(text: str) -> list[str]:
    """Return the lines of a text, each with an end; a missing one is noted, as `diff` does."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return [f"{line}\n" for line in lines]


def _rows(project: Path) -> Iterator[tuple[str, str, str, str]]:
    machine = SettingsPlaces.here()
    for agent in table_of.AGENTS:
        files = {scope: machine.file(place, project) for scope, place in agent.places().items()}
        named = {scope: f"{_short(file, project)}{_mark(agent, file)}" for scope, file in files.items()}
        yield agent.name, "found" if machine.has(agent) else "", named.get("project", ""), named.get("user", "")


def _mark(agent: Agent, file: Path) -> str:
    """Return the state of a file for the table."""
    try:
        return " (set up)" if entry_in(file, [*agent.keys, NAME]) is not None else ""
    except (InputError, OSError):
        return " (unreadable)"
    except MissingExtra:  # what changes the file is not installed; the table needs nothing
        return ""


def _short(file: Path, project: Path) -> str:
    """Return a path relative to the project or the home folder."""
    if file.is_relative_to(project):
        return str(file.relative_to(project))
    parts = ("~", *file.relative_to(Path.home()).parts) if file.is_relative_to(Path.home()) else file.parts
    return str(Path(*parts) if len(parts) <= _MAX_PATH_PARTS else Path(*parts[:3], "…", parts[-1]))


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """The options of the entry."""

    project: Path
    scope: str | None
    fixed: bool
    """Whether the project was named, rather than found from the current folder."""
    undo: bool
    has_instructions: bool = True
    hooks: bool = False

    def entry(self, agent: Agent) -> Entry:
        """Return the entry of an agent."""
        return table_of.entry_of(agent, agent.place(self.scope), _how(agent), self.project, fixed=self.fixed)

    def explain(self, agents: Sequence[Agent]) -> None:
        """Print why entries start this program by a path, if they do."""
        for how in dict.fromkeys(map(_how, agents)):
            if how.why:
                say(f"the entry starts {how.command}: {how.why}")
        for agent in agents:
            if agent.project and agent.place(self.scope) is agent.project:
                self._explain_shared(agent)

    def _explain_shared(self, agent: Agent) -> None:
        """Print the consequence of a path of this machine in a file of the project, if there is one."""
        steps = []
        if _how(agent).why:
            user = ", or use --scope user" if agent.user else ""
            where = "on everybody's PATH, for example with pipx or uv tool install"
            steps.append(f"install assay so that it is {where}{user}")
        if agent.project and agent.project.starts == table_of.ANYWHERE:
            named = f"it names {self.project}, for {agent.title} does not start servers in the project"
            steps.append(f"{named}{'; use --scope user' if agent.user else '; keep the file out of git'}")
        for step in steps:
            say(f"{agent.title}: others who clone this cannot use the entry: {step}")

    def change(self, agent: Agent, scope: str) -> SettingsEdit:
        """Return the requested edit of the settings."""
        file, keys = self._file(agent.place(scope)), [*agent.keys, NAME]
        edits.refuse_leading_out(file, self.project)
        return edits.undoing(file, keys) if self.undo else edits.installing(file, keys, self.entry(agent))

    def change_lines(self, agent: Agent, scope: str, undone: Collection[Agent]) -> SettingsEdit | None:
        """Return the requested edit of the instructions, if any; lines that another agent uses stay."""
        place = instructions_of(agent, scope, SettingsPlaces.here(), self.project) if self.has_instructions else None
        if place is None:
            return None
        edits.refuse_leading_out(place[0], self.project)
        if not self.undo:
            return add_lines(*place)
        users = [other.title for other in self._users(place[0]) if other not in undone]
        if users and has_lines(place[0]):
            text = edits.read(place[0])
            return SettingsEdit(place[0], text, text, notes=(f"the lines in {place[0]} stay: {users[0]} uses them",))
        return remove_lines(*place)

    def change_reminders(self, agent: Agent, scope: str) -> Iterator[SettingsEdit]:
        """Yield the requested edits of hooks, skill and subagent; --undo removes all of them."""
        if not (self.hooks or self.undo):
            return
        machine = SettingsPlaces.here()
        if scope in agent.hooks:
            file = self.project / machine.path(agent.hooks[scope])
            edits.refuse_leading_out(file, self.project)
            command = hook_command(_how(agent))
            yield remove_hooks(file, [*agent.events]) if self.undo else add_hooks(file, agent.events, command)
        for name, places in agent.guides.items():
            file = self.project / machine.path(places[scope])
            edits.refuse_leading_out(file, self.project)
            yield remove_guide(file) if self.undo else add_guide(file, name)

    def scopes(self, agent: Agent) -> list[str]:
        """Return the scopes to look at, in order: the one that is meant, or for --undo all that the agent has."""
        agent.place(self.scope)
        return [self.scope] if self.scope else [*agent.places()][: None if self.undo else 1]

    def _users(self, lines: Path) -> Iterator[Agent]:
        """Yield the agents that are set up and read an instructions file."""
        machine = SettingsPlaces.here()
        for agent in table_of.AGENTS:
            for scope, place in agent.places().items():
                known = instructions_of(agent, scope, machine, self.project)
                with suppress(AssayError, OSError):
                    if known and known[0] == lines and entry_in(self._file(place), [*agent.keys, NAME]) is not None:
                        yield agent

    def _file(self, place: AgentFiles) -> Path:
        return SettingsPlaces.here().file(place, self.project)


class PlannedEdit(NamedTuple):
    """An edit of an agent's file, and a note to print once it is written."""

    agent: Agent
    change: SettingsEdit
    remark: str = ""


def change_all(agents: Sequence[Agent], options: InstallOptions, *, yes: bool) -> int:
    """Show all edits, ask once, write them, and return the exit status."""
    plans, status = _show_all(agents, options)
    if not options.undo:
        options.explain(list(dict.fromkeys(plan.agent for plan in plans)))
    if plans and not (yes or _agreed(len(plans), undo=options.undo)):
        return status or 1
    for plan in plans:
        edits.write(plan.change)
        _tell(plan)
    return status


def _show_all(agents: Sequence[Agent], options: InstallOptions) -> tuple[list[PlannedEdit], int]:
    """Show the edits of all agents; return those to be written, each file once, and the exit status so far."""
    plans: dict[Path, PlannedEdit] = {}
    status = 0
    for agent in agents:
        try:
            planned = _plan(agent, options, agents)
        except (AssayError, OSError) as error:
            status = 2
            _refused(error, agent, options)
            continue
        for edit in planned:
            if resolved(edit.change.file) not in plans:
                _show(edit.change)
        real = {resolved(edit.change.file): edit for edit in planned if edit.change.real}
        plans |= {file: edit for file, edit in real.items() if file not in plans}
        if not real:
            files = " and ".join(str(edit.change.file) for edit in planned)
            say(f"{agent.title}: nothing to {'take back' if options.undo else 'change'} in {files}")
    return list(plans.values()), status


def _plan(agent: Agent, options: InstallOptions, agents: Sequence[Agent]) -> list[PlannedEdit]:
    """Return the edits for an agent: entry, instructions and hooks; to undo, in the first scope that has some."""
    found: list[list[PlannedEdit]] = []
    for scope in options.scopes(agent):
        planned = [PlannedEdit(agent, options.change(agent, scope), agent.place(scope).remark)]
        if (lines := options.change_lines(agent, scope, agents)) is not None:
            planned.append(PlannedEdit(agent, lines))
        reminders = [PlannedEdit(agent, edit) for edit in options.change_reminders(agent, scope)]
        if options.hooks and not options.undo and not reminders:
            say(f"--hooks changes nothing for {agent.title}: no hook, skill or subagent of it is known")
        planned += reminders
        found.append(planned[::-1] if options.undo else planned)  # a folder goes after what was put into it later
    for planned in found:
        if any(edit.change.real for edit in planned):
            return planned
    return found[0]


def _how(agent: Agent) -> StartCommand:
    search = os.environ.get("PATH", "")
    return table_of.by_path(agent, table_of.start_command(sys.argv[0], sys.executable, search), search)


def _tell(plan: PlannedEdit) -> None:
    """Print what was written, and what follows from it."""
    if plan.change.undoes:
        say(f"{'removed' if plan.change.after is None else 'wrote'} {plan.change.file}")
        return
    say(f"wrote {plan.change.file}; {plan.agent.title} reads it at its next start")
    if plan.remark:
        say(f"{plan.agent.title}: {plan.remark}")


def _refused(error: Exception, agent: Agent, options: InstallOptions) -> None:
    """Print why a file was not changed, and the text to paste into it."""
    say(f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.strerror else str(error))
    if options.undo:
        return
    try:
        pasted = block(agent, options.entry(agent))
    except InputError:  # what is wrong with the entry itself is what was said
        return
    say(f"nothing was written for {agent.title}; to add it by hand")
    click.echo(pasted)


def _agreed(files: int, *, undo: bool) -> bool:
    """Ask for confirmation; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        say("nothing was written: there is no terminal to ask on; add --yes")
        return False
    what = "this" if files == 1 else f"these {files} changes"
    if click.confirm(f"Take {what} back?" if undo else f"Write {what}?", err=True):
        return True
    say("nothing was written")
    return False
