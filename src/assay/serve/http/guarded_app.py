"""An application to the same one with an operator's routes, behind its rules, compressed, counted and noted.

Answers are compressed although they hold what was asked for: no secret stands in them, and no page of another site can
make a browser ask, so that their sizes tell nobody anything (BREACH).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.middleware.gzip import GZipMiddleware

from assay.serve.http.access import FIGURES, HEALTH, READINESS, AccessRules, Message
from assay.serve.http.access_log import AccessLog
from assay.serve.http.guard import App, Guard, Receive, Send
from assay.serve.http.operations import OperationRoutes
from assay.serve.http.rate import Rate
from assay.serve.http.request_figures import RequestFigures
from assay.serve.http.shared_table import SharedTable
from assay.serve.http.work import AnswerThreads
from assay.serve.session import Session

_LEAST_BYTES = 1400
"""What fits into one packet is sent as it is."""
_LEVEL = 4
"""Of nine: a third of the time of the last one, for a twentieth more bytes."""


_GONE = 499
"""Noted where the client left before there was an answer, as nginx does."""


@dataclass(frozen=True, slots=True)
class Observed:
    """An application whose requests are counted, and written down where that is wanted."""

    app: App
    figures: RequestFigures
    log: AccessLog | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request and count it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status, size = time.perf_counter(), _GONE, 0

        async def watched(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            seconds = time.perf_counter() - started
            self.figures.count(scope["path"], status, seconds)
            if self.log:
                self.log.note(scope, status, size, seconds)


@dataclass(frozen=True, slots=True)
class HttpServing:
    """How requests are taken: by whose rules, how many, and where they are counted and noted."""

    rules: AccessRules
    rate_per_s: float
    table: SharedTable
    slot: int
    log: AccessLog | None = None
    signatures: frozenset[str] = frozenset()
    """Headers of which a delivery of a code host brings one; none: no deliveries are taken."""


def guard_app(
    app: Any, session: Session, workers: AnswerThreads, serving: HttpServing, is_stopping: Callable[[], bool]
) -> App:
    """Return an application of Starlette as it is served to others."""
    routes = [*(route.path for route in app.routes), HEALTH, READINESS, FIGURES]
    figures = RequestFigures(serving.table, serving.slot, routes)
    OperationRoutes(session, figures, workers).add(app)
    compressed = GZipMiddleware(app, minimum_size=_LEAST_BYTES, compresslevel=_LEVEL)
    rate = Rate(serving.rate_per_s, table=serving.table)
    guard = Guard(compressed, serving.rules, rate, is_stopping=is_stopping, signatures=serving.signatures)
    return Observed(guard, figures, serving.log)
