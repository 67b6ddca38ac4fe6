"""Prompts to replies by any OpenAI-compatible `/chat/completions` endpoint.

Too many requests, broken servers, cut or late bodies are asked again with doubling pauses or when the server says;
an answer that does not fit the schema is sent back with what is wrong with it. What a server sends is bounded in
size and time, and the key is taken out of it before anything else looks at it.

A client of our own, not pydantic-ai-slim, which was measured first (2.68 on a loopback server): 0.83 s to import
where httpx takes 0.07; 3.6 to 5.9 ms of processor time a call where this takes 0.5; one object that 8 threads shared
lost 151 of 400 calls to event loops; a schema given as a dictionary is sent but the answer not checked against it;
a body of 300 MB was read whole; a body of broken JSON was final.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from functools import partial
from typing import Any

from assay.errors import ChatError, InputError, NoAnswer, printable
from assay.llm.chat_wire import ChatWire
from assay.llm.prices import BATCH, FREE, Spend
from assay.llm.providers import Endpoint, endpoint
from assay.llm.reply_json import read
from assay.llm.schema import check, is_strict
from assay.types import Prompt, Reply

ANSWERS = 3
"""That are asked for at most before there is none."""
_MOST_SHOWN = 4000  # characters of a wrong answer that the model sees again
_LONGEST_NAME = 200
_MOST_TOKENS = 10**9  # a larger count is no count
_MOST_SAID = 1000  # characters of what is wrong with it
_OVERHEAD_TOKENS = 200  # roles, separators, and our own sentences
_JSON_ONLY = "Answer with one JSON object and nothing else. It has to fit this JSON schema:\n{schema}"
_AGAIN = "That answer cannot be used: {problem}. Answer again with one JSON object that fits the schema, nothing else."


class OpenAiChat:
    """A model behind HTTP; any number of threads may share it."""

    def __init__(self, endpoint: Endpoint, *, pause_s: float = 0.5) -> None:
        if endpoint.needs_key and not endpoint.key():
            variable, other = endpoint.key_variable, f"{endpoint.name.partition('?')[0]}@URL"
            raise InputError(f"'{endpoint.name}' needs a key: set {variable}, or name an endpoint of your own, {other}")
        self._endpoint = endpoint
        self._wire = ChatWire(endpoint, pause_s)

    @property
    def name(self) -> str:
        """The spec of what answers."""
        return self._endpoint.name

    def reply(self, prompt: Prompt) -> Reply:
        """Return an answer that fits, asking again for one that does not."""
        check(prompt.schema)
        start = time.monotonic()
        messages, taken, raw, problem = self._messages(prompt), _Taken(self._endpoint), "", ""
        for attempt in range(1, ANSWERS + 1):
            try:
                body = self._wire.ask(self._question(messages, prompt))
            except ChatError as error:
                raise taken.with_cost(error) from error.__cause__
            taken.add(body)
            raw = self._text(body, taken)
            value, problem = read(raw, prompt.schema)
            if value is not None:
                return taken.reply(value, self._model(body), time.monotonic() - start, attempt)
            shown = {"role": "assistant", "content": raw[:_MOST_SHOWN]}
            messages = [*messages[:2], shown, {"role": "user", "content": _AGAIN.format(problem=problem[:_MOST_SAID])}]
        message = f"{self.name} gave no valid answer in {ANSWERS}; the last: {printable(problem)}"
        raise taken.with_cost(NoAnswer(message, raw=raw))

    def question(self, prompt: Prompt) -> dict[str, Any]:
        """Return what the endpoint is asked first."""
        return self._question(self._messages(prompt), prompt)

    def read_batch(self, body: dict[str, Any], prompt: Prompt) -> Reply:
        """Return the answer that a batch has to a question; without a value it does not fit the schema."""
        taken = _Taken(self._endpoint, BATCH)
        taken.add(body)
        value, _ = read(self._text(body, taken), prompt.schema)
        return replace(taken.reply(value or {}, self._model(body), 0.0, 1), batch=True)

    def taken_by(self, body: dict[str, Any]) -> Reply:
        """Return what an answer of a batch took, without its value."""
        taken = _Taken(self._endpoint, BATCH)
        taken.add(body)
        return taken.reply({}, self._model(body), 0.0, 1)

    def most_of_batch(self, prompt: Prompt) -> Spend:
        """Return what one answer of a batch takes at most."""
        asked, answered = _most_asked(prompt), self._endpoint.options.max_tokens
        return Spend(asked + answered, self._endpoint.price.times(BATCH).of(asked, answered))

    def most_of_line(self, line: bytes) -> Spend:
        """Return what the answer to a line of a batch takes at most."""
        asked, answered = len(line), self._endpoint.options.max_tokens
        return Spend(asked + answered, self._endpoint.price.times(BATCH).of(asked, answered))

    def most(self, prompt: Prompt) -> Spend:
        """Return what a reply takes at most: each answer may be sent back."""
        asked = _most_asked(prompt)
        answered = self._endpoint.options.max_tokens
        tokens_in = ANSWERS * asked + (ANSWERS - 1) * (answered + _MOST_SAID + _OVERHEAD_TOKENS)
        return Spend(tokens_in + ANSWERS * answered, self._endpoint.price.of(tokens_in, ANSWERS * answered))

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def _model(self, body: dict[str, Any]) -> str:
        told = body.get("model")
        return printable(told)[:_LONGEST_NAME] if isinstance(told, str) and told else self._endpoint.model

    def _messages(self, prompt: Prompt) -> list[dict[str, str]]:
        system = prompt.system
        if self._endpoint.options.format != "schema":
            system = f"{system}\n\n{_JSON_ONLY.format(schema=json.dumps(prompt.schema))}".lstrip()
        return [{"role": "system", "content": system}, {"role": "user", "content": prompt.text}]

    def _question(self, messages: list[dict[str, str]], prompt: Prompt) -> dict[str, Any]:
        options = self._endpoint.options
        question: dict[str, Any] = {"model": self._endpoint.model, "messages": messages}
        question[self._endpoint.most_key] = options.max_tokens
        if not math.isnan(options.temperature):
            question["temperature"] = options.temperature
        if options.seed >= 0:
            question["seed"] = options.seed
        if options.format == "object":
            question["response_format"] = {"type": "json_object"}
        if options.format == "schema":
            schema = {"name": "answer", "schema": prompt.schema, "strict": is_strict(prompt.schema)}
            question["response_format"] = {"type": "json_schema", "json_schema": schema}
        return question

    def _text(self, body: dict[str, Any], taken: _Taken) -> str:
        """Return what the model wrote, if it was willing and got to its end."""
        choice = body["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        said = message.get("content")
        text = said if isinstance(said, str) else ""
        refusal = message.get("refusal")
        if refusal or finish == "content_filter":
            words = str(refusal or text)
            problem = f"{self.name} declined: {printable(words)[:200] or 'its content filter'}"
            raise taken.with_cost(NoAnswer(problem, raw=words))
        if finish == "length":
            most = self._endpoint.options.max_tokens
            problem = f"{self.name} was cut at {most} tokens; allow more with ?max_tokens={2 * most}"
            raise taken.with_cost(NoAnswer(problem, raw=text))
        return text


class _Taken:
    """What the answers to one prompt took together."""

    def __init__(self, endpoint: Endpoint, factor: float = 1.0) -> None:
        self._endpoint, self._price = endpoint, endpoint.price.times(factor)
        self.tokens_in = self.tokens_out = self.tokens_cached = 0
        self.cost = 0.0

    def add(self, body: dict[str, Any]) -> None:
        """Count one answer; one without a count makes the cost unknown, unless nothing costs anything."""
        price = self._price
        usage = body["usage"] if isinstance(body.get("usage"), dict) else {}
        tokens_in, tokens_out = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        cached = min(_cached(usage), tokens_in or 0)
        self.tokens_in, self.tokens_out = self.tokens_in + (tokens_in or 0), self.tokens_out + (tokens_out or 0)
        self.tokens_cached += cached
        paid = usage.get("cost") if self._endpoint.tells_cost else None
        if isinstance(paid, int | float) and 0 <= paid < math.inf:
            self.cost += float(paid)
        elif self._endpoint.price != FREE:
            known = tokens_in is not None and tokens_out is not None
            self.cost += price.of(tokens_in or 0, tokens_out or 0, cached) if known else math.nan

    def reply(self, value: dict[str, Any], model: str, seconds: float, attempts: int) -> Reply:
        """Return the answer that fits, with what all of them took."""
        took = Reply(value, model, self.tokens_in, self.tokens_out, self.cost, seconds)
        return replace(took, tokens_cached=self.tokens_cached, attempts=attempts)

    def with_cost(self, error: ChatError) -> ChatError:
        """Return an error that says what was taken before it."""
        error.tokens_in, error.tokens_out, error.cost = self.tokens_in, self.tokens_out, self.cost
        return error


def _most_asked(prompt: Prompt) -> int:
    """Return the most tokens that a question has: a token is a byte of text or more."""
    texts = (prompt.system, prompt.text, json.dumps(prompt.schema) * 2)
    return sum(len(text.encode("utf-8", "replace")) for text in texts) + _OVERHEAD_TOKENS


def _cached(usage: dict[str, Any]) -> int:
    """Return the tokens that were read before: as OpenAI says it, and most do, or as DeepSeek."""
    details = usage.get("prompt_tokens_details")
    of_openai = _count(details, "cached_tokens") if isinstance(details, dict) else None
    return of_openai or _count(usage, "prompt_cache_hit_tokens") or 0


def _count(usage: dict[str, Any], name: str) -> int | None:
    told = usage.get(name)
    return told if type(told) is int and 0 <= told < _MOST_TOKENS else None


def _make(provider: str, argument: str = "", *, pause_s: float = 0.5) -> OpenAiChat:
    return OpenAiChat(endpoint(provider, argument), pause_s=pause_s)


deepseek = partial(_make, "deepseek")
ollama = partial(_make, "ollama")
openai = partial(_make, "openai")
openrouter = partial(_make, "openrouter")
vllm = partial(_make, "vllm")
