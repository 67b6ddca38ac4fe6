"""Answer operators: liveness, readiness, and metrics for Prometheus.

The first two are for whoever looks from outside, without a token and whatever the host is called, and say nothing else.
The figures are behind the same rules as everything. Where several processes answer, `prometheus_client` adds up what
each wrote into the folder of `PROMETHEUS_MULTIPROC_DIR`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from assay.errors import AssayError, counted
from assay.operations.indexes import location_of
from assay.serve.answer_threads import AnswerThreads
from assay.serve.http.access import FIGURES, HEALTH, PROBES, READINESS, UNIX, AccessRules, Message
from assay.serve.http.guard import AccessLog, App, Guard, Rate, Receive, Send
from assay.serve.http.server import Activity, Protocol
from assay.serve.session import Session
from assay.store.index_location import MANIFEST, is_bucket

BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
REQUESTS = Counter("assay_requests", "Requests that were answered.", ["route", "status"])
SECONDS = Histogram("assay_request_seconds", "How long answers took.", ["route"], buckets=BOUNDS_S)
STARTS = Counter("assay_process_starts", "Processes that were started to answer.")
_LOOK_S = 1.0
_TEXT = "text/plain; charset=utf-8"
_MIN_COMPRESSED_BYTES = 1400
"""An answer that fits into one packet is not compressed."""
_LEVEL = 4
"""Compression level of nine: a third of the time of the last one, for a twentieth more bytes."""
_GONE = 499
"""Logged if the client left before there was an answer, as nginx does."""


class OperationRoutes:
    """The routes of operators."""

    def __init__(self, session: Session, activity: Activity, threads: AnswerThreads) -> None:
        self._session, self._activity, self._threads = session, activity, threads
        self._look: asyncio.Task[str] | None = None
        self._looked = 0.0

    async def healthz(self, _request: Request) -> Response:
        """Answer that the server runs."""
        return Response("ok\n", media_type=_TEXT)

    async def readyz(self, _request: Request) -> Response:
        """Answer whether every folder can be searched, or what is missing; checked at most once a second."""
        if self._look is None or (self._look.done() and time.monotonic() > self._looked + _LOOK_S):
            self._look = asyncio.create_task(self._missing())
        why = await asyncio.shield(self._look)
        status = HTTPStatus.SERVICE_UNAVAILABLE if why else HTTPStatus.OK
        return Response(f"{why or 'ready'}\n", status, media_type=_TEXT)

    async def _missing(self) -> str:
        try:
            return await self._threads.do(lambda: what_is_missing(self._session))
        except AssayError as error:
            return str(error)
        finally:
            self._looked = time.monotonic()

    async def metrics(self, _request: Request) -> Response:
        """Answer with the metrics of all processes, in the format of Prometheus."""
        figures = REGISTRY
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            MultiProcessCollector(figures := CollectorRegistry())
        own = CollectorRegistry()
        own.register(self)
        return Response(generate_latest(figures) + generate_latest(own), media_type=CONTENT_TYPE_LATEST)

    def collect(self) -> Iterator[Any]:
        """Yield the ages of the indexes, as a collector of Prometheus."""
        what = "Seconds since the index of a folder was last written."
        ages = GaugeMetricFamily("assay_index_age_seconds", what, labels=["root"])
        for root, settings in self._session.roots.items():
            if not is_bucket(settings.index.location) and (written_s := _written_s(location_of(root, settings))):
                ages.add_metric([self._session.names[root]], max(0.0, time.time() - written_s))
        yield ages
        if checked_s := self._activity[1]:
            what = "Seconds since the writer of the indexes last looked at all files."
            yield GaugeMetricFamily("assay_index_checked_seconds", what, max(0.0, time.time() - checked_s))

    def add(self, app: Any) -> None:
        """Add the routes to an application of Starlette."""
        for path, work in ((HEALTH, self.healthz), (READINESS, self.readyz), (FIGURES, self.metrics)):
            app.router.add_route(path, work, methods=["GET"], include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Observed:
    """An application whose requests are counted, and logged if there is a log."""

    app: App
    routes: tuple[str, ...]
    activity: Activity
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
            seconds, route = time.perf_counter() - started, self.route(scope["path"])
            REQUESTS.labels(route, status).inc()
            SECONDS.labels(route).observe(seconds)
            if route not in {*PROBES, FIGURES}:
                self.activity[0] = time.time()
            if self.log:
                self.log.note(scope, status, size, seconds)

    def route(self, path: str) -> str:
        """Return the route of a path; all unknown paths count as one."""
        below = (each for each in self.routes if "{" in each and path.startswith(each.partition("{")[0]))
        return path if path in self.routes else max(below, key=len, default="other")


class Application(NamedTuple):
    """The application of a command, with its session and its threads."""

    app: Any
    session: Session
    threads: AnswerThreads
    signatures: frozenset[str] = frozenset()
    """Headers of signed deliveries of a code host; none: webhooks are off."""


def guard_app(service: Application, rules: AccessRules, rate: Rate, activity: Activity, log: AccessLog | None) -> App:
    """Return an application with an operator's routes, behind its rules, compressed, counted and noted.

    Answers are compressed although they hold what was asked for: no secret stands in them, and no page of another site
    can make a browser ask, so that their sizes tell nobody anything (BREACH).
    """
    routes = tuple({*(route.path for route in service.app.routes), HEALTH, READINESS, FIGURES})
    OperationRoutes(service.session, activity, service.threads).add(service.app)
    STARTS.inc()
    compressed = GZipMiddleware(service.app, minimum_size=_MIN_COMPRESSED_BYTES, compresslevel=_LEVEL)
    guard = Guard(compressed, rules, rate, signatures=service.signatures, is_stopping=lambda: Protocol.is_stopping)
    observed: App = Observed(guard, routes, activity, log)
    return behind_proxies(observed, rules.proxies) if rules.public else observed


def behind_proxies(app: App, proxies: tuple[str, ...]) -> App:
    """Return an application that trusts `X-Forwarded-For` of some proxies; a Unix socket's peer is `unix`."""
    believing = ProxyHeadersMiddleware(app, [*proxies])

    async def forwarded(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope.get("client"):
            scope["client"] = (UNIX, 0)
        await believing(scope, receive, send)

    return forwarded


def what_is_missing(session: Session) -> str:
    """Open every served folder; return why some cannot be searched yet, without names, or an empty text."""
    try:
        if not session.are_several:
            session.place().reader.view()
            return ""
        view = session.everything.view()
    except AssayError:
        return "nothing can be searched yet"
    if not view.truncated:
        return ""
    return f"{counted(len(view.problems), 'folder')} cannot be searched yet"


def _written_s(folder: Any) -> float:
    try:
        return float((folder / MANIFEST).stat().st_mtime)
    except OSError:
        return 0.0
