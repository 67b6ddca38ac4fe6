"""A wrapper around an ASGI application that counts each request, with its status and its time, and notes it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from assay.serve.http.access import Message
from assay.serve.http.access_log import AccessLog
from assay.serve.http.guard import App, Receive, Send
from assay.serve.http.request_figures import RequestFigures

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
