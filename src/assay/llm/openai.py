"""Ask models over any OpenAI-compatible chat completions endpoint.

An answer that does not fit the schema is sent back with what is wrong with it, one that was cut once. A prompt whose
schema bounds every text gets as many tokens as that takes, and a model that thinks aloud all that its spec allows. What
a server sends is bounded in size and time; what it refuses to do is learned, and said once. A client of our own:
pydantic-ai-slim takes 0.83 s to import instead of 0.07, several times the processor time a call, and does not check
answers against a schema given as a dictionary.
"""

from __future__ import annotations

import json
import math
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from assay.errors import ChatError, EndpointFailed, EndpointRefused, HttpError, InputError, NoAnswer, Notice, printable
from assay.io.endpoint_address import BASE, KEY
from assay.io.http import HttpClient, HttpOptions, OnLost, Result
from assay.llm.endpoint import FREE, PROVIDERS, Endpoint, Spend, endpoint
from assay.llm.schema import LENGTHS, check, is_strict, most_tokens, read, without_lengths
from assay.llm.wrappers import More
from assay.values import Prompt, Reply

_MAX_ERROR_CHARS = 200  # characters of a server's words in a message
_REFUSED = {401: "the key", 402: "the account", 403: "the key", 404: "the model's name and the address"}
_REFUSED[429] = "the account"
_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "grammar")
_FULL_WORDS = ("length", "size", "exceed", "window")
_FULL = ("longer than the maximum model length", "prompt is too long")  # without the word context
_UNKNOWN_WORDS = ("unsupported", "not support", "unknown", "unrecognized", "not permitted", "unexpected", "extra")
_LENGTH_KEYS = ("max_tokens", "max_completion_tokens")
_OPTIONAL = (*_LENGTH_KEYS, "temperature", "seed")
_FLAGGED = ("moderation", "flagged", "logprob")  # this prompt, or what is asked, not the key


def headers_for(endpoint: Endpoint) -> dict[str, str]:
    """Return the headers that identify and authorize a client."""
    key = endpoint.key()
    return {"authorization": f"Bearer {key}"} if key else {}


def chat_error(endpoint: Endpoint, error: HttpError) -> ChatError:
    """Convert an HTTP error to a chat error."""
    if error.is_first:
        return EndpointRefused(f"{error}; check the address {endpoint.url}", raw=error.what)
    if error.may_pass:
        return EndpointFailed(f"{error}: go on later", raw=error.what)
    name, status, lower = endpoint.name, error.status, error.text.lower()
    is_flagged = status == 403 and any(each in lower for each in _FLAGGED)
    if (status in _REFUSED or status < 400) and not is_flagged:
        what = _REFUSED.get(status, "the address")
        message = f"{name} refused with {error.what}; check {what}{_about_key(endpoint, status)}"
        return EndpointRefused(message, raw=error.text)
    if any(word in lower for word in _FORMAT_WORDS):
        message = f"{name} refused with {error.what}; add ?format=prompt to the spec to ask for JSON in words"
        return EndpointRefused(message, raw=error.text)
    is_full = "context" in lower and any(word in lower for word in _FULL_WORDS)
    is_full = is_full or any(words in lower for words in _FULL)
    advice = "; shorten the input, or serve the model with a larger context" if is_full else ""
    if "logprob" in lower:
        advice = "; this model or endpoint gives no log-probabilities: name another one"
    return NoAnswer(f"{name} refused this request with {error.what}{advice}", raw=error.text)


def open_client(endpoint: Endpoint, *, pause_s: float = 0.5, most_bytes: int = 4_000_000) -> HttpClient:
    """Return an HTTP client of an endpoint; raise InputError if its key is missing."""
    if endpoint.needs_key and not endpoint.key():
        variable, other = endpoint.key_variable, f"{endpoint.name.partition('?')[0]}@URL"
        raise InputError(f"'{endpoint.name}' needs a key: set {variable}, or name an endpoint of your own, {other}")
    options = HttpOptions(endpoint.options.timeout_s, most_bytes, pause_s=pause_s)
    return HttpClient(endpoint.name, endpoint.url, options, headers_for(endpoint))


def _about_key(endpoint: Endpoint, status: int) -> str:
    if status not in {401, 403}:
        return ""
    if endpoint.key():
        return f" in {endpoint.key_variable}"
    if endpoint.key_variable:
        return f": {endpoint.key_variable} is not set"
    return f": none was sent, for the address stands in the spec; set {BASE} to it, and {KEY}"


def _completion(body: Any) -> dict[str, Any]:
    """Return a body with a list of choices, possibly empty; raise ValueError for any other."""
    if isinstance(body, dict) and isinstance(body.get("choices"), list):
        return body
    raise ValueError(f"no choices: {_brief(body)}")


def _brief(body: object) -> str:
    return repr(printable(json.dumps(body, ensure_ascii=False)[: 4 * _MAX_ERROR_CHARS])[:_MAX_ERROR_CHARS])


def _refused(text: str, question: Mapping[str, Any]) -> frozenset[str]:
    """Return the optional parts that a refusal names: bounds of the schema, or unknown parameters."""
    if any(name in text for name in LENGTHS):
        return frozenset(LENGTHS)
    is_unknown = any(word in text.lower() for word in _UNKNOWN_WORDS)
    return frozenset(name for name in _OPTIONAL if name in question and re.search(rf"\b{name}\b", text) and is_unknown)


def choice_probabilities(choice: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    """Return the probability that an answer starts with each word, and their `mass` before normalization.

    A token counts as the word that it is without white space, also as vocabularies write that, in any letter case.
    Raises ValueError if there is none.
    """
    given = _top_tokens(choice.get("logprobs"))
    if given is None:
        raise ValueError("gave no log-probabilities of its first token; name an endpoint or a model that does")
    if wrong := [value for _, value in given if not is_log_probability(value)]:
        raise ValueError(f"gave {printable(repr(wrong[0])[:40])} as a log-probability; wanted a number of 0 or less")
    found = dict.fromkeys(names, 0.0)
    word_of = {name.casefold(): name for name in names}
    for token, value in given:
        if name := word_of.get(token.strip(_WHITE).casefold()):
            found[name] += math.exp(min(value, 0.0))
    mass = sum(found.values())
    if not 0 < mass < 1 + _ROUNDING:
        likely = printable(", ".join(repr(token) for token, _ in given[:3]))[:_MAX_ERROR_CHARS]
        if mass:
            raise ValueError(f"gave probabilities that add up to {mass:.3g}; name another endpoint")
        wanted = ", ".join(names)
        raise ValueError(f"starts with none of {wanted} but with {likely}; name a model that does not think first")
    return {**{name: value / mass for name, value in found.items()}, "mass": min(mass, 1.0)}


def _top_tokens(logprobs: Any) -> list[tuple[str, Any]] | None:
    """Return the likeliest first tokens with their log-probabilities, from a chat or a completion."""
    try:
        if (content := logprobs.get("content")) is not None:
            return [(str(each["token"]), each["logprob"]) for each in content[0]["top_logprobs"]] or None
        return [(str(token), value) for token, value in logprobs["top_logprobs"][0].items()] or None
    except (AttributeError, IndexError, KeyError, TypeError):
        return None


def is_log_probability(value: Any) -> bool:
    """Say whether a value is a finite number of at most 0, apart from rounding."""
    return type(value) in {int, float} and -sys.float_info.max <= value <= _ROUNDING


def ask(  # noqa: PLR0913, PLR0917  each is one thing
    client: HttpClient, endpoint: Endpoint, path: str, question: object, read: Callable[[Any], Result],
    on_lost: OnLost = lambda _: None,
) -> Result:  # fmt: skip
    """Ask an endpoint and return its answer as `read` converts it; raise ChatError if it refuses."""
    try:
        return client.ask_json(f"{endpoint.url}/{path}", question, read, on_lost)
    except HttpError as error:
        failure = chat_error(endpoint, error)
    raise failure


_WHITE = " \t\r\n\u0120\u010a\u0109\u2581"  # the last four as byte-level and SentencePiece vocabularies have it
_TOP = 20  # first tokens that are asked for; more are refused
_ROUNDING = 1e-3  # by which probabilities may add up to more than 1
ANSWERS = 3
"""That are asked for at most before there is none."""
_MAX_ANSWER_CHARS = 4000  # characters of a wrong answer that the model sees again
_MAX_TRUNCATED_CHARS = 200  # of one that was cut: it would go on as it did
_MAX_NAME_CHARS = 200
_MAX_TOKENS = 10**9  # a larger count is no count
_MAX_PROBLEM_CHARS = 1000  # characters of what is wrong with it
_OVERHEAD_TOKENS = 100  # roles, separators, and our own sentences
_BYTES_A_TOKEN = 3  # of a prompt, at least: prose and code have about four
_JSON_ONLY = "Answer with one JSON object and nothing else. It has to fit this JSON schema:\n{schema}"
_RETRY = "That answer cannot be used: {problem}. Answer again with one JSON object that fits the schema, nothing else."


class Author:
    """The model that an endpoint says it answers with; warns when that first changes."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._first = ""
        self._is_change_said = False

    def of(self, body: Mapping[str, Any]) -> str:
        """Return the name of the model that gave an answer."""
        said = body.get("model")
        name = printable(said)[:_MAX_NAME_CHARS] if isinstance(said, str) and said else self._endpoint.model
        self._first = self._first or name
        if name != self._first and not self._is_change_said:
            self._is_change_said = True
            change = f"answers come from the model {name} now, from {self._first} before"
            warnings.warn(f"{self._endpoint.name}: {change}; later changes are not reported", Notice, 2)
        return name


class OpenAiChat:
    """A model behind HTTP; any number of threads may share it."""

    def __init__(self, endpoint: Endpoint, *, pause_s: float = 0.5) -> None:
        self._endpoint = endpoint
        self._client = open_client(endpoint, pause_s=pause_s)
        self._thinks = False
        self._left_out: frozenset[str] = frozenset()
        """Parameters that the endpoint refused and that are not sent any more."""
        self._author = Author(endpoint)

    @property
    def name(self) -> str:
        """The spec of the model."""
        return self._endpoint.name

    def reply(self, prompt: Prompt, more: More = lambda _: None) -> Reply:
        """Return an answer that fits the schema, asking again if one does not, or the probability of each choice."""
        check(prompt.schema)
        start, usage = time.monotonic(), _Usage(self._endpoint)
        try:
            ask_for = self._probabilities if prompt.choices else self._answer_to
            value, model = ask_for(prompt, usage, more)
        except ChatError as error:
            raise usage.with_cost(error) from error.__cause__
        return usage.reply(value, model, time.monotonic() - start)

    def _answer_to(self, prompt: Prompt, usage: _Usage, more: More) -> tuple[dict[str, Any], str]:
        """Return a value that fits the schema, and the model that gave it."""
        messages, cuts = self._messages(prompt), 0
        while True:
            limit = self._limit(prompt)
            if usage.wrong:
                more(self._most_of(messages, prompt))
            body = self._ask(messages, prompt, usage, more)
            raw, problem = self._text(body, limit)
            cuts += bool(problem)
            value, problem = (None, problem) if problem else read(raw, prompt.schema)
            if value is not None:
                return value, self._author.of(body)
            usage.wrong.append(raw)
            if len(usage.wrong) == ANSWERS or cuts > 1:
                raise NoAnswer(
                    f"{self.name} gave no valid answer in {len(usage.wrong)}; the last: {printable(problem)}", raw=raw
                )
            shown = {"role": "assistant", "content": raw[: _MAX_TRUNCATED_CHARS if cuts else _MAX_ANSWER_CHARS]}
            retry = {"role": "user", "content": _RETRY.format(problem=problem[:_MAX_PROBLEM_CHARS])}
            messages = [*messages[:2], shown, retry]

    def most(self, prompt: Prompt) -> Spend:
        """Return roughly the most that one try takes."""
        return self._most_of(self._messages(prompt), prompt)

    def _most_of(self, messages: Sequence[Mapping[str, str]], prompt: Prompt) -> Spend:
        texts = (json.dumps(prompt.schema), *(message["content"] for message in messages))
        asked = sum(len(text.encode("utf-8", "replace")) for text in texts) // _BYTES_A_TOKEN + _OVERHEAD_TOKENS
        answered = self._limit(prompt)
        return Spend(asked + answered, self._endpoint.price.of(asked, answered))

    def _limit(self, prompt: Prompt) -> int:
        """Return the most tokens of an answer: what its schema needs, at most what the spec allows; 1 for a choice."""
        if prompt.choices:
            return 1
        allowed = self._endpoint.options.max_tokens
        return allowed if self._thinks else int(min(most_tokens(prompt.schema), allowed))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _probabilities(self, prompt: Prompt, usage: _Usage, more: More) -> tuple[dict[str, Any], str]:
        """Return the probability of each choice as the first token of an answer, and the model."""
        body = self._ask(self._messages(prompt), prompt, usage, more)
        choice = self._choice(body)
        try:
            return dict(choice_probabilities(choice, prompt.choices)), self._author.of(body)
        except ValueError as error:
            raise NoAnswer(f"{self.name} {error}", raw=json.dumps(choice)[:_MAX_ANSWER_CHARS]) from None

    def _ask(self, messages: list[dict[str, str]], prompt: Prompt, usage: _Usage, more: More) -> dict[str, Any]:
        """Return the body of a completion; `usage` counts each try, and `more` is called before each further one."""
        left_out, question = self._left_out, self._question(messages, prompt)
        most, limit = self._most_of(messages, prompt), self._limit(prompt)
        on_lost = partial(usage.on_lost, more, most, limit)
        try:
            body = ask(self._client, self._endpoint, "chat/completions", question, _completion, on_lost)
        except (NoAnswer, EndpointRefused) as error:
            refused = _refused(error.raw, question) - left_out
            if not refused:
                raise
        else:
            usage.add(body, most, limit)
            return body
        if not refused <= self._left_out:
            self._left_out |= refused
            instead = "answers are checked for these" if refused & {*LENGTHS} else "it is asked without"
            warnings.warn(f"{self.name} takes no {' or '.join(sorted(refused))}: {instead}", Notice, 2)
        return self._ask(messages, prompt, usage, more)

    def _messages(self, prompt: Prompt) -> list[dict[str, str]]:
        system = prompt.system
        if self._endpoint.options.format != "schema" and not prompt.choices:
            system = f"{system}\n\n{_JSON_ONLY.format(schema=json.dumps(prompt.schema))}".lstrip()
        return [{"role": "system", "content": system}, {"role": "user", "content": prompt.text}]

    def _question(self, messages: list[dict[str, str]], prompt: Prompt) -> dict[str, Any]:
        options = self._endpoint.options
        question: dict[str, Any] = {"model": self._endpoint.model, "messages": messages}
        if lengths := [name for name in (self._endpoint.most_key, *_LENGTH_KEYS) if name not in self._left_out]:
            question[lengths[0]] = self._limit(prompt)
        if not math.isnan(options.temperature) and "temperature" not in self._left_out:
            question["temperature"] = options.temperature
        if options.seed >= 0 and "seed" not in self._left_out:
            question["seed"] = options.seed
        if prompt.choices:
            return {**question, "logprobs": True, "top_logprobs": _TOP}
        if options.format == "object":
            question["response_format"] = {"type": "json_object"}
        if options.format == "schema":
            sent = without_lengths(prompt.schema) if self._left_out & {*LENGTHS} else prompt.schema
            schema = {"name": "answer", "schema": sent, "strict": is_strict(sent)}
            question["response_format"] = {"type": "json_schema", "json_schema": schema}
        return question

    def _choice(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the only choice of an answer; raise NoAnswer if it has no message, as after a content filter."""
        first = body["choices"][0] if body["choices"] else {}
        if isinstance(first, dict) and isinstance(first.get("message"), dict):
            return first
        raise NoAnswer(f"{self.name} gave no message: {_brief(body)}", raw=json.dumps(body)[:_MAX_ANSWER_CHARS])

    def _text(self, body: dict[str, Any], limit: int) -> tuple[str, str]:
        """Return the text of the model, and the problem if it was cut off; raise NoAnswer if the model declined."""
        choice = self._choice(body)
        message, finish = choice["message"], choice.get("finish_reason")
        text = content if isinstance(content := message.get("content"), str) else ""
        refusal = message.get("refusal")
        if refusal or finish == "content_filter":
            text = str(refusal or text)
            raise NoAnswer(f"{self.name} declined: {printable(text)[:200] or 'its content filter'}", raw=text)
        if finish != "length":
            return text, ""
        wrote = count_in(body.get("usage"), "completion_tokens") or limit
        if wrote < limit:
            raise NoAnswer(
                f"{self.name} stopped after {wrote:,} of {limit:,} tokens, for its context is full; shorten the input, "
                "or serve the model with a larger context", raw=text,
            )  # fmt: skip
        if not self._thinks and _is_thinking(body, text):
            self._thinks = True
            return text, f"it was cut at {limit:,} tokens"
        advice = f"; ?max_tokens={2 * limit} allows more" if limit == self._endpoint.options.max_tokens else ""
        return text, f"it was cut at {limit:,} tokens: be brief{advice}"


def _is_thinking(body: dict[str, Any], text: str) -> bool:
    """Say whether a model spent tokens on thinking, which no schema bounds."""
    message, usage = body["choices"][0]["message"], body.get("usage")
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    is_said = any(message.get(name) for name in ("reasoning_content", "reasoning"))
    return is_said or text.lstrip().startswith("<think>") or bool(count_in(details, "reasoning_tokens"))


class _Usage:
    """Tokens and cost of all answers to one prompt."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.tokens_in = self.tokens_out = self.tokens_cached = 0
        self.cost = 0.0
        self._untold: tuple[Spend, int] | None = None
        """The most that the last answer may have taken, where its endpoint does not say what it took."""
        self.wrong: list[str] = []
        """Answers that could not be used."""

    def on_lost(self, more: More, most: Spend, answered: int, is_last: bool) -> None:  # noqa: FBT001
        """Count a lost try, and announce the next one to `more`."""
        self.lose(most, answered)
        if not is_last:
            more(most)

    def lose(self, most: Spend, answered: int) -> None:
        """Count a lost try that may have been charged, at the most that it can have taken."""
        self.tokens_in, self.tokens_out = self.tokens_in + most.tokens - answered, self.tokens_out + answered
        self.cost += most.usd

    def add(self, body: dict[str, Any], most: Spend, answered: int) -> None:
        """Count one answer; without token counts, the cost is unknown unless the model is free."""
        self._lose_untold()
        usage = body["usage"] if isinstance(body.get("usage"), dict) else {}
        tokens_in, tokens_out = count_in(usage, "prompt_tokens"), count_in(usage, "completion_tokens")
        self._untold = (most, answered) if tokens_in is tokens_out is None else None
        cached = min(_cached(usage), tokens_in or 0)
        self.tokens_in, self.tokens_out = self.tokens_in + (tokens_in or 0), self.tokens_out + (tokens_out or 0)
        self.tokens_cached += cached
        paid = usage.get("cost") if self._endpoint.tells_cost else None
        if isinstance(paid, int | float) and 0 <= paid < _MAX_TOKENS:
            self.cost += float(paid)
        elif self._endpoint.price != FREE:
            known = tokens_in is not None and tokens_out is not None
            self.cost += self._endpoint.price.of(tokens_in or 0, tokens_out or 0, cached) if known else math.nan

    def _lose_untold(self) -> None:
        """Count an unusable answer without token counts as a lost try."""
        if self._untold:
            self.lose(*self._untold)
            self._untold = None

    def reply(self, value: dict[str, Any], model: str, seconds: float) -> Reply:
        """Return the reply with a value that fits, and the usage of all answers."""
        counts, wrong = (self.tokens_in, self.tokens_out, self.cost, seconds), tuple(self.wrong)
        return Reply(value, model, *counts, tokens_cached=self.tokens_cached, attempts=len(wrong) + 1, wrong=wrong)

    def with_cost(self, error: ChatError) -> ChatError:
        """Return an error with the usage before it."""
        self._lose_untold()
        error.tokens_in, error.tokens_out, error.cost = self.tokens_in, self.tokens_out, self.cost
        error.wrong = tuple(self.wrong[:-1] if error.raw in self.wrong[-1:] else self.wrong)
        return error


def _cached(usage: dict[str, Any]) -> int:
    """Return the count of cached tokens, in the format of OpenAI, which most use, or of DeepSeek."""
    of_openai = count_in(usage.get("prompt_tokens_details"), "cached_tokens")
    return of_openai or count_in(usage, "prompt_cache_hit_tokens") or 0


def count_in(usage: Any, name: str) -> int | None:
    """Return a token count of an endpoint; None if it is missing or invalid."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count < _MAX_TOKENS else None


def _make(provider: str, argument: str = "", *, pause_s: float = 0.5) -> OpenAiChat:
    return OpenAiChat(endpoint(provider, argument), pause_s=pause_s)


deepseek, ollama, openai, openrouter, vllm = (partial(_make, name) for name in sorted(PROVIDERS))
