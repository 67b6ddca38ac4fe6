"""What happens to a pair, written down before it is used: replies that were paid for, and runs that were made.

A step is found again by a hash of what was asked, so the same steps lead to the same verdict: after a crash nothing is
paid twice, and a campaign is told again from its records with no model at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.errors import BudgetSpent, ChatError, Deferred, NoAnswer
from assay.judge.pairs import Pair
from assay.judge.prompts import load
from assay.llm.prompts import fill
from assay.llm.recorded import FAILED, REPLY, failure_record, record_of
from assay.llm.schema import problems
from assay.protocols import Chat
from assay.runs.journal import Journal, Record, Steps
from assay.runs.record import hash_of
from assay.types import Prompt

STEPS = (REPLY, "run", "install")


def pair_journal(file: Path, skip: Container[str] = (), since: Mapping[str, int] = MappingProxyType({})) -> Journal:
    """Return the steps of the pairs of a file that are not in `skip`, of those in `since` from that line on."""
    return Journal(file, partial(_is_open_step, skip, since))


def is_step(_: int, record: Record) -> bool:
    """Say whether a record is a step of a pair."""
    return record["kind"] in STEPS and bool(record["pair"])


def _is_open_step(skip: Container[str], since: Mapping[str, int], number: int, record: Record) -> bool:
    is_wanted = record["kind"] in STEPS and record["pair"] not in skip
    return is_wanted and number > since.get(record["pair"], 0)


class PairSession:
    """One pair on its way to a verdict: who asks here, gets what was answered before, or pays for it once."""

    def __init__(self, pair: Pair, chat: Chat, steps: Steps, opinion: int = 1, prompts: Path | None = None) -> None:
        self.pair = pair
        self.taken: list[Record] = []
        self._made: dict[str, Record] = {}
        self._chat, self._steps, self._opinion, self._prompts = chat, steps, opinion, prompts

    def ask(self, name: str, **data: str) -> Mapping[str, Any]:
        """Return the reply to a prompt file, filled with the texts of the pair and further ones."""
        template = load(name, self._prompts)
        whole = {"query": self.pair.query.text, "code": self.pair.code.text, **data}
        prompt = fill(template, whole, self._opinion)

        asked = (self._chat.name, prompt.system, prompt.text, json.dumps(prompt.schema))
        step = self.once(REPLY, asked, lambda: self._replied(prompt))
        wrong = next(problems(step["value"], prompt.schema), "")
        if wrong:
            raise NoAnswer(f"the reply of {step['model']} to '{name}' cannot be used: {wrong}")
        value: Mapping[str, Any] = step["value"]
        return value

    def _replied(self, prompt: Prompt) -> dict[str, Any]:
        """Ask the model; a failure that cost something is recorded as that."""
        try:
            got = self._chat.reply(prompt)
        except (BudgetSpent, Deferred):
            raise
        except ChatError as error:
            what = {"kind": FAILED, "pair": self.pair.digest}
            self._steps.put({**what, **failure_record(prompt, self._chat.name, error)})
            raise
        return record_of(prompt, self._chat.name, got)

    def once(self, kind: str, asked: tuple[str, ...], work: Callable[[], dict[str, Any]]) -> Record:
        """Return the step for what is asked, taken from the records or made now and recorded before it is used."""
        key = key_of(self.pair.digest, kind, *asked)
        step = self._made.get(key)
        if step is None:
            step = self._made[key] = self._step(key, kind, work)
            self.taken.append(step)
        return step

    def _step(self, key: str, kind: str, work: Callable[[], dict[str, Any]]) -> Record:
        """Return a step that was recorded before, or make it and record it."""
        step = self._steps.get(key)
        if step is None:
            step = {"kind": kind, "pair": self.pair.digest, "key": key, **work()}
            self._steps.put(step)
        return step


def key_of(*asked: str) -> str:
    """Return the key of a step: a hash of what was asked."""
    return hash_of("\0".join(asked))
