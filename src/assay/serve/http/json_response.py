"""Write records as JSON, and errors as a status and one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from http import HTTPStatus
from typing import Any

from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from assay.errors import InputError, printable
from assay.operations.hits import NotOfThisList
from assay.operations.roots import NotServed
from assay.serve.answer_threads import AnswerThreads, Busy
from assay.serve.http.params import InvalidParameter
from assay.serve.labels import DamagedTruth
from assay.serve.reader import StillIndexing
from assay.serve.served_roots import NotSigned, WrongSignature

RETRY_AFTER_S = "1"
"""Seconds after which a client may retry, as a header."""


@dataclass(frozen=True, slots=True)
class Error:
    """The reason of a failure."""

    error: str


_ABOUT_PLACES = frozenset(
    "damage error file files folder location more note notes place problem problems rebuilt repositories root".split()
)
"""Fields with paths of this machine, which others should not see."""


@dataclass(frozen=True, slots=True)
class JsonWriter:
    """Writes records as JSON; `public` replaces paths in them."""

    public: Callable[[str], str]

    def __call__(self, answer: Any) -> bytes:
        """Return a record as JSON; what is not valid Unicode, such as half a surrogate pair, is escaped."""
        written = json.dumps(answer, ensure_ascii=False, separators=(",", ":"), default=self._fields_of)
        return written.encode("utf-8", "backslashreplace")

    def _fields_of(self, record: Any) -> dict[str, Any]:
        """Return the fields of a record without copies: `asdict` would copy every text and list below them."""
        values = {each.name: getattr(record, each.name) for each in fields(record)}
        return values | {name: self._without_paths(values[name]) for name in values.keys() & _ABOUT_PLACES}

    def _without_paths(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.public(value)
        if isinstance(value, dict):
            return {self.public(key): each for key, each in value.items()}
        return [self._without_paths(each) for each in value] if isinstance(value, list) else value


as_json = JsonWriter(str)


def response_of(body: bytes) -> Response:
    """Return the response for a body that is JSON already."""
    return Response(body, media_type="application/json")


async def answer(workers: AnswerThreads, work: Callable[[], Any], written: Callable[[Any], bytes]) -> Response:
    """Run work on a thread, and return its result as JSON."""
    return response_of(await workers.do(lambda: written(work())))


def refusal(status: int, what: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response of an error."""
    return Response(as_json(Error(printable(what))), status, headers, media_type="application/json")


def failure(error: Exception, public: Callable[[str], str]) -> Response:
    """Return the response for an error with a message for people."""
    if isinstance(error, OSError):
        return refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"cannot be read: {error.strerror or type(error).__name__}")
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), HTTPStatus.SERVICE_UNAVAILABLE)
    again = {"Retry-After": RETRY_AFTER_S} if isinstance(error, StillIndexing | Busy) else None
    return refusal(status, public(str(error)), again)


_STATUS = (
    (NotSigned, HTTPStatus.UNAUTHORIZED),
    (WrongSignature, HTTPStatus.FORBIDDEN),
    (InvalidParameter, HTTPStatus.UNPROCESSABLE_ENTITY),
    (NotServed, HTTPStatus.NOT_FOUND),
    (NotOfThisList, HTTPStatus.CONFLICT),
    (DamagedTruth, HTTPStatus.CONFLICT),
    (InputError, HTTPStatus.BAD_REQUEST),
)

_MEANINGS = {
    400: "The request cannot be answered: the message says why.",
    401: "Authentication is required.",
    403: "The request came from another site.",
    404: "No such file, folder or report below what is served.",
    409: "The state has changed: a cursor of an older list, a damaged file.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    414: "The address is too long.",
    415: "The body is not JSON.",
    421: "The request names another host.",
    422: "A parameter is unknown, missing or invalid.",
    431: "The headers are too large.",
    429: "Too many requests from one address; Retry-After says when.",
    503: "Not now: an index is being built, too many requests wait, or it took too long.",
}
POSTED = (408, 413, 415)
"""Errors of a body itself."""
_ALWAYS = (401, 403, 414, 421, 422, 429, 431, 503)


def errors(*more: int) -> dict[int | str, dict[str, Any]]:
    """Return the declared errors of a route: those of every route, and some more."""
    return {status: {"model": Error, "description": _MEANINGS[status]} for status in sorted((*_ALWAYS, *more))}


async def on_failed(request: Request, error: Exception) -> Response:
    """Answer with an error that has a message for people."""
    return failure(error, request.app.state.public)


async def on_http(request: Request, error: HTTPException) -> Response:
    """Answer with an error of the router."""
    what, headers = str(error.detail), error.headers
    if error.status_code == HTTPStatus.NOT_FOUND:
        what = "no such page; /openapi.json lists what there is"
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        routes = (each for each in request.app.routes if each.path_regex.match(request.url.path))
        headers = {"Allow": ", ".join(sorted({method for each in routes for method in each.methods}))}
        what = f"{request.method[:20]} is not allowed here; allowed: {headers['Allow']}"
    return refusal(error.status_code, what, headers)


async def on_invalid(_request: Request, error: RequestValidationError) -> Response:
    """Answer with the first invalid parameter."""
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, _sentence(error.errors()))


async def on_broken(_request: Request, _error: Exception) -> Response:
    """Answer an internal error; details go to the log and not to the client."""
    return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error, please report it; the server's log says where")


def _sentence(problems: Sequence[Mapping[str, Any]]) -> str:
    first = problems[0]
    place = ".".join(str(step) for step in first["loc"][1:]) or "the body"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}{more}"
