"""Sample from an OpenAI-compatible endpoint, `/chat/completions` or `/completions`, with log-probabilities.

The environment names its address and key, no argument does. Any number of threads may share a sampler: an endpoint
that has too many requests is left alone by all of them together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from assay.errors import InputError, ModelUnavailable, printable
from assay.io.endpoints import BASE
from assay.io.http import HttpOptions, ModelEndpoint
from assay.programs.samples import cut, logprob_sum
from assay.values import LogProbability


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


class SamplingQuestion(NamedTuple):
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

    def sample(self, question: SamplingQuestion) -> Completions:
        """Return at least one text; several threads call it."""


class ScoredToken(NamedTuple):
    """One token of an answer."""

    raw: bytes
    logprob: float


def tokens_of(choice: dict[str, Any]) -> list[ScoredToken] | None:
    """Return the tokens of a choice as OpenAI's two endpoints have them; None where it has no list that can be read."""
    said = choice.get("logprobs")
    if not isinstance(said, dict):
        return None
    try:
        if (content := said.get("content")) is not None:
            raw = [
                bytes(each["bytes"]) if each.get("bytes") is not None else each["token"].encode() for each in content
            ]
            return [ScoredToken(token, float(each["logprob"])) for token, each in zip(raw, content, strict=True)]
        pairs = zip(said["tokens"], said["token_logprobs"], strict=True)
        return [ScoredToken(token.encode("utf-8", "replace"), float(each)) for token, each in pairs if each is not None]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def logprob_in(answer: str, program: str, tokens: Sequence[ScoredToken] | None) -> LogProbability | None:
    """Return the log-probability of a program within an answer; None of an answer whose tokens are not there."""
    if tokens is None or (answer and not tokens):
        return None
    text, part = answer.encode("utf-8", "replace"), program.encode("utf-8", "replace")
    start, joined = text.find(part), b"".join(token.raw for token in tokens)
    if start < 0 or not joined.startswith(text):
        return logprob_sum([token.logprob for token in tokens], "answer")
    counted, at = list[float](), 0
    for token in tokens:
        if start <= at + len(token.raw) - 1 and at < start + len(part):
            counted.append(token.logprob)
        at += len(token.raw)
    return logprob_sum(counted)


_MOST_STOPS = 4  # OpenAI takes no more
_MOST_BYTES = 32_000_000
_SHOWN = 200  # characters of an answer in a message
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_UNREADABLE = frozenset({400, 404, 415, 422})


class _EndpointSampler:
    """A model behind HTTP; how it is asked and where an answer stands is the subclass's."""

    path = added = ""
    wanted_logprobs: int | bool = 1

    def __init__(self, model: str = "", *, base: str = "", pause_s: float = 0.5, timeout_s: float = 600.0) -> None:
        if not model:
            raise InputError("a sampler of an endpoint needs its model, as in chat:MODEL")
        self.name = f"{self.path.partition('/')[0]}:{model}"
        options = HttpOptions(timeout_s, _MOST_BYTES, pause_s=pause_s)
        self._endpoint = ModelEndpoint(
            self.path, model, options, base=base, later=f"what came before is kept, go on later, or check {BASE}"
        )

    def sample(self, question: SamplingQuestion) -> Completions:
        """Return what the model goes on with, as often as the options say."""
        asked = question.options
        reply = self._ask(question.prompt, asked)
        try:
            said = [(self._text(choice), tokens_of(choice) if asked.logprobs else None) for choice in reply["choices"]]
        except (KeyError, TypeError, AttributeError) as error:
            what = printable(repr(error))[:_SHOWN]
            raise InputError(
                f"{self._endpoint.url} answered without choices ({what}): is it OpenAI-compatible?"
            ) from error
        if not said:
            raise InputError(f"{self._endpoint.url} answered with no choice at all: is it OpenAI-compatible?")
        texts = [self._program(text, asked.stop) for text, _ in said]
        logprobs = [
            logprob_in(whole, cut(text, asked.stop).removesuffix(self.added), tokens)
            for text, (whole, tokens) in zip(texts, said, strict=True)
        ]
        usage = reply["usage"] if isinstance(reply.get("usage"), dict) else {}
        counts = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
        spent = [each if isinstance(each, int) else 0 for each in counts]
        return Completions(tuple(texts), spent[0], spent[1], tuple(logprobs) if asked.logprobs else ())

    def _ask(self, prompt: str, asked: SamplingOptions) -> dict[str, Any]:
        question: dict[str, Any] = {"n": asked.n, "temperature": asked.temperature, "top_p": asked.top_p}
        question |= {"max_tokens": asked.max_tokens, "seed": asked.seed, **self._question_about(prompt)}
        if asked.stop:
            question["stop"] = list(asked.stop[:_MOST_STOPS])
        if asked.logprobs:
            question["logprobs"] = self.wanted_logprobs
        try:
            return self._endpoint.ask(question)
        except ModelUnavailable as error:
            if asked.logprobs and error.status in _UNREADABLE and "logprob" in str(error).lower():
                raise InputError(f"{error}; it gives no log-probabilities: add --no-logprobs") from error
            raise

    def _question_about(self, prompt: str) -> dict[str, Any]:
        return {"prompt": prompt}

    def _text(self, choice: dict[str, Any]) -> str:
        return str(choice["text"] or "")

    def _program(self, text: str, stop: Sequence[str]) -> str:  # noqa: ARG002  a chat cuts first
        return text


class CompletionSampler(_EndpointSampler):
    """`completions:MODEL`: the model goes on where the prompt ends."""

    path = "completions"
    whole = False


class ChatSampler(_EndpointSampler):
    """`chat:MODEL`: the model is asked for a program and answers with one."""

    path = "chat/completions"
    added = "\n"
    """What an answer's code block does not have, and its program does."""
    whole = True
    wanted_logprobs = True

    def _question_about(self, prompt: str) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": prompt}]}

    def _text(self, choice: dict[str, Any]) -> str:
        return str(choice["message"]["content"] or "")

    def _program(self, text: str, stop: Sequence[str]) -> str:
        return code_of(cut(text, stop))


def code_of(answer: str) -> str:
    """Return the longest code block of an answer; an answer without one is code as it stands."""
    blocks: list[str] = _FENCE.findall(answer)
    return max(blocks, key=len) + "\n" if blocks else answer
