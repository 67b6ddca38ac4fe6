"""The options of a server to a socket with its rules, and to the processes that answer there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from assay.cli.server_options import ServerOptions
from assay.cli.workspaces import some_of
from assay.errors import InputError, counted
from assay.io.terminal import say

if TYPE_CHECKING:
    import socket

    from assay.serve.http.access import AccessRules
    from assay.serve.http.server_part import ServerPart
    from assay.serve.http.shared_table import SharedTable
    from assay.serve.http.work import AnswerThreads
    from assay.serve.session import Session
    from assay.settings import Settings

_OPENING_S = 2.0
"""How long a worker opens indexes before it takes requests, so that nobody waits for that."""


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A socket that listens, its rules, and which of its processes this one is."""

    given: ServerOptions
    listener: socket.socket
    rules: AccessRules
    address: str
    table: SharedTable
    token: str = ""
    """One that was made just now, for nobody gave one."""
    part: ServerPart | None = None

    @property
    def starts_workers(self) -> bool:
        """Say whether this process only looks after others that do the work."""
        return self.part is None and self.given.workers is not None

    @property
    def keeps_indexes(self) -> bool:
        """Say whether this process only writes indexes for others."""
        return self.part is not None and self.part.role == "keeper"

    @property
    def keeps_mirrors(self) -> bool:
        """Say whether this process sees to the one that fetches the repositories of a list; one of a server does."""
        return self.part is None or self.keeps_indexes

    def announce(self, names: Iterable[object], below: str = "") -> None:
        """Say what is served where, and how to get in."""
        from assay.serve.http.access_tokens import VARIABLE

        many = f" with {counted(self.given.workers, 'worker')}" if self.given.workers else ""
        say(f"serving {some_of(names)}{many} at {self.address}{below}")
        if not self.rules.tokens:
            return
        if not below:
            whose = "YOUR-TOKEN" if self.given.tokens else self.token or f"${VARIABLE}"
            say(f"open {self.address}?token={whose}")
        elif self.token:
            say(f"its token is {self.token}")
        if not self.rules.public:
            say("there is no TLS: whoever can listen in on the network can read the token and the answers")

    def open_page(self) -> None:
        """Open the page in a browser."""
        import webbrowser

        webbrowser.open(f"{self.address}?token={self.token}" if self.token else self.address)

    def run_workers(self, begun: Callable[[], object]) -> int:
        """Look after workers and a keeper until a signal asks to stop; return the exit status.

        `begun` is called once the first worker answers.
        """
        from assay.serve.http.access_tokens import VARIABLE
        from assay.serve.http.supervisor import Supervisor, own_command

        if self.token:
            os.environ[VARIABLE] = self.token
        return Supervisor(own_command(), self.listener, self.table, self.given.workers or 1, say).run(begun)

    def keep(self, roots: Callable[[], Mapping[Path, Settings]]) -> None:
        """Keep the indexes of folders up to date until this process is ended."""
        from assay.serve.engine import Waits
        from assay.serve.http.request_figures import begin, note_sweep, requests_so_far
        from assay.serve.keeper import Keeper

        assert self.part is not None
        slot = self.part.slot
        begin(self.table, slot, self.part.role)
        self.part.say_ready()
        Keeper(roots, lambda: requests_so_far(self.table), lambda: note_sweep(self.table, slot), say, Waits()).run()

    def answer(
        self,
        app: Any,
        session: Session,
        threads: AnswerThreads,
        *,
        lifespan: bool = False,
        signatures: frozenset[str] = frozenset(),
    ) -> None:
        """Answer requests until a signal asks to stop."""
        from assay.serve.http.access_log import AccessLog
        from assay.serve.http.guarded_app import HttpServing, guard_app
        from assay.serve.http.operations import what_is_missing
        from assay.serve.http.request_figures import OpenConnections, begin
        from assay.serve.http.run import run

        slot = self.part.slot if self.part else 0
        begin(self.table, slot)
        log = AccessLog(self.given.access_log, say, queries=self.given.log_queries) if self.given.access_log else None
        serving = HttpServing(self.rules, self.given.rate, self.table, slot, log, signatures)
        if self.part:
            opening = Thread(target=what_is_missing, args=(session,), daemon=True)
            opening.start()
            opening.join(_OPENING_S)
        run(
            lambda is_stopping: guard_app(app, session, threads, serving, is_stopping),
            self.listener,
            ready=self.part.say_ready if self.part else lambda: None,
            lifespan=lifespan,
            balance=OpenConnections(self.table, slot) if self.part else None,
        )


def open_http(given: ServerOptions, port: int, option: str = "--port") -> HttpServer:
    """Return a socket that listens where the options say, with its rules; a part of a server inherits it."""
    from assay.serve.http.access_tokens import VARIABLE, new_token
    from assay.serve.http.rules import AccessOptions, address_of, rules_of
    from assay.serve.http.server_part import part_of
    from assay.serve.http.shared_table import SharedTable
    from assay.serve.listen import listening

    if given.log_queries and not given.access_log:
        raise InputError("--log-queries says what to note, and nothing is noted: give --access-log FILE too")
    part = part_of(os.environ)
    listener = part.listener() if part else listening(given.host, port, option)
    token = os.environ.get(VARIABLE, "")
    access = AccessOptions(given.host, given.public_url, given.trusted, given.tokens, token)
    made = "" if token or given.tokens or not access.wants_token(listener) else new_token()
    access = AccessOptions(given.host, given.public_url, given.trusted, given.tokens, token or made)
    rules, address = rules_of(listener, access), address_of(listener, access)
    return HttpServer(given, listener, rules, address, SharedTable(part.table if part else None), made, part)
