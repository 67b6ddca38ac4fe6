"""Ask a model yes/no questions about a text and a piece of code; the answer is a probability.

One token is read instead of a paragraph of JSON: how likely the model says "Yes" and "No" first. Models prefer the
option that is named first, or second, so a question can be asked in both orders and the log-odds averaged. The question
stands behind the texts: an endpoint that keeps what it read reads the texts once for both orders.

Texts come from strangers. Each stands in a fence of more backticks than it holds, so it cannot end its own fence; what
it says about itself can still sway a model, as it can sway a person.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any, Final

from assay import plugins
from assay.errors import ChatError, InputError, ModelUnavailable
from assay.llm.wrappers import ask_all
from assay.protocols import Chat
from assay.values import Chunk, Prompt, Query

CHOICES: Final = ("Yes", "No")
LONGEST: Final = 8_000
"""Characters of a text that a model reads."""
_IN_FLIGHT: Final = 8  # questions about the hits of one search
_BOUND: Final = 12.0  # log-odds beyond it are rounding of the endpoint
_SYSTEM: Final = "You are an expert programmer. Answer with one word."
_OPTIONS: Final = ('Answer "Yes" or "No".', 'Answer "No" or "Yes".')
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,20}")
_NUMBER: Final = {"type": "number", "minimum": 0, "maximum": 1}
_SCHEMA: Final = {
    "type": "object",
    "properties": dict.fromkeys((*CHOICES, "mass"), _NUMBER),
    "required": [*CHOICES, "mass"],
    "additionalProperties": False,
}


_QUESTIONS: Final = {
    "pair": "Would a programmer who searched the web for this query be satisfied with this code?",
    "program": "Is this program a correct solution of the task, for every input that the task allows?",
    "chunk": "Would a programmer who searched for this query be satisfied with this excerpt?",
}


def version_of(name: str) -> str:
    """Return a hash of the words of a question, all but the texts."""
    return blake2b("\0".join((_SYSTEM, _QUESTIONS[name], *_OPTIONS)).encode(), digest_size=8).hexdigest()


def _prompts(name: str, texts: str, orders: int) -> tuple[Prompt, ...]:
    """Return the prompts of a question about some fenced texts, one for each order of the options."""
    asked = (f"{texts}\n\n{_QUESTIONS[name]} {options}" for options in _OPTIONS[:orders])
    return tuple(Prompt(_SYSTEM, text, _SCHEMA, name, version_of(name), CHOICES) for text in asked)


def pair_prompts(query: str, code: str, language: str = "", orders: int = 1) -> tuple[Prompt, ...]:
    """Return the prompts that ask whether a piece of code answers a query."""
    return _prompts("pair", f"Query: {_line(query)}\n\n{_fenced(code, language)}", orders)


def program_prompts(task: str, program: str, orders: int = 1) -> tuple[Prompt, ...]:
    """Return the prompts that ask whether a Python program solves a task."""
    return _prompts("program", f"Task:\n{_fenced(task)}\n\n{_fenced(program, 'python')}", orders)


def chunk_prompts(query: str, text: str, path: str = "", language: str = "", orders: int = 1) -> tuple[Prompt, ...]:
    """Return the prompts that ask whether a chunk of a file answers a query."""
    place = f"File: {_line(path)}\n" if path else ""
    return _prompts("chunk", f"Query: {_line(query)}\n\n{place}{_fenced(text, language)}", orders)


def _fenced(text: str, language: str = "") -> str:
    text = text[:LONGEST]
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language if _LANGUAGE.fullmatch(language) else ''}\n{text}\n{fence}"


def _line(text: str) -> str:
    return " ".join(text[:LONGEST].split())


def log_odds_of(chat: Chat, prompts: Sequence[Prompt]) -> float:
    """Return the log-odds of yes: the mean over the orders of one question."""
    return mean_log_odds([chat.reply(prompt).value for prompt in prompts])


def mean_log_odds(values: Sequence[Mapping[str, Any]]) -> float:
    """Return the mean log-odds of some replies; one that is all but certain is bounded."""
    least = math.exp(-_BOUND)
    odds = (math.log(max(value["Yes"], least) / max(value["No"], least)) for value in values)
    return sum(odds) / len(values)


def ask_about_each(chat: Chat, asked: Sequence[Sequence[Prompt]], in_flight: int) -> list[float | None]:
    """Return the log-odds of yes to each question, None where the model gave no answer that can be used.

    All questions are asked in one order first: an endpoint that keeps what it read has then read the texts before.
    """
    by_order = [prompt for prompts in zip(*asked, strict=True) for prompt in prompts]
    replies = ask_all(chat, by_order, in_flight)
    each = (replies[at :: len(asked)] for at in range(len(asked)))
    return [mean_log_odds([reply.value for reply in some if reply]) if all(some) else None for some in each]


def with_mean(odds: Sequence[float | None]) -> list[float]:
    """Return log-odds in which those that are missing are the mean of the others."""
    known = [each for each in odds if each is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [mean if each is None else each for each in odds]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What makes a probability of log-odds: the logistic of their weighted sum and a bias."""

    weights: tuple[float, ...]
    bias: float

    def log_odds(self, *given: float) -> float:
        """Return the calibrated log-odds."""
        return sum((weight * each for weight, each in zip(self.weights, given, strict=True)), self.bias)


PAIR_CALIBRATION: Final = Calibration((1.0,), 0.0)
"""Of the question about a pair: what the model says, as it says it."""


def probability(log_odds: float) -> float:
    """Return the probability of log-odds."""
    return 1 / (1 + math.exp(-max(min(log_odds, 50.0), -50.0)))


def calibrate(
    log_odds: Sequence[Sequence[float]], labels: Sequence[int], prior: Calibration, *, strength: float = 4.0
) -> Calibration:
    """Return the likeliest calibration of some labelled rows of log-odds, near a prior where labels are few.

    Platt's logistic with a Gaussian prior around each parameter, of precision `strength`: so many labels in doubt.
    """
    if len(log_odds) != len(labels) or not labels:
        raise InputError(f"{len(log_odds)} rows of log-odds and {len(labels)} labels; wanted one or more of each")
    import numpy as np  # which no command that only reads records needs

    rows = np.column_stack([np.asarray(log_odds, dtype=float), np.ones(len(labels))])
    right, start = np.asarray(labels, dtype=float), np.array([*prior.weights, prior.bias])
    found = start.copy()
    for _ in range(50):
        likely = 1 / (1 + np.exp(-np.clip(rows @ found, -30, 30)))
        gradient = rows.T @ (right - likely) - strength / 4 * (found - start)
        curvature = (rows * (likely * (1 - likely))[:, None]).T @ rows + strength / 4 * np.eye(len(found))
        found = found + np.linalg.solve(curvature, gradient)
    *weights, bias = found.tolist()
    return Calibration(tuple(weights), bias)


@dataclass(frozen=True, slots=True)
class YesNoOptions:
    """What may follow the `?` of a spec `asks:PROVIDER:MODEL`, beside the options of the model."""

    orders: int = 2
    """2 asks in both orders of the options, 1 in one, at half the price."""
    top: int = 20
    """Different programs of a task that are asked about, the best of `consensus`."""
    scale: float = math.nan
    """Of the log-odds; nan is as shipped. See `calibrate`."""
    bias: float = math.nan

    def changed(self) -> dict[str, Any]:
        """Return those that are not as usual."""
        pairs = ((each, getattr(self, each.name)) for each in fields(self))
        return {each.name: value for each, value in pairs if repr(value) != repr(each.default)}


_LIMITS: Final = {"orders": (1, 2), "top": (1, 10_000), "scale": (0, 100), "bias": (-100, 100)}


def read_spec(argument: str, *names: str) -> tuple[str, YesNoOptions]:
    """Return the spec of the model, and the options of these names, of what follows `asks:`."""
    chat, _, query = argument.partition("?")
    if not chat:
        raise InputError("'asks' names no model; write asks:PROVIDER:MODEL, as in asks:ollama:qwen3")
    own, others = dict[str, Any](), []
    for part in filter(None, query.split("&")):
        name, _, text = part.partition("=")
        if name in names:
            own[name] = _value(f"asks:{argument}", name, text)
        else:
            others.append(part)
    return f"{chat}?{'&'.join(others)}" if others else chat, YesNoOptions(**own)


def spec_of(chat: str, options: YesNoOptions) -> str:
    """Return the spec that `read_spec` reads, of the name of a chat."""
    own = "&".join(f"{name}={value}" for name, value in options.changed().items())
    return f"asks:{chat}{('&' if '?' in chat else '?') + own if own else ''}"


def _value(spec: str, name: str, text: str) -> int | float:
    least, most = _LIMITS[name]
    try:
        value = (int if name in {"orders", "top"} else float)(text)
    except ValueError as error:
        raise InputError(f"option '{name}' in '{spec}' is '{text}'; wanted a number") from error
    if not least <= value <= most:
        raise InputError(f"option '{name}' in '{spec}' is {text}; wanted {least} to {most}")
    return value


class AsksReranker:
    """A language model as reranker of search, of a spec `asks:PROVIDER:MODEL`; any number of threads may share it."""

    def __init__(self, argument: str = "") -> None:
        spec, self._options = read_spec(argument, "orders")
        self._chat: Chat = plugins.make("chat", spec)
        self.name = spec_of(self._chat.name, self._options)

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return the probability of yes for each chunk; one without a usable answer has that of their mean."""
        orders = self._options.orders
        asked = [chunk_prompts(query.text, each.text, each.path, each.language, orders) for each in chunks]
        try:
            found = ask_about_each(self._chat, asked, _IN_FLIGHT)
        except ChatError as error:
            raise ModelUnavailable(str(error)) from error
        if chunks and not any(each is not None for each in found):
            raise ModelUnavailable(f"{self.name} gave no usable answer about any of {len(chunks)} chunks")
        return list(map(probability, with_mean(found)))
