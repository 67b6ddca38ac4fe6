"""The tokens of an answer with their log-probabilities in, the log-probability of the program in it out.

An answer holds more than the program: what follows the stop sequence, or the words around a code block. The tokens are
laid beside the bytes of the answer, and those that begin within the program count. Where they do not add up to the
answer, as with tokens that an endpoint cannot write as text, all of them count and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from assay.programs.samples import logprob_sum
from assay.types import LogProbability


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
        return list(_of_completion(said) if said.get("content") is None else _of_chat(said["content"]))
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


def _of_chat(content: Sequence[dict[str, Any]]) -> Iterator[ScoredToken]:
    for each in content:
        raw = each.get("bytes")
        yield ScoredToken(bytes(raw) if raw is not None else each["token"].encode(), float(each["logprob"]))


def _of_completion(said: dict[str, Any]) -> Iterator[ScoredToken]:
    for token, logprob in zip(said["tokens"], said["token_logprobs"], strict=True):
        if logprob is not None:
            yield ScoredToken(token.encode("utf-8", "replace"), float(logprob))
