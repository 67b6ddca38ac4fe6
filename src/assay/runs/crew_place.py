"""What a crew asks of the place where its workers are, and what happens there: events in plain values.

The place knows the cluster, and nothing of order or tries; the crew (`assay.runs.crew`) knows those, and no cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

Work = TypeVar("Work")
End = TypeVar("End")
About = Mapping[str, str]
"""What a worker says of itself, by what it is about; `error` says why it cannot work."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A worker has said what it is."""

    worker: Hashable
    machine: str
    about: About


@dataclass(frozen=True, slots=True)
class Finished:
    """A worker has done a batch."""

    worker: Hashable
    number: int
    ends: Sequence[Any]
    seconds: float


@dataclass(frozen=True, slots=True)
class Died:
    """A worker is no more, with all that it held."""

    worker: Hashable
    why: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A machine on which no worker gets as far as an answer, and none is started again."""

    machine: str
    why: str


CrewEvent = Joined | Finished | Died | Refused


class CrewPlace(Protocol):
    """Where the workers of a crew are; one thread asks."""

    def recruit(self) -> int:
        """Start workers where there is room for more; return how many are starting."""

    def give(self, worker: Hashable, number: int, items: Sequence[Any]) -> None:
        """Hand over a batch; a worker does its batches one after another."""

    def wait(self, timeout_s: float) -> Sequence[CrewEvent]:
        """Return what has happened, after waiting no longer than that for something."""

    def dismiss(self, worker: Hashable, *, machine_too: bool = False) -> None:
        """End a worker; with its machine, none is started there again."""

    def close(self) -> None:
        """End all workers."""


class CrewMember(Protocol):
    """What `NamedWork.opener` returns where a worker is."""

    def about(self) -> About:
        """Say what it is."""

    def do(self, items: Sequence[Any]) -> Sequence[Any]:
        """Do some items, one after another."""

    def close(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class NamedWork(Generic[Work, End]):
    """What workers do, said by values alone, so that nothing else has to travel."""

    opener: str
    """`module:function` of what does it; called with the settings where the worker is."""
    settings: Mapping[str, Any]
    pack: Callable[[Work], Any]
    """An item to plain values."""
    unpack: Callable[[Any], End]
    """Plain values to what became of it."""
    broken: Callable[[Work, str], End]
    """What is said of an item that no worker survives."""
