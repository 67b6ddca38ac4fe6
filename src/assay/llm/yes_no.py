"""Ask a model for the probability that a piece of code does what a query asks for.

One token is read instead of a paragraph of JSON: how likely the model says "Yes" and "No" first. The words of the
question, the order of its options and the numbers that ship were measured with Qwen2.5-Coder-1.5B-Instruct on the 604
pairs of CoSQA's dev part: four wordings and two orders differ by less than their intervals.

Texts come from strangers. Each stands in a fence of more backticks than it holds, so it cannot end its own fence; what
it says about itself can still sway a model, as it can sway a person.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.errors import InputError
from assay.io.digest import hex_digest
from assay.values import Prompt

PAIR: Final = "pair"
"""The name of the question."""
CHOICES: Final = ("Yes", "No")
MAX_TEXT_CHARS: Final = 8_000
"""Characters of a text that a model reads."""
_BOUND: Final = 12.0  # log-odds beyond it are rounding of the endpoint
_SYSTEM: Final = "You are an expert programmer. Answer with one word."
_QUESTION: Final = 'Does this code do what the query asks for, at least the main part of it? Answer "Yes" or "No".'
VERSION: Final = hex_digest(f"{_SYSTEM}\0{_QUESTION}", 8)
"""A hash of the words of the question, all but the texts."""
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,20}")
_NUMBER: Final = {"type": "number", "minimum": 0, "maximum": 1}
_SCHEMA: Final = {
    "type": "object",
    "properties": dict.fromkeys((*CHOICES, "mass"), _NUMBER),
    "required": [*CHOICES, "mass"],
    "additionalProperties": False,
}


def pair_prompt(query: str, code: str, language: str = "") -> Prompt:
    """Return the prompt that asks whether a piece of code answers a query."""
    text = f"Query: {' '.join(query[:MAX_TEXT_CHARS].split())}\n\n{_fenced(code, language)}\n\n{_QUESTION}"
    return Prompt(_SYSTEM, text, _SCHEMA, PAIR, VERSION, CHOICES)


def plain(prompt: Prompt) -> Prompt:
    """Return the prompt for endpoints without log-probabilities: the reply is JSON with `answer`, Yes or No."""
    answer = {"type": "object", "properties": {"answer": {"type": "string", "enum": [*CHOICES]}}}
    schema = {**answer, "required": ["answer"], "additionalProperties": False}
    system = _SYSTEM.replace("one word", 'JSON: {"answer": "Yes"} or {"answer": "No"}')
    return replace(prompt, system=system, schema=schema, name=f"plain {prompt.name}", choices=())


def says_yes(value: Mapping[str, Any]) -> bool:
    """Say whether a reply's value is yes, of either form of the question."""
    return bool(value["answer"] == "Yes" if "answer" in value else log_odds_of(value) > 0)


def _fenced(text: str, language: str) -> str:
    text = text[:MAX_TEXT_CHARS]
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language if _LANGUAGE.fullmatch(language) else ''}\n{text}\n{fence}"


def log_odds_of(value: Mapping[str, Any]) -> float:
    """Return the log-odds of yes of a reply's value, bounded near certainty."""
    least = math.exp(-_BOUND)
    return math.log(max(value["Yes"], least) / max(value["No"], least))


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibration of log-odds: the logistic of their weighted sum and a bias."""

    weights: tuple[float, ...]
    bias: float

    def log_odds(self, *given: float) -> float:
        """Return the calibrated log-odds."""
        return sum((weight * each for weight, each in zip(self.weights, given, strict=True)), self.bias)


SCALE: Final = 2.0
BIAS: Final = -2.33
"""Of the log-odds of the question alone: what makes them those of a label of CoSQA."""
WITH_SIGNALS: Final = Calibration((1.57, 1.53), -2.10)
"""Of the log-odds of the judge `signals` and of the question."""


def probability(log_odds: float) -> float:
    """Return the probability of log-odds."""
    return 1 / (1 + math.exp(-max(min(log_odds, 50.0), -50.0)))


def logit(probability: float) -> float:
    """Return the log-odds of a probability, bounded near certainty."""
    bounded = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(bounded / (1 - bounded))


_LIMITS: Final = {"scale": (0, 100), "bias": (-100, 100)}


def read_spec(argument: str) -> tuple[str, dict[str, float]]:
    """Split the text behind `asks:` into the spec of the model and the options `scale` and `bias`, if given."""
    chat, _, query = argument.partition("?")
    if not chat:
        raise InputError("'asks' does not name a model; write asks:PROVIDER:MODEL, as in asks:ollama:qwen3")
    own, others = read_numbers(f"asks:{argument}", query, _LIMITS)
    return f"{chat}?{'&'.join(others)}" if others else chat, own


def read_numbers(
    spec: str, query: str, limits: Mapping[str, tuple[float, float]]
) -> tuple[dict[str, float], list[str]]:
    """Return the numeric options of a spec, checked against their limits, and the other options as text."""
    own, others = dict[str, float](), []
    for part in filter(None, query.split("&")):
        name, _, text = part.partition("=")
        if name in limits:
            own[name] = _value(spec, name, text, limits[name])
        else:
            others.append(part)
    return own, others


def spec_of(chat: str, options: Mapping[str, float]) -> str:
    """Return the spec for `read_spec` of the chat with this name."""
    own = "&".join(f"{name}={value}" for name, value in options.items())
    return f"asks:{chat}{('&' if '?' in chat else '?') + own if own else ''}"


def _value(spec: str, name: str, text: str, limits: tuple[float, float]) -> float:
    least, most = limits
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"option '{name}' in '{spec}' is '{text}'; wanted a number") from error
    if not least <= value <= most:
        raise InputError(f"option '{name}' in '{spec}' is {text}; wanted {least} to {most}")
    return value
