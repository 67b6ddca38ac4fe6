"""`assay install`: names of coding agents in, `assay mcp` in their settings; shown first, and taken back on request."""

from __future__ import annotations

from pathlib import Path

import click


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
    from assay.cli.install_change import Asked, change_all
    from assay.cli.install_text import block, table
    from assay.errors import InputError
    from assay.serve.agents.table import OTHER, agent_named

    agents = [agent_named(name) for name in dict.fromkeys(names)]
    if undo and (printed or not agents):
        raise InputError("--undo takes back what was written for an agent: add --agent NAME, without --print")
    asked = Asked(_project(path), scope, fixed=path is not None, undo=undo)
    if not agents and not printed:
        click.echo(table(asked.project))
        return
    if not undo:
        _needs_mcp()
    if not printed:
        context.exit(change_all(agents, asked, yes=yes))
    asked.explain(agents or [OTHER])
    for agent in agents or [OTHER]:
        click.echo(block(agent, asked.entry(agent)))


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
