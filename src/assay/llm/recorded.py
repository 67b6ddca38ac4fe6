"""Record the replies of a model before they are used, and replay them.

A question that stands in the records is not asked again. A reply that could not be used was paid for, too, and is
recorded as that; an endpoint that was busy or broken is asked again by the next run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from assay.errors import BudgetSpent, ChatError, EndpointFailed, NoAnswer
from assay.llm.endpoint import Spend
from assay.llm.prompts import fingerprint
from assay.llm.schema import check, problems
from assay.llm.wrappers import WrappedChat
from assay.protocols import Chat
from assay.runs.record import Journal, Record, Steps, read_lines
from assay.values import Prompt, Reply

REPLY, FAILED = "reply", "failed"
"""The kinds of these lines."""


def _record_of(prompt: Prompt, chat: str, got: Reply) -> dict[str, Any]:
    """Return what is written down of a reply; `chat` is the name of what was asked."""
    taken = {**asdict(got), "cost": _priced(got.cost), "seconds": round(got.seconds, 3)}
    return {"part": prompt.name, "prompt": prompt.version, "chat": chat, **taken}


def _failure_record(prompt: Prompt, chat: str, error: ChatError) -> dict[str, Any]:
    """Return what is written down of a question that had no answer: what it took all the same."""
    took = {"tokens_in": error.tokens_in, "tokens_out": error.tokens_out, "cost": _priced(error.cost)}
    return {"part": prompt.name, "chat": chat, "why": str(error), **took}


def is_paid(record: Mapping[str, Any]) -> bool:
    """Say whether a line is of a call that was made, and so may have cost something."""
    return record["kind"] == FAILED or (record["kind"] == REPLY and not record["cached"])


def spend_of(record: Mapping[str, Any]) -> Spend:
    """Return what the call of a line took; a cost that nobody knows counts as none."""
    return Spend(record["tokens_in"] + record["tokens_out"], record["cost"] or 0.0)


def _priced(cost: float) -> float | None:
    """Return a cost as JSON has it; an unknown one is none."""
    return None if math.isnan(cost) else cost


class ReplayedChat:
    """A chat that has nothing but its name: all that it ever said stands in the records."""

    def __init__(self, name: str) -> None:
        self.name = name

    def reply(self, prompt: Prompt) -> Reply:
        """Raise, for a reply that is not recorded cannot be had."""
        raise EndpointFailed(
            f"no reply of {self.name} to this prompt '{prompt.name}' is recorded: what is asked, or who, differs from "
            "then; a run that is no replay asks"
        )


@dataclass(slots=True)
class ReplyCounts:
    """What became of the questions to a chat."""

    answered: int = 0
    recorded: int = 0
    """Of these, how many stood in the records before."""
    failed: int = 0
    """Questions without an answer that can be used."""
    tokens: int = 0
    cost: float = 0.0


class RecordedChat(WrappedChat[Chat]):
    """Replies on disk before they are used; any number of threads may ask.

    It goes outside of caches, budgets and rates. With `pair`, replies are those of one pair of a campaign: no other
    pair finds them, and a question that had no answer is asked again by the next run.
    """

    def __init__(self, chat: Chat, steps: Steps, pair: str = "") -> None:
        super().__init__(chat)
        self._steps, self._pair = steps, pair
        self._lock = Lock()
        self.made: dict[str, Record] = {}
        """The records that this chat found or wrote, by their keys."""
        self.counts = ReplyCounts()

    def reply(self, prompt: Prompt) -> Reply:
        """Return the recorded reply, or ask and record it."""
        record = self.record(prompt)  # it was paid for before
        return Reply(record["value"], record["model"], record["tokens_in"], record["tokens_out"], cached=True)

    def record(self, prompt: Prompt) -> Record:
        """Return the record of a reply that fits the prompt's schema, or ask and write it."""
        check(prompt.schema)
        key = fingerprint(prompt, self.name + self._pair)
        found = self.made.get(key) or self._steps.get(key)
        record = found or self._new_record(prompt, key)
        self._count(record, is_new=found is None)
        if record["kind"] == FAILED:
            raise NoAnswer(record["why"])
        wrong = next(problems(record["value"], prompt.schema), "")
        if wrong:
            raise NoAnswer(f"the recorded reply of {record['model']} to '{prompt.name}' cannot be used: {wrong}")
        return record

    def _new_record(self, prompt: Prompt, key: str) -> Record:
        about = {"pair": self._pair, "key": key} if self._pair else {"key": key}
        try:
            got = self._chat.reply(prompt)
        except BudgetSpent:
            raise
        except ChatError as error:
            is_final = isinstance(error, NoAnswer) and not self._pair
            about = about if is_final else {**about, "key": ""}
            record = {"kind": FAILED, **about, **_failure_record(prompt, self.name, error)}
            self._steps.put(record)
            if not is_final:
                raise
            return record
        record = {"kind": REPLY, **about, **_record_of(prompt, self.name, got)}
        self._steps.put(record)
        return record

    def _count(self, record: Record, *, is_new: bool) -> None:
        with self._lock:
            self.made[record["key"]] = record
            self.counts.failed += record["kind"] == FAILED
            self.counts.answered += record["kind"] == REPLY
            self.counts.recorded += not is_new
            if is_new and is_paid(record):
                took = spend_of(record)
                self.counts.tokens, self.counts.cost = self.counts.tokens + took.tokens, self.counts.cost + took.usd


def reply_journal(file: Path, *, only_read: bool = False) -> Steps:
    """Return the replies of a file of records; with `only_read` none is added."""
    return Journal(file, lambda _, one: one["kind"] in {REPLY, FAILED} and bool(one["key"]), only_read=only_read)


def spent_in(file: Path) -> Spend:
    """Return what all calls of a file of records took."""
    took = [spend_of(record) for record in read_lines(file) if is_paid(record)]
    return Spend(sum(each.tokens for each in took), sum(each.usd for each in took))
