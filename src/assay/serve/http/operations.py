"""What an operator asks a server: whether it works, whether it can answer yet, and its figures.

The first two are for whoever looks from outside, without a token and whatever the host is called, and say nothing else.
The figures are behind the same rules as everything.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from assay.assemble.indexes import location_of
from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError, counted
from assay.serve.http.access import FIGURES, HEALTH, READINESS
from assay.serve.http.request_figures import RequestFigures
from assay.serve.http.work import AnswerThreads
from assay.serve.session import Session
from assay.store.catalog import MANIFEST
from assay.store.place import is_bucket

_LOOK_S = 1.0
_TEXT = "text/plain; charset=utf-8"
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class OperationRoutes:
    """The routes of operators."""

    def __init__(self, session: Session, figures: RequestFigures, workers: AnswerThreads) -> None:
        self._session, self._figures, self._workers = session, figures, workers
        self._look: asyncio.Task[str] | None = None
        self._looked = 0.0

    async def healthz(self, _request: Request) -> Response:
        """Say that the server answers."""
        return Response("ok\n", media_type=_TEXT)

    async def readyz(self, _request: Request) -> Response:
        """Say whether every folder can be searched, or what is still to come; one look a second is enough for all."""
        if self._look is None or (self._look.done() and time.monotonic() > self._looked + _LOOK_S):
            self._look = asyncio.create_task(self._missing())
        why = await asyncio.shield(self._look)
        status = HTTPStatus.SERVICE_UNAVAILABLE if why else HTTPStatus.OK
        return Response(f"{why or 'ready'}\n", status, media_type=_TEXT)

    async def _missing(self) -> str:
        try:
            return await self._workers.do(lambda: what_is_missing(self._session))
        except AssayError as error:
            return str(error)
        finally:
            self._looked = time.monotonic()

    async def metrics(self, _request: Request) -> Response:
        """Answer with the figures of all processes, as Prometheus reads them."""
        lines = [*self._figures.lines(), *_index_ages(self._session)]
        return Response("\n".join(lines) + "\n", media_type=_PROMETHEUS)

    def add(self, app: Any) -> None:
        """Add the routes to an application of Starlette."""
        work: Callable[..., object]
        for path, work in ((HEALTH, self.healthz), (READINESS, self.readyz), (FIGURES, self.metrics)):
            app.router.add_route(path, work, methods=["GET"], include_in_schema=False)


def what_is_missing(session: Session) -> str:
    """Open every served folder; return why some cannot be searched yet, without a name of any, or nothing."""
    try:
        if not session.are_several:
            session.place().engine.view()
            return ""
        view = session.everything.view()
    except AssayError:
        return "nothing can be searched yet"
    if not view.truncated:
        return ""
    return f"{counted(len(view.problems), 'folder')} cannot be searched yet"


def _index_ages(session: Session) -> Iterator[str]:
    yield "# HELP assay_index_age_seconds Seconds since the index of a folder was last written."
    yield "# TYPE assay_index_age_seconds gauge"
    for root, settings in session.roots.items():
        if is_bucket(settings.index.location):
            continue
        try:
            written_s = (location_of(root, settings) / MANIFEST).stat().st_mtime
        except OSError:
            continue
        name = as_utf8(str(root)).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        yield f'assay_index_age_seconds{{root="{name}"}} {max(0.0, time.time() - written_s):.1f}'
