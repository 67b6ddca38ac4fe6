"""The environment in, which part of a server of several processes this one is out.

A part is started with the very command line of its server, so that it reads settings, folders and tokens anew; what
the command line cannot say stands in one variable, which no child of a part inherits.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from assay.io.processes import end_with

VARIABLE = "ASSAY_SERVER_PART"
WORKER, KEEPER = "worker", "keeper"


@dataclass(frozen=True, slots=True)
class ServerPart:
    """One process of a server: a worker answers requests, the keeper writes indexes; descriptors are inherited."""

    role: str
    slot: int
    """Its place in the table that all parts share."""
    parent: int
    listening: int
    ready: int
    """A pipe: a byte says that the part is ready, its end that the part is gone."""
    table: int

    def listener(self) -> socket.socket:
        """Return the socket that all workers of a server listen on."""
        listener = socket.socket(fileno=self.listening)
        listener.setblocking(False)
        return listener

    def say_ready(self) -> None:
        """Tell the supervisor that this part works."""
        os.write(self.ready, b"1")

    def environment(self) -> dict[str, str]:
        """Return what to start the part with."""
        return {VARIABLE: json.dumps(asdict(self))}


def part_of(environment: Mapping[str, str]) -> ServerPart | None:
    """Return which part this process is, and have it end with its supervisor; None where it was started by somebody."""
    said = environment.get(VARIABLE)
    if not said:
        return None
    os.environ.pop(VARIABLE, None)
    part = ServerPart(**json.loads(said))
    end_with(part.parent)
    for descriptor in (part.listening, part.ready, part.table):
        os.set_inheritable(descriptor, False)
    return part
