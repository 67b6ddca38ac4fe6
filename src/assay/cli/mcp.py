"""Serve search to agents over MCP: `assay mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.adapter import command
from assay.cli.options import CloneOptions, ServerOptions, SettingsOptions
from assay.cli.repositories import RepositoriesOptions
from assay.parameters import Options, argument, flag, option, shared

if TYPE_CHECKING:
    from assay.serve.http.operator import Application
    from assay.serve.session import Session
    from assay.settings import Settings

_PATH = "mcp"


class McpOptions(Options):
    """Options of `assay mcp`."""

    roots: tuple[str, ...] = argument("[PATH]...")
    repositories: RepositoriesOptions = shared(RepositoriesOptions)
    port: int | None = option(
        "--http PORT",
        "Serve http://127.0.0.1:PORT/mcp, or at another --host; 0: any free port.",
        least=0,
        most=65535,
    )
    structured: bool = flag("--structured", "Answer with typed content beside the text, and list its schemas.")
    tools: str = option("--tools NAMES", "Tools to list, with commas: lean (search, read), all, names.", default="lean")
    cloning: CloneOptions = shared(CloneOptions)
    http: ServerOptions = shared(ServerOptions)
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(McpOptions, example="assay mcp .")
def mcp(options: McpOptions) -> int:
    """Serve search to agents over MCP.

    Without --http, the only client is the process that started this, on standard input and output. With it, any
    number of clients on this machine can connect; any other --host, and a --public-url, require a token, as with
    assay serve. What is searched is only the folders PATH, by default the current folder, and, with --clone,
    repositories by https URL from public addresses. Indexes are built and updated when they are needed. With --repos,
    the repositories of a list are searched too, and kept up to date as assay serve does.

    Tools: search and read; with --tools all also related, outline, pattern, log and status; rank by name. On standard
    input and output, a search does not repeat lines that the session was shown. Needs the extra mcp.
    """
    from assay.cli.http_server import open_http
    from assay.errors import InputError, MissingExtra

    if not all(map(find_spec, ("mcp", "prometheus_client"))):
        raise MissingExtra("assay mcp", "mcp and prometheus_client", "mcp")
    from assay.serve.mcp import server_of

    read = partial(options.repositories.fixed_roots, options.roots, options.settings_options)
    mirroring = partial(options.repositories.mirroring, options.settings_options)
    if options.port is None:
        if unused := options.http.given_names():
            raise InputError(f"{unused[0]} is for a server over HTTP: give --http PORT too")
        roots = read()
        with mirroring():
            session = _session(options, roots)
            server_of(session, structured=options.structured, tools=options.tools, sent_lines=set()).run("stdio")
        return 0
    server = open_http(options.http, options.port, "--http")
    names = options.repositories.names_of(options.roots)
    return server.serve(read, partial(_build, options), mirroring, lambda: server.announce(names, _PATH))


def _session(options: McpOptions, roots: Mapping[Path, Settings], *, is_kept: bool = False) -> Session:
    from assay.serve.session import Session

    served = options.repositories.roots(options.settings_options, roots) or roots
    return Session(
        served, elsewhere=options.settings_options.settings(None), clones=options.cloning.rules, is_kept=is_kept
    )


def _build(options: McpOptions, roots: Mapping[Path, Settings], *, is_kept: bool, with_token: bool) -> Application:  # noqa: ARG001
    """Return what answers over HTTP."""
    from assay.serve.answer_threads import AnswerThreads
    from assay.serve.http.operator import Application
    from assay.serve.mcp import http_app, server_of

    session = _session(options, roots, is_kept=is_kept)
    server = server_of(session, structured=options.structured, tools=options.tools)
    return Application(http_app(server), session, AnswerThreads(most=2))
