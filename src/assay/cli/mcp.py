"""`assay mcp`: folders in, a server that agents ask in their own protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.command import argument, command, flag, option, shared
from assay.cli.options import SettingsOptions
from assay.cli.repositories import RepositoriesOptions
from assay.cli.server_options import CloneOptions, ServerOptions

if TYPE_CHECKING:
    from assay.cli.http_server import HttpServer
    from assay.settings import Settings

_PATH = "mcp"


@dataclass(frozen=True, slots=True)
class McpOptions:
    """Options of `assay mcp`."""

    roots: tuple[str, ...] = argument("[PATH]...", nargs=-1)
    repositories: RepositoriesOptions = shared(RepositoriesOptions)
    port: int | None = option(
        "--http",
        type=click.IntRange(0, 65535),
        metavar="PORT",
        help="Serve http://127.0.0.1:PORT/mcp, or at another --host; 0: any free port.",
    )
    structured: bool = flag("--structured", help="Answer with typed content beside the text, and list its schemas.")
    rank: bool = flag("--rank", help="Also list the tool rank, which orders candidate programs.")
    cloning: CloneOptions = shared(CloneOptions)
    http: ServerOptions = shared(ServerOptions)
    chosen: SettingsOptions = shared(SettingsOptions)


@command(McpOptions, example="assay mcp .")
def mcp(given: McpOptions) -> int | None:
    """Serve search to agents over MCP.

    Without --http, the only client is the process that started this, on standard input and output. With it, any
    number of clients on this machine can connect; any other --host, and a --public-url, require a token, as with
    assay serve. What is searched is only the folders PATH, by default the current folder, and, with --clone,
    repositories by https URL from public addresses. Indexes are built and updated when they are needed. With --repos,
    the repositories of a list are searched too, and kept up to date as assay serve does.

    Tools: search, read, related, outline, pattern, log, status, and rank on request. Needs the extra mcp.
    """
    from assay.cli.http_server import open_http
    from assay.errors import InputError, MissingExtra

    if not find_spec("mcp"):
        raise MissingExtra("assay mcp", "mcp", "mcp")
    if given.port is None:
        if unused := given.http.given_names():
            raise InputError(f"{unused[0]} is of a server over HTTP: give --http PORT too")
        server = None
    else:
        server = open_http(given.http, given.port, "--http")
        if server.starts_workers:
            return server.run_workers(lambda: server.announce(given.repositories.names_of(given.roots), _PATH))
    roots = given.repositories.fixed_roots(given.roots, given.chosen)
    with given.repositories.mirroring(given.chosen, wanted=server is None or server.keeps_mirrors):
        if server is not None and server.keeps_indexes:
            server.keep(lambda: roots)
        else:
            _answer(given, server, roots)
    return None


def _answer(given: McpOptions, server: HttpServer | None, roots: Mapping[Path, Settings]) -> None:
    """Answer over HTTP, or whoever started this, until the end."""
    from assay.serve.http.work import AnswerThreads
    from assay.serve.mcp_server import ToolChoice, http_app, serve_stdio
    from assay.serve.session import Session

    kept = server is not None and server.part is not None
    served = given.repositories.roots(given.chosen, roots) or roots
    session = Session(served, elsewhere=given.chosen.settings(None), clones=given.cloning.rules, kept=kept)
    choice = ToolChoice(structured=given.structured, rank=given.rank)
    if server is None:
        serve_stdio(session, choice)
        return
    if not kept:
        server.announce(given.repositories.names_of(roots), _PATH)
    server.answer(http_app(session, choice), session, AnswerThreads(most=2), lifespan=True)
