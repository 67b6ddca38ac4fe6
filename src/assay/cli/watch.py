"""`assay watch`: keep the indexes of folders up to date while files change, with a line for each update."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.cli.options import SettingsOptions
from assay.cli.repositories import RepositoriesOptions
from assay.errors import InputError, MissingExtra, counted, printable
from assay.io.terminal import say
from assay.parameters import Options, argument, shared

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from assay.search.folder_index import IndexReport

_NICER = 10
"""Steps of the system's priority: searches go first."""


class WatchOptions(Options):
    """Options of `assay watch`."""

    roots: tuple[str, ...] = argument("[PATH]...")
    repositories: RepositoriesOptions = shared(RepositoriesOptions)
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(WatchOptions, example="assay watch ~/code/app ~/code/library")
def watch(options: WatchOptions) -> None:
    """Keep the indexes of folders up to date while files change.

    Each PATH is a folder; without one it is the current folder. Prints a line for each update. Searches go on
    meanwhile, in this version or the one before. Needs the extra watch.

    With --repos, the repositories of a list are mirrored, fetched again and again, and indexed; assay serve --repos
    does so by itself. That needs git, and no extra.

    Interrupted, it finishes the update at hand and exits 0; interrupted twice, it exits at once, and the index is as
    it was before that update.
    """
    from assay.operations.indexes import index_of

    if _watches_list(options):
        return
    try:
        from assay.serve.watcher import watch_indexes
    except ModuleNotFoundError as error:
        raise MissingExtra("assay watch", str(error.name), "watch") from error
    roots = options.settings_options.folders(options.roots, "watch")
    indexes = [index_of(root, options.settings_options.settings(root)) for root in roots]
    request = StopRequest()
    request.listen()
    _step_back()
    say(f"watching {counted(len(indexes), 'folder')}; Ctrl-C ends it")
    watch_indexes(indexes, _tell, say, request)


def _watches_list(options: WatchOptions) -> bool:
    """Keep the repositories of a list up to date until a signal stops it, if there is a list."""
    from functools import partial

    from assay.cli.repositories import stopping

    options.repositories.check()
    if options.repositories.listed is None:
        return False
    if options.roots:
        raise InputError("--repos and PATH were given: write the folders into the list, too")
    options.repositories.check_list(options.settings_options)
    request = StopRequest()
    request.listen()
    _step_back()
    say(f"keeping the repositories of {options.repositories.listed} up to date; Ctrl-C ends it")
    stopping(partial(options.repositories.loop(options.settings_options, _print).run, request))
    return True


def _step_back() -> None:
    """Lower this process' priority, if the system allows it."""
    try:
        os.nice(_NICER)
    except OSError as error:
        say(f"it runs at the usual priority: {error.strerror}")


@dataclass
class StopRequest:
    """Whether a signal asked to stop; not an Event, as a second signal may come while the first one holds its lock."""

    stop: bool = False

    def is_set(self) -> bool:
        """Return whether one did."""
        return self.stop

    def listen(self) -> None:
        """Handle the signals that stop; the second one interrupts the work."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = True


def _tell(root: Path, report: IndexReport) -> None:
    from assay.operations.workspace import summary

    why = f"; rebuilt: {report.rebuilt_because}" if report.rebuilt_because else ""
    _print(f"{root}: {summary(report)}{why}")


def _print(line: str) -> None:
    from datetime import datetime

    click.echo(printable(f"{datetime.now().astimezone():%H:%M:%S} {line}"))
