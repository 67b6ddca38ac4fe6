"""Serve a page and an API to search folders, and make tokens for those who use it: `assay serve`, `assay token`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.cli.options import CloneOptions, ServerOptions, SettingsOptions
from assay.cli.repositories import RepositoriesOptions
from assay.parameters import Options, argument, flag, option, shared

if TYPE_CHECKING:
    from assay.serve.http.operator import Application
    from assay.settings import Settings

_REPORT = "report.html"
FIRST_S = 2.0
"""Seconds that an answer waits for a first index; then it reports the progress, and the page retries."""


class ServeOptions(Options):
    """Options of `assay serve`."""

    roots: tuple[str, ...] = argument("[PATH]...")
    repositories: RepositoriesOptions = shared(RepositoriesOptions)
    port: int = option("--port PORT", "The port to listen on; 0: any free port.", least=0, most=65535, default=7777)
    opens: bool = flag("--open", "Open the page in a browser.")
    cloning: CloneOptions = shared(CloneOptions)
    truth: Path | None = option("--truth FILE", "Keep labels in FILE, not PATH/assay-truth.jsonl.")
    judge: str = option("--judge NAME", "The name of the judge who gives labels.  [default: the user]")
    benches: tuple[Path, ...] = option(
        "--bench FOLDER", "Also show the report of assay bench in FOLDER. Repeatable.", kind="existing"
    )
    http: ServerOptions = shared(ServerOptions)
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(ServeOptions, example="assay serve . --open")
def serve(options: ServeOptions) -> int:
    """Serve a search page, and the HTTP API that it uses.

    What is searched is only the folders PATH, by default the current folder, and, with --clone, repositories by
    https URL from public addresses. Answers that are marked right or wrong are added to the ground truth of their
    repository, with which assay bench measures.

    Listens on this machine only. The token of ASSAY_TOKEN, or those of --tokens, are required where they are set; any
    other --host, and a --public-url, generate and print one if there is none. There is no TLS: put a proxy with TLS
    before it. Needs the extra serve.
    """
    from assay.cli.http_server import open_http
    from assay.errors import MissingExtra

    if not all(map(find_spec, ("fastapi", "uvicorn", "h11", "prometheus_client"))):
        raise MissingExtra("assay serve", "fastapi, uvicorn and prometheus_client", "serve")
    server = open_http(options.http, options.port)

    def read() -> Mapping[Path, Settings]:
        settings = options.repositories.fixed_roots(options.roots, options.settings_options)
        _check(options, settings)
        return settings

    def begin() -> None:
        server.announce(options.repositories.names_of(options.roots))
        if options.opens:
            server.open_page()

    return server.serve(
        read, partial(_build, options), partial(options.repositories.mirroring, options.settings_options), begin
    )


def _build(options: ServeOptions, settings: Mapping[Path, Settings], *, is_kept: bool, with_token: bool) -> Application:
    """Return the page and its API."""
    from assay.io.terminal import say
    from assay.serve.answer_threads import AnswerThreads
    from assay.serve.http.app import app_of
    from assay.serve.http.operator import Application
    from assay.serve.http.routes import MirrorRoutes
    from assay.serve.labels import Labeller
    from assay.serve.reader import Waits
    from assay.serve.served_roots import SECRET, SIGNATURES, Webhook
    from assay.serve.session import Session

    listed = options.repositories.roots(options.settings_options, settings)
    elsewhere, clones = options.settings_options.settings(None), options.cloning.rules
    waits = Waits(first_s=FIRST_S)
    session = Session(
        listed or settings, elsewhere=elsewhere, clones=clones, waits=waits, is_kept=is_kept, by_name=True
    )
    labeller, threads = Labeller(session, options.judge or _user(), options.truth), AnswerThreads()
    secret = os.environ.get(SECRET, "")
    mirrors = MirrorRoutes(listed, Webhook(secret, listed, say), threads) if listed else None
    reports = _reports(settings, options.benches)
    app = app_of(session, labeller, reports, threads, with_token=with_token, mirrors=mirrors)
    return Application(app, session, threads, SIGNATURES if listed and secret else frozenset())


def _check(options: ServeOptions, settings: Mapping[Path, Settings]) -> None:
    """Refuse settings with which no question can be answered, before one is asked."""
    from assay.errors import InputError
    from assay.operations.corpus_search import check
    from assay.operations.indexes import index_of

    truth = options.truth
    if truth and (len(settings) > 1 or options.repositories.listed):
        raise InputError("--truth names one file, and several paths were given: serve them one by one")
    for root, each in settings.items():
        index_of(root, each)
        check(each.search)
    if truth and not truth.parent.is_dir():
        raise InputError(f"--truth '{truth}': no such folder: '{truth.parent}'; make it, or name a file in another")
    if truth and truth.is_dir():
        raise InputError(f"--truth '{truth}' is a folder: name a file in it")
    for folder in options.benches:
        if not (folder / _REPORT).is_file():
            advice = "name a folder that assay bench wrote into where the extra bench is installed"
            raise InputError(f"--bench '{folder}' has no {_REPORT}: {advice}")


def _reports(roots: Iterable[Path], benches: Iterable[Path]) -> dict[str, Path]:
    """Return where reports may be, by the name of the folder that each measured."""
    from assay.corpus.left_out_names import OWN_REPORTS
    from assay.serve.served_roots import short_names

    folders = {root.resolve(): root.resolve() / OWN_REPORTS for root in roots}
    for each in (folder.resolve() for folder in benches):
        folders[each.parent if each.name == OWN_REPORTS else each] = each
    return {name: folders[measured] / _REPORT for measured, name in short_names(tuple(folders)).items()}


def _user() -> str:
    """Return the name of the current user, or a placeholder for an account without one."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


class TokenOptions(Options):
    """Options of `assay token`."""

    name: str = argument("NAME")
    tokens: Path | None = option(
        "--tokens FILE", "Add the hash to FILE, which assay serve --tokens reads.", kind="file"
    )


@command(TokenOptions, example="assay token ann --tokens tokens.txt")
def token(options: TokenOptions) -> None:
    """Make a token with which the person NAME can use a server.

    Prints the token, which is stored nowhere. FILE gets a line with the name and the SHA-256 of the token; without
    --tokens that line is printed on standard error. To take the token back, remove the line, and
    start the server again, or reload it where it has --workers.
    """
    from assay.serve.http.access import add_token, line_of, new_token

    if options.tokens:
        click.echo(add_token(options.tokens, options.name))
        return
    secret = new_token()
    line = line_of(options.name, secret)
    click.echo(secret)
    click.echo(line, err=True)
