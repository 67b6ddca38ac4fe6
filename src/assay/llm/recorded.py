"""Record the replies of a model before they are used.

A question that stands in the records is not asked again. A reply that could not be used was paid for, too, and is
recorded as that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from threading import Lock
from typing import Any

from assay.errors import BudgetSpent, ChatError, Interrupted, NoAnswer
from assay.llm.endpoint import Spend
from assay.llm.prompts import fingerprint
from assay.llm.schema import check, problems
from assay.protocols import Chat
from assay.runs.record import Record, Steps
from assay.values import Prompt, Reply

REPLY, FAILED = "reply", "failed"
"""The kinds of these lines."""
_MAX_RAW_CHARS = 20_000
"""Characters that are kept of an unusable answer."""


def _record_of(prompt: Prompt, chat: str, reply: Reply) -> dict[str, Any]:
    """Return the record of a reply; `chat` is the name of the model."""
    costs = {"cost": _priced(reply.cost), "saved": _priced(reply.saved), "seconds": round(reply.seconds, 3)}
    return {"part": prompt.name, "prompt": prompt.version, "chat": chat, **asdict(reply), **costs}


def _failure_record(prompt: Prompt, chat: str, error: ChatError) -> dict[str, Any]:
    """Return the record of a failed request, with its usage."""
    took = {"tokens_in": error.tokens_in, "tokens_out": error.tokens_out, "cost": _priced(error.cost)}
    raw = [text[:_MAX_RAW_CHARS] for text in (*error.wrong, error.raw) if text]
    return {"part": prompt.name, "chat": chat, "why": str(error), "raw": raw, **took}


def is_paid(record: Mapping[str, Any]) -> bool:
    """Say whether a record is of a real call, which may have cost something."""
    return record["kind"] == FAILED or (record["kind"] == REPLY and not record["cached"])


def spend_of(record: Mapping[str, Any]) -> Spend:
    """Return the usage of a record's call; an unknown cost counts as 0."""
    return Spend(record["tokens_in"] + record["tokens_out"], record["cost"] or 0.0)


def _priced(cost: float) -> float | None:
    """Return a cost for JSON; None if unknown."""
    return None if math.isnan(cost) else cost


class RecordedChat:
    """A chat whose replies for one pair of a campaign are on disk before they are used; threads may share it.

    It goes outside of caches, budgets and rates. No other pair finds these replies, and a question that had no answer
    is asked again by the next run.
    """

    def __init__(self, chat: Chat, steps: Steps, pair: str) -> None:
        self._chat, self._steps, self._pair = chat, steps, pair
        self._lock = Lock()
        self.records: dict[str, Record] = {}
        """The records that this chat read or wrote, by their keys."""
        self.failed: list[Record] = []
        """The records of failed requests, which may have been charged."""

    def record(self, prompt: Prompt) -> Record:
        """Return the recorded reply to a prompt, or ask the model and record its reply."""
        check(prompt.schema)
        key = fingerprint(prompt, self._chat.name + self._pair)
        record = self.records.get(key) or self._steps.get(key) or self._new_record(prompt, key)
        with self._lock:
            self.records[key] = record
        wrong = next(problems(record["value"], prompt.schema), "")
        if wrong:
            raise NoAnswer(f"the recorded reply of {record['model']} to '{prompt.name}' cannot be used: {wrong}")
        return record

    def _new_record(self, prompt: Prompt, key: str) -> Record:
        try:
            got = self._chat.reply(prompt)
        except ChatError as error:
            if not isinstance(error, BudgetSpent | Interrupted) or error.tokens_in:  # else nothing was asked
                failure = _failure_record(prompt, self._chat.name, error)
                self.failed.append({"kind": FAILED, "pair": self._pair, "key": "", **failure})
                self._steps.put(self.failed[-1])
            raise
        record = {"kind": REPLY, "pair": self._pair, "key": key, **_record_of(prompt, self._chat.name, got)}
        self._steps.put(record)
        return record
