"""What a model is asked for programs, what it answers, and what every sampler has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.types import LogProbability


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How a model is asked."""

    n: int = 10
    temperature: float = 0.8
    top_p: float = 0.95
    max_tokens: int = 512
    seed: int = 0
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    """Whether log-probabilities are asked for."""


@dataclass(frozen=True, slots=True)
class SamplingQuestion:
    """One prompt, and how the model is asked."""

    prompt: str
    options: SamplingOptions


@dataclass(frozen=True, slots=True)
class Completions:
    """What a model answered to one question, and what it took."""

    texts: tuple[str, ...]
    prompt_tokens: int = 0
    completion_tokens: int = 0
    logprobs: tuple[LogProbability | None, ...] = ()
    """Of each text up to the first stop sequence; empty where nobody asked, None where the model does not say."""


class Sampler(Protocol):
    """A model that writes programs."""

    @property
    def name(self) -> str:
        """The spec that makes it again."""

    @property
    def whole(self) -> bool:
        """Whether it is told what to do and writes whole programs, rather than going on where the prompt ends."""

    @property
    def at_once(self) -> int:
        """How many texts one call makes together; 1 for what answers one question at a time, in several threads."""

    def sample(self, questions: Sequence[SamplingQuestion]) -> list[Completions]:
        """Return at least one text for each question."""
