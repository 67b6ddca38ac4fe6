"""Read candidate programs, open rankers by their specs, run them, and order the programs.

Without tasks, samples that name none are one task's candidates, and the others are grouped by `task_id`; the prompt is
the sample's own where it has one. A folder of Python files is one task's candidates, too.

`consensus`, `neural:PATH`, or `examples+consensus`, where the first decides and the second orders its ties. Rankers
that run programs get a sandbox and are opened only where there is one: running is for the user to allow. Those that ask
a model get its chat, likewise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.corpus.python_syntax import parse_python
from assay.errors import InputError
from assay.io.digest import digest
from assay.io.fields import FieldError, Fields
from assay.io.rows import plain
from assay.programs import samples
from assay.programs.logprobs import logprob_of
from assay.programs.requests import ReadingOptions
from assay.programs.sample_rows import sample_rows
from assay.programs.shown_examples import examples_in
from assay.protocols import ManyRanker, Pool, Ranker
from assay.values import LogProbability, Problem, Program, Ranked, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner

_TAGS = ("model", "config", "temperature")
_NOT_READ = 50_000
"""Characters of a program that is not parsed to say whether it can be."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Tasks and their candidates, in the order of the input."""

    tasks: tuple[Task, ...]
    programs: tuple[Program, ...]
    problems: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[tuple[Task, tuple[Program, ...]]]:
        """Yield each task that has candidates, with these."""
        of: dict[str, list[Program]] = {}
        for program in self.programs:
            of.setdefault(program.task_id, []).append(program)
        for task in self.tasks:
            if task.id in of:
                yield task, tuple(of[task.id])


def read(path: Path, tasks: Sequence[Task] | None = None, how: ReadingOptions | None = None) -> Pools:
    """Read the candidates of a file or folder; raise InputError if there are none."""
    how = how or ReadingOptions()
    if path.suffix == ".py" or (path.is_dir() and not any(path.glob("*/*.py"))):
        pools = _python(path, tasks)
    elif tasks is None:
        pools = _without_tasks(path, how)
    else:
        read = samples.read(path, tasks, how)
        lost = f"{read.unknown:,} samples are of tasks that are not in TASKS"
        unknown = (Problem(path.name, lost),) if read.unknown else ()
        pools = Pools(tuple(tasks), read.programs, (*read.problems, *unknown))
    if not pools.programs:
        first = f": {pools.problems[0]}" if pools.problems else ""
        raise InputError(f"'{path}' has no program to rank{first}")
    return pools


def notes(task: Task, programs: Sequence[Program], *, are_whole: bool = True) -> list[Problem]:
    """Return notes on why an order of these programs means little, such as programs that do not parse."""
    if len(programs) == 1:
        return [Problem(task.id, "one program: it is scored, there is nothing to order")]
    found = []
    if len({program.source for program in programs}) == 1:
        found.append(Problem(task.id, f"all {len(programs):,} programs are the same text: any order is as good"))
    if are_whole and not any(_parses(program.source) for program in programs):
        what = f"none of {len(programs):,} programs parses as Python, so this order means little; "
        found.append(
            Problem(task.id, f"{what}for programs that are still being written give --ranker 'consensus:?unfinished'")
        )
    return found


def notes_on_order(task: Task, ranked: Sequence[Ranked], parts: Sequence[str]) -> list[Problem]:
    """Return notes on an order by rankers of these specs: examples that were not found, and a tie."""
    found = []
    if "examples" in parts and not examples_in(task):
        found.append(Problem(task.id, "its text shows no example that can be run: examples holds all programs equal"))
    equal = {each.program.source for each in ranked if each.score == ranked[0].score}
    if len(equal) > 1:
        found.append(Problem(task.id, f"{len(equal):,} different programs share the first place: any is as good"))
    return found


def _python(path: Path, tasks: Sequence[Task] | None) -> Pools:
    """Return the Python files of a folder, or one file, as candidates of one task."""
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"'{path}' is a folder without a .py file; give samples, one JSON object a line")
    if tasks is not None and len(tasks) != 1:
        raise InputError(f"'{path}' holds candidates of one task, and TASKS has {len(tasks):,}: give its task alone")
    task = tasks[0] if tasks else Task(path.resolve().stem, "")
    problems, programs = [], []
    for file in files:
        try:
            text = file.read_bytes()
            source = text.decode("utf-8", "replace").replace("\r\n", "\n")
        except OSError as error:
            problems.append(Problem(str(file), f"cannot read it: {error.strerror or error}"))
            continue
        if source.encode() != text.replace(b"\r\n", b"\n"):
            problems.append(Problem(str(file), "not UTF-8: what cannot be read of it is replaced"))
        programs.append(Program(task.id, source, file.name))
    return Pools((task,), tuple(programs), tuple(problems))


def _without_tasks(path: Path, how: ReadingOptions) -> Pools:
    """Return samples with tasks made from the samples' own fields."""
    tasks: dict[str, Task] = {}
    counts = Counter[str]()
    programs: list[Program] = []
    problems: list[Problem] = []
    for place, fields in sample_rows(path, (), problems):
        try:
            for record in samples.records_of(Fields(fields)):
                name = record.name("task_id") if "task_id" in record else plain(path).stem
                task = Task(name, record.text("prompt", ""), record.text("entry_point", ""))
                known = tasks.setdefault(name, task)
                if task.prompt and not known.prompt:
                    known = tasks[name] = replace(task, entry_point=task.entry_point or known.entry_point)
                programs.append(_program(record, known, counts[name], how))
                counts[name] += 1
        except FieldError as error:
            problems.append(Problem(place, str(error)))
    return Pools(tuple(tasks.values()), tuple(programs), tuple(problems))


def _program(record: Fields, task: Task, number: int, how: ReadingOptions) -> Program:
    """Return a program; without an id it gets the one that assay exec would give it."""
    name = record.name("id") if "id" in record else f"{task.id}#{number}"
    count, tags = record.whole("n", 1, least=1), record.tags(*_TAGS)
    made = samples.answer_of(record, task, how)
    if not task.prompt and "completion" in record.values and not _parses(made.source):
        raise FieldError("a completion without its prompt is not a program: give --tasks")
    return Program(task.id, made.source, name, count, tags, logprob_of(record), made.edits)


def _parses(source: str) -> bool:
    return len(source) > _NOT_READ or parse_python(source) is not None


EXECUTING = frozenset({"examples", "agreement"})
"""Rankers that run programs."""
_AT_ONCE = 512
"""Programs that are enough for one question: more are as fast, and wait in memory."""
_Key = tuple[Task, tuple[Program, ...]]


class SharedRanker:
    """A ranker with a cache of the pools of the last tasks."""

    def __init__(self, ranker: Ranker) -> None:
        self.name = ranker.name
        self._ranker = ranker
        self._cache: list[tuple[_Key, list[Ranked]]] = []

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the ranking of each program."""
        return self.rank_many([(task, programs)])[0]

    def rank_many(self, pools: Sequence[Pool]) -> list[list[Ranked]]:
        """Return the ranking of each program of several pools."""
        keys = [(task, tuple(programs)) for task, programs in pools]
        tasks = [task for task, _ in keys]
        self._cache = [(key, ranked) for key, ranked in self._cache if key[0] in tasks]
        missing = [key for key in keys if self._recall(key) is None]
        self._cache += zip(missing, ranked_pools(self._ranker, missing), strict=True)
        return [list(self._recall(key) or ()) for key in keys]

    def _recall(self, key: _Key) -> list[Ranked] | None:
        return next((ranked for known, ranked in self._cache if known == key), None)


def ranker_of(spec: str = "consensus", runner: ProgramRunner | None = None) -> Ranker:
    """Return the ranker of a spec; those that run programs need a sandbox."""
    return rankers_of([spec], runner)[0]


def rankers_of(specs: Sequence[str], runner: ProgramRunner | None = None) -> list[Ranker]:
    """Return the rankers of some specs; a part in several of them is one ranker, which ranks each pool once."""
    names = [part for spec in specs for part in parts_of(spec)]
    made = {part: _one(part, runner) for part in dict.fromkeys(names)}
    parts = {part: SharedRanker(each) if names.count(part) > 1 else each for part, each in made.items()}
    named = ([parts[part] for part in parts_of(spec)] for spec in specs)
    return [each[0] if len(each) == 1 else CombinedRanker(each) for each in named]


def parts_of(spec: str) -> list[str]:
    """Split a spec at each `+` that joins rankers, not at one inside a path."""
    names = "|".join(map(re.escape, plugins.names("ranker")))
    parts = re.split(rf"\+(?=(?:{names})(?:[:+]|$))", spec)
    for part in parts:
        if not part.strip():
            raise InputError(f"'{spec}' does not name a ranker; known: {', '.join(plugins.names('ranker'))}")
        plugins.place("ranker", part.partition(":")[0])
    return parts


def executes(spec: str) -> bool:
    """Say whether a ranker of this spec runs programs."""
    return any(part.partition(":")[0] in EXECUTING for part in parts_of(spec))


def _one(spec: str, runner: ProgramRunner | None) -> Ranker:
    name, colon, _ = spec.partition(":")
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
    """Yield the ranking of the programs of each pool, in their order.

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
    """Yield blocks of pools with a few hundred programs together."""
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
    """The ranker `FIRST+SECOND+…`: later rankers order only the programs that earlier ones score equal.

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
        """Return a position for each program, with the scores of each ranker."""
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
        chance = next((each.probability for each in opinions if each.probability is not None), None)
        return Ranked(program, place, first.fault, first.line, why, chance)


def best_first(ranked: Sequence[Ranked], *, seed: int = 0, by: str = "score") -> list[Ranked]:
    """Order programs by score, or by `probability`, highest first; programs of one text stay together.

    Equal scores are ordered by a hash of task and text: no order of the input, and no list that happens to be sorted by
    how programs were made, decides anything.
    """
    if by == "score":
        return sorted(ranked, key=lambda each: (-each.score, _lot(each, seed)))
    if any(each.probability is None for each in ranked):
        raise InputError("--order probability: this ranker gives none; take consensus, or neural:FOLDER")
    return sorted(ranked, key=lambda each: (-(each.probability or 0.0), -each.score, _lot(each, seed)))


def _lot(ranked: Ranked, seed: int) -> bytes:
    program = ranked.program
    text = f"{seed}\0{program.task_id}\0{program.source}"
    return digest(text)


class LogprobRanker:
    """`logprob`: ranks samples by their recorded log-probability, the mean per token, or with `sum` the sum.

    The sum prefers short programs. An answer without any token comes last (Inala et al. 2022, table 19).
    """

    def __init__(self, score: str = "mean") -> None:
        if score not in {"", "mean", "sum"}:
            raise InputError(f"logprob:{score}: wanted logprob or logprob:sum")
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
    """Return the log-probabilities of the programs; raise InputError if one has none."""
    found = [program.logprob for program in programs if program.logprob is not None]
    if len(found) < len(programs):
        lacking = next(program for program in programs if program.logprob is None)
        raise InputError(
            f"{len(programs) - len(found):,} of {len(programs):,} samples of {task.id} have no log-probability, "
            f"{lacking.id or 'the first'} among them: sample them with 'assay rank sample'"
        )
    return found
