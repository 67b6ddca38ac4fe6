"""`assay mcp`: folders in, a server that agents ask in their own protocol."""

from __future__ import annotations

from dataclasses import dataclass

import click

from assay.cli.command import argument, command, flag, option, shared
from assay.cli.options import SettingsOptions


@dataclass(frozen=True, slots=True)
class McpOptions:
    """Options of `assay mcp`."""

    roots: tuple[str, ...] = argument("[PATH]...", nargs=-1)
    port: int | None = option(
        "--http",
        type=click.IntRange(0, 65535),
        metavar="PORT",
        help="Serve http://127.0.0.1:PORT/mcp; 0: any free port.",
    )
    structured: bool = flag("--structured", help="Answer with typed content beside the text, and list its schemas.")
    rank: bool = flag("--rank", help="Also list the tool rank, which orders candidate programs.")
    no_clone: bool = flag("--no-clone", help="Refuse URLs of repositories; search the folders only.")
    chosen: SettingsOptions = shared(SettingsOptions)


@command(McpOptions, example="assay mcp .")
def mcp(given: McpOptions) -> None:
    """Serve search to agents over MCP.

    Without --http, the only client is the process that started this, on standard input and output. With it, any
    number of clients on this machine can connect. What is searched is only the folders PATH, by default the current
    folder, and repositories by https URL. Indexes are built and updated when they are needed.

    Tools: search, related, outline, pattern, log, status, and rank on request. Needs the extra mcp.
    """
    from assay.cli.workspaces import say, served_roots, some_of
    from assay.errors import MissingExtra
    from assay.serve.listen import listening
    from assay.serve.session import Session

    try:
        from assay.serve.mcp_server import LOOPBACK, ToolChoice, serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise MissingExtra("assay mcp", "mcp", "mcp") from error
    roots = served_roots(given.roots, given.chosen)
    session = Session(roots, schemes=() if given.no_clone else ("https",))
    choice = ToolChoice(structured=given.structured, rank=given.rank)
    if given.port is None:
        serve_stdio(session, choice)
        return
    listener = listening(LOOPBACK, given.port, "--http")
    say(f"serving {some_of(roots)} at http://{LOOPBACK}:{listener.getsockname()[1]}/mcp")
    serve_http(session, choice, listener)
