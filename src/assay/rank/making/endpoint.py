"""Prompts to completions by an OpenAI-compatible endpoint, `/chat/completions` or `/completions`.

The address is `ASSAY_API_BASE`, else `OPENAI_BASE_URL`, else OpenAI's own; the key is `OPENAI_API_KEY` of the
environment, never an argument, and an endpoint on one's own machine needs none. Busy and broken servers (429, 5xx,
dropped connections) are asked again with doubling pauses; any other refusal is the user's to mend and is shown at once.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any

import httpx

from assay.errors import InputError
from assay.rank.making.sample import Asked, Sampled

_TRIES = 6
_MOST_STOPS = 4  # OpenAI takes no more
_LONGEST_WAIT_S = 60.0
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_SAY = (
    "Solve this task in Python. Answer with one code block that holds the whole program, imports included, "
    "and nothing else.\n\n{prompt}"
)


class _Endpoint:
    """A model behind HTTP; how it is asked and where an answer stands is the subclass's."""

    path = ""

    def __init__(self, model: str = "", *, base: str = "", pause_s: float = 0.5, timeout_s: float = 600.0) -> None:
        if not model:
            raise InputError("a sampler of an endpoint needs its model, as in chat:MODEL")
        self.name = f"{self.path.partition('/')[0]}:{model}"
        self._model = model
        self._pause_s = pause_s
        base = base or os.environ.get("ASSAY_API_BASE") or os.environ.get("OPENAI_BASE_URL") or ""
        self._url = f"{base.rstrip('/') or 'https://api.openai.com/v1'}/{self.path}"
        key = os.environ.get("OPENAI_API_KEY")
        self._client = httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=timeout_s)

    def sample(self, prompt: str, asked: Asked) -> Sampled:
        """Return what the model says to a prompt, as often as asked for."""
        question = {"model": self._model, "n": asked.n, "temperature": asked.temperature, "top_p": asked.top_p}
        question |= {"max_tokens": asked.max_tokens, "seed": asked.seed}
        if asked.stop:
            question["stop"] = list(asked.stop[:_MOST_STOPS])
        reply = self._ask({**question, **self._said(prompt)})
        try:
            texts = tuple(self._text(choice) for choice in reply["choices"])
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{self._url} answered without choices ({error!r}): is it OpenAI-compatible?") from error
        if not texts:
            raise InputError(f"{self._url} answered with no choice at all: is it OpenAI-compatible?")
        usage = reply.get("usage") or {}
        spent = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        return Sampled(texts, *(each if isinstance(each, int) else 0 for each in spent))

    def _said(self, prompt: str) -> dict[str, Any]:
        return {"prompt": prompt}

    def _text(self, choice: dict[str, Any]) -> str:
        return str(choice["text"] or "")

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        problem = ""
        for attempt in range(_TRIES):
            reply, problem, wait_s = self._attempt(question)
            if reply is not None:
                return reply
            if attempt + 1 < _TRIES:
                time.sleep(self._pause_s * 2**attempt if wait_s is None else wait_s)
        raise InputError(
            f"{self._url} failed {_TRIES} times, last with {problem}: what came before is kept, go on later"
        )

    def _attempt(self, question: dict[str, Any]) -> tuple[dict[str, Any] | None, str, float | None]:
        """Return the reply, or what went wrong for now and how long the endpoint wants us to wait."""
        try:
            response = self._client.post(self._url, json=question)
        except httpx.TransportError as error:
            return None, f"{type(error).__name__}: {error}", None
        if response.status_code == 429 or response.status_code >= 500:
            value = response.headers.get("retry-after", "")
            wait_s = min(float(value), _LONGEST_WAIT_S) if value.replace(".", "", 1).isdigit() else None
            return None, f"HTTP {response.status_code}", wait_s
        if response.is_error:
            raise InputError(
                f"{self._url} refused {self._model!r} with HTTP {response.status_code}: {response.text[:200]!r}; "
                "check ASSAY_API_BASE, OPENAI_API_KEY and the model's name"
            )
        try:
            reply = response.json()
        except ValueError as error:
            raise InputError(f"{self._url} did not answer in JSON: is ASSAY_API_BASE right?") from error
        return (reply if isinstance(reply, dict) else {}), "", None


class CompletionSampler(_Endpoint):
    """`completions:MODEL`: the model goes on where the prompt ends."""

    path = "completions"
    whole = False


class ChatSampler(_Endpoint):
    """`chat:MODEL`: the model is asked for a program and answers with one."""

    path = "chat/completions"
    whole = True

    def _said(self, prompt: str) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": _SAY.format(prompt=prompt)}]}

    def _text(self, choice: dict[str, Any]) -> str:
        return code_of(str(choice["message"]["content"] or ""))


def code_of(answer: str) -> str:
    """Return the longest code block of an answer; an answer without one is code as it stands."""
    blocks: list[str] = _FENCE.findall(answer)
    return max(blocks, key=len) + "\n" if blocks else answer
