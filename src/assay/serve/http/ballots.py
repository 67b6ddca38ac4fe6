"""Serve a ballot on this machine to one person: a page behind the guard of `assay serve`, at a secret address.

Other users of the machine do not know the key in the address; pages of other sites are refused by the guard. What
strangers wrote travels as JSON and is shown as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe
from threading import Event
from typing import Any, Protocol, Self

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assay.errors import AssayError, InputError
from assay.serve.http.access import AccessRules, listening
from assay.serve.http.guard import Guard
from assay.serve.http.server import server_of
from assay.serve.page_files import page_file, styled

LOOPBACK = "127.0.0.1"
MAX_BODY_BYTES = 16_384
_FOLDERS = frozenset({"page", "ballot"})


class Ballot(Protocol):
    """The items of one person's ballot and their answers; several threads may call it."""

    page: str
    """The file of the page."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def __len__(self) -> int: ...

    @property
    def left(self) -> int:
        """The number of items without an answer."""

    @property
    def finished(self) -> bool:
        """Whether the answers are final, after a call of `finish`."""

    def item_to_show(self, at: int | None = None) -> dict[str, Any]:
        """Return the progress, and the item at a position, or the first without an answer: its codes in `codes`."""

    def take(self, given: Mapping[str, Any]) -> None:
        """Store an answer; it is on disk when this returns."""

    def finish(self) -> dict[str, Any]:
        """Return what may be shown once the answers are final."""


class BallotServer:
    """Serves one ballot on its page until it is finished."""

    def __init__(self, ballot: Ballot, port: int = 0) -> None:
        self.ballot, self.key = ballot, token_urlsafe(16)
        self.finished = Event()
        self.listener = listening(LOOPBACK, port)
        self.port = self.listener.getsockname()[1]
        routes = [
            Route("/{key}/state", self._state),
            Route("/{key}/vote", self._vote, methods=["POST"]),
            Route("/{key}/finish", self._finish, methods=["POST"]),
            Route("/{key}/{path:path}", self._file),
        ]
        handlers = {HTTPException: _on_http, InputError: _on_failed, AssayError: _on_failed}
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False
        self._server = server_of(Guard(app, AccessRules(self.port, frozenset((LOOPBACK, "localhost")))))

    @property
    def address(self) -> str:
        """The URL of the page."""
        return f"http://{LOOPBACK}:{self.port}/{self.key}/"

    def serve(self) -> None:
        """Answer until the ballot is finished, or until a signal or another thread stops it."""
        self._server.run(sockets=[self.listener])

    def stop(self) -> None:
        """Stop after running requests are answered."""
        self._server.should_exit = True

    async def _file(self, request: Request) -> Response:
        self._check_key(request)
        path = request.path_params["path"]
        folder, _, name = path.rpartition("/") if path else ("ballot", "", self.ballot.page)
        found = page_file(folder, name) if folder in _FOLDERS else None
        if found is None or (path and name.endswith(".html")):
            raise HTTPException(404, "no such page")
        return Response(found[1], media_type=found[0])

    async def _state(self, request: Request) -> Response:
        self._check_key(request)
        at = request.query_params.get("at", "")
        return await run_in_threadpool(self._item_response, int(at) if at.isdecimal() and len(at) < 10 else None)

    async def _vote(self, request: Request) -> Response:
        vote = await self._posted(request)
        await run_in_threadpool(self.ballot.take, vote)
        return await run_in_threadpool(self._item_response, None)

    async def _finish(self, request: Request) -> Response:
        await self._posted(request)
        try:
            return JSONResponse(await run_in_threadpool(self.ballot.finish))
        finally:
            if self.ballot.finished:  # also where there are no results to show
                self.finished.set()
                self.stop()

    def _item_response(self, at: int | None) -> Response:
        shown = self.ballot.item_to_show(at)
        if shown["item"]:
            for each in shown["item"]["codes"]:
                each["styled"] = styled(each["code"], each["language"] or "python")
        return JSONResponse(shown)

    def _check_key(self, request: Request) -> None:
        if not compare_digest(request.path_params["key"].encode("utf-8", "replace"), self.key.encode()):
            raise HTTPException(404, "no such page")

    async def _posted(self, request: Request) -> dict[str, Any]:
        """Return the JSON object that the page sent."""
        self._check_key(request)
        body = await request.body()
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"the body is larger than {MAX_BODY_BYTES:,} bytes")
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise HTTPException(400, "the body is not JSON") from None
        if not isinstance(found, dict):
            raise HTTPException(400, "the body is not a JSON object")
        return found


async def _on_http(_request: Request, error: HTTPException) -> Response:
    what = "no such page" if error.status_code == 404 else error.detail
    return JSONResponse({"error": what}, error.status_code)


async def _on_failed(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400 if isinstance(error, InputError) else 500)
