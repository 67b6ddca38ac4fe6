"""Ask a model about one pair, each step once; read and write the records: steps that were paid for, and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.errors import StorageError
from assay.io.requests_in_flight import go_on
from assay.io.rows import on_disk, sample
from assay.judge.pairs import Pair
from assay.llm.prompts import PromptFile, fill, load_prompt
from assay.llm.recorded import FAILED, REPLY, RecordedChat, is_paid, spend_of
from assay.llm.yes_no import PAIR, VERSION, log_odds_of, pair_prompt
from assay.protocols import Chat
from assay.runs.record import Journal, Record, Steps, hash_of, read_lines
from assay.values import Judgment

BOUNDS = "bounds"
"""The kind of what a screener goes by, of no pair."""
STEPS = (REPLY, "run", "install", BOUNDS)


def pair_journal(file: Path, skip: Container[str] = (), since: Mapping[str, int] = MappingProxyType({})) -> Journal:
    """Return the steps of the pairs of a file that are not in `skip`, of those in `since` from that line on."""

    def is_open(number: int, record: Record) -> bool:
        is_wanted = record["kind"] in STEPS and record["pair"] not in skip
        return is_wanted and number > since.get(record["pair"], 0)

    return Journal(file, is_open)


def key_of(*asked: str) -> str:
    """Return the key of a step: a hash of what was asked."""
    return hash_of("\0".join(asked))


@dataclass(slots=True)
class Past:
    """A summary of what was done, small whatever the size of the file."""

    lines: int = 0
    decided: set[str] = field(default_factory=set)
    """Digests of pairs with a grade."""
    undecided: dict[str, int] = field(default_factory=dict)
    """Digests of pairs without one, each with the line after which its steps count: split ones are asked anew."""
    calls: int = 0
    cost: float = 0.0
    """What was paid for replies, in US dollars."""
    tokens: int = 0


def past(file: Path) -> Past:
    """Read what a file holds; one that is not there holds nothing."""
    found = Past()
    for number, record in enumerate(read_lines(file), 1):
        found.lines = number
        try:
            _add(found, number, record)
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(f"{file}:{number}: no record ({error!r}); take the line out to go on") from error
    return found


def _add(found: Past, number: int, record: dict[str, Any]) -> None:
    if is_paid(record):
        took = spend_of(record)
        found.calls += 1
        found.cost += took.usd
        found.tokens += took.tokens
    if record["kind"] not in {*STEPS, FAILED, "verdict"}:
        raise ValueError(f"kind {record['kind']!r}")
    if record["kind"] == "verdict":
        digest = record["pair"]
        if record["grade"] not in {None, 0, 1, 2}:
            raise ValueError(f"grade {record['grade']!r}")
        found.undecided.pop(digest, None)
        if record["grade"] is None:
            found.undecided[digest] = number if record["problem"] == "split" else 0
        else:
            found.decided.add(digest)


def is_records(file: Path) -> bool:
    """Say whether a file looks like one that `assay judge run` writes."""
    return not file.is_dir() and any({"kind", "pair"} <= row.keys() for row in sample(file, [])[:1])


def cut(file: Path) -> bool:
    """Say whether the last line of a file was cut, as by a crash: it does not count and is written anew."""
    if not file.exists() or not (file := on_disk(file)).stat().st_size:
        return False
    with file.open("rb") as lines:
        lines.seek(-1, 2)
        return lines.read(1) != b"\n"


def verdicts(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of the verdicts that count, one a pair of ids, in the order of the file."""
    file = on_disk(file)

    def every() -> Iterator[tuple[int, int, dict[str, Any]]]:
        for number, record in enumerate(read_lines(file)):
            if record.get("kind") == "verdict":
                yield number, hash((record["query_id"], record["code_id"])), record

    last = {pair: number for number, pair, _ in every()}
    yield from (record for number, pair, record in every() if last[pair] == number)


def judgments(file: Path) -> Iterator[Judgment]:
    """Yield the labels of a file of records; undecided pairs have none."""
    for record in verdicts(file):
        if record["grade"] is not None:
            yield Judgment(record["query_id"], record["code_id"], record["grade"], record["judge"], record["reason"])


SCREEN = "screen"
NAMES = (PAIR, "tests", "fix", "arbitrate", "single", "simulate")
"""What the agents ask, but for the question in words that some screen with in the place of the first."""


def load(name: str, folder: Path | None = None) -> PromptFile:
    """Return a prompt of this package, or the one of that name in a folder."""
    return load_prompt(name, "assay.judge", folder)


def versions(folder: Path | None = None, names: tuple[str, ...] = NAMES) -> dict[str, str]:
    """Return the hash of the words of each prompt."""
    return {name: VERSION if name == PAIR else load(name, folder).version for name in names}


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
        return [*self._chat.records.values(), *self._chat.failed, *self._made.values()]

    @property
    def known(self) -> Mapping[str, Record]:
        """The replies that were found or asked for so far, by their keys."""
        return self._chat.records

    def know(self, record: Mapping[str, Record]) -> None:
        """Take replies from another session about the same pair."""
        self._chat.records.update(record)

    def ask(self, name: str, **data: str) -> Mapping[str, Any]:
        """Return the reply to a prompt file, filled with the texts of the pair and further ones."""
        whole = {"query": self.pair.query.text, "code": self.pair.code.text, **data}
        prompt = fill(load(name, self._prompts), whole, self._opinion)
        value: Mapping[str, Any] = self._chat.record(prompt)["value"]
        return value

    def log_odds(self) -> float:
        """Return the log-odds with which the model says that the code answers the query."""
        code = self.pair.code
        prompt = pair_prompt(self.pair.query.text, code.text, code.language or "python")
        return log_odds_of(self._chat.record(prompt)["value"])

    def once(self, kind: str, asked: tuple[str, ...], work: Callable[[], dict[str, Any]]) -> Record:
        """Return the step for what is asked, found in the records or made and recorded now."""
        key = key_of(self.pair.digest, kind, *asked)
        step = self._made.get(key) or self._steps.get(key)
        if step is None:
            go_on()
            step = {"kind": kind, "pair": self.pair.digest, "key": key, **work()}
            self._steps.put(step)
        self._made[key] = step
        return step
