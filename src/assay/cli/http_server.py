"""Open the socket of a server with its rules of access, and run it: in this process, or in several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from assay.cli.options import ServerOptions
from assay.errors import InputError, counted, some_of
from assay.io.terminal import say

if TYPE_CHECKING:
    import socket
    from contextlib import AbstractContextManager

    from assay.serve.http.access import AccessOptions, AccessRules
    from assay.serve.http.operator import Application
    from assay.serve.http.server import Activity
    from assay.settings import Settings

_OPENING_S = 2.0
"""Seconds that a worker spends opening indexes before it accepts requests, so that the first clients do not wait."""


Build = Callable[..., "Application"]
"""Builds the application of folders with their settings; with `is_kept`, another process writes the indexes."""
Read = Callable[[], Mapping[Path, "Settings"]]
Mirroring = Callable[[], "AbstractContextManager[None]"]


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A listening socket with its rules of access."""

    http: ServerOptions
    listener: socket.socket
    access: AccessOptions
    token: str = ""
    """A token that was generated, as none was set."""

    @property
    def rules(self) -> AccessRules:
        """The rules of access, with the tokens that the file has now."""
        from assay.serve.http.access import rules_of

        return rules_of(self.listener, self.access)

    @property
    def address(self) -> str:
        """The URL of the server."""
        from assay.serve.http.access import address_of

        return address_of(self.listener, self.access)

    def announce(self, names: Iterable[object], below: str = "") -> None:
        """Print what is served at which URL, and the token."""
        from assay.serve.http.access import VARIABLE

        many = f" with {counted(self.http.workers, 'worker')}" if self.http.workers else ""
        say(f"serving {some_of(names)}{many} at {self.address}{below}")
        if not self.rules.tokens:
            return
        if not below:
            whose = "YOUR-TOKEN" if self.http.tokens else self.token or f"${VARIABLE}"
            say(f"open {self.address}?token={whose}")
        elif self.token:
            say(f"its token is {self.token}")
        if not (self.rules.public or self.rules.loopback):
            say("there is no TLS: anybody who can listen on the network can read the token and the answers")

    def open_page(self) -> None:
        """Open the page in a browser."""
        import webbrowser

        webbrowser.open(f"{self.address}?token={self.token}" if self.token else self.address)

    def serve(self, read: Read, build: Build, mirroring: Mirroring, begin: Callable[[], object]) -> int:
        """Answer until a signal stops it, and return the exit status; `begin` is called once it accepts requests."""
        from assay.serve.http.server import Workers, run

        if self.http.workers is None:
            settings = read()
            with mirroring():
                app = _guarded(build, self.http, self.rules, settings, [0.0, 0.0], is_kept=False)
                begin()
                run(app, self.listener)
            return 0
        workers = Workers(partial(self._plan, read, build, mirroring), self.listener, self.http.workers, say)
        begin()
        return workers.serve()

    def _plan(self, read: Read, build: Build, mirroring: Mirroring, activity: Activity) -> tuple[Any, Any]:
        """Return the functions that run a worker and that write indexes, with the present settings."""
        settings = read()
        worker = partial(_worker, build, self.http, self.rules, settings, activity, os.getpid())
        return worker, partial(_write, mirroring, settings)


def _worker(
    build: Build,
    http: ServerOptions,
    rules: AccessRules,
    settings: Mapping[Path, Settings],
    activity: Activity,
    parent: int,
) -> Any:
    from assay.io.processes import end_with

    end_with(parent)
    os.setpgrp()  # Ctrl+C is for the parent, which ends the others
    return _guarded(build, http, rules, settings, activity, is_kept=True)


def _guarded(
    build: Build,
    http: ServerOptions,
    rules: AccessRules,
    settings: Mapping[Path, Settings],
    activity: Activity,
    *,
    is_kept: bool,
) -> Any:
    """Return the application behind its rules; a worker opens the indexes first."""
    from assay.serve.http.guard import AccessLog, Rate
    from assay.serve.http.operator import guard_app, what_is_missing

    application = build(settings, is_kept=is_kept, with_token=bool(rules.tokens))
    log = AccessLog(http.access_log, say, queries=http.log_queries) if http.access_log else None
    if is_kept:
        opening = Thread(target=what_is_missing, args=(application.session,), daemon=True)
        opening.start()
        opening.join(_OPENING_S)
    return guard_app(application, rules, Rate(http.rate), activity, log)


def _write(mirroring: Mirroring, settings: Mapping[Path, Settings], activity: Activity) -> None:
    """Keep the indexes of folders, and mirrors, up to date until this process is terminated."""
    import time
    from threading import Event

    from assay.operations.indexes import index_of
    from assay.serve.writer import Pace, Writer, WrittenRoot, on_questions

    def note_round() -> None:
        activity[1] = time.time()

    written = {root: each for root, each in settings.items() if each.index.refresh}  # others are read as they are
    pace = Pace(fraction=Pace().fraction / max(1, len(written)))
    roots = [WrittenRoot(root, partial(index_of, root, each), pace, replaces=False) for root, each in written.items()]
    with mirroring():
        Writer(roots, say, on_round=note_round).run(on_questions(lambda: activity[0]), Event())


def open_http(http: ServerOptions, port: int, option: str = "--port") -> HttpServer:
    """Return a server with a listening socket for its options; refuse invalid options."""
    from assay.serve.http.access import VARIABLE, AccessOptions, listening, new_token, rules_of
    from assay.serve.http.guard import AccessLog

    if http.log_queries and not http.access_log:
        raise InputError("--log-queries has no effect without --access-log FILE")
    listener = listening(http.host, port, option)
    token = os.environ.get(VARIABLE, "")
    access = AccessOptions(http.host, http.public_url, http.trusted, http.tokens, token)
    made = "" if token or http.tokens or not access.wants_token(listener) else new_token()
    access = replace(access, token=token or made)
    rules_of(listener, access)
    if http.access_log:
        AccessLog(http.access_log, say)
    return HttpServer(http, listener, access, made)
