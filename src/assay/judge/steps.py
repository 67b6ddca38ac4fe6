"""What happens to a pair, written down before it is used: replies that were paid for, and runs that were made.

A step is found again by a hash of what was asked, so the same steps lead to the same verdict: after a crash nothing is
paid twice, and a campaign is told again from its records with no model at all. In memory stands only where the steps
of unfinished pairs lie in the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Protocol

from assay.errors import BudgetSpent, ChatError, Deferred, NoAnswer, StorageError
from assay.judge.pairs import Pair
from assay.judge.prompts import fill, load
from assay.llm.schema import problems
from assay.protocols import Chat
from assay.runs.record import append_lines, hash_of
from assay.types import Prompt

STEPS = ("reply", "run", "install")
Record = Mapping[str, Any]


class Steps(Protocol):
    """Where steps are kept."""

    def get(self, key: str) -> Record | None:
        """Return the step of a key, None where it was not made yet."""

    def put(self, *steps: Record) -> None:
        """Keep steps; they are safe when this returns."""


class NoSteps:
    """Keeps nothing: for single pairs, and judges whose record somebody else keeps."""

    def get(self, key: str) -> Record | None:  # noqa: ARG002
        """Find nothing."""
        return None

    def put(self, *steps: Record) -> None:
        """Drop steps."""


class Journal:
    """The file of a campaign, to which many threads append: one write for all that wait at that moment."""

    def __init__(self, file: Path, skip: Container[str] = (), since: Mapping[str, int] = MappingProxyType({})) -> None:
        """Find the steps of the pairs that are not in `skip`, of those in `since` from that line on; see `past`."""
        self.file = file
        self._at = {key: place for place, key in _places(file, skip, since)}
        self._lock, self._writing = Lock(), Lock()
        self._waiting: list[Record] = []

    def get(self, key: str) -> Record | None:
        """Return the step of a key that was on disk when this was opened."""
        place = self._at.get(key)
        if place is None:
            return None
        with self.file.open("rb") as lines:
            lines.seek(place)
            found: Record = json.loads(lines.readline())
        return found

    def put(self, *steps: Record) -> None:
        """Append records; they are on disk when this returns, written by this thread or by one before it."""
        with self._lock:
            self._waiting.extend(steps)
        with self._writing:
            with self._lock:
                batch, self._waiting = self._waiting, []
            if batch:
                append_lines(self.file, batch)


class ReadOnlySteps:
    """The steps of a file, to which nothing is added."""

    def __init__(self, file: Path) -> None:
        self._journal = Journal(file)

    def get(self, key: str) -> Record | None:
        """Return the step of a key."""
        return self._journal.get(key)

    def put(self, *steps: Record) -> None:
        """Drop steps: whoever made them differs from what was recorded."""


def _places(file: Path, skip: Container[str], since: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    """Yield where the steps of a file lie, and their keys."""
    if not file.exists():
        return
    place = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                try:
                    record = json.loads(line)
                    wanted = record["kind"] in STEPS and record["pair"] not in skip
                    if wanted and number > since.get(record["pair"], 0):
                        yield place, record["key"]
                except (ValueError, KeyError, TypeError) as error:
                    raise StorageError(f"{file}:{number}: no record ({error!r}); take the line out to go on") from error
            place += len(line)


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
        step = self.once("reply", asked, lambda: self._replied(prompt))
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
            took = {"tokens_in": error.tokens_in, "tokens_out": error.tokens_out, "cost": _priced(error.cost)}
            what = {"kind": "failed", "pair": self.pair.digest, "part": prompt.name, "chat": self._chat.name}
            self._steps.put({**what, "why": str(error), **took})
            raise
        return {
            "part": prompt.name,
            "prompt": prompt.version,
            "chat": self._chat.name,
            "model": got.model,
            "value": dict(got.value),
            "tokens_in": got.tokens_in,
            "tokens_out": got.tokens_out,
            "cost": _priced(got.cost),
            "seconds": round(got.seconds, 3),
            "cached": got.cached,
            "tokens_cached": got.tokens_cached,
            "shareable": round(prompt.shared / max(len(prompt.system) + len(prompt.text), 1), 4),
            "attempts": got.attempts,
            "batch": got.batch,
        }

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


def _priced(cost: float) -> float | None:
    """Return a cost as JSON has it; an unknown one is none."""
    return None if math.isnan(cost) else cost


def key_of(*asked: str) -> str:
    """Return the key of a step: a hash of what was asked."""
    return hash_of("\0".join(asked))
