"""Fine-tune a generator on right programs: its data, its settings, its record and its card.

They are tasks with references, or rows of a dataset that are correct. Whole tasks are held out, as for rankers: the
rows say which, else a hash of their names. Tasks to test on are left out.

Reads top to bottom: base, texts, training, saving. The tokens of the task are read and not learned. The model with the
lowest loss on the validation part is kept, since more training than that costs variety (section 3.1).
The trainer's checkpoints hold weights, optimizer, schedule and every random state, so that a run that was killed goes
on as if it had not been.
"""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments
from transformers.utils import logging as transformers_logging

from assay.encode.hub import hub_options, is_local, opening
from assay.encode.models import split_model
from assay.errors import InputError
from assay.faults import Fault
from assay.io import files, rows
from assay.programs.tasks import task_file
from assay.programs.tasks.task_file import function_of
from assay.protocols import Say
from assay.rank import datasets
from assay.rank.datasets import Dataset, Example, leaks, split
from assay.rank.samplers import PromptTemplate, load_template, plain_lines, render
from assay.runs import record
from assay.runs.record import manifest
from assay.settings import above_zero, at_least
from assay.train import run
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
        dataset = datasets.read(file) if _is_dataset(file) else _references(file, known)
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
    assay rank sample TASKS --model vllm:FOLDER --complete --template {template}
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


@dataclass(frozen=True, slots=True)
class GeneratorRun(GeneratorSettings):
    """What decides about a run."""

    base: str = ""
    programs: str = ""
    """A hash of them."""


def begin_run(solved: SolvedTasks, base: str, folder: Path, settings: GeneratorSettings) -> None:
    """Write what decides about a run into its folder, or refuse a folder in which a run of something else began."""
    texts = sorted(map(repr, (*solved.learned, *solved.valid)))
    decides = GeneratorRun(**asdict(settings), base=base, programs=record.hash_of("\n".join(texts)))
    record.begin(run.looks_of(folder), decides, "looks at a training", seed=settings.seed)


def tune_generator(
    solved: SolvedTasks, base: str, folder: Path, settings: GeneratorSettings, say: Say
) -> dict[str, Any]:
    """Fine-tune a base on programs into a folder and return its figures; `base` is a spec without `hf:`."""
    say, settings = run.say_of_main(say), fitting(settings)
    torch.manual_seed(settings.seed)
    logging.getLogger("transformers").setLevel(logging.ERROR)

    # --- base
    model, options = split_model(base, BASE_OPTIONS)
    network, tokenizer = open_causal(model, run.training_device())
    known = int(getattr(network.config, "max_position_embeddings", None) or _WINDOW)
    window = min(settings.length, options.length or known, known)

    # --- texts: whole tasks are held out
    learned, valid = (rows_of(network, tokenizer, each, window) for each in (solved.learned, solved.valid))
    left_out = len(solved.learned) + len(solved.valid) - len(learned) - len(valid)
    if not (learned and valid):
        raise InputError(f"no program of a part fits {settings.length} tokens: raise --set length")
    say(f"{len(learned):,} programs to learn, {len(valid):,} to choose by, {left_out:,} too long")

    # --- training
    network = run.with_low_rank(network, settings.lora, "CAUSAL_LM")
    steps = settings.epochs * _steps_per_epoch(len(learned), settings)
    collator = DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=IGNORED)
    trainer = Trainer(network, _arguments(folder / run.RUN, settings, steps), collator, learned, valid)
    look = lambda: float(trainer.evaluate()[_MEASURE])  # noqa: E731
    looks = run.train_to_the_best_look(
        trainer, look, folder, say, steps, name="validation loss", key="valid_loss", patience=0
    )

    # --- saving
    if run.is_main_process():
        record.rewrite(run.looks_of(folder), looks)
        _save(run.merged(network), tokenizer, folder)
    best = min(looks[1:], key=lambda look: float(look["valid_loss"]))
    figures = {"step": best["step"], "loss": best["valid_loss"], "before": looks[0]["valid_loss"], "looks": looks}
    return {"programs": len(learned), "valid": len(valid), "left_out": left_out, **figures}


_WINDOW = 2048
"""Tokens, of a model that does not say how many it reads."""
_CHECKPOINTING = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
"""Without reentering, which matrices of a low rank on a frozen base have no gradients with."""
_MEASURE = "eval_loss"
IGNORED = -100
"""The label of a token that is not learned."""
Row = dict[str, list[int]]


def open_causal(model: str, device: torch.device | str = "cpu") -> tuple[Any, Any]:
    """Return a causal language model in float32 and its tokenizer, which fills rows up on the right."""
    plain = str(Path(model).expanduser()) if is_local(model) else model
    transformers_logging.disable_progress_bar()
    with opening(plain):
        tokenizer: Any = AutoTokenizer.from_pretrained(plain, padding_side="right", **hub_options(plain))
        network: Any = AutoModelForCausalLM.from_pretrained(plain, **hub_options(plain)).eval()
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.bos_token
    network.config.use_cache = False
    return network.to(device=device, dtype=torch.float32), tokenizer


def _save(network: Any, tokenizer: Any, folder: Path) -> None:
    network.config.use_cache = True
    network.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))


def rows_of(network: Any, tokenizer: Any, solved: Sequence[SolvedTask], window: int) -> list[Row]:
    """Return tokens and labels of programs that are shorter than the window; their end is learned, too."""
    configured, end = getattr(network.generation_config, "eos_token_id", None), tokenizer.eos_token_id
    ends = {*(configured if isinstance(configured, list) else [configured]), end} - {None}
    rows = []
    for each in solved:
        program = tokenizer(each.program, add_special_tokens=False)["input_ids"] + sorted(ends)[:1]
        prompt = tokenizer(each.prompt)["input_ids"]
        if len(prompt) > 1 and prompt[-1] == end:
            prompt = prompt[:-1]  # some end a text by themselves: nothing goes on behind that
        if len(program) < window:
            prompt = (prompt or [tokenizer.pad_token_id])[-(window - len(program)) :]
            mask = [1] * (len(prompt) + len(program))
            labels = [IGNORED] * len(prompt) + program
            rows.append({"input_ids": prompt + program, "attention_mask": mask, "labels": labels})
    return rows


def _arguments(folder: Path, settings: GeneratorSettings, steps: int) -> TrainingArguments:
    return TrainingArguments(
        **run.look_arguments(folder, settings, steps, _MEASURE, higher_is_better=False),
        per_device_train_batch_size=settings.at_once,
        per_device_eval_batch_size=settings.at_once,
        gradient_accumulation_steps=_accumulated(settings),
        max_grad_norm=settings.clip,
        remove_unused_columns=False,
        **(_CHECKPOINTING if settings.checkpointing else {}),
    )


def fitting(settings: GeneratorSettings) -> GeneratorSettings:
    """Return settings whose `at_once` is no more than a device has of a step; refuse a step that is no whole parts."""
    processes = run.process_count()
    of_device = settings.batch // processes
    at_once = min(settings.at_once, of_device)
    if not at_once or settings.batch % (at_once * processes):
        devices = f" on each of {processes} devices" if processes > 1 else ""
        asked = f"setting 'batch' is {settings.batch}, which {settings.at_once} at once{devices} do not make up"
        if settings.batch % processes:
            raise InputError(f"{asked}: set a multiple of {processes}")
        divisor = max(count for count in range(1, at_once + 1) if of_device % count == 0)
        raise InputError(f"{asked}: set at_once={divisor}, or another batch")
    return replace(settings, at_once=at_once)


def _accumulated(settings: GeneratorSettings) -> int:
    """Return how many parts a step has on each device."""
    return settings.batch // (settings.at_once * run.process_count())


def _steps_per_epoch(programs: int, settings: GeneratorSettings) -> int:
    parts = math.ceil(programs / (settings.at_once * run.process_count()))
    return max(math.ceil(parts / _accumulated(settings)), 1)
