"""A chat that asks in batches, at half price: a question is put off until the batch with it has been answered.

Whoever asks gets `Deferred` and asks again later, as a campaign does that goes through its pairs in waves; what a wave
has asked goes out together. Before anything is sent that may cost, it is on disk, so a killed process finds its batches
again. What a batch does not answer is asked directly, at the full price: a line that failed, an answer that does not
fit, and what two batches in a row have left out.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.errors import Deferred, EndpointFailed, EndpointRefused, NoAnswer, printable
from assay.llm.batch_files import ENDED, BatchFolder, BatchState, BatchWire
from assay.llm.endpoint import Spend
from assay.llm.openai import OpenAiChat, is_completion
from assay.llm.prompts import fingerprint
from assay.llm.schema import check
from assay.llm.wrappers import Budget, charged
from assay.protocols import Chat, Say
from assay.values import Prompt, Reply

_MOST_TRIES = 2
"""Batches that a question is put into."""
_FIRST_S, _GROWTH, _LONGEST_S = 1.0, 1.5, 60.0
"""Pauses between looking how far a batch is."""
_DOWNLOADS = 3
_OK = 200
_SHOWN = 300
_NOT_BEGUN = ("batch_expired", "batch_cancelled")
_FULL = ("token_limit_exceeded", "request_limit_exceeded")


class BatchChat:
    """A wrapper with the protocol of the chat that it asks where a batch has no answer."""

    def __init__(  # noqa: PLR0913  # each is one thing
        self,
        asked: OpenAiChat,
        wire: BatchWire,
        folder: Path,
        direct: Chat,
        *,
        budget: Budget | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Ask as `asked` would, over `wire`; `direct` is what falls back, which keeps to the budget by itself."""
        self._asked, self._wire, self._direct, self._budget = asked, wire, direct, budget
        self._folder = BatchFolder(folder, asked.name, wire.address)
        self._sleep = sleep
        self._reserved: dict[str, tuple[object, Spend]] = {}
        """For the questions of batches that have not ended, what is set aside, and how much that is."""
        self._failed: dict[str, NoAnswer] = {}
        """Questions that had no answer of use in this process."""
        if budget:
            self._count_before(budget)

    @property
    def name(self) -> str:
        """The name of the chat that is asked: the replies are the same."""
        return self._asked.name

    def reply(self, prompt: Prompt) -> Reply:
        """Return the answer of a batch, or put the question into the next one."""
        check(prompt.schema)
        key = fingerprint(prompt, self.name)
        if failure := self._failed.get(key):
            raise NoAnswer(str(failure), raw=failure.raw)
        try:
            line = self._folder.answer(key)
            if line is None and self._folder.tries(key) < _MOST_TRIES:
                self._put_off(key, prompt)
                raise Deferred(f"the answer of {self.name} comes with a batch")
            if line is None or "error" in line:
                return self._direct.reply(prompt)
            return self._taken(key, prompt, line["body"])
        except NoAnswer as error:
            self._failed[key] = error
            raise

    @property
    def refusal(self) -> str:
        """What the budget had no room for, empty where it had."""
        return self._budget.refusal if self._budget else ""

    def submit(self) -> int:
        """Send what was put off, and go on with batches of before; return how many are under way."""
        self._folder.seal()
        under_way = self._folder.open_states()
        for state in under_way:
            self._begin(state)
        return len(under_way)

    def collect(self, say: Say) -> None:
        """Wait for all batches under way and keep what they answer."""
        pause_s, shown = _FIRST_S, ""
        while left := self._folder.open_states():
            if lines := [*filter(None, map(self._look, left))]:
                line = f"{self.name}: {'; '.join(lines)}"
                if line != shown:
                    say(line)
                shown = line
                self._sleep(pause_s)
                pause_s = min(pause_s * _GROWTH, _LONGEST_S)
            elif waiting := [state for state in self._folder.open_states() if not state.batch_id]:
                self._begin(waiting[0])

    def paid(self) -> float:
        """Return what all answers of all batches cost, whoever took them."""
        bodies = (line["body"] for line in self._folder.all_answers() if "body" in line)
        return math.fsum(cost for body in bodies if not math.isnan(cost := self._asked.read_batch(body).cost))

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()
        self._asked.close()

    def _put_off(self, key: str, prompt: Prompt) -> None:
        if self._folder.is_asked(key):
            return
        if self._budget:
            most = self._asked.most_of_batch(prompt)
            ticket = self._budget.reserve_now(most)
            if ticket is None:
                return  # the answers under way make room
            self._reserved[key] = (ticket, most)
        self._folder.ask(key, self._asked.question(prompt))

    def _count_before(self, budget: Budget) -> None:
        """Set aside what an earlier process asked and nobody answered yet."""
        for state in self._folder.open_states():
            lines = self._folder.questions(state).splitlines()
            for key, line in zip(self._folder.keys(state), lines, strict=True):
                most = self._asked.most_of_batch(line)
                self._reserved[key] = (budget.hold(most), most)

    def _settle(self, state: BatchState) -> None:
        """Charge what the answers of a batch that has ended took; what it did not answer took nothing."""
        for key in self._folder.keys(state):
            held = self._reserved.pop(key, None)
            if self._budget and held:
                body = (self._folder.answer(key) or {}).get("body")
                took = charged(self._asked.read_batch(body), held[1]) if body else Spend()
                self._budget.settle(held[0], took)

    def _taken(self, key: str, prompt: Prompt, body: dict[str, Any]) -> Reply:
        """Return an answer of a batch; one that does not fit is paid, and asked for directly."""
        try:
            got = self._asked.read_batch(body, prompt)
        except NoAnswer:
            self._folder.forget(key)
            raise
        if got.value:
            return got
        more = self._direct.reply(prompt)
        return replace(
            more,
            tokens_in=more.tokens_in + got.tokens_in,
            tokens_out=more.tokens_out + got.tokens_out,
            cost=more.cost + got.cost,
            attempts=more.attempts + 1,
        )

    def _begin(self, state: BatchState) -> None:
        """Bring a batch to the endpoint, from wherever an earlier process left it."""
        if state.batch_id:
            return
        if not state.file_id:
            state.file_id = self._wire.upload(f"{state.number:04}.jsonl", self._folder.questions(state))
            self._folder.save(state)
        if state.is_requested:
            state.batch_id = self._wire.find(state.tag)
        if not state.batch_id:
            state.tag, state.is_requested = state.tag or uuid4().hex, True
            self._folder.save(state)
            try:
                state.batch_id = self._wire.begin(state.file_id, state.tag)
            except EndpointFailed:
                state.batch_id = self._wire.find(state.tag)
                if not state.batch_id:
                    raise
        self._folder.save(state)

    def _look(self, state: BatchState) -> str:
        """Return how far a batch is; nothing where it has ended, and what it answers is kept."""
        if not state.batch_id:
            return ""
        found = self._wire.look_up(state.batch_id)
        counts = found.get("request_counts") or {}
        if found["status"] not in ENDED:
            done = f"{counts.get('completed', 0) + counts.get('failed', 0):,} of {counts.get('total', 0):,}"
            return f"batch {state.number} {found['status']}, {done} answered"
        if found["status"] == "failed":
            self._put_back(state, found)
            return ""
        state.status = found["status"]
        self._folder.end(state, self._answers(state, found).values())
        self._folder.save(state)
        self._settle(state)
        return ""

    def _answers(self, state: BatchState, batch: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return what came of the questions of a batch by their keys; a file that came truncated is fetched again."""
        keys = set(self._folder.keys(state))
        found: dict[str, dict[str, Any]] = {}
        files = [batch[name] for name in ("output_file_id", "error_file_id") if batch.get(name)]
        for _ in range(_DOWNLOADS):
            lines = [line for file in files for line in self._wire.lines(file) if line["custom_id"] in keys]
            seen = {line["custom_id"] for line in lines}
            found = {line["custom_id"]: answer for line in lines if (answer := _answer(line))}
            if seen == keys or batch["status"] != "completed":
                break
        return found

    def _put_back(self, state: BatchState, batch: dict[str, Any]) -> None:
        """Let a batch that the endpoint did not take be sent anew: later where too many wait, else by another run."""
        state.batch_id = state.tag = state.file_id = ""
        state.is_requested = False
        self._folder.save(state)
        problems = (batch.get("errors") or {}).get("data") or [{}]
        what = printable(str(problems[0].get("message") or problems[0].get("code") or "no reason"))
        others = [each for each in self._folder.open_states() if each.batch_id]
        if problems[0].get("code") not in _FULL:
            raise EndpointRefused(f"{self.name} did not take the batch: {what}")
        if not others:
            raise EndpointFailed(f"{self.name} has no room for the batch ({what}): go on later")


def _answer(line: dict[str, Any]) -> dict[str, Any] | None:
    """Return what came of a question; nothing where the batch ended before it."""
    key, response, error = line["custom_id"], line.get("response") or {}, line.get("error") or {}
    body = response.get("body")
    if response.get("status_code") == _OK and is_completion(body):
        return {"key": key, "body": body}
    if error.get("code") in _NOT_BEGUN:
        return None
    return {"key": key, "error": printable(json.dumps(error or body))[:_SHOWN]}
