"""Judge many pairs into a file of records that only grows, in waves, and judge them again from it.

Each reply and each run is on disk before it is used, each verdict when it is there: killed at any point, the same
command goes on. Verdicts hold nothing but what follows from pair and steps, so a replay gives the same ones. With
models that answer later, a pair that meets a question without an answer is put off to the next wave.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from assay.errors import BudgetSpent, ChatError, Deferred, EndpointRefused, InputError, StorageError, lasting
from assay.io.rows import on_disk, sample
from assay.judge.pairs import Judge, Pair, Together, Verdict
from assay.llm.prompts import PromptFile, fill, load_prompt
from assay.llm.recorded import REPLY, RecordedChat, is_paid, spend_of
from assay.programs.modules.imports import changes
from assay.protocols import Chat, Say
from assay.runs.local import in_flight
from assay.runs.record import Journal, Record, Steps, begin, hash_of, read_lines, sole_writer, stored_settings
from assay.values import Chunk, Judgment, Problem, Query

if TYPE_CHECKING:
    from assay.llm.batch_chat import BatchChat

STEPS = (REPLY, "run", "install")


def pair_journal(file: Path, skip: Container[str] = (), since: Mapping[str, int] = MappingProxyType({})) -> Journal:
    """Return the steps of the pairs of a file that are not in `skip`, of those in `since` from that line on."""

    def is_open(number: int, record: Record) -> bool:
        is_wanted = record["kind"] in STEPS and record["pair"] not in skip
        return is_wanted and number > since.get(record["pair"], 0)

    return Journal(file, is_open)


def is_step(_: int, record: Record) -> bool:
    """Say whether a record is a step of a pair."""
    return record["kind"] in STEPS and bool(record["pair"])


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
    batch_cost: float = 0.0
    """Of the cost, what came with batches."""


def past(file: Path) -> Past:
    """Read what a file holds; one that is not there holds nothing."""
    found = Past()
    for number, record in enumerate(read_lines(file), 1):
        found.lines = number
        try:
            _add(found, number, record)
        except (KeyError, TypeError) as error:
            raise StorageError(f"{file}:{number}: no record ({error!r}); take the line out to go on") from error
    return found


def _add(found: Past, number: int, record: dict[str, Any]) -> None:
    if is_paid(record):
        took = spend_of(record)
        found.calls += 1
        found.cost += took.usd
        found.tokens += took.tokens
        found.batch_cost += took.usd if record.get("batch") else 0.0
    if record["kind"] == "verdict":
        digest = record["pair"]
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


def failures(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of calls that gave no answer."""
    yield from (record for record in read_lines(on_disk(file)) if record.get("kind") == "failed")


def judgments(file: Path) -> Iterator[Judgment]:
    """Yield the labels of a file of records; undecided pairs have none."""
    for record in verdicts(file):
        if record["grade"] is not None:
            yield Judgment(record["query_id"], record["code_id"], record["grade"], record["judge"], record["reason"])


@dataclass(slots=True)
class Tally:
    """Counts of this run."""

    before: int = 0
    """Pairs that had a verdict already."""
    problems: int = 0
    """Pairs that cannot be judged."""
    grades: Counter[int | None] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    unpriced: int = 0
    """Pairs of which nobody knows what they cost."""
    waiting: set[str] = field(default_factory=set)
    """Digests of pairs that wait for answers of a batch."""
    lost_in_a_row: int = 0
    last_reason: str = ""
    stopped: str = ""
    """Why it ended early, empty where it did not."""
    on_verdict: Callable[[Tally], None] | None = None
    """Called after each verdict."""
    total: int = 0
    """How many pairs there are, 0 where nobody knows."""
    began: float = 0.0

    @property
    def judged(self) -> int:
        """Pairs that got a verdict, undecided ones included."""
        return sum(self.grades.values())

    @property
    def undecided(self) -> int:
        """Pairs that got no grade."""
        return self.grades[None]

    @property
    def rate(self) -> float:
        """Pairs a second."""
        return self.judged / max(time.monotonic() - self.began, 1e-9)

    def add(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self.grades[verdict.grade] += 1
        self.paths[verdict.path or verdict.problem] += 1
        cost = verdict.told.get("cost", 0.0)
        self.unpriced += cost is None
        self.cost += cost or 0.0
        self.lost_in_a_row = self.lost_in_a_row + 1 if verdict.problem in ("chat", "sandbox") else 0
        self.last_reason = verdict.reason
        if self.on_verdict:
            self.on_verdict(self)

    def followed_by(self, later: Tally) -> Tally:
        """Return the counts of this wave and a later one."""
        both = replace(later, before=self.before, problems=self.problems, began=self.began)
        both.grades, both.paths = self.grades + later.grades, self.paths + later.paths
        both.cost, both.unpriced = self.cost + later.cost, self.unpriced + later.unpriced
        return both

    @property
    def done(self) -> int:
        """Pairs of which there is nothing left to do."""
        return self.before + self.judged + self.problems

    def line(self) -> str:
        """Return where it stands."""
        done, total = self.done, self.total
        parts = {
            f"{done:,} of {total:,} pairs" if total else f"{done:,} pairs": True,
            f"{self.rate:.1f} a second": True,
            f"${self.cost:.4f}": self.cost,
            f"{self.undecided:,} undecided": self.undecided,
            f"{len(self.waiting):,} wait for a batch": self.waiting,
            f"{lasting((total - done) / (self.rate or 1))} left": total > done and self.judged,
        }
        return ", ".join(part for part, is_shown in parts.items() if is_shown)


_AHEAD = 4
"""Pairs that are read ahead for each worker."""
_TOGETHER = 64
"""Pairs that a judge gets at once who wants many."""
_ENOUGH = 25
"""Pairs in a row that no model answers: then there is none, and the rest waits for another day."""


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """What decides about the verdicts of a campaign, as the manifest says it."""

    judge: str
    """`agents`, `signals` or `author`."""
    chats: tuple[str, ...] = ()
    """One model, two of which each is asked, or with a third that decides between them."""
    config: str = "all"
    screener: str = ""
    """`signals` where no model screens."""
    weights: str = ""
    """The folder of weights of `signals`; empty for what ships."""
    weights_version: str = ""
    """A hash of these weights; empty where `signals` has no part."""
    encoder: str = ""
    """The encoder whose cosine `signals` goes by; empty for none."""
    prior: float = 0.5
    """The fraction of matches that `signals` expects."""
    max_tries: int = 3
    votes: int = 1
    prompts: dict[str, str] = field(default_factory=dict)
    """Each prompt file with its hash."""
    sandbox: str = ""
    limits: dict[str, float] = field(default_factory=dict)
    install: str = ""
    """A hash of the list of what may be installed; empty where nothing is."""
    sample: str = ""
    """How the pairs were drawn from a larger file; empty where all are judged."""
    importable: tuple[str, ...] = field(default=(), metadata={"changes": changes})
    """What is there for code and tests without that; nothing where none are run."""


def run(  # noqa: PLR0913  # each is one thing
    pairs: Iterable[Pair | Problem],
    judge_of: Callable[[Steps], Judge],
    out: Path,
    *,
    settings: CampaignSettings,
    workers: int = 8,
    retry: bool = False,
    only: Collection[str] | None = None,
    seed: int = 0,
    total: int = 0,
    on_verdict: Callable[[Tally], None] | None = None,
    on_problem: Callable[[Problem], None] | None = None,
) -> Tally:
    """Judge what has no verdict in `out` yet; `retry` judges undecided pairs again, `only` those of some digests.

    `on_problem` hears of what is not judged, `on_verdict` of each verdict. A budget that is spent ends it cleanly.
    """
    with sole_writer(out):
        begin(out, settings, "verdicts", seed=seed)
        before = past(out)
        done = before.decided if retry else before.decided | before.undecided.keys()
        done = done if only is None else done - set(only)
        journal = pair_journal(out, skip=done, since=before.undecided)
        tally = Tally(on_verdict=on_verdict, total=total)
        fresh = _fresh(pairs, lambda digest: digest not in done and (only is None or digest in only), tally, on_problem)
        _judge_all(judge_of(journal), fresh, journal, tally, workers)
    return tally


def _fresh(
    pairs: Iterable[Pair | Problem],
    is_wanted: Callable[[str], bool],
    tally: Tally,
    on_problem: Callable[[Problem], None] | None,
) -> Iterator[Pair]:
    for pair in pairs:
        if isinstance(pair, Problem):
            tally.problems += 1
            if on_problem:
                on_problem(pair)
        elif is_wanted(pair.digest):
            tally.began = tally.began or time.monotonic()  # what was done before takes no time to speak of
            yield pair
        else:
            tally.before += 1


def _judge_all(judge: Judge, pairs: Iterator[Pair], journal: Journal, tally: Tally, workers: int) -> None:
    """Judge all pairs, or stop where that has no sense; what was begun is finished and written."""

    def judge_some(some: Sequence[Pair]) -> list[Verdict]:
        try:
            made = judge.judge_all(some) if isinstance(judge, Together) else [judge.judge(pair) for pair in some]
        except Deferred:  # one that waits for an answer comes alone
            tally.waiting.add(some[0].digest)
            return []
        journal.put(*(line(pair, verdict, judge.name) for pair, verdict in zip(some, made, strict=True)))
        return made

    size = _TOGETHER if isinstance(judge, Together) else 1
    groups = iter(lambda: list(islice(pairs, size)), [])
    with closing(in_flight(judge_some, groups, workers, ahead=_AHEAD, is_stopped=lambda: bool(tally.stopped))) as ends:
        for future in ends:
            try:
                for verdict in future.result():
                    tally.add(verdict)
            except (BudgetSpent, EndpointRefused) as end:
                tally.stopped = str(end)
            if tally.lost_in_a_row >= _ENOUGH:
                tally.stopped = f"{_ENOUGH} pairs in a row could not be judged: {tally.last_reason}"


def line(pair: Pair, verdict: Verdict, judge: str) -> dict[str, Any]:
    """Return the record of a verdict."""
    return {
        "kind": "verdict",
        "pair": pair.digest,
        "query_id": pair.query.id,
        "code_id": pair.code.id,
        **{name: getattr(verdict, name) for name in ("grade", "reason", "path", "problem")},
        "chance": None if math.isnan(verdict.chance) else round(verdict.chance, 6),
        "judge": judge,
        **verdict.told,
        "query": pair.query.text,
        "code": pair.code.text,
        "language": pair.code.language,
    }


def settings_of(out: Path) -> CampaignSettings:
    """Return the settings that a file of records was made with."""
    try:
        before = stored_settings(out) or {}
        if before.get("judge") == "person":
            raise InputError(f"{out} holds labels of a person: there is nothing to compute again")
        return CampaignSettings(**{**before, "chats": tuple(before["chats"])})
    except (KeyError, TypeError) as error:
        raise InputError(f"no manifest beside {out} ({error}): it says which judge made the records") from error


_STUCK = "no pair gets further, and nothing is under way"


class CampaignReporter(Protocol):
    """Who hears how a campaign goes."""

    def on_start(self, total: int) -> None:
        """Hear how many pairs there are."""

    def on_verdict(self, tally: Tally) -> None:
        """Hear how far it came."""

    def on_problem(self, problem: Problem) -> None:
        """Hear of what cannot be judged."""


@dataclass(frozen=True, slots=True)
class JudgeFactory:
    """A judge to be, which wants to know where steps are kept, and the settings that make it again."""

    judge_of: Callable[[Steps], Judge]
    settings: CampaignSettings
    later: Sequence[BatchChat] = ()
    """The models that answer in batches."""


def run_in_waves(
    pairs_of: Callable[[], Iterable[Pair | Problem]],
    factory: JudgeFactory,
    out: Path,
    say: Say,
    *,
    on_problem: Callable[[Problem], None] | None = None,
    **options: Any,
) -> Tally:
    """Judge what has no verdict in `out` yet, wave by wave; the options are those of `run`."""
    later = factory.later
    options |= {"settings": factory.settings}

    def size() -> int:
        return out.stat().st_size if out.exists() else 0

    before = size()
    tally = wave = run(pairs_of(), factory.judge_of, out, on_problem=on_problem, **options)
    while wave.waiting and not wave.stopped:
        try:
            under_way = sum(chat.submit() for chat in later)
            for chat in later:
                chat.collect(say)
        except ChatError as error:
            return replace(tally, stopped=str(error), waiting=wave.waiting)
        if not under_way and size() == before:
            reason = next((chat.refusal for chat in later if chat.refusal), _STUCK)
            return replace(tally, stopped=reason, waiting=wave.waiting)
        before = size()
        wave = run(pairs_of(), factory.judge_of, out, **{**options, "only": wave.waiting})
        tally = tally.followed_by(wave)
    return tally


FAILED = frozenset({"chat", "reply", "sandbox"})
"""What went wrong then, of which there is no step."""


class Replay(NamedTuple):
    """A verdict as it was recorded, and as it comes about again."""

    recorded: dict[str, Any]
    again: dict[str, Any]

    @property
    def skipped(self) -> bool:
        """Whether it failed then: there is nothing to tell again."""
        return self.recorded["problem"] in FAILED

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.skipped and self.recorded == self.again


def replay(file: Path, judge_of: Callable[[Steps], Judge]) -> Iterator[Replay]:
    """Judge each pair of a file of records again, from its steps alone."""
    judge = judge_of(Journal(file, is_step, only_read=True))
    for record in verdicts(file):
        pair = pair_of(record)
        yield Replay(record, line(pair, judge.judge(pair), judge.name))


def pair_of(record: dict[str, Any]) -> Pair:
    """Return the pair that a verdict is about."""
    code = Chunk(record["code_id"], record["code"], record["language"])
    return Pair(Query(record["query_id"], record["query"]), code)


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
