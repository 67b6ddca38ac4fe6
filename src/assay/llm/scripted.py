"""Answer prompts from a file: tests and dry runs with no model, the same replies each time.

A line is `{"value": …}` with any of `hash` (of the prompt, or its first digits, 8 at least), `name` (of the prompt),
`contains` (a part of its text), and of `tokens_in`, `tokens_out`, `cost`, `seconds`; `{"error": "…"}` instead of a
value is a model that gives no answer. The first line that fits answers, any number of times; lines that name nothing
are given in order, once each. Only those depend on the order of the questions.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError, NoAnswer, nearest
from assay.llm.endpoint import Spend
from assay.llm.prompts import fingerprint
from assay.llm.schema import check, problems
from assay.values import Prompt, Reply

_FIELDS = ("value", "error", "hash", "name", "contains", "tokens_in", "tokens_out", "cost", "seconds")
_SHORTEST_HASH = 8
_TEXTS = ("error", "hash", "name", "contains")
_COUNTS = ("tokens_in", "tokens_out", "cost", "seconds")


@dataclass(frozen=True, slots=True)
class _Line:
    where: str
    told: Mapping[str, Any]

    def fits(self, prompt: Prompt, digits: str) -> bool:
        told = self.told
        return (
            digits.startswith(told.get("hash", ""))
            and told.get("name", prompt.name) == prompt.name
            and told.get("contains", "") in prompt.text
        )


class ScriptedChat:
    """A model that says what a file says."""

    def __init__(self, file: str = "") -> None:
        if not file:
            raise InputError("a scripted chat needs its replies, as in scripted:REPLIES.jsonl")
        self.name = f"scripted:{file}"
        self._file = file
        self._by_hash: dict[str, list[_Line]] = defaultdict(list)
        self._others: list[_Line] = []
        self._in_order: deque[_Line] = deque()
        self._lock = threading.Lock()
        self._most = Spend()
        for line in _lines(Path(file)):
            self._keep(line)

    def reply(self, prompt: Prompt) -> Reply:
        """Return what the file says to this prompt."""
        check(prompt.schema)
        line = self._line(prompt)
        took = {name: line.told.get(name, 0) for name in _COUNTS}
        seconds = took.pop("seconds")
        if "error" in line.told:
            raise NoAnswer(f"{line.where}: {line.told['error']}", raw=line.told["error"], **took)
        value = line.told["value"]
        wrong = "; ".join(problems(value, prompt.schema))
        if wrong:
            raise NoAnswer(f"{line.where}: {wrong}", raw=json.dumps(value), **took)
        return Reply(value, self.name, **took, seconds=seconds)

    def most(self, prompt: Prompt) -> Spend:  # noqa: ARG002  a script does not grow with the prompt
        """Return what the dearest reply takes."""
        return self._most

    def _keep(self, line: _Line) -> None:
        told = line.told
        if "hash" in told:
            self._by_hash[told["hash"][:_SHORTEST_HASH]].append(line)
        elif "name" in told or "contains" in told:
            self._others.append(line)
        else:
            self._in_order.append(line)
        tokens = told.get("tokens_in", 0) + told.get("tokens_out", 0)
        self._most = Spend(max(self._most.tokens, tokens), max(self._most.usd, told.get("cost", 0.0)))

    def _line(self, prompt: Prompt) -> _Line:
        digits = fingerprint(prompt) if self._by_hash else ""
        for line in self._by_hash.get(digits[:_SHORTEST_HASH], ()):
            if line.fits(prompt, digits):
                return line
        for line in self._others:
            if line.fits(prompt, digits):
                return line
        with self._lock:
            if self._in_order:
                return self._in_order.popleft()
        raise InputError(self._unknown(prompt))

    def _unknown(self, prompt: Prompt) -> str:
        names = sorted({line.told["name"] for line in self._others if "name" in line.told})
        known = f"; {nearest(prompt.name, names)}" if names and prompt.name not in names else ""
        what = f"the prompt '{prompt.name}' with hash {fingerprint(prompt)[:16]}"
        return f"{self._file} has no reply to {what}{known}: add a line for it"


def _lines(file: Path) -> Iterator[_Line]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the replies in {file}: {error}") from error
    for row, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _Line(f"{file}:{row}", _checked(line, f"{file}:{row}"))


def _checked(line: str, where: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}") from error
    if not isinstance(told, dict) or ("value" in told) == ("error" in told):
        raise InputError(f'{where}: wanted an object with a "value" or an "error"')
    for name, value in told.items():
        if name not in _FIELDS:
            raise InputError(f"{where}: unknown '{name}'; {nearest(name, _FIELDS)}")
        if name in _TEXTS and not isinstance(value, str):
            raise InputError(f"{where}: '{name}' is {value!r}, wanted text")
        if name in _COUNTS and not (type(value) in {int, float} and 0 <= value < float("inf")):
            raise InputError(f"{where}: '{name}' is {value!r}, wanted a number of 0 or more")
    if len(told.get("hash", "0" * _SHORTEST_HASH)) < _SHORTEST_HASH:
        raise InputError(f"{where}: 'hash' has {len(told['hash'])} digits, wanted {_SHORTEST_HASH} or more")
    if "value" in told and not isinstance(told["value"], dict):
        raise InputError(f"{where}: 'value' is {told['value']!r}, wanted an object")
    return told
