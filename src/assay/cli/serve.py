"""`assay serve`: folders in, a page and an API to search them out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.options import Chosen

if TYPE_CHECKING:
    from assay.settings import Settings

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
TOKEN = "ASSAY_TOKEN"  # noqa: S105  the name of it
_RESULTS = "results.json"
FIRST_S = 2.0
"""Seconds that an answer waits for a first index; then it says how far that is, and the page asks again."""


@click.command(short_help="Serve a search page and an HTTP API.")
@click.argument("roots", nargs=-1, metavar="[PATH]...")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=7777, show_default=True, metavar="PORT", help="0 is any free one."
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@click.option("--no-clone", is_flag=True, help="Refuse URLs of repositories; search the folders only.")
@click.option(
    "--truth", type=click.Path(path_type=Path), metavar="FILE", help="Keep labels in FILE, not PATH/assay-truth.jsonl."
)
@click.option("--judge", default="", metavar="NAME", help="Who gives labels.  [default: the user]")
@click.option(
    "--bench",
    "benches",
    multiple=True,
    type=_FOLDER,
    metavar="FOLDER",
    help="Show a report of assay bench, too. Repeatable.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0),
    default=100.0,
    show_default=True,
    metavar="N",
    help="Requests a second from one address; 0 is any number.",
)
@options.with_settings
def serve(
    roots: tuple[str, ...],
    host: str,
    port: int,
    opens: bool,
    no_clone: bool,
    truth: Path | None,
    judge: str,
    benches: tuple[Path, ...],
    rate: float,
    chosen: Chosen,
) -> None:
    """Serve a search page, and the HTTP API that it uses.

    Only what lies in the folders PATH is searched, without one in the current folder, and repositories by https URL.
    Answers that are marked right or wrong go to the ground truth of their repository, which assay bench measures.

    Listens on this machine only. Any other --host asks for a token: that of ASSAY_TOKEN, else one that is made and
    printed. There is no TLS. Needs the extra serve.
    """
    from assay.cli.workspaces import say
    from assay.errors import MissingExtra
    from assay.serve.benched import FOLDER, Reports, Source
    from assay.serve.engine import Waits
    from assay.serve.labels import Labeller
    from assay.serve.listen import listening
    from assay.serve.session import Session

    try:
        from assay.serve.http import run as server
        from assay.serve.http.app import app_of
        from assay.serve.http.guard import Guard
        from assay.serve.http.rate import Rate
        from assay.serve.http.work import Workers
    except ModuleNotFoundError as error:
        raise MissingExtra("assay serve", "fastapi and uvicorn", "serve") from error
    folders = _folders(roots, chosen, truth)
    settings = {root: chosen.settings(root) for root in folders}
    _check(settings, truth, benches)
    session = Session(settings, schemes=() if no_clone else ("https",), waits=Waits(first_s=FIRST_S))
    made = listening(host, port)
    given = os.environ.get(TOKEN, "")
    rules, address = server.rules_of(made, host, given), server.address_of(made, host)
    own = [Source(root.name, root / FOLDER, root) for root in folders]
    reports = Reports([*own, *(Source(_called(each), each, each) for each in benches)])
    labeller, workers = Labeller(session, judge or _user(), truth), Workers()
    app = app_of(session, labeller, reports, workers, with_token=bool(rules.token))
    say(f"serving {', '.join(map(str, folders))} at {address}")
    if rules.token:
        say(f"open {address}?token={f'${TOKEN}' if given else rules.token}")
        say("there is no TLS: whoever can listen in on the network can read the token and the answers")
    if opens:
        import webbrowser

        webbrowser.open(f"{address}?token={rules.token}" if rules.token else address)
    server.run(Guard(app, rules, Rate(rate)), made)


def _folders(roots: Sequence[str], chosen: Chosen, truth: Path | None) -> list[Path]:
    """Return the folders to serve, each once; what is of one folder alone is refused with several."""
    from assay.assemble import root_of
    from assay.errors import InputError

    folders = list(dict.fromkeys(map(root_of, roots or (".",))))
    if len(folders) > 1 and (chosen.location or truth):
        what = "--index names one index" if chosen.location else "--truth names one file"
        raise InputError(f"{what}, and several paths were given: serve them one by one")
    return folders


def _check(settings: Mapping[Path, Settings], truth: Path | None, benches: Sequence[Path]) -> None:
    """Refuse what no question could be answered with, before anybody asks one."""
    from assay.assemble import index_of
    from assay.errors import InputError
    from assay.plugins import place

    for root, each in settings.items():
        index_of(root, each)
        if each.search.reranker:
            place("scorer", each.search.reranker.partition(":")[0])
    if truth and not truth.parent.is_dir():
        raise InputError(f"--truth '{truth}': no such folder: '{truth.parent}'; make it, or name a file in another")
    if truth and truth.is_dir():
        raise InputError(f"--truth '{truth}' is a folder: name a file in it")
    for folder in benches:
        if not (folder / _RESULTS).is_file():
            raise InputError(f"--bench '{folder}' holds no {_RESULTS}: name the folder that assay bench wrote into")


def _called(folder: Path) -> str:
    """Return what a report is called: the folder it lies in says what was measured, unless it has a name of its own."""
    from assay.serve.benched import FOLDER

    whole = folder.resolve()
    return whole.parent.name if whole.name == FOLDER else whole.name


def _user() -> str:
    """Return the name of who started this; an account without one is nobody in particular."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
