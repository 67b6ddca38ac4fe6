"""The right programs that a generator learns to write, and the settings of its training.

They are tasks with references, or rows of a dataset that are correct. Whole tasks are held out, as for rankers: the
rows say which, else a hash of their names. Tasks to test on are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import InputError
from assay.faults import Fault
from assay.io import rows
from assay.programs.tasks import task_file
from assay.programs.tasks.task_file import function_of
from assay.rank.dataset import formats
from assay.rank.dataset.rows import Example, leaks, split
from assay.rank.sampling.prompts import PromptTemplate, plain_lines, render
from assay.settings import above_zero, at_least
from assay.train.settings import FineTuneSettings
from assay.types import Problem, Task

BASE_OPTIONS = ("length",)
"""The options of a base; what else there is to choose are settings of the training."""
_READS = ("input(", "stdin")


@dataclass(frozen=True, slots=True)
class GeneratorSettings(FineTuneSettings):
    """Sizes and rates; the defaults are those of Inala et al. 2022, section 4.1, where it says them.

    A `batch` is of programs, on all devices together, and a multiple of `at_once`, or less; `valid` is a fraction of
    the tasks, where the rows do not say it. From its highest value the rate falls to nothing in a straight line.
    """

    template: str = "apps"
    """How a task is put, as in `assay rank sample --template`; what it writes later is asked for in the same way."""
    epochs: int = 2
    batch: int = 256
    at_once: int = 8
    rate: float = 1e-5
    warm: float = 0.0
    decay: float = 0.0
    clip: float = 1.0
    """The largest norm of a gradient."""
    length: int = 1024
    """Tokens of task and program together; of a longer task the end is read, a longer program is left out."""
    most: int = 4
    """Different programs of a task, at most."""
    checkpointing: bool = False
    """Compute activations twice instead of keeping them: less memory, a third more time."""
    looks: int = 8

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        FineTuneSettings.__post_init__(self)
        at_least(self, {"length": 16, "most": 1})
        above_zero(self, "clip")
        if self.valid >= 1:
            raise InputError(f"setting 'valid' is {self.valid}; wanted more than 0 and less than 1")


@dataclass(frozen=True, slots=True)
class SolvedTask:
    """What a model reads, and what it is to write behind it."""

    task_id: str
    prompt: str
    program: str
    split: str


@dataclass(frozen=True, slots=True)
class SolvedTasks:
    """What is learned and what chooses the model."""

    learned: tuple[SolvedTask, ...]
    valid: tuple[SolvedTask, ...]
    problems: tuple[Problem, ...] = ()


def read_solved(  # noqa: PLR0913  each is one thing
    files: Sequence[Path], tasks: Path | None, template: PromptTemplate, *, valid: float, most: int, seed: int
) -> SolvedTasks:
    """Return the right programs of files: tasks with references, or rows of `assay rank data`."""
    known = {task.id: task for task in task_file.read_tasks(tasks).tasks} if tasks else {}
    examples, problems = list[Example](), list[Problem]()
    for file in files:
        some, wrong = _rows(file) if _is_dataset(file) else _references(file, known)
        examples += some
        problems += wrong
    right = _right(examples, valid, seed)
    solved = [_solved(each, known, template) for each in _few(right, most)]
    made = SolvedTasks(
        tuple(each for each in solved if each and each.split == "train"),
        tuple(each for each in solved if each and each.split == "valid"),
        tuple(problems),
    )
    if not (made.learned and made.valid):
        lacking = f"{len(made.learned):,} programs to learn and {len(made.valid):,} to choose the model by"
        first = f"; {problems[0]}" if problems else ""
        hint = "; the template goes on behind a task's text, which no program begins with: --set template=apps"
        raise InputError(f"{lacking}, wanted some of both{first}{hint if right and not any(solved) else ''}")
    return made


def _right(examples: Sequence[Example], valid: float, seed: int) -> list[Example]:
    """Return the rows that are correct with their split, none to test on; those without a split go with their task."""
    if shared := leaks(each for each in examples if each.split):
        raise InputError(f"{len(shared):,} tasks are in more than one split, {shared[0]!r} first; split by task")
    sides = {each.task_id: each.split for each in examples if each.split}
    told = [replace(each, split=sides.get(each.task_id, "train")) for each in examples]
    right = [each for each in told if each.fault is Fault.CORRECT and each.source.strip() and each.split != "test"]
    return right if any(each.split == "valid" for each in right) else split(right, valid=valid, seed=seed)


def _is_dataset(file: Path) -> bool:
    if file.is_dir():
        return True
    problems: list[Problem] = []
    first = next((fields for _, fields in rows.objects(file, problems)), {})
    return "fault" in first or "binary_label" in first or "ternary_label" in first


def _rows(file: Path) -> tuple[Sequence[Example], Sequence[Problem]]:
    dataset = formats.read(file)
    return dataset.examples, dataset.problems


def _references(file: Path, known: dict[str, Task]) -> tuple[Sequence[Example], Sequence[Problem]]:
    """Return the references of tasks, which become known."""
    reading = task_file.read_tasks(file)
    known |= {task.id: task for task in reading.tasks}
    solved = [task for task in reading.tasks if task.reference]
    lacking = len(reading.tasks) - len(solved)
    problems = [Problem(file.name, f"{lacking:,} tasks without a reference are left out")] if lacking else []
    return [Example(task.id, f"{task.id}#reference", task.prompt, task.reference, Fault.CORRECT) for task in solved], [
        *reading.problems,
        *problems,
    ]


def _few(examples: Iterable[Example], most: int) -> Iterator[Example]:
    """Yield the first few different programs of each task."""
    seen, counts = set[tuple[str, str]](), Counter[str]()
    for each in examples:
        name = (each.task_id, each.source.strip())
        if name not in seen and counts[each.task_id] < most:
            seen.add(name)
            counts[each.task_id] += 1
            yield each


def _solved(example: Example, known: dict[str, Task], template: PromptTemplate) -> SolvedTask | None:
    """Return a program as it is learned; None where it cannot go on behind the text of its task."""
    task = known.get(example.task_id) or Task(example.task_id, example.prompt, _function(example.source))
    prompt = render(template, replace(task, prompt=example.prompt or task.prompt))
    program = plain_lines(example.source).strip("\n") + "\n"
    if template.continues:
        if not program.startswith(task.prompt):
            return None
        return SolvedTask(example.task_id, prompt, program.removeprefix(task.prompt), example.split)
    stop = template.stop[0].removeprefix("\n") if template.stop else ""
    return SolvedTask(example.task_id, prompt, program + stop, example.split)


def _function(source: str) -> str:
    """Return the function that a program is called by; none where it reads what it needs."""
    return "" if any(sign in source for sign in _READS) else function_of(source)
