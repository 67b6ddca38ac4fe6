"""Open the rankers that specs name, join them, ask them about pools, and order what they say.

`consensus`, `neural:PATH`, or `examples+consensus`, where the first decides and the second orders its ties. Rankers
that run programs get a sandbox and are opened only where there is one: running is for the user to allow. Those that ask
a model get its chat, likewise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from assay import plugins
from assay.errors import InputError
from assay.protocols import ManyRanker, Pool, Ranker
from assay.values import LogProbability, Program, Ranked, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.rank.asking.model_ranker import RankingModels


EXECUTING = frozenset({"examples", "agreement"})
"""Rankers that run programs."""
ASKING = frozenset({"chat"})
"""Rankers that ask a language model."""
_AT_ONCE = 512
"""Programs that are enough for one question: more are as fast, and wait in memory."""
_Key = tuple[Task, tuple[Program, ...]]


class SharedRanker:
    """The ranker that it wraps, with a memory of the pools of the tasks that it was asked about last."""

    def __init__(self, ranker: Ranker) -> None:
        self.name = ranker.name
        self._ranker = ranker
        self._known: list[tuple[_Key, list[Ranked]]] = []

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return what the ranker says of each program."""
        return self.rank_many([(task, programs)])[0]

    def rank_many(self, pools: Sequence[Pool]) -> list[list[Ranked]]:
        """Return what the ranker says of each program of several pools."""
        keys = [(task, tuple(programs)) for task, programs in pools]
        self._known = [(key, ranked) for key, ranked in self._known if any(key[0] == task for task, _ in keys)]
        missing = [key for key in keys if self._found(key) is None]
        self._known += zip(missing, ranked_pools(self._ranker, missing), strict=True)
        return [list(self._found(key) or ()) for key in keys]

    def _found(self, key: _Key) -> list[Ranked] | None:
        return next((ranked for known, ranked in self._known if known == key), None)


def ranker_of(
    spec: str = "consensus", runner: ProgramRunner | None = None, models: RankingModels | None = None
) -> Ranker:
    """Return the ranker of a spec; those that run programs need a sandbox, those that ask a model what opens it."""
    return rankers_of([spec], runner, models)[0]


def rankers_of(
    specs: Sequence[str], runner: ProgramRunner | None = None, models: RankingModels | None = None
) -> list[Ranker]:
    """Return the rankers of some specs; a part that several of them name is one ranker, asked about each pool once."""
    names = [part for spec in specs for part in parts_of(spec)]
    made = {part: _one(part, runner, models) for part in dict.fromkeys(names)}
    parts = {part: SharedRanker(each) if names.count(part) > 1 else each for part, each in made.items()}
    return [_combined([parts[part] for part in parts_of(spec)]) for spec in specs]


def _combined(rankers: Sequence[Ranker]) -> Ranker:
    return rankers[0] if len(rankers) == 1 else CombinedRanker(rankers)


def parts_of(spec: str) -> list[str]:
    """Return the specs that a `+` joins; one inside a path joins nothing."""
    names = "|".join(map(re.escape, plugins.names("ranker")))
    parts = re.split(rf"\+(?=(?:{names})(?:[:+]|$))", spec)
    for part in parts:
        if not part.strip():
            raise InputError(f"'{spec}' names no ranker; known: {', '.join(plugins.names('ranker'))}")
        plugins.place("ranker", part.partition(":")[0])
    return parts


def executes(spec: str) -> bool:
    """Say whether a ranker of this spec runs programs."""
    return not EXECUTING.isdisjoint(_names(spec))


def asks(spec: str) -> bool:
    """Say whether a ranker of this spec asks a language model."""
    return not ASKING.isdisjoint(_names(spec))


def specs_within(spec: str) -> Iterator[str]:
    """Yield the specs of all rankers that have a part in one, those whose order a model starts from, too."""
    for part in parts_of(spec):
        name, _, argument = part.partition(":")
        yield part
        if name in ASKING:
            from assay.rank.asking.model_ranker import model_spec

            yield from specs_within(model_spec(argument)[1].first)


def _names(spec: str) -> Iterator[str]:
    return (each.partition(":")[0] for each in specs_within(spec))


def _one(spec: str, runner: ProgramRunner | None, models: RankingModels | None) -> Ranker:
    name, colon, argument = spec.partition(":")
    if name in ASKING:
        if models is None:
            raise InputError(f"the ranker '{name}' asks a model, and here none can be asked: take consensus")
        made: Ranker = plugins.find("ranker", name)(argument, models, lambda first: ranker_of(first, runner, models))
        return made
    if name not in EXECUTING:
        ranker: Ranker = plugins.make("ranker", spec)
        return ranker
    if runner is None:
        raise InputError(f"the ranker '{name}' runs programs: allow it with --allow-execution, or take consensus")
    if colon:
        raise InputError(f"the ranker '{name}' takes nothing after its name: '{spec}'")
    executing: Ranker = plugins.find("ranker", name)(runner)
    return executing


def ranked_pools(ranker: Ranker, pools: Iterable[Pool]) -> Iterator[list[Ranked]]:
    """Yield what a ranker thinks of the programs of each pool, in their order.

    A ranker whose cost is a batch of texts, as a transformer's is, has `rank_many`: programs of several tasks then
    share batches, and equal programs of one task, in several pools, are read once. Others rank task by task.
    """
    if not isinstance(ranker, ManyRanker):
        for task, programs in pools:
            yield ranker.rank(task, programs)
        return
    for block in _blocks(pools):
        yield from ranker.rank_many(block)


def _blocks(pools: Iterable[Pool]) -> Iterator[Sequence[Pool]]:
    """Yield pools that together have some hundred programs."""
    block: list[Pool] = []
    held = 0
    for pool in pools:
        block.append(pool)
        held += len(pool[1])
        if held >= _AT_ONCE:
            yield block
            block, held = [], 0
    if block:
        yield block


class CombinedRanker:
    """The ranker `FIRST+SECOND+…`: the earlier decide, and the later order only programs that these hold equal.

    A later ranker sees the whole pool; its order counts within a tie. The scores are places: equal for programs that
    all rankers hold equal.
    """

    def __init__(self, rankers: Sequence[Ranker]) -> None:
        if not rankers:
            raise InputError("no ranker given; name at least one, as in examples+consensus")
        self._rankers = tuple(rankers)

    @property
    def name(self) -> str:
        """The specs of its rankers, joined by `+`."""
        return "+".join(ranker.name for ranker in self._rankers)

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return a place for each program, with what each ranker thought of it."""
        told = list(zip(*(ranker.rank(task, programs) for ranker in self._rankers), strict=True))
        keys = [tuple(each.score for each in opinions) for opinions in told]
        places = {key: float(place) for place, key in enumerate(sorted(set(keys)))}
        return [
            self._joined(program, opinions, places[key])
            for program, opinions, key in zip(programs, told, keys, strict=True)
        ]

    def _joined(self, program: Program, opinions: Sequence[Ranked], place: float) -> Ranked:
        first = next((each for each in opinions if each.fault is not None), opinions[0])
        why: dict[str, float] = {}
        for ranker, opinion in zip(self._rankers, opinions, strict=True):
            why[ranker.name] = opinion.score
            why |= {f"{ranker.name}.{part}": value for part, value in opinion.why.items()}
        return Ranked(program, place, first.fault, first.line, why)


def best_first(ranked: Sequence[Ranked], *, seed: int = 0) -> list[Ranked]:
    """Return the higher scores first; programs with one text stay together.

    Equal scores are ordered by a hash of task and text: no order of the input, and no list that happens to be sorted by
    how programs were made, decides anything.
    """
    return sorted(ranked, key=lambda each: (-each.score, _lot(each, seed)))


def _lot(ranked: Ranked, seed: int) -> bytes:
    program = ranked.program
    text = f"{seed}\0{program.task_id}\0{program.source}"
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).digest()


class LogprobRanker:
    """`logprob`: programs by the log-probability that samples came with, the mean of a token, or with `sum` the sum.

    The sum prefers short programs. An answer without any token comes last (Inala et al. 2022, table 19).
    """

    def __init__(self, score: str = "mean") -> None:
        if score not in {"", "mean", "sum"}:
            why = "; scoring by a model on this machine was removed" if "hf:" in score else ""
            raise InputError(f"logprob:{score}: wanted logprob or logprob:sum{why}")
        self.name = "logprob:sum" if score == "sum" else "logprob"

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return each program with the mean or the sum of its log-probabilities."""
        found = _logprobs(task, programs)
        of = [each.total if self.name.endswith("sum") else each.mean for each in found]
        lowest = min((score for score, each in zip(of, found, strict=True) if each.tokens), default=0.0) - 1
        return [
            Ranked(
                program,
                score if each.tokens else lowest,
                why={"mean": each.mean, "sum": each.total, "tokens": float(each.tokens)},
            )
            for program, score, each in zip(programs, of, found, strict=True)
        ]


def _logprobs(task: Task, programs: Sequence[Program]) -> list[LogProbability]:
    """Return what the programs came with; one that came without any cannot be placed."""
    found = [program.logprob for program in programs if program.logprob is not None]
    if len(found) < len(programs):
        lacking = next(program for program in programs if program.logprob is None)
        raise InputError(
            f"{len(programs) - len(found):,} of {len(programs):,} samples of {task.id} have no log-probability, "
            f"{lacking.id or 'the first'} among them: sample them with 'assay rank sample'"
        )
    return found
