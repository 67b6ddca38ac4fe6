"""Prompts to completions by an OpenAI-compatible endpoint, `/chat/completions` or `/completions`.

The environment names its address and key, no argument does.
"""

from __future__ import annotations

import re
from typing import Any

from assay.errors import InputError, printable
from assay.io.addresses import BASE
from assay.io.http import HttpOptions
from assay.io.model_endpoint import ModelEndpoint
from assay.rank.sampling.sample import Completions, SamplingOptions

_MOST_STOPS = 4  # OpenAI takes no more
_MOST_BYTES = 32_000_000
_SHOWN = 200  # characters of an answer in a message
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_SAY = (
    "Solve this task in Python. Answer with one code block that holds the whole program, imports included, "
    "and nothing else.\n\n{prompt}"
)


class _EndpointSampler:
    """A model behind HTTP; how it is asked and where an answer stands is the subclass's."""

    path = ""

    def __init__(self, model: str = "", *, base: str = "", pause_s: float = 0.5, timeout_s: float = 600.0) -> None:
        if not model:
            raise InputError("a sampler of an endpoint needs its model, as in chat:MODEL")
        self.name = f"{self.path.partition('/')[0]}:{model}"
        options = HttpOptions(timeout_s, _MOST_BYTES, pause_s=pause_s)
        self._endpoint = ModelEndpoint(
            self.path, model, options, base=base, later=f"what came before is kept, go on later, or check {BASE}"
        )

    def sample(self, prompt: str, asked: SamplingOptions) -> Completions:
        """Return what the model says to a prompt, as often as asked for."""
        question: dict[str, Any] = {"n": asked.n, "temperature": asked.temperature, "top_p": asked.top_p}
        question |= {"max_tokens": asked.max_tokens, "seed": asked.seed, **self._question_about(prompt)}
        if asked.stop:
            question["stop"] = list(asked.stop[:_MOST_STOPS])
        reply = self._endpoint.ask(question)
        try:
            texts = tuple(self._text(choice) for choice in reply["choices"])
        except (KeyError, TypeError, AttributeError) as error:
            what = printable(repr(error))[:_SHOWN]
            raise InputError(
                f"{self._endpoint.url} answered without choices ({what}): is it OpenAI-compatible?"
            ) from error
        if not texts:
            raise InputError(f"{self._endpoint.url} answered with no choice at all: is it OpenAI-compatible?")
        usage = reply["usage"] if isinstance(reply.get("usage"), dict) else {}
        spent = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        return Completions(texts, *(each if isinstance(each, int) else 0 for each in spent))

    def _question_about(self, prompt: str) -> dict[str, Any]:
        return {"prompt": prompt}

    def _text(self, choice: dict[str, Any]) -> str:
        return str(choice["text"] or "")


class CompletionSampler(_EndpointSampler):
    """`completions:MODEL`: the model goes on where the prompt ends."""

    path = "completions"
    whole = False


class ChatSampler(_EndpointSampler):
    """`chat:MODEL`: the model is asked for a program and answers with one."""

    path = "chat/completions"
    whole = True

    def _question_about(self, prompt: str) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": _SAY.format(prompt=prompt)}]}

    def _text(self, choice: dict[str, Any]) -> str:
        return code_of(str(choice["message"]["content"] or ""))


def code_of(answer: str) -> str:
    """Return the longest code block of an answer; an answer without one is code as it stands."""
    blocks: list[str] = _FENCE.findall(answer)
    return max(blocks, key=len) + "\n" if blocks else answer
