"""How many bytes of bodies a process holds at once: bodies in, a refusal where there is no room for more."""

from __future__ import annotations

from dataclasses import dataclass

from assay.serve.http.access import Refusal


@dataclass(slots=True)
class BodyRoom:
    """Room for so many bytes of bodies."""

    left: int


@dataclass(slots=True)
class BodyShare:
    """What one request has of a room, until it is over."""

    room: BodyRoom
    size: int = 0

    def take(self, count: int) -> None:
        """Take more bytes, or refuse the request."""
        if count > self.room.left:
            raise Refusal(503, "too many large requests at once; ask again in a moment", ((b"connection", b"close"),))
        self.room.left -= count
        self.size += count

    def give_back(self) -> None:
        """Leave the room to others."""
        self.room.left += self.size
        self.size = 0
