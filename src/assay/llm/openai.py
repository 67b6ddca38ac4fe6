"""Ask models over any OpenAI-compatible chat completions endpoint.

An answer that does not fit the schema is sent back with what is wrong with it. What a server sends is bounded in size
and time. A client of our own: pydantic-ai-slim takes 0.83 s to import instead of 0.07, several times the processor time
a call, and does not check answers against a schema given as a dictionary.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from assay.errors import ChatError, EndpointFailed, EndpointRefused, HttpError, InputError, NoAnswer, printable
from assay.io.endpoints import BASE, KEY
from assay.io.http import HttpClient, HttpOptions
from assay.llm.endpoint import FREE, PROVIDERS, Endpoint, Spend, endpoint
from assay.llm.schema import check, is_strict, read
from assay.values import Prompt, Reply

_SHOWN = 200  # characters of a server's words in a message
_REFUSED = {401: "the key", 402: "the account", 403: "the key", 404: "the model's name and the address"}
_REFUSED[429] = "the account"
_FLAGGED = ("moderation", "flagged")  # this prompt, not the key


def headers_for(endpoint: Endpoint) -> dict[str, str]:
    """Return what says who asks."""
    key = endpoint.key()
    return {"authorization": f"Bearer {key}"} if key else {}


def chat_error(endpoint: Endpoint, error: HttpError) -> ChatError:
    """Return what an error of HTTP is to a chat."""
    if error.may_pass:
        return EndpointFailed(f"{error}: go on later", raw=error.what)
    name, status, lower = endpoint.name, error.status, error.text.lower()
    is_flagged = status == 403 and any(each in lower for each in _FLAGGED)
    if (status in _REFUSED or status < 400) and not is_flagged:
        what = _REFUSED.get(status, "the address")
        message = f"{name} refused with {error.what}; check {what}{_about_key(endpoint, status)}"
        return EndpointRefused(message, raw=error.text)
    return NoAnswer(f"{name} refused this request with {error.what}{_about_format(error.text)}", raw=error.text)


def is_completion(body: Any) -> bool:
    """Say whether a body has a message in it."""
    try:
        return isinstance(body["choices"][0]["message"], dict)
    except (KeyError, IndexError, TypeError):
        return False


def _about_key(endpoint: Endpoint, status: int) -> str:
    if status not in {401, 403}:
        return ""
    if endpoint.key():
        return f" in {endpoint.key_variable}"
    if endpoint.key_variable:
        return f": {endpoint.key_variable} is not set"
    return f": none was sent, for the address stands in the spec; set {BASE} to it, and {KEY}"


def _completion(body: Any) -> dict[str, Any]:
    """Return a body with a message in it; any other is a ValueError."""
    if is_completion(body):
        return dict(body)
    raise ValueError(f"no message: {printable(json.dumps(body, ensure_ascii=False)[: 4 * _SHOWN])[:_SHOWN]!r}")


def choice_probabilities(choice: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    """Return how likely an answer starts with each of some words, and their `mass` before they add up to 1.

    A token counts as the word that it is without white space, in any letter case. Raises ValueError if there is none.
    """
    given = _top_tokens(choice.get("logprobs"))
    if given is None:
        raise ValueError("gave no log-probabilities of its first token; name an endpoint or a model that does")
    if wrong := [value for _, value in given if not _is_log_probability(value)]:
        raise ValueError(f"gave {printable(repr(wrong[0])[:40])} as a log-probability, wanted a number of 0 or less")
    found = dict.fromkeys(names, 0.0)
    word_of = {name.casefold(): name for name in names}
    for token, value in given:
        if name := word_of.get(token.strip().casefold()):
            found[name] += math.exp(min(value, 0.0))
    mass = sum(found.values())
    if not 0 < mass < 1 + _ROUNDING:
        likely = printable(", ".join(repr(token) for token, _ in given[:3]))[:_SHOWN]
        if mass:
            raise ValueError(f"gave probabilities that add up to {mass:.3g}; name another endpoint")
        wanted = ", ".join(names)
        raise ValueError(f"starts with none of {wanted} but with {likely}; name a model that does not think first")
    return {**{name: value / mass for name, value in found.items()}, "mass": min(mass, 1.0)}


def _top_tokens(said: Any) -> list[tuple[str, Any]] | None:
    """Return the likeliest first tokens with their log-probabilities, as chats or completions have them."""
    try:
        if (content := said.get("content")) is not None:
            return [(str(each["token"]), each["logprob"]) for each in content[0]["top_logprobs"]] or None
        return [(str(token), value) for token, value in said["top_logprobs"][0].items()] or None
    except (AttributeError, IndexError, KeyError, TypeError):
        return None


def _is_log_probability(value: Any) -> bool:
    return type(value) in {int, float} and -math.inf < value <= _ROUNDING


def _about_format(text: str) -> str:
    if "logprob" in text:
        return "; this model or endpoint gives no log-probabilities: name another one"
    asked = any(word in text for word in ("response_format", "json_schema", "json_object"))
    return "; add ?format=prompt to the spec to ask for JSON in words" if asked else ""


_TOP = 20  # first tokens that are asked for; more are refused
_ROUNDING = 1e-3  # by which probabilities may add up to more than 1
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
        options = HttpOptions(endpoint.options.timeout_s, pause_s=pause_s)
        self._client = HttpClient(endpoint.name, endpoint.url, options, headers_for(endpoint))

    @property
    def name(self) -> str:
        """The spec of what answers."""
        return self._endpoint.name

    def reply(self, prompt: Prompt) -> Reply:
        """Return an answer that fits, asking again for one that does not, or how likely each choice is."""
        check(prompt.schema)
        if prompt.choices:
            return self._probabilities(prompt)
        start = time.monotonic()
        messages, taken, raw, problem = self._messages(prompt), _Taken(self._endpoint), "", ""
        for attempt in range(1, ANSWERS + 1):
            try:
                body = self._ask(self._question(messages, prompt))
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

    def most(self, prompt: Prompt) -> Spend:
        """Return what a reply takes at most: each answer may be sent back, a choice is one token."""
        asked = _most_asked(prompt)
        if prompt.choices:
            return Spend(asked + 1, self._endpoint.price.of(asked, 1))
        answered = self._endpoint.options.max_tokens
        tokens_in = ANSWERS * asked + (ANSWERS - 1) * (answered + _MOST_SAID + _OVERHEAD_TOKENS)
        return Spend(tokens_in + ANSWERS * answered, self._endpoint.price.of(tokens_in, ANSWERS * answered))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _probabilities(self, prompt: Prompt) -> Reply:
        """Return how likely each choice is as the first token of an answer."""
        start, taken = time.monotonic(), _Taken(self._endpoint)
        body = self._ask(self._question(self._messages(prompt), prompt))
        taken.add(body)
        choice = body["choices"][0]
        try:
            value = choice_probabilities(choice, prompt.choices)
        except ValueError as error:
            raise taken.with_cost(NoAnswer(f"{self.name} {error}", raw=json.dumps(choice)[:_MOST_SHOWN])) from None
        return taken.reply(value, self._model(body), time.monotonic() - start, 1)

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a completion that has a message in it."""
        try:
            return self._client.ask_json(f"{self._endpoint.url}/chat/completions", question, _completion)
        except HttpError as error:
            failure = chat_error(self._endpoint, error)
        raise failure

    def _model(self, body: dict[str, Any]) -> str:
        name = body.get("model")
        return printable(name)[:_LONGEST_NAME] if isinstance(name, str) and name else self._endpoint.model

    def _messages(self, prompt: Prompt) -> list[dict[str, str]]:
        system = prompt.system
        if self._endpoint.options.format != "schema" and not prompt.choices:
            system = f"{system}\n\n{_JSON_ONLY.format(schema=json.dumps(prompt.schema))}".lstrip()
        return [{"role": "system", "content": system}, {"role": "user", "content": prompt.text}]

    def _question(self, messages: list[dict[str, str]], prompt: Prompt) -> dict[str, Any]:
        options = self._endpoint.options
        named = {"model": self._endpoint.model, "messages": messages}
        question: dict[str, Any] = {**named, self._endpoint.most_key: options.max_tokens}
        if not math.isnan(options.temperature):
            question["temperature"] = options.temperature
        if options.seed >= 0:
            question["seed"] = options.seed
        if prompt.choices:
            return {**question, self._endpoint.most_key: 1, "logprobs": True, "top_logprobs": _TOP}
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
        text = content if isinstance(content := message.get("content"), str) else ""
        refusal = message.get("refusal")
        if refusal or finish == "content_filter":
            text = str(refusal or text)
            problem = f"{self.name} declined: {printable(text)[:200] or 'its content filter'}"
        elif finish == "length":
            most = self._endpoint.options.max_tokens
            problem = f"{self.name} was cut at {most} tokens; allow more with ?max_tokens={2 * most}"
        else:
            return text
        raise taken.with_cost(NoAnswer(problem, raw=text))


class _Taken:
    """What the answers to one prompt took together."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.tokens_in = self.tokens_out = self.tokens_cached = 0
        self.cost = 0.0

    def add(self, body: dict[str, Any]) -> None:
        """Count one answer; one without a count makes the cost unknown, unless nothing costs anything."""
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
            self.cost += self._endpoint.price.of(tokens_in or 0, tokens_out or 0, cached) if known else math.nan

    def reply(self, value: dict[str, Any], model: str, seconds: float, attempts: int) -> Reply:
        """Return the answer that fits, with what all of them took."""
        counts = (self.tokens_in, self.tokens_out, self.cost, seconds)
        return Reply(value, model, *counts, tokens_cached=self.tokens_cached, attempts=attempts)

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
    of_openai = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    return of_openai or _count(usage, "prompt_cache_hit_tokens") or 0


def _count(usage: Any, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count < _MOST_TOKENS else None


def _make(provider: str, argument: str = "", *, pause_s: float = 0.5) -> OpenAiChat:
    return OpenAiChat(endpoint(provider, argument), pause_s=pause_s)


deepseek, ollama, openai, openrouter, vllm = (partial(_make, name) for name in sorted(PROVIDERS))
