"""A ballot to its page, open for one person until it is finished or Ctrl+C."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Literal

from assay.io.terminal import say

if TYPE_CHECKING:
    from assay.serve.ballot_server import OpenBallot


def serve_ballot(ballot: OpenBallot, page: Literal["prefer", "label"], port: int) -> None:
    """Serve a ballot, and say where."""
    from assay.serve.ballot_server import BallotServer

    with BallotServer(ballot, page, port) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        say(f"open {server.address}")
        try:
            server.finished.wait()
        except KeyboardInterrupt:
            say("stopped; the same command goes on")
        server.shutdown()
