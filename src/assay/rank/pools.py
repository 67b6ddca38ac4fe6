"""Read the candidates of each task from samples, with tasks or without.

Without tasks, samples that name none are one task's candidates, and the others are grouped by `task_id`; the prompt is
the sample's own where it has one. A folder of Python files is one task's candidates, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.corpus.languages import parse_python
from assay.errors import InputError
from assay.io import rows
from assay.io.fields import FieldError, Fields
from assay.io.rows import plain
from assay.programs import samples
from assay.values import Problem, Program, Task

_WHOLE = ("code", "solution", "source", "program")
_TAGS = ("model", "config", "temperature")
_NOT_READ = 50_000
"""Characters of a program that is not parsed to say whether it can be."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Tasks and their candidates, in the order in which they were met."""

    tasks: tuple[Task, ...]
    programs: tuple[Program, ...]
    problems: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[tuple[Task, tuple[Program, ...]]]:
        """Yield each task that has candidates with them."""
        of: dict[str, list[Program]] = {}
        for program in self.programs:
            of.setdefault(program.task_id, []).append(program)
        for task in self.tasks:
            if task.id in of:
                yield task, tuple(of[task.id])


def read(path: Path, tasks: Sequence[Task] | None = None, *, stop: str = "") -> Pools:
    """Return the candidates of a file or folder; none at all is an error."""
    if path.is_dir() or path.suffix == ".py":
        pools = _python(path, tasks)
    elif tasks is None:
        pools = _without_tasks(path, stop)
    else:
        read = samples.read(path, tasks, stop=stop)
        lost = f"{read.unknown:,} samples are of tasks that are not in TASKS"
        unknown = (Problem(path.name, lost),) if read.unknown else ()
        pools = Pools(tuple(tasks), read.programs, (*read.problems, *unknown))
    if not pools.programs:
        first = f": {pools.problems[0]}" if pools.problems else ""
        raise InputError(f"'{path}' holds no program to rank{first}")
    return pools


def notes(task: Task, programs: Sequence[Program], *, are_whole: bool = True) -> list[Problem]:
    """Return what keeps an order of these programs from saying much; some are only beginnings of programs."""
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


def _without_tasks(path: Path, stop: str) -> Pools:
    """Return samples whose tasks are known by nothing but what the samples say of them."""
    tasks: dict[str, Task] = {}
    counts = Counter[str]()
    programs: list[Program] = []
    problems: list[Problem] = []
    for row, fields in rows.objects(path, problems):
        try:
            record = Fields(fields)
            name = record.name("task_id") if "task_id" in record else plain(path).stem
            task = Task(name, record.text("prompt", ""), record.text("entry_point", ""))
            known = tasks.setdefault(name, task)
            if task.prompt and not known.prompt:
                known = tasks[name] = replace(task, entry_point=task.entry_point or known.entry_point)
            programs.append(_program(record, known, counts[name], stop))
            counts[name] += 1
        except FieldError as error:
            problems.append(Problem(rows.place(path, row), str(error)))
    return Pools(tuple(tasks.values()), tuple(programs), tuple(problems))


def _program(record: Fields, task: Task, number: int, stop: str) -> Program:
    """Return a program; one without an id gets the one that assay exec gives it."""
    name = record.name("id") if "id" in record else f"{task.id}#{number}"
    count, tags = record.whole("n", 1, least=1), record.tags(*_TAGS)
    return Program(task.id, _source(record, task, stop), name, count, tags, samples.logprob_of(record))


def _source(record: Fields, task: Task, stop: str) -> str:
    given = next((name for name in _WHOLE if name in record), "")
    if "completion" in record.values and given in {"", "source"}:
        if not task.prompt:
            raise FieldError("a completion without its prompt is no program: give --tasks")
        return task.prompt + samples.cut(record.text("completion"), samples.STOPS[stop or samples.DEFAULT_STOP])
    if not given:
        raise FieldError(f"no program: it needs a field {', '.join(_WHOLE)} or completion")
    return record.text(given)


def _parses(source: str) -> bool:
    return len(source) > _NOT_READ or parse_python(source) is not None
