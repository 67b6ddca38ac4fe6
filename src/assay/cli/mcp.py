"""`assay mcp`: folders in, a server that agents ask in their own protocol."""

from __future__ import annotations

import click

from assay.cli import options
from assay.cli.options import Chosen


@click.command(short_help="Serve search to agents (MCP).")
@click.argument("roots", nargs=-1, metavar="[PATH]...")
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve http://127.0.0.1:PORT/mcp; 0 is any free one.",
)
@click.option("--no-clone", is_flag=True, help="Refuse URLs of repositories; search the folders only.")
@options.with_settings
def mcp(roots: tuple[str, ...], port: int | None, no_clone: bool, chosen: Chosen) -> None:
    """Serve search to agents over MCP.

    Without --http the one client is whoever started this, on standard input and output. With it any number of
    clients of this machine may ask. Only what lies in the folders PATH is searched, without one in the current
    folder, and repositories by https URL. Indexes are made and refreshed when they are needed.

    Tools: search, related, outline, pattern, status, rank. Needs the extra mcp.
    """
    from assay.assemble import root_of
    from assay.cli.workspaces import say
    from assay.errors import InputError, MissingExtra
    from assay.serve.listen import listening
    from assay.serve.session import Session

    try:
        from assay.serve.mcp import LOOPBACK, serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise MissingExtra("assay mcp", "mcp", "mcp") from error
    folders = {root_of(path): None for path in roots or (".",)}
    if chosen.location and len(folders) > 1:
        raise InputError("--index names one index, and several paths were given: serve them one by one")
    session = Session({root: chosen.settings(root) for root in folders}, schemes=() if no_clone else ("https",))
    if port is None:
        serve_stdio(session)
        return
    made = listening(LOOPBACK, port, "--http")
    say(f"serving {', '.join(map(str, folders))} at http://{LOOPBACK}:{made.getsockname()[1]}/mcp")
    serve_http(session, made)
