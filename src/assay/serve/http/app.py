"""Build the HTTP API of a session: what the tools answer, as JSON with an exact OpenAPI schema.

Handlers check, hand the work to a few threads and write down what comes back; the guard around them knows who may ask.
The declared models make the schema; answers are written by the standard library, which is several times faster than
having them validated again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from assay import __version__
from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError
from assay.search.history import CommitFilter
from assay.serve import history_tools, read_tools, related_tools, search_tools
from assay.serve.history_tools import LogAnswer
from assay.serve.http import json_response as answers
from assay.serve.http import params as param
from assay.serve.http.file_routes import FileRoutes, is_same_machine
from assay.serve.http.params import Candidates
from assay.serve.http.routes import LabelRoutes, MirrorRoutes, PageRoutes, ReportRoutes, judge_of
from assay.serve.labels import Labeller
from assay.serve.page_files import styled_json
from assay.serve.read_tools import OutlineAnswer, PatternAnswer
from assay.serve.related_tools import PlacesFound, RelatedFound, RelatedUnit
from assay.serve.report_data import Reports
from assay.serve.responses import FoundAnswer, FoundUnit
from assay.serve.search_tools import FacetCounts, Order, Page, SearchFilter, Status
from assay.serve.session import Session
from assay.serve.turns import AnswerThreads
from assay.values import KINDS

DESCRIPTION = (
    "Finds code by meaning in the folders that are served. Lines are 1-based and inclusive, paths relative to root. "
    "An error is a sentence. While an index is made, 503 says how far it is: ask again."
)

_LANGUAGES = sorted({*BY_EXTENSION.values(), *BY_NAME.values()})
_KINDS = [kind for kind in KINDS if kind]
_USUAL = search_tools.USUAL_BUDGET


def _filter_of(
    mode: param.Mode = "",
    languages: param.Languages = [],  # noqa: B006  a schema
    kinds: param.Kinds = [],  # noqa: B006
    globs: param.Globs = [],  # noqa: B006
    repositories: param.Repositories = [],  # noqa: B006
) -> SearchFilter:
    return SearchFilter(mode, tuple(languages), tuple(globs), tuple(kinds), tuple(repositories))


def _page_of(k: param.Count = 50, budget: param.Budget = _USUAL, cursor: param.Cursor = "") -> Page:
    return Page(k, budget, cursor)


_Paged = Annotated[Page, Depends(_page_of)]


_Styled = list[list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class StyledFound(FoundUnit):
    """A unit that was found, with its lines for highlighting."""

    styled: _Styled = field(default_factory=list)
    """Each line as pairs of a class, as Pygments shortens them, and a text."""


@dataclass(frozen=True, slots=True)
class StyledAnswer(FoundAnswer):
    """What was found, best first, with its lines for highlighting."""

    hits: list[StyledFound]  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class StyledUnit(RelatedUnit):
    """A unit that is related, with its line for highlighting."""

    styled: _Styled = field(default_factory=list)
    """Its line as pairs of a class, as Pygments shortens them, and a text."""


@dataclass(frozen=True, slots=True)
class StyledRelated(RelatedFound):
    """What has to do with a unit, with lines for highlighting."""

    hits: list[StyledUnit]  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that is served."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Roots:
    """What is served, by which version, and in whose name labels are given."""

    roots: list[Root]
    version: str
    judge: str
    local: bool
    """Whether who asks is on the machine of these folders, so that an editor there can open them."""
    languages: list[str]
    """What `language` and the query word `lang:` may name."""
    kinds: list[str]
    """What `kind` and the query word `kind:` may name."""


class AskingRoutes:
    """The questions that can be asked of a session; each parameter is what a client sees of it."""

    def __init__(self, session: Session, labeller: Labeller, workers: AnswerThreads) -> None:
        self._session, self._labeller = session, labeller
        self._answer = partial(answers.answer, workers)

    async def roots(self, request: Request) -> Response:
        """Say which folders are served."""
        served = [Root(as_utf8(str(root)), as_utf8(root.name or str(root))) for root in self._session.roots]
        judge, local = judge_of(request, self._labeller), is_same_machine(request)
        found = Roots(served, __version__, judge, local=local, languages=_LANGUAGES, kinds=_KINDS)
        return answers.response_of(answers.as_json(found))

    async def search(  # noqa: PLR0913, PLR0917  what a client sees
        self,
        query: param.Queries,
        keep: Annotated[SearchFilter, Depends(_filter_of)],
        path: param.Path = "",
        k: param.Count = 8,
        detail: param.DetailOf = "full",
        budget: param.Budget = _USUAL,
        cursor: param.Cursor = "",
        explain: param.Explain = False,  # noqa: FBT002
        styled: param.Styled = False,  # noqa: FBT002
        grouped: param.Grouped = False,  # noqa: FBT002
    ) -> Response:
        """Find code or documentation by meaning: functions, types and sections that answer a question, best first."""
        page = Page(k, budget, cursor, explain=explain, detail=detail, is_grouped=grouped)
        work = partial(search_tools.search, self._session, query, path, keep=keep, page=page)
        return await self._answer(work, _styled if styled else answers.as_json)

    async def related(  # noqa: PLR0913, PLR0917
        self,
        path: param.Path = "",
        line: param.LineOrNone = 0,
        name: param.UnitName = "",
        k: param.Count = 8,
        budget: param.Budget = _USUAL,
        cursor: param.Cursor = "",
        explain: param.Explain = False,  # noqa: FBT002
        styled: param.Styled = False,  # noqa: FBT002
    ) -> Response:
        """Find what has to do with the unit at a line or of a name: callers, callees, tests, what is alike."""
        page = Page(k, budget, cursor, explain=explain)
        work = partial(related_tools.related, self._session, path, line, name, page=page)
        return await self._answer(work, _styled if styled else answers.as_json)

    async def definitions(
        self, path: param.File, line: param.Line, name: param.Name, k: param.Count = 8, budget: param.Budget = _USUAL
    ) -> Response:
        """Say where a name on a line of a file is defined."""
        page = Page(k, budget)
        return await self._answer(partial(related_tools.definitions, self._session, path, line, name, page=page))

    async def references(
        self, path: param.File, line: param.Line, k: param.Count = 50, budget: param.Budget = _USUAL
    ) -> Response:
        """List every place that calls the function, method or type at a line of a file."""
        page = Page(k, budget, explain=True)
        return await self._answer(partial(related_tools.references, self._session, path, line, page=page))

    async def outline(self, page: _Paged, path: param.Path = "", globs: param.Globs = []) -> Response:  # noqa: B006
        """List the signatures of files, with their lines, and the headings of prose."""
        return await self._answer(partial(read_tools.outlines, self._session, path, globs, page=page))

    async def pattern(
        self,
        pattern: param.Pattern,
        language: param.Language,
        page: _Paged,
        path: param.Path = "",
        globs: param.Globs = [],  # noqa: B006
    ) -> Response:
        """Find every place whose code has a structure (ast-grep), in order of path."""
        work = partial(read_tools.patterns, self._session, (pattern, language), path, globs, page=page)
        return await self._answer(work)

    async def log(  # noqa: PLR0913, PLR0917
        self,
        query: param.Past = "",
        path: param.Path = "",
        author: param.Author = "",
        since: param.Date = "",
        until: param.Date = "",
        k: param.Count = 8,
        budget: param.Budget = _USUAL,
    ) -> Response:
        """Find commits by meaning of messages and changes, by path, author and date; without a query the newest."""
        keep, page = CommitFilter(author, since, until), Page(k, budget)
        return await self._answer(partial(history_tools.log, self._session, query, path, keep, page=page))

    async def status(self, path: param.Path = "") -> Response:
        """Say what the index of a folder holds, what it leaves out and why, and how fresh it is."""
        return await self._answer(partial(search_tools.status, self._session, path))

    async def facets(
        self, query: param.Queries, keep: Annotated[SearchFilter, Depends(_filter_of)], path: param.Path = ""
    ) -> Response:
        """Count what a search finds by repository, language and kind, over the best 200 hits."""
        return await self._answer(partial(search_tools.facet_counts, self._session, query, path, keep))

    async def rank(self, candidates: Candidates) -> Response:
        """Order candidate programs for one task by how likely each is right, by reading them; nothing is run."""
        work = partial(search_tools.rank, candidates.programs, candidates.prompt, candidates.entry_point)
        return await self._answer(work)


def _styled(answer: Any) -> bytes:
    """Return a `StyledAnswer` or `StyledRelated` as JSON; the lines of each hit are written already."""
    styled = (styled_json(hit.text, hit.language).encode("utf-8", "backslashreplace") for hit in answer.hits)
    pairs = zip(map(answers.as_json, answer.hits), styled, strict=True)
    hits = (hit[:-1] + b',"styled":' + lines + b"}" for hit, lines in pairs)
    bare = answers.as_json(replace(answer, hits=[]))
    return bare.replace(b'"hits":[]', b'"hits":[' + b",".join(hits) + b"]", 1)


def app_of(  # noqa: PLR0913  what it answers from
    session: Session,
    labeller: Labeller,
    reports: Reports,
    workers: AnswerThreads,
    *,
    with_token: bool = False,
    mirrors: MirrorRoutes | None = None,
) -> FastAPI:
    """Return the API of a session, as yet without a guard; whether that wants a token is for the schema to say."""
    bearer = [Depends(HTTPBearer(auto_error=False, description="The token of the server."))] if with_token else []
    app = FastAPI(
        title="Assay",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(param.exact), *bearer],
    )
    _add(app, AskingRoutes(session, labeller, workers))
    FileRoutes(session, workers).add(app)
    if mirrors:
        mirrors.add(app)
    LabelRoutes(labeller, workers).add(app)
    ReportRoutes(reports, workers).add(app)
    PageRoutes().add(app)
    for kind, handler in (
        (RequestValidationError, answers.on_invalid),
        (HTTPException, answers.on_http),
        (AssayError, answers.on_failed),
        (OSError, answers.on_failed),
        (Exception, answers.on_broken),
    ):
        app.add_exception_handler(kind, handler)
    return app


def _add(app: FastAPI, routes: AskingRoutes) -> None:
    for work, answer, more in (
        (routes.roots, Roots, ()),
        (routes.search, FoundAnswer | StyledAnswer, (400, 404, 409)),
        (routes.related, RelatedFound | StyledRelated, (400, 404, 409)),
        (routes.definitions, PlacesFound, (400, 404)),
        (routes.references, PlacesFound, (400, 404)),
        (routes.outline, OutlineAnswer, (400, 404, 409)),
        (routes.pattern, PatternAnswer, (400, 404, 409)),
        (routes.log, LogAnswer, (400, 404, 409)),
        (routes.status, Status, (400, 404)),
        (routes.facets, FacetCounts, (400, 404)),
    ):
        app.add_api_route(f"/api/{work.__name__}", work, response_model=answer, responses=answers.errors(*more))
    app.add_api_route(
        "/api/rank", routes.rank, methods=["POST"], response_model=Order, responses=answers.errors(400, *answers.POSTED)
    )
