"""Fine-tune a causal language model on right programs into a folder that servers of models read.

Reads top to bottom: data, base, training, saving. Inala et al. 2022 (section 3.1) train their generators for two epochs
at most and keep the checkpoint with the lowest validation loss, since more of it costs variety. A model learns to write
the program where the prompt ends; the prompt is put as `assay rank sample` puts it, and none of its tokens are learned.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments

from assay.encode.hub import check_is_there, hub_options, opening
from assay.errors import InputError
from assay.faults import Fault
from assay.io import files, rows
from assay.io.terminal import say_problems
from assay.programs.tasks.task_file import read_tasks
from assay.protocols import Say
from assay.rank import datasets
from assay.rank.datasets import Example
from assay.rank.samplers import PromptTemplate, load_template, plain_lines, render
from assay.runs import record
from assay.train import run
from assay.train.card import about_base, base_of, generator_card
from assay.train.settings import GeneratorRequest, GeneratorSettings
from assay.values import Problem, Task

RECORD, CARD = "training.json", "README.md"
IGNORED = -100
"""The label of a token that is not learned."""


@dataclass(frozen=True, slots=True)
class LearnedProgram:
    """What a model reads, and what it is to write behind it."""

    prompt: str
    program: str
    split: str


@dataclass(frozen=True, slots=True)
class GeneratorRun(GeneratorSettings):
    """What decides about a run."""

    base: str = ""
    programs: str = ""
    """A hash of them with their prompts."""


def train_generator(request: GeneratorRequest, settings: GeneratorSettings, say: Say) -> dict[str, Any]:
    """Fine-tune a base on programs and return the record."""
    base, template, folder = base_of(request.base), load_template(request.template), request.out
    if template.name == "few-shot":
        raise InputError("--template few-shot shows solved tasks, which a fine-tuned model does not need: give apps")
    check_is_there(base)
    programs = read_programs(request, template, settings, say)
    decides = GeneratorRun(**asdict(settings), base=base, programs=record.digest(programs))

    def begin() -> None:
        record.begin(run.looks_of(folder), decides, "looks at a training", seed=settings.seed)

    with run.training(folder, RECORD, begin, say, fresh=request.fresh) as is_to_do:
        if is_to_do:
            about = {**about_base(base), "template": request.template, "sources": [file.name for file in request.files]}
            about |= {**_tune(base, programs, folder, settings, say), **record.manifest(decides, seed=settings.seed)}
            files.write(folder / CARD, generator_card(about))
            files.write_json(folder / RECORD, about)
        run.remove_checkpoints(folder)
        return dict(json.loads((folder / RECORD).read_text("utf-8")))


# --- data: right programs, of which whole tasks are held out


def read_programs(
    request: GeneratorRequest, template: PromptTemplate, settings: GeneratorSettings, say: Say
) -> list[LearnedProgram]:
    """Return the right programs of all tasks but those that are tested on, by id, by text or by a right program."""
    known, problems, unread = dict[str, Task](), list[Problem](), list[Problem]()
    every = [each for file in request.files for each in _examples_in(file, known, problems)]
    say_problems(problems, every=request.verbose)
    held = [each for file in request.left_out for each in _examples_in(file, {}, unread)]
    if unread:
        raise InputError(f"{unread[0]}: what is left out has to be read whole; mend the file")
    tested = _signs_of(each for each in (*held, *(row for row in every if row.split in {"valid", "test"})))
    right = [each for each in every if each.fault is Fault.CORRECT and each.source.strip()]
    kept = [each for each in right if tested.isdisjoint(_signs_of([each]))]
    say(f"{len(kept):,} right programs; {len(right) - len(kept):,} of tasks that are held out for a test are left out")
    split = datasets.split(kept, valid=settings.valid, seed=settings.seed)
    return [_learned(each, known.get(each.task_id), template) for each in split]


def _examples_in(file: Path, known: dict[str, Task], problems: list[Problem]) -> Sequence[Example]:
    """Return the rows of a dataset, or the references of tasks, some of which are empty; the tasks become known."""
    if file.is_dir() or any("fault" in row or "binary_label" in row for row in rows.sample(file, [])):
        found = datasets.read(file)
        problems += found.problems
        return found.examples
    reading = read_tasks(file)
    problems += reading.problems
    known |= {task.id: task for task in reading.tasks}
    return [Example(task.id, "", task.prompt, task.reference, Fault.CORRECT) for task in reading.tasks]


def _signs_of(examples: Iterable[Example]) -> set[tuple[str, str]]:
    """Return by what tasks are known again; all but the space in it counts."""
    signs = set[tuple[str, str]]()
    for each in examples:
        program = each.source if each.fault is Fault.CORRECT else ""
        signs |= {("id", each.task_id), ("text", each.prompt), ("program", program)}
    return {(kind, " ".join(text.split())) for kind, text in signs if text.strip()}


def _learned(example: Example, task: Task | None, template: PromptTemplate) -> LearnedProgram:
    """Return a program as it is learned, up to its template's stop sequence."""
    if task is None:
        raise InputError(
            f"the task '{example.task_id}' of a row is not known: give the file of the tasks as --data, too"
        )
    task = replace(task, prompt=example.prompt or task.prompt)
    program = plain_lines(example.source).removeprefix(task.tags.get("prelude", "")).rstrip() + "\n"
    if not template.continues:
        program = program.lstrip("\n") + "".join(template.stop[:1]).removeprefix("\n")
    elif program.startswith(task.prompt):
        program = program.removeprefix(task.prompt)
    else:
        raise InputError(
            f"the program of '{task.id}' does not begin with its task's text, as --template {template.name} wants; give apps"
        )
    return LearnedProgram(render(template, task), program, example.split)


# --- the model, its tokens, the training


def _tune(
    base: str, programs: Sequence[LearnedProgram], folder: Path, settings: GeneratorSettings, say: Say
) -> dict[str, Any]:
    torch.manual_seed(settings.seed)
    logging.getLogger("transformers").setLevel(logging.ERROR)

    # --- base, and what fits it
    with opening(base):
        tokenizer: Any = AutoTokenizer.from_pretrained(base, padding_side="right", **hub_options(base))
        network: Any = AutoModelForCausalLM.from_pretrained(base, **hub_options(base)).float()
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token or tokenizer.unk_token
    length = min(settings.length, getattr(network.config, "max_position_embeddings", None) or settings.length)
    fitting = [(each.split, row) for each in programs if len((row := token_row(each, tokenizer))["labels"]) <= length]
    learned, valid = ([row for split, row in fitting if split == side] for side in ("train", "valid"))
    sizes = {"programs": len(learned), "valid": len(valid), "too_long": len(programs) - len(fitting), "length": length}
    line = "{programs:,} programs to learn, {valid:,} to choose by, {too_long:,} longer than {length:,} tokens"
    say(line.format_map(sizes))
    if not (learned and valid):
        raise InputError(f"{line.format_map(sizes)}: wanted some to learn and some to choose by")

    # --- training
    at_once = min(settings.at_once, settings.batch)
    accumulate = settings.batch // at_once
    steps = settings.epochs * math.ceil(math.ceil(len(learned) / at_once) / accumulate)
    arguments = TrainingArguments(
        **run.look_arguments(folder / run.RUN, settings, steps, run.LOSS),
        per_device_train_batch_size=at_once,
        per_device_eval_batch_size=at_once,
        gradient_accumulation_steps=accumulate,
    )
    trainer = Trainer(network, arguments, DataCollatorForSeq2Seq(tokenizer), learned, valid)
    looks = run.train_to_the_best_look(trainer, lambda: float(trainer.evaluate()[run.LOSS]), folder, say, steps)

    # --- saving
    record.rewrite(run.looks_of(folder), looks)
    network.config.use_cache = True  # which the trainer turned off
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    best = min(looks[1:], key=lambda look: float(look["valid_loss"]))
    found = {"step": best["step"], "loss": best["valid_loss"], "before": looks[0]["valid_loss"]}
    return {**sizes, **found, "steps": steps, "looks": looks}


def token_row(learned: LearnedProgram, tokenizer: Any) -> dict[str, list[int]]:
    """Return the tokens of prompt and program, and as labels those of the program and of its end."""
    prompt = tokenizer(learned.prompt)["input_ids"]
    program = tokenizer(learned.program, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    return {"input_ids": prompt + program, "labels": [IGNORED] * len(prompt) + program}
