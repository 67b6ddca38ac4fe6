"""Ask a model about one pair, and take each step once: from the records where it was made before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.judge.pairs import Pair
from assay.judge.records import key_of
from assay.llm.prompts import PromptFile, fill, load_prompt
from assay.llm.recorded import RecordedChat
from assay.protocols import Chat
from assay.runs.record import Record, Steps

NAMES = ("screen", "tests", "fix", "arbitrate", "single", "simulate")
"""The prompt files of the agents."""


def load(name: str, folder: Path | None = None) -> PromptFile:
    """Return a prompt of this package, or the one of that name in a folder."""
    return load_prompt(name, "assay.judge", folder)


def versions(folder: Path | None = None, names: tuple[str, ...] = NAMES) -> dict[str, str]:
    """Return the hash of each prompt file."""
    return {name: load(name, folder).version for name in names}


class PairSession:
    """The questions and runs that lead to the verdict of one pair."""

    def __init__(self, pair: Pair, chat: Chat, steps: Steps, opinion: int = 1, prompts: Path | None = None) -> None:
        self.pair = pair
        self._chat = RecordedChat(chat, steps, pair.digest)
        self._steps, self._opinion, self._prompts = steps, opinion, prompts
        self._made: dict[str, Record] = {}

    @property
    def taken(self) -> list[Record]:
        """The steps that were taken so far."""
        return [*self._chat.made.values(), *self._made.values()]

    def ask(self, name: str, **data: str) -> Mapping[str, Any]:
        """Return the reply to a prompt file, filled with the texts of the pair and further ones."""
        whole = {"query": self.pair.query.text, "code": self.pair.code.text, **data}
        prompt = fill(load(name, self._prompts), whole, self._opinion)
        value: Mapping[str, Any] = self._chat.record(prompt)["value"]
        return value

    def once(self, kind: str, asked: tuple[str, ...], work: Callable[[], dict[str, Any]]) -> Record:
        """Return the step for what is asked, found in the records or made and recorded now."""
        key = key_of(self.pair.digest, kind, *asked)
        step = self._made.get(key) or self._steps.get(key)
        if step is None:
            step = {"kind": kind, "pair": self.pair.digest, "key": key, **work()}
            self._steps.put(step)
        self._made[key] = step
        return step
