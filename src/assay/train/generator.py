"""Fine-tune a generator on right programs: its data, its settings, its record and its card.

They are tasks with references, or rows of a dataset that are correct. Whole tasks are held out, as for rankers: the
rows say which, else a hash of their names. Tasks to test on are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.encode.models import split_model
from assay.errors import InputError
from assay.faults import Fault
from assay.io import files, rows
from assay.programs.tasks import task_file
from assay.programs.tasks.task_file import function_of
from assay.protocols import Say
from assay.rank.dataset import formats
from assay.rank.dataset.rows import Dataset, Example, leaks, split
from assay.rank.sampling.prompts import PromptTemplate, load_template, plain_lines, render
from assay.runs.record import manifest
from assay.settings import above_zero, at_least
from assay.train.card import about_base, base_of, page, tuned_head
from assay.train.settings import FineTuneSettings, extra_of
from assay.values import Problem, Task

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
        dataset = formats.read(file) if _is_dataset(file) else _references(file, known)
        examples += dataset.examples
        problems += dataset.problems
    right = _right(examples, valid, seed)
    solved = [_solved(each, known, template) for each in _few(right, most)]
    learned, chosen = (tuple(e for e in solved if e and e.split == split) for split in ("train", "valid"))
    made = SolvedTasks(learned, chosen, tuple(problems))
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
    every = [replace(each, split=sides.get(each.task_id, "train")) for each in examples]
    right = [each for each in every if each.fault is Fault.CORRECT and each.source.strip() and each.split != "test"]
    return right if any(each.split == "valid" for each in right) else split(right, valid=valid, seed=seed)


def _is_dataset(file: Path) -> bool:
    if file.is_dir():
        return True
    problems: list[Problem] = []
    first = next((fields for _, fields in rows.objects(file, problems)), {})
    return "fault" in first or "binary_label" in first or "ternary_label" in first


def _references(file: Path, known: dict[str, Task]) -> Dataset:
    """Return the references of tasks, which become known."""
    reading = task_file.read_tasks(file)
    known |= {task.id: task for task in reading.tasks}
    solved = [task for task in reading.tasks if task.reference]
    lacking = len(reading.tasks) - len(solved)
    problems = [Problem(file.name, f"{lacking:,} tasks without a reference are left out")] if lacking else []
    examples = (Example(task.id, f"{task.id}#reference", task.prompt, task.reference, Fault.CORRECT) for task in solved)
    return Dataset(tuple(examples), (*reading.problems, *problems))


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


RECORD, CARD = "training.json", "README.md"
_OPENING = """
From `{base}` (license: {license}), on {programs:,} programs that are right, of {sources}; {valid:,} of other tasks
chose the checkpoint: step {step:,}, loss of a token {loss:.4f}, before {before:.4f}. `training.json` is its record.

    vllm serve FOLDER                                      # or another server of the same protocol
    ASSAY_API_BASE=http://localhost:8000/v1 assay rank sample TASKS --model completions:FOLDER --template {template}
"""
_LIMITS = """
What the base learned from the web, prejudice included, is in it; what it writes has to be run in a sandbox.
"""


def train_generator(  # noqa: PLR0913  what is learned from, how, where to, and who hears of it
    data: Sequence[Path],
    spec: str,
    folder: Path,
    settings: GeneratorSettings,
    say: Say,
    *,
    tasks: Path | None = None,
    fresh: bool = False,
) -> Mapping[str, Any] | None:
    """Fine-tune a base on programs, or rows of `tasks`; return the record, None in a process that only helps."""
    base = base_of(spec)
    template = load_template(settings.template)
    solved = read_solved(data, tasks, template, valid=settings.valid, most=settings.most, seed=settings.seed)
    for problem in solved.problems:
        say(str(problem))
    with extra_of("train generator"):
        from assay.encode.hub import check_is_there

        check_is_there(split_model(base, BASE_OPTIONS)[0])
        from assay.train import run
        from assay.train.generator_loop import begin_run, tune_generator
    first = run.is_main_process()
    with run.training(folder, RECORD, lambda: begin_run(solved, base, folder, settings), say, fresh=fresh) as is_to_do:
        if not is_to_do:
            return dict(json.loads((folder / RECORD).read_text("utf-8"))) if first else None
        tuned = tune_generator(solved, base, folder, settings, say)
        if not first:
            return None
        sources = ", ".join(f"`{source}`" for source in sorted(file.name for file in data))
        facts = {"sources": sources, **about_base(base)}
        facts |= manifest(settings, seed=settings.seed, corpus=map(repr, (*solved.learned, *solved.valid)))
        record = {**facts, "template": settings.template, **tuned}
        title = "A generator of programs, fine-tuned by `assay train generator`"
        head = tuned_head(record, "transformers", "text-generation")
        files.write(folder / CARD, page(title, _OPENING.format_map(record), {"Limits": _LIMITS}, head))
        files.write_json(folder / RECORD, record)
        run.remove_checkpoints(folder)
    return record
