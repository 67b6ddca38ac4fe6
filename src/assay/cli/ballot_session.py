"""Serve the page of a ballot to one person until it is finished, or Ctrl+C."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from assay.errors import MissingExtra
from assay.io.terminal import say

if TYPE_CHECKING:
    from assay.serve.http.ballots import OpenBallot


def serve_ballot(ballot: OpenBallot, page: Literal["prefer", "label"], port: int) -> None:
    """Serve a ballot, and say where."""
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise MissingExtra("this page", "fastapi and uvicorn", "serve")
    from assay.serve.http.ballots import BallotServer

    server = BallotServer(ballot, page, port)
    say(f"open {server.address}")
    server.serve()
    if not server.finished.is_set():
        say("stopped; the same command goes on")
