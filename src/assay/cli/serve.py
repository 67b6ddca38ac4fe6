"""`assay serve`: folders in, a page and an API to search them out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.command import PATH, argument, command, flag, option, shared
from assay.cli.options import SettingsOptions

if TYPE_CHECKING:
    from assay.settings import Settings

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
TOKEN = "ASSAY_TOKEN"  # noqa: S105  the name of it
_RESULTS = "results.json"
FIRST_S = 2.0
"""Seconds that an answer waits for a first index; then it says how far that is, and the page asks again."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options of `assay serve`."""

    roots: tuple[str, ...] = argument("[PATH]...", nargs=-1)
    host: str = option("--host", default="127.0.0.1", metavar="ADDRESS", help="The address to listen on.")
    port: int = option(
        "--port",
        type=click.IntRange(0, 65535),
        default=7777,
        metavar="PORT",
        help="The port to listen on; 0: any free port.",
    )
    opens: bool = flag("--open", help="Open the page in a browser.")
    no_clone: bool = flag("--no-clone", help="Refuse URLs of repositories; search the folders only.")
    truth: Path | None = option(
        "--truth", type=PATH, metavar="FILE", help="Keep labels in FILE, not PATH/assay-truth.jsonl."
    )
    judge: str = option(
        "--judge", default="", metavar="NAME", help="The name of the judge who gives labels.  [default: the user]"
    )
    benches: tuple[Path, ...] = option(
        "--bench",
        multiple=True,
        type=_FOLDER,
        metavar="FOLDER",
        help="Also show the report of assay bench in FOLDER. Repeatable.",
    )
    rate: float = option(
        "--rate",
        type=click.FloatRange(min=0),
        default=100.0,
        metavar="N",
        help="Most requests a second from one address; 0: no limit.",
    )
    chosen: SettingsOptions = shared(SettingsOptions)


@command(ServeOptions, example="assay serve . --open")
def serve(given: ServeOptions) -> None:
    """Serve a search page, and the HTTP API that it uses.

    What is searched is only the folders PATH, by default the current folder, and repositories by https URL. Answers
    that are marked right or wrong are added to the ground truth of their repository, with which assay bench
    measures.

    Listens on this machine only. Any other --host requires a token: that of ASSAY_TOKEN, or else one that is
    generated and printed. There is no TLS. Needs the extra serve.
    """
    from assay.cli.workspaces import say, some_of
    from assay.errors import MissingExtra
    from assay.serve.engine import Waits
    from assay.serve.labels import Labeller
    from assay.serve.listen import listening
    from assay.serve.report_data import FOLDER, Reports, ReportSource
    from assay.serve.session import Session

    try:
        from assay.serve.http import run as server
        from assay.serve.http.app import app_of
        from assay.serve.http.guard import Guard
        from assay.serve.http.rate import Rate
        from assay.serve.http.work import AnswerThreads
    except ModuleNotFoundError as error:
        raise MissingExtra("assay serve", "fastapi and uvicorn", "serve") from error
    settings = _roots(given.roots, given.chosen, given.truth)
    _check(settings, given.truth, given.benches)
    session = Session(settings, schemes=() if given.no_clone else ("https",), waits=Waits(first_s=FIRST_S))
    listener = listening(given.host, given.port)
    token = os.environ.get(TOKEN, "")
    rules, address = server.rules_of(listener, given.host, token), server.address_of(listener, given.host)
    own = [ReportSource(root.name, root / FOLDER, root) for root in settings]
    reports = Reports([*own, *(ReportSource(_called(each), each, each) for each in given.benches)])
    labeller, workers = Labeller(session, given.judge or _user(), given.truth), AnswerThreads()
    app = app_of(session, labeller, reports, workers, with_token=bool(rules.token))
    say(f"serving {some_of(settings)} at {address}")
    if rules.token:
        say(f"open {address}?token={f'${TOKEN}' if token else rules.token}")
        say("there is no TLS: whoever can listen in on the network can read the token and the answers")
    if given.opens:
        import webbrowser

        webbrowser.open(f"{address}?token={rules.token}" if rules.token else address)
    server.run(Guard(app, rules, Rate(given.rate)), listener)


def _roots(roots: Sequence[str], chosen: SettingsOptions, truth: Path | None) -> dict[Path, Settings]:
    """Return the roots to serve, each once; what is of one root alone is refused with several."""
    from assay.cli.workspaces import served_roots
    from assay.errors import InputError

    served = served_roots(roots, chosen)
    if truth and len(served) > 1:
        raise InputError("--truth names one file, and several paths were given: serve them one by one")
    return served


def _check(settings: Mapping[Path, Settings], truth: Path | None, benches: Sequence[Path]) -> None:
    """Refuse what no question could be answered with, before anybody asks one."""
    from assay.assemble.indexes import index_of
    from assay.assemble.pipeline import check
    from assay.errors import InputError

    for root, each in settings.items():
        index_of(root, each)
        check(each.search)
    if truth and not truth.parent.is_dir():
        raise InputError(f"--truth '{truth}': no such folder: '{truth.parent}'; make it, or name a file in another")
    if truth and truth.is_dir():
        raise InputError(f"--truth '{truth}' is a folder: name a file in it")
    for folder in benches:
        if not (folder / _RESULTS).is_file():
            raise InputError(f"--bench '{folder}' holds no {_RESULTS}: name the folder that assay bench wrote into")


def _called(folder: Path) -> str:
    """Return what a report is called: the folder it lies in says what was measured, unless it has a name of its own."""
    from assay.serve.report_data import FOLDER

    whole = folder.resolve()
    return whole.parent.name if whole.name == FOLDER else whole.name


def _user() -> str:
    """Return the name of who started this; an account without one is nobody in particular."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
