"""Reports of `assay bench` over HTTP: which there are, one as tables, and its plots as images."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Path, Response

from assay.serve.http import json_response as answers
from assay.serve.report_data import BenchReport, ReportList, Reports
from assay.serve.turns import AnswerThreads

SVG = "image/svg+xml"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""A drawing brings its colours, and no more."""
_MOST_PLOTS = 1000

Name = Annotated[str, Path(min_length=1, max_length=255, description="A report's name, as the list has it.")]
Number = Annotated[int, Path(ge=0, le=_MOST_PLOTS, description="Which plot, from 0.")]


class ReportRoutes:
    """The routes of reports."""

    def __init__(self, reports: Reports, workers: AnswerThreads) -> None:
        self._reports, self._workers = reports, workers

    async def list(self) -> Response:
        """List the reports, newest first."""
        return answers.response_of(await self._workers.do(lambda: answers.as_json(self._reports.listed())))

    async def read(self, name: Name) -> Response:
        """Answer with a report: what came out, every table, and where its plots are."""
        work = partial(self._reports.report, name)
        return answers.response_of(await self._workers.do(lambda: answers.as_json(work())))

    async def plot(self, name: Name, number: Number) -> Response:
        """Answer with a plot, drawn for light and dark."""
        drawing = await self._workers.do(partial(self._reports.plot, name, number))
        return Response(drawing.encode(), media_type=SVG, headers={"Content-Security-Policy": _POLICY})

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        app.add_api_route("/api/bench", self.list, response_model=ReportList, responses=answers.errors())
        app.add_api_route(
            "/api/bench/{name}", self.read, response_model=BenchReport, responses=answers.errors(404, 409)
        )
        drawn: dict[int | str, dict[str, Any]] = {200: {"content": {SVG: {"schema": {"type": "string"}}}}}
        app.add_api_route(
            "/api/bench/{name}/plots/{number}.svg",
            self.plot,
            response_class=Response,
            responses={**drawn, **answers.errors(404, 409)},
        )
