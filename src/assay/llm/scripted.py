"""Answer prompts from a file, for tests and dry runs without a model.

A line is `{"value": …}` with any of `hash` (of the prompt, or its first digits, 8 at least), `name` (of the prompt),
`contains` (a part of its text), and of `tokens_in`, `tokens_out`, `cost`, `seconds`; `{"error": "…"}` instead of a
value is a model that gives no answer. The first line that fits answers, any number of times; lines that name nothing
are given in order, once each. Only those depend on the order of the questions.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError, NoAnswer, nearest
from assay.llm.endpoint import Spend
from assay.llm.prompts import fingerprint
from assay.llm.schema import check, problems
from assay.llm.wrappers import More
from assay.values import Prompt, Reply

_MIN_HASH_DIGITS = 8
_NAMING = {"hash", "name", "contains"}
_TEXTS = ("error", "hash", "name", "contains")
_COUNTS = ("tokens_in", "tokens_out", "cost", "seconds")


@dataclass(frozen=True, slots=True)
class _Line:
    where: str
    reply: Mapping[str, Any]

    def fits(self, prompt: Prompt) -> bool:
        asked = self.reply
        return (
            asked.get("name", prompt.name) == prompt.name
            and asked.get("contains", "") in prompt.text
            and ("hash" not in asked or fingerprint(prompt).startswith(asked["hash"]))
        )


class ScriptedChat:
    """A chat that replies from a file."""

    def __init__(self, file: str = "") -> None:
        if not file:
            raise InputError("a scripted chat needs its replies, as in scripted:REPLIES.jsonl")
        self.name = f"scripted:{file}"
        self._file = file
        lines = list(_lines(Path(file)))
        named = [line for line in lines if line.reply.keys() & _NAMING]
        self._named = sorted(named, key=lambda line: "hash" not in line.reply)
        self._in_order = deque(line for line in lines if not line.reply.keys() & _NAMING)  # popping is atomic
        took = [line.reply for line in lines]
        self._most = Spend(
            max((each.get("tokens_in", 0) + each.get("tokens_out", 0) for each in took), default=0),
            max((each.get("cost", 0.0) for each in took), default=0.0),
        )

    def reply(self, prompt: Prompt, more: More = lambda _: None) -> Reply:  # noqa: ARG002  each line is one try
        """Return the file's reply to a prompt."""
        check(prompt.schema)
        line = self._line(prompt)
        took = {name: line.reply.get(name, 0) for name in _COUNTS}
        seconds = took.pop("seconds")
        if "error" in line.reply:
            raise NoAnswer(f"{line.where}: {line.reply['error']}", raw=line.reply["error"], **took)
        value = line.reply["value"]
        wrong = "; ".join(problems(value, prompt.schema))
        if wrong:
            raise NoAnswer(f"{line.where}: {wrong}", raw=json.dumps(value), **took)
        return Reply(value, self.name, **took, seconds=seconds)

    def most(self, prompt: Prompt) -> Spend:  # noqa: ARG002  a script does not grow with the prompt
        """Return the usage of the most expensive reply."""
        return self._most

    def _line(self, prompt: Prompt) -> _Line:
        for line in self._named:
            if line.fits(prompt):
                return line
        with suppress(IndexError):
            return self._in_order.popleft()
        names = sorted({line.reply["name"] for line in self._named if "name" in line.reply})
        known = f"; {nearest(prompt.name, names)}" if names and prompt.name not in names else ""
        what = f"the prompt '{prompt.name}' with hash {fingerprint(prompt)[:16]}"
        raise InputError(f"{self._file} has no reply to {what}{known}: add a line for it")


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
        reply = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}") from error
    if not isinstance(reply, dict) or ("value" in reply) == ("error" in reply):
        raise InputError(f'{where}: wanted an object with a "value" or an "error"')
    for name, value in reply.items():
        if name not in (*_TEXTS, *_COUNTS, "value"):
            raise InputError(f"{where}: unknown '{name}'; {nearest(name, (*_TEXTS, *_COUNTS, 'value'))}")
        if name in _TEXTS and not isinstance(value, str):
            raise InputError(f"{where}: '{name}' is {value!r}, wanted text")
        if name in _COUNTS and not (type(value) in {int, float} and 0 <= value < float("inf")):
            raise InputError(f"{where}: '{name}' is {value!r}, wanted a number of 0 or more")
    if len(reply.get("hash", "0" * _MIN_HASH_DIGITS)) < _MIN_HASH_DIGITS:
        raise InputError(f"{where}: 'hash' has {len(reply['hash'])} digits, wanted {_MIN_HASH_DIGITS} or more")
    if not isinstance(reply.get("value", {}), dict):
        raise InputError(f"{where}: 'value' is {reply['value']!r}, wanted an object")
    return reply
