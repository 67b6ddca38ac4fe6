"""An application to the same one with an operator's routes, behind its rules, compressed, counted and noted.

Answers are compressed although they hold what was asked for: no secret stands in them, and no page of another site can
make a browser ask, so that their sizes tell nobody anything (BREACH).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.middleware.gzip import GZipMiddleware

from assay.serve.http.access import FIGURES, HEALTH, READINESS, AccessRules
from assay.serve.http.access_log import AccessLog
from assay.serve.http.guard import App, Guard
from assay.serve.http.observed import Observed
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
