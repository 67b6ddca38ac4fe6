"""Declare the few protocols that parts have: nothing to inherit, nothing to register, batch first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from assay.values import Chunk, Hit, Program, Prompt, Query, Ranked, Reply, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any  # who speaks of vectors need not load numpy

Role = Literal["query", "code"]
"""The role of a text; chunks of documentation are `docs` only to an encoder that has another role for them."""
Say = Callable[[str], None]
"""Called with a line for a waiting user."""
Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the amount done, and the total: 0 at the start of one of unknown size."""


Work_contra = TypeVar("Work_contra", contravariant=True)
End_co = TypeVar("End_co", covariant=True)


class Runner(Protocol[Work_contra, End_co]):
    """Runs work on this machine or on others, and returns the result of each item."""

    @property
    def name(self) -> str:
        """The kind of runner."""

    @property
    def guarantees(self) -> tuple[str, ...]:
        """What it protects against."""

    def run(self, jobs: Iterable[Work_contra]) -> Iterator[End_co]:
        """Yield the result of each item, in order; items are taken only as fast as they are worked on."""

    def close(self) -> None:
        """Close the runner."""


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors.

    It may say two things of itself, as attributes: `reads_order` (True if it does not say), whether the order of words
    counts, and `is_quick` (False), whether it is a table that is faster than a cache and needs numpy alone.
    """

    @property
    def name(self) -> str:
        """The spec that opens this very encoder again; part of an index's identity."""

    @property
    def dimension(self) -> int:
        """The width of a vector."""

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one unit-length row a text, shape `(len(texts), dimension)`, float32."""


def reads_order(encoder: Encoder) -> bool:
    """Return whether an encoder reads words in their order, rather than adding them up."""
    return bool(getattr(encoder, "reads_order", True))


def is_quick(encoder: Encoder) -> bool:
    """Return whether an encoder is a table rather than a neural network."""
    return bool(getattr(encoder, "is_quick", False))


@runtime_checkable
class Searcher(Protocol):
    """Ranks hits for queries."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first, in the order of the queries."""


@runtime_checkable
class Scorer(Protocol):
    """Rates how well each chunk answers one query."""

    def score(self, query: Query, chunks: Sequence[Chunk]) -> Sequence[float]:
        """Return one score a chunk; higher is better."""


@runtime_checkable
class Ranker(Protocol):
    """Rates which of a task's candidate programs are right."""

    @property
    def name(self) -> str:
        """The spec that opens this very ranker again."""

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return a rating of each program, in the order of the programs."""


Pool = tuple[Task, Sequence[Program]]
"""A task and its candidates."""


@runtime_checkable
class ManyRanker(Ranker, Protocol):
    """A ranker that is faster with several tasks at once."""

    def rank_many(self, pools: Sequence[Pool]) -> list[list[Ranked]]:
        """Return a rating of each program of each pool, in order."""


@runtime_checkable
class Chat(Protocol):
    """A language model that answers one prompt at a time; many threads may call it."""

    @property
    def name(self) -> str:
        """The spec of the model: its name, its address, and the settings that change an answer."""

    def reply(self, prompt: Prompt) -> Reply:
        """Return an answer that fits the prompt's schema; raise `ChatError` if there is none after all retries."""


class Stop(Protocol):
    """Tells when it is time to stop."""

    def is_set(self) -> bool:
        """Return whether it is."""
