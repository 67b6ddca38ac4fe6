"""Declare the options of commands that serve over HTTP: where, to whom, how much, by how many processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.command import FILE, flag, option, parameters_of

if TYPE_CHECKING:
    from assay.corpus.addresses import CloneRules

MOST_WORKERS = 31


@dataclass(frozen=True, slots=True)
class CloneOptions:
    """What the options say about repositories that clients name by URL."""

    clones: bool = flag("--clone", help="Also search repositories that clients name by https URL; clone them.")
    hosts: tuple[str, ...] = option(
        "--clone-host",
        multiple=True,
        metavar="GLOB",
        help="With --clone, clone only from hosts that match, such as github.com. Repeatable.",
    )

    @property
    def rules(self) -> CloneRules:
        """Return what is cloned for clients."""
        from assay.corpus.addresses import CloneRules
        from assay.errors import InputError

        if self.hosts and not self.clones:
            raise InputError("--clone-host is for --clone: give that, too")
        return CloneRules(("https",) if self.clones else (), self.hosts)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of a server for others."""

    host: str = option(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="The address to listen on, or unix:PATH for a proxy on this machine.",
    )
    public_url: str = option(
        "--public-url",
        default="",
        metavar="URL",
        help="Where people open it behind a proxy, as in https://code.example.com; then a token is required.",
    )
    trusted: tuple[str, ...] = option(
        "--trusted-proxy",
        multiple=True,
        metavar="ADDRESS",
        help="Believe X-Forwarded-For from this address or network. Repeatable.",
    )
    tokens: Path | None = option(
        "--tokens",
        type=FILE,
        metavar="FILE",
        help="Require the token of a person in FILE, which assay token writes; instead of ASSAY_TOKEN.",
    )
    rate: float = option(
        "--rate",
        type=click.FloatRange(min=0),
        default=100.0,
        metavar="N",
        help="Most requests a second from one person, or from one address without a token of their own; 0: no limit.",
    )
    workers: int | None = option(
        "--workers",
        type=click.IntRange(1, MOST_WORKERS),
        metavar="N",
        help="Answer with N processes, and index in another one; SIGHUP reloads.  [default: one process does all]",
    )
    access_log: str = option(
        "--access-log",
        default="",
        metavar="FILE",
        help="Note each request in FILE as a line of JSON; -: standard output.",
    )
    log_queries: bool = flag("--log-queries", help="Note in the access log also what was asked.")

    def given_names(self) -> list[str]:
        """Return the options that do not have their defaults, by the names that a user gives them."""
        parameters = list(parameters_of(ServerOptions))
        defaults = click.Command("", params=parameters).make_context("", []).params
        return [each.opts[0] for each in parameters if getattr(self, str(each.name)) != defaults[str(each.name)]]
