"""The routes of listed repositories: how each of them stands, and where a code host tells of a push."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response

from assay.serve.http import json_response as answers
from assay.serve.http.guard import WEBHOOK
from assay.serve.mirror_state import MirrorState
from assay.serve.served_roots import ListedRoots
from assay.serve.turns import AnswerThreads
from assay.serve.webhook import HookAnswer, Webhook


@dataclass(frozen=True, slots=True)
class ListedStatus:
    """One repository of the list."""

    place: str
    """The folder or URL that the list names, without a password."""
    root: str
    """The folder of its files, as hits have it."""
    branch: str
    """Empty: the default branch."""
    is_searched: bool
    """Whether there is an index to search; one that can be fetched no more is searched as it was."""
    commit: str
    """What is indexed; empty for a folder."""
    checked_s: float
    """Seconds since it was last brought up to date; -1 never."""
    problem: str
    """Why it could not be brought up to date, or empty."""
    next_s: float
    """Seconds until it is looked at again."""


@dataclass(frozen=True, slots=True)
class ListStatus:
    """Every repository of the list."""

    repositories: list[ListedStatus]
    problem: str
    """Why the list as it is now cannot be used, so that the one before stays in force; or empty."""


class MirrorRoutes:
    """What a server of listed repositories answers besides questions."""

    def __init__(self, listed: ListedRoots | None, webhook: Webhook, workers: AnswerThreads) -> None:
        self._listed, self._webhook, self._workers = listed, webhook, workers

    async def repositories(self) -> Response:
        """Say how each repository of the list stands, those with problems first."""
        return answers.response_of(await self._workers.do(lambda: answers.as_json(self._status())))

    async def webhook(self, request: Request) -> Response:
        """Fetch the repositories that a push on a code host is about, if the delivery is signed."""
        body, headers = await request.body(), {name.lower(): value for name, value in request.headers.items()}
        work = partial(self._webhook.deliver, headers, body)
        return answers.response_of(await self._workers.do(lambda: answers.as_json(work())))

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
