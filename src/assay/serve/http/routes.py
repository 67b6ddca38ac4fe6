"""Serve the page's own files, labels, reports of benchmarks, and listed repositories."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import FastAPI, Path, Request, Response
from starlette.responses import FileResponse

from assay.io.digest import hex_digest
from assay.operations.roots import NotServed
from assay.report.web_page import page_policy
from assay.serve.answer_threads import AnswerThreads
from assay.serve.http import json_response as answers
from assay.serve.http.guard import PERSON, WEBHOOK
from assay.serve.http.json_response import refusal
from assay.serve.http.params import Label, PlaceOf, from_query, query_parameters
from assay.serve.labels import LabeledQuestion, Labeller, RootLabels
from assay.serve.page_files import page_file
from assay.serve.served_roots import HookAnswer, ListedRoots, MirrorState, Webhook

INDEX = "index.html"
ReportName = Annotated[str, Path(min_length=1, max_length=255, description="A report's name, as the list has it.")]


class PageRoutes:
    """The routes of the page; only its own files exist, wherever a name may lead."""

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application; query parameters are for the page's own script, which keeps state there."""
        for path in ("/", "/page/{name}"):
            app.add_route(path, self.file, methods=["GET", "HEAD"], include_in_schema=False)

    async def file(self, request: Request) -> Response:
        """Answer with the page, or with a file of it."""
        found = page_file("page", request.path_params.get("name", INDEX))
        if found is None:
            return refusal(HTTPStatus.NOT_FOUND, "the page has no such file")
        kind, data = found
        tag = f'"{hex_digest(data, 12)}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if tag in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers, media_type=kind)


def judge_of(request: Request, labeller: Labeller) -> str:
    """Return the judge of a request's labels: the person whose token it has, or the judge of the server."""
    return request.scope.get(PERSON) or labeller.judge


class LabelRoutes:
    """The routes of labels."""

    def __init__(self, labeller: Labeller, workers: AnswerThreads) -> None:
        self._labeller, self._workers = labeller, workers
        self._written = answers.JsonWriter(labeller.session.without_paths)

    async def read(self, request: Request) -> Response:
        """Return the judgments of a root."""
        path = from_query(PlaceOf, request.query_params.multi_items()).path
        return await answers.answer(self._workers, partial(self._labeller.read, path), self._written)

    async def say(self, label: Label, request: Request) -> Response:
        """Mark an answer right or wrong, or remove the mark; it becomes a judgment of the root's ground truth."""
        labeller = replace(self._labeller, judge=judge_of(request, self._labeller))
        work = partial(labeller.say, label.path, label.query, label.target, label.grade, label.symbol)
        return await answers.answer(self._workers, work, self._written)

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        path = "/api/labels"
        errors = answers.errors(400, 404, 409)
        asked = query_parameters(PlaceOf)
        app.add_api_route(path, self.read, response_model=RootLabels, responses=errors, openapi_extra=asked)
        more = answers.errors(400, 404, 409, *answers.POSTED)
        app.add_api_route(path, self.say, methods=["POST"], response_model=LabeledQuestion, responses=more)


@dataclass(frozen=True, slots=True)
class BenchReport:
    """A report of measurements."""

    name: str
    """The folder of the report, which says what was measured."""
    written: str
    """Its date in ISO 8601."""
    figures: list[str]
    """The main measure of each set and system, such as `bm25 on queries: nDCG@10 0.620`; of search only."""


@dataclass(frozen=True, slots=True)
class ReportList:
    """Reports, newest first."""

    reports: list[BenchReport]


class ReportRoutes:
    """The routes of reports: each is a page of its own, in a sandbox that allows only its script."""

    def __init__(self, reports: Mapping[str, FilePath], workers: AnswerThreads) -> None:
        self._reports, self._workers = reports, workers

    async def list(self) -> Response:
        """List the reports, newest first."""
        return await answers.answer(self._workers, self._listed, answers.as_json)

    async def read(self, name: ReportName) -> Response:
        """Answer with a report."""
        found = await self._workers.do(self._report_files)
        if name not in found:
            raise NotServed(f"no report '{name[:60]}'; /api/bench lists what there is")
        policy = f"{page_policy()}; sandbox allow-scripts"
        headers = {"Content-Security-Policy": policy, "Cross-Origin-Opener-Policy": "unsafe-none"}
        return FileResponse(found[name], headers=headers, media_type="text/html")

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        app.add_api_route("/api/bench", self.list, response_model=ReportList, responses=answers.errors())
        shown = {200: {"content": {"text/html": {"schema": {"type": "string"}}}}, **answers.errors(404)}
        app.add_api_route("/api/bench/{name:path}", self.read, response_class=Response, responses=shown)

    def _report_files(self) -> dict[str, FilePath]:
        """Return the reports that exist, without symbolic links."""
        return {name: file for name, file in self._reports.items() if file.is_file() and file == file.resolve()}

    def _listed(self) -> ReportList:
        times = {name: datetime.fromtimestamp(file.stat().st_mtime, UTC) for name, file in self._report_files().items()}
        newest = sorted(times, key=times.__getitem__, reverse=True)
        shown = [(name, times[name].isoformat(timespec="seconds")) for name in newest]
        return ReportList([BenchReport(name, when, _figures_of(self._reports[name])) for name, when in shown])


_FIGURES = 8
"""Measures per report in the list."""


def _figures_of(report: FilePath) -> list[str]:
    """Return the main measure of each cell of the results beside a report, none if there are no results."""
    try:
        held = json.loads(report.with_name("results.json").read_bytes())
        measure = held["manifest"]["measures"][0]
        cells = [(each, next(iter(each["figures"].values()))) for each in held["cells"]]
        shown = [f"{each['system']} on {each['set']}: {measure} {of[measure][0]:.3f}" for each, of in cells]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration):
        return []
    return shown[:_FIGURES]


@dataclass(frozen=True, slots=True)
class ListedStatus:
    """One repository of the list."""

    place: str
    """The folder or URL in the list, without a password."""
    root: str
    """The folder of its files, as in hits."""
    branch: str
    """Empty for the default branch."""
    is_searched: bool
    """Whether there is an index to search; a repository that can no longer be fetched is searched as it was."""
    commit: str
    """The commit that is indexed; empty for a folder."""
    checked_s: float
    """Seconds since it was last updated; -1 for never."""
    problem: str
    """Why it could not be updated, or empty."""
    next_s: float
    """Seconds until it is checked again."""


@dataclass(frozen=True, slots=True)
class ListStatus:
    """Every repository of the list."""

    repositories: list[ListedStatus]
    problem: str
    """Why the present list cannot be used, so that the one before applies; or empty."""


class MirrorRoutes:
    """The routes of a server of listed repositories."""

    def __init__(self, listed: ListedRoots | None, webhook: Webhook, workers: AnswerThreads) -> None:
        self._listed, self._webhook, self._workers = listed, webhook, workers

    async def repositories(self, request: Request) -> Response:
        """Return the state of each repository in the list, those with problems first."""
        return await answers.answer(self._workers, self._status, answers.JsonWriter(request.app.state.public))

    async def webhook(self, request: Request) -> Response:
        """Fetch the repositories of a push on a code host, if the delivery is signed."""
        body, headers = await request.body(), {name.lower(): value for name, value in request.headers.items()}
        return await answers.answer(self._workers, partial(self._webhook.deliver, headers, body), answers.as_json)

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        app.add_api_route("/api/repositories", self.repositories, response_model=ListStatus, responses=answers.errors())
        more: Any = answers.errors(400, *answers.POSTED)
        app.add_api_route(WEBHOOK, self.webhook, methods=["POST"], response_model=HookAnswer, responses=more)

    def _status(self) -> ListStatus:
        if self._listed is None:
            return ListStatus([], "")
        state, now = self._listed.state, time.time()
        found = sorted(state.mirrors, key=lambda each: (not each.problem, bool(each.generation), each.place))
        return ListStatus([_status_of(each, now) for each in found], state.problem)


def _status_of(state: MirrorState, now: float) -> ListedStatus:
    return ListedStatus(
        place=state.place,
        root=state.root,
        branch=state.branch,
        is_searched=bool(state.generation),
        commit=state.commit,
        checked_s=round(max(now - state.checked, 0.0), 1) if state.checked else -1.0,
        problem=state.problem,
        next_s=round(max(state.due - now, 0.0), 1),
    )
