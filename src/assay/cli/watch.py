"""`assay watch`: folders in, their indexes kept up to date while files change, a line for each update."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.options import Chosen

if TYPE_CHECKING:
    from types import FrameType

    from assay.search.index_report import Report
    from assay.serve.upkeep import Kept

_NICER = 10
"""Steps of the system's scale: who searches meanwhile goes first."""


@click.command(short_help="Keep indexes up to date while files change.")
@click.argument("roots", nargs=-1, metavar="[PATH]...")
@options.with_settings
def watch(roots: tuple[str, ...], chosen: Chosen) -> None:
    """Keep the indexes of folders up to date while files change.

    Each PATH is a folder; without one it is the current folder. Prints a line for each update. Searches go on
    meanwhile, in this version or the one before. Needs the extra watch.

    Interrupted, it finishes the update at hand and leaves with 0; interrupted twice, it leaves at once, and the
    index is as it was before that update.
    """
    from assay.assemble import index_of, root_of
    from assay.cli.workspaces import counted, say
    from assay.errors import InputError, MissingExtra

    try:
        from assay.serve.upkeep import Upkeep
    except ModuleNotFoundError as error:
        raise MissingExtra("assay watch", str(error.name), "watch") from error
    folders = list(dict.fromkeys(map(root_of, roots or (".",))))
    if chosen.location and len(folders) > 1:
        raise InputError("--index names one index, and several paths were given: watch them one by one")
    indexes = [index_of(root, chosen.settings(root)) for root in folders]
    for index in indexes:
        index.check()
    asked = Asked()
    asked.listen()
    os.nice(_NICER)
    say(f"watching {counted(len(indexes), 'folder')}; Ctrl-C ends it")
    Upkeep(indexes, _tell, say).run(asked)


@dataclass
class Asked:
    """Whether anybody asked to stop; no Event, for a second signal may come while the first one holds its lock."""

    stop: bool = False

    def is_set(self) -> bool:
        """Say whether somebody did."""
        return self.stop

    def listen(self) -> None:
        """Take the signals that ask for it; the second one interrupts what is being done."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._heard)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = True


def _tell(kept: Kept, report: Report) -> None:
    from datetime import datetime

    from assay.cli.workspaces import summary
    from assay.errors import printable

    why = f"; made anew: {report.rebuilt_because}" if report.rebuilt_because else ""
    now = datetime.now().astimezone()
    click.echo(printable(f"{now:%H:%M:%S} {kept.root}: {summary(report)}{why}"))
