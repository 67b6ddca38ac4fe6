"""Install `assay mcp` in the settings of coding agents, and answer their hooks: `assay install`, `assay hook`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.adapter import command
from assay.parameters import Options, argument, flag, option, verbose


class InstallCommandOptions(Options):
    """Options of `assay install`."""

    path: str | None = argument("[PATH]")
    names: tuple[str, ...] = option(
        "--agent NAME",
        "The agent to configure; without it, all are listed. Repeatable.",
        names="agents",
    )
    scope: str | None = option(
        "--scope",
        "Which settings file.  [default: the project's if it has one, else the user's]",
        choices=("project", "user"),
    )
    undo: bool = flag("--undo", "Undo an earlier change.")
    no_instructions: bool = flag(
        "--no-instructions", "Do not add the lines on which tool to use to AGENTS.md or a similar file."
    )
    hooks: bool = flag(
        "--hooks", "Also write hooks that point a session to search, a skill and a subagent, where the agent has these."
    )
    printed: bool = flag("--print", "Only print the block to paste; without --agent, for an agent not listed.")
    yes: bool = flag("-y", "--yes", "Write without asking.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(InstallCommandOptions, example="assay install --agent claude-code")
def install(options: InstallCommandOptions) -> int:
    """Let coding agents use `assay mcp`, by an entry in their settings and three lines of instructions.

    PATH is the project, by default the git checkout around the current folder. The changes are shown as a diff before
    anything is written, and --undo takes them back. Everything else in the files stays as it is: other servers,
    comments, order, indentation. The lines say which tool is for what; they go where the agent reads instructions,
    such as AGENTS.md, between two marks.

    Exits 0 if everything was written or was there already, 1 if nothing was written, 2 on an error. Needs the extra
    mcp.
    """
    from assay.cli.install_change import InstallOptions, block, change_all, table
    from assay.errors import InputError
    from assay.serve.agents.agents import OTHER, agent_named

    agents = [agent_named(name) for name in dict.fromkeys(options.names)]
    if options.undo and (options.printed or not agents):
        raise InputError("--undo takes back what was written for an agent: add --agent NAME, without --print")
    project, fixed, lines = _project(options.path), options.path is not None, not options.no_instructions
    entry_options = InstallOptions(
        project, options.scope, fixed=fixed, undo=options.undo, has_instructions=lines, hooks=options.hooks
    )
    if options.hooks and (options.printed or not agents):
        raise InputError("--hooks writes files of an agent: add --agent NAME, without --print")
    if not agents and not options.printed:
        click.echo(table(entry_options.project))
        return 0
    if not options.undo:
        _needs_mcp()
    if not options.printed:
        return change_all(agents, entry_options, yes=options.yes)
    entry_options.explain(agents or [OTHER])
    for agent in agents or [OTHER]:
        click.echo(block(agent, entry_options.entry(agent)))
    return 0


class HookOptions(Options):
    """Options of `assay hook`."""


@command(HookOptions, example="assay hook")
def hook(options: HookOptions) -> int:  # noqa: ARG001
    """Answer the hook of a coding agent.

    The agent runs this, as `assay install --hooks` wrote it, with the event as JSON on standard input. Where a session
    starts in a folder that is indexed, and before its first search through files, a sentence for the model is printed
    as JSON; otherwise nothing.

    Exits 0 if the event could be read, 2 on an error.
    """
    import json
    import sys

    from assay.errors import InputError
    from assay.serve.agents.hooks import MAX_EVENT_BYTES, hook_answer

    try:
        event = json.loads(sys.stdin.buffer.read(MAX_EVENT_BYTES))
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise InputError("standard input is not the event of a hook: a JSON object with hook_event_name and cwd")
    if answer := hook_answer(event):
        click.echo(json.dumps(answer))
    return 0


def _project(path: str | None) -> Path:
    """Return the folder PATH, else the git checkout around the current folder, else the current folder."""
    from assay.corpus.addresses import is_url
    from assay.corpus.worktrees import is_checkout
    from assay.errors import InputError
    from assay.operations.indexes import root_of

    if path is not None and is_url(path):
        raise InputError(f"'{path}' is not a folder: an agent starts in one, and can name the URL when it searches")
    root = root_of(path if path is not None else ".")
    around = [root, *root.parents] if path is None else []
    return next((folder for folder in around if is_checkout(folder) and folder != Path.home()), root)


def _needs_mcp() -> None:
    """Raise an error if the library is missing, before an agent fails to start."""
    from importlib.util import find_spec

    from assay.errors import MissingExtra

    for library in ("mcp", "tomlkit"):
        if find_spec(library) is None:
            raise MissingExtra("assay mcp", library, "mcp")
