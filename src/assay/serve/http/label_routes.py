"""Labels over HTTP: read those of a root, give one, take one back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fastapi import FastAPI, Request, Response

from assay.serve.http import json_response as answers
from assay.serve.http import params as given
from assay.serve.http.bodies import Label
from assay.serve.http.guard import PERSON
from assay.serve.labels import LabeledQuestion, Labeller, NewJudgment, RootLabels
from assay.serve.turns import AnswerThreads


def judge_of(request: Request, labeller: Labeller) -> str:
    """Return in whose name a request labels: the person whose token it brings, or the judge of the server."""
    return request.scope.get(PERSON) or labeller.judge


class LabelRoutes:
    """The routes of labels."""

    def __init__(self, labeller: Labeller, workers: AnswerThreads) -> None:
        self._labeller, self._workers = labeller, workers

    async def read(self, path: given.Path = "") -> Response:
        """Say what was judged of a root."""
        work = partial(self._labeller.read, path)
        return answers.response_of(await self._workers.do(lambda: answers.as_json(work())))

    async def say(self, label: Label, request: Request) -> Response:
        """Mark an answer right or wrong, or take that back; it becomes a judgment of the root's ground truth."""
        labeller = replace(self._labeller, judge=judge_of(request, self._labeller))
        work = partial(labeller.say, label.path, NewJudgment(label.query, label.target, label.grade))
        return answers.response_of(await self._workers.do(lambda: answers.as_json(work())))

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        path = "/api/labels"
        app.add_api_route(path, self.read, response_model=RootLabels, responses=answers.errors(400, 404, 409))
        app.add_api_route(
            path,
            self.say,
            methods=["POST"],
            response_model=LabeledQuestion,
            responses=answers.errors(400, 404, 409, *answers.POSTED),
        )
