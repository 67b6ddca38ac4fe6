"""Build the HTTP API of a session: a route for each operation, as JSON with an exact OpenAPI schema.

Handlers check, hand the work to a few threads and write down what comes back; the guard around them knows who may ask.
The declared models make the schema; answers are written by the standard library, which is several times faster than
having them validated again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse

from assay import __version__
from assay.corpus.blocks import lines_of
from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError
from assay.operations.catalogue import OPERATIONS, Operation
from assay.operations.files import FileText, whole_file
from assay.serve.answer_threads import AnswerThreads
from assay.serve.http import json_response as answers
from assay.serve.http import params
from assay.serve.http.access import address_in
from assay.serve.http.json_response import JsonWriter
from assay.serve.http.routes import LabelRoutes, MirrorRoutes, PageRoutes, ReportRoutes, judge_of
from assay.serve.labels import Labeller
from assay.serve.page_files import markdown_json, styled_json, styled_parts_json
from assay.serve.session import Session
from assay.values import KINDS

DESCRIPTION = (
    "Finds code by meaning in the folders that are served. Lines are 1-based and inclusive, paths relative to root. "
    "An error is a sentence. While an index is made, 503 says how far it is: ask again."
)

_LANGUAGES = sorted({*BY_EXTENSION.values(), *BY_NAME.values()})
_KINDS = [kind for kind in KINDS if kind]
_HEAD_BYTES = 8192
_POLICY = "default-src 'none'; sandbox"
"""A raw file is shown as text and cannot run scripts."""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that is served."""

    name: str
    """The prefix of its paths in requests, and its name in answers."""
    folder: str
    """Its path, for an editor on the same machine; empty for others."""


@dataclass(frozen=True, slots=True)
class Roots:
    """What is served, by which version, and the name of the judge of labels."""

    roots: list[Root]
    version: str
    judge: str
    local: bool
    """Whether the client is on the machine of these folders, so that an editor there can open them."""
    languages: list[str]
    """The values of `language` and of the query word `lang:`."""
    kinds: list[str]
    """The values of `kind` and of the query word `kind:`."""


def _styled_hits(written: JsonWriter, answer: Any) -> bytes:
    """Return an answer as JSON with the styled lines of each hit, which are JSON already."""
    styled = (styled_json(hit.text, hit.language).encode("utf-8", "backslashreplace") for hit in answer.hits)
    pairs = zip(map(written, answer.hits), styled, strict=True)
    hits = (hit[:-1] + b',"styled":' + lines + b"}" for hit, lines in pairs)
    bare = written(replace(answer, hits=[]))
    return bare.replace(b'"hits":[]', b'"hits":[' + b",".join(hits) + b"]", 1)


def _styled_file(written: JsonWriter, answer: FileText) -> bytes:
    """Return lines of a file as JSON, styled only."""
    starts = {one.line - answer.start_line for one in answer.outline if not one.depth}
    lines = styled_parts_json(lines_of(answer.text), answer.language, starts)
    is_prose = answer.language == "markdown" and answer.complete and answer.start_line == 1
    rendered = markdown_json(answer.text) if is_prose else "[]"
    more = f',"styled":{lines},"rendered":{rendered}}}'.encode("utf-8", "backslashreplace")
    return written(replace(answer, text=""))[:-1] + more


_STYLED: Mapping[str, Callable[[JsonWriter, Any], bytes]] = {
    "search": _styled_hits,
    "related": _styled_hits,
    "file": _styled_file,
}
"""Operations whose answers can be styled."""


class AskingRoutes:
    """The routes of operations on a session."""

    def __init__(self, session: Session, labeller: Labeller, workers: AnswerThreads) -> None:
        self._session, self._labeller, self._workers = session, labeller, workers
        self._written = JsonWriter(session.without_paths)

    async def roots(self, request: Request) -> Response:
        """List the served folders."""
        judge, local = judge_of(request, self._labeller), is_same_machine(request)
        names = self._session.names
        served = [Root(names[root], as_utf8(str(root)) if local else "") for root in self._session.roots]
        found = Roots(served, __version__, judge, local=local, languages=_LANGUAGES, kinds=_KINDS)
        return answers.response_of(answers.as_json(found))

    async def raw(self, request: Request) -> Response:
        """Answer with the bytes of a file: text to be shown, anything else to be saved."""
        path = params.from_query(params.FileOf, request.query_params.multi_items()).path
        found = await self._workers.do(partial(whole_file, self._session, path))
        with found.file.open("rb") as opened:
            is_text = b"\0" not in opened.read(_HEAD_BYTES)
        name = quote(found.place.inside.rpartition("/")[2])
        how = f"{'inline' if is_text else 'attachment'}; filename*=UTF-8''{name}"
        headers = {"Content-Security-Policy": _POLICY, "Content-Disposition": how}
        return FileResponse(
            found.file, headers=headers, media_type="text/plain" if is_text else "application/octet-stream"
        )

    async def ask(self, operation: Operation, request: Request) -> Response:
        """Answer with the result of an operation."""
        given = request.query_params.multi_items()
        asked = params.from_query(operation.request, given)
        is_styled = operation.name in _STYLED and params.from_query(params.Highlighting, given).styled
        written = partial(_STYLED[operation.name], self._written) if is_styled else self._written
        return await answers.answer(self._workers, lambda: operation.run(asked, self._session), written)

    async def post(self, operation: Operation, request: Request) -> Response:
        """Answer a request whose fields are too long for a URL."""
        try:
            body = await request.json()
        except (ValueError, RecursionError):
            raise params.InvalidParameter("the body: not valid JSON") from None
        asked = params.from_body(operation.request, body)
        return await answers.answer(self._workers, lambda: operation.run(asked, self._session), self._written)

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        app.add_api_route("/api/roots", self.roots, response_model=Roots, responses=answers.errors())
        for operation in OPERATIONS:
            asked = operation.request
            is_posted = operation.name == "rank"
            beside = (params.Highlighting,) if operation.name in _STYLED else ()
            app.add_api_route(
                f"/api/{operation.name}",
                _endpoint(self.post if is_posted else self.ask, operation),
                methods=["POST" if is_posted else "GET"],
                name=operation.name,
                description=operation.help,
                response_model=operation.answer,
                responses=answers.errors(400, 404, 409, *(answers.POSTED if is_posted else ())),
                openapi_extra=params.body_of(asked) if is_posted else params.query_parameters(asked, *beside),
            )
        plain: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
        responses = {**plain, **answers.errors(400, 404)}
        extra = params.query_parameters(params.FileOf)
        app.add_api_route("/api/raw", self.raw, response_class=Response, responses=responses, openapi_extra=extra)


def _endpoint(work: Callable[[Operation, Request], Any], operation: Operation) -> Callable[..., Any]:
    """Return the endpoint of an operation's route."""

    async def endpoint(request: Request) -> Response:
        answer: Response = await work(operation, request)
        return answer

    return endpoint


def is_same_machine(request: Request) -> bool:
    """Return whether a request came from this machine, by a name that no other machine has.

    What a proxy passes on says so, and into a container it comes from another address. A forwarded port cannot be
    told from this machine.
    """
    client = request.client.host if request.client else ""
    if any(name.startswith("x-forwarded-") for name in request.headers):
        return False
    name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    return _is_loopback(client) and (name == "localhost" or _is_loopback(name))


def _is_loopback(name: str) -> bool:
    address = address_in(name.partition("%")[0])
    return address is not None and address.is_loopback


def app_of(  # noqa: PLR0913  what it answers from
    session: Session,
    labeller: Labeller,
    reports: Mapping[str, Path],
    workers: AnswerThreads,
    *,
    with_token: bool = False,
    mirrors: MirrorRoutes | None = None,
) -> FastAPI:
    """Return the API of a session, without a guard yet; only the schema says whether that requires a token."""
    bearer = [Depends(HTTPBearer(auto_error=False, description="The token of the server."))] if with_token else []
    app = FastAPI(
        title="Assay",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(params.exact), *bearer],
    )
    app.state.public = session.without_paths
    AskingRoutes(session, labeller, workers).add(app)
    if mirrors:
        mirrors.add(app)
    LabelRoutes(labeller, workers).add(app)
    ReportRoutes(reports, workers).add(app)
    PageRoutes().add(app)
    app.add_exception_handler(RequestValidationError, answers.on_invalid)
    app.add_exception_handler(HTTPException, answers.on_http)
    app.add_exception_handler(AssayError, answers.on_failed)
    app.add_exception_handler(OSError, answers.on_failed)
    app.add_exception_handler(Exception, answers.on_broken)
    return app
