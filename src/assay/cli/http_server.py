"""Open the socket of a server with its rules, and answer there: in this process, or in several."""

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
"""How long a worker opens indexes before it takes requests, so that nobody waits for that."""


Build = Callable[..., "Application"]
"""Makes an application of folders with their settings, `kept` by another process or not, and whether it has tokens."""
Read = Callable[[], Mapping[Path, "Settings"]]
Mirroring = Callable[[], "AbstractContextManager[None]"]


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A socket that listens, and who may ask."""

    http: ServerOptions
    listener: socket.socket
    access: AccessOptions
    token: str = ""
    """One that was generated, as none was set."""

    @property
    def rules(self) -> AccessRules:
        """Who may ask, by what the file of tokens holds now."""
        from assay.serve.http.access import rules_of

        return rules_of(self.listener, self.access)

    @property
    def address(self) -> str:
        """Where people open it."""
        from assay.serve.http.access import address_of

        return address_of(self.listener, self.access)

    def announce(self, names: Iterable[object], below: str = "") -> None:
        """Say what is served where, and how to get in."""
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
        """Answer until a signal asks to stop, and return the exit status; `begin` is called once that can be asked."""
        from assay.serve.http.server import Workers, run

        if self.http.workers is None:
            settings = read()
            with mirroring():
                app = _guarded(build, self.http, self.rules, settings, [0.0, 0.0], kept=False)
                begin()
                run(app, self.listener)
            return 0
        workers = Workers(partial(self._plan, read, build, mirroring), self.listener, self.http.workers, say)
        begin()
        return workers.serve()

    def _plan(self, read: Read, build: Build, mirroring: Mirroring, activity: Activity) -> tuple[Any, Any]:
        """Return what makes the application of a worker, and what writes indexes, by the settings as they are now."""
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
    return _guarded(build, http, rules, settings, activity, kept=True)


def _guarded(
    build: Build,
    http: ServerOptions,
    rules: AccessRules,
    settings: Mapping[Path, Settings],
    activity: Activity,
    *,
    kept: bool,
) -> Any:
    """Return the application behind its rules; a worker opens the indexes first."""
    from assay.serve.http.guard import AccessLog, Rate
    from assay.serve.http.operator import guard_app, what_is_missing

    made = build(settings, kept=kept, with_token=bool(rules.tokens))
    log = AccessLog(http.access_log, say, queries=http.log_queries) if http.access_log else None
    if kept:
        opening = Thread(target=what_is_missing, args=(made.session,), daemon=True)
        opening.start()
        opening.join(_OPENING_S)
    return guard_app(made, rules, Rate(http.rate), activity, log)


def _write(mirroring: Mirroring, settings: Mapping[Path, Settings], activity: Activity) -> None:
    """Keep the indexes of folders, and mirrors, up to date until this process is ended."""
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
    """Return a socket that listens where the options say; refuse options that cannot be used."""
    from assay.serve.http.access import VARIABLE, AccessOptions, listening, new_token, rules_of
    from assay.serve.http.guard import AccessLog

    if http.log_queries and not http.access_log:
        raise InputError("--log-queries says what to note, and nothing is noted: give --access-log FILE too")
    listener = listening(http.host, port, option)
    token = os.environ.get(VARIABLE, "")
    access = AccessOptions(http.host, http.public_url, http.trusted, http.tokens, token)
    made = "" if token or http.tokens or not access.wants_token(listener) else new_token()
    access = replace(access, token=token or made)
    rules_of(listener, access)
    if http.access_log:
        AccessLog(http.access_log, say)
    return HttpServer(http, listener, access, made)
