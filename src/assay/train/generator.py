"""Fine-tune a causal language model on right programs into a folder that servers of models read.

Reads top to bottom: data, base, training, saving. Inala et al. 2022 (section 3.1) train their generators for two epochs
at most and keep the checkpoint with the lowest validation loss, since more of it costs variety. A model learns to write
the program where the prompt ends; the prompt is put as `assay rank sample` puts it, and none of its tokens are learned.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
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
from assay.rank.datasets import Dataset, Example
from assay.rank.samplers import PromptTemplate, load_template, plain_lines, render
from assay.runs import record
from assay.train import run
from assay.train.card import about_base, base_of, filled
from assay.train.settings import GeneratorRequest, GeneratorSettings
from assay.values import Problem, Task

RECORD, CARD = "training.json", "README.md"
IGNORED = -100
"""The label of a token that is not learned."""


@dataclass(frozen=True, slots=True)
class GeneratorRun(GeneratorSettings):
    """What decides about a run."""

    base: str = ""
    programs: str = ""
    """A hash of them with their prompts."""


def train_generator(request: GeneratorRequest, settings: GeneratorSettings, say: Say) -> dict[str, Any]:
    """Fine-tune a base on programs and return the record."""
    base, folder = base_of(request.base), request.out
    check_is_there(base)
    programs = read_programs(request, settings, say)
    decides = GeneratorRun(**asdict(settings), base=base, programs=record.digest(programs))
    begin = partial(record.begin, run.looks_of(folder), decides, "looks at a training", seed=settings.seed)
    with run.training(folder, RECORD, begin, say, fresh=request.fresh) as is_to_do:
        if is_to_do:
            sources = ", ".join(file.name for file in request.files)
            about = {**record.manifest(decides, seed=settings.seed), "template": request.template, "sources": sources}
            about |= {**about_base(base), **_tune(base, programs, folder, settings, say)}
            files.write(folder / CARD, filled("generator", {**about["settings"], **about}))
            files.write_json(folder / RECORD, about)
        run.remove_checkpoints(folder)
        return dict(json.loads((folder / RECORD).read_text("utf-8")))


# --- data: right programs, of which whole tasks are held out


def read_programs(request: GeneratorRequest, settings: GeneratorSettings, say: Say) -> list[Example]:
    """Return right programs as they are learned, none of a task that is tested on; each has its split."""
    template, known = load_template(request.template), dict[str, Task]()
    if template.name == "few-shot":
        raise InputError("--template few-shot shows solved tasks, which a fine-tuned model does not need: give apps")
    every = _read_all(request.files, known, lambda problems: say_problems(problems, every=request.verbose))
    tested = _signs(row for row in every if row.split in {"valid", "test"}) | _signs(
        _read_all(request.left_out, known, _refuse)
    )
    right = [row for row in every if row.fault is Fault.CORRECT and row.source.strip()]
    kept = [row for row in right if tested.isdisjoint(_signs([row]))]
    say(f"{len(kept):,} right programs; {len(right) - len(kept):,} of tasks to test on are left out")
    return [_learned(row, known, template) for row in datasets.split(kept, valid=settings.valid, seed=settings.seed)]


def _refuse(problems: Sequence[Problem]) -> None:
    for problem in problems:
        raise InputError(f"{problem}: what is left out has to be read whole; mend the file")


def _read_all(
    named: Sequence[Path], known: dict[str, Task], hear: Callable[[Sequence[Problem]], None]
) -> list[Example]:
    """Return the rows of all files; what cannot be read is heard of, and the tasks become known."""
    data = [_read(file, known) for file in named]
    hear([problem for each in data for problem in each.problems])
    return [row for each in data for row in each.examples]


def _read(file: Path, known: dict[str, Task]) -> Dataset:
    """Return a dataset, or of tasks their references, some of which are empty; the tasks become known."""
    if file.is_dir() or any("fault" in row or "binary_label" in row for row in rows.sample(file, [])):
        return datasets.read(file)
    reading = read_tasks(file)
    known |= {task.id: task for task in reading.tasks}
    made = (Example(task.id, "", task.prompt, task.reference, Fault.CORRECT) for task in reading.tasks)
    return Dataset(tuple(made), reading.problems)


def _signs(examples: Iterable[Example]) -> set[tuple[str, str]]:
    """Return by what the tasks are known again: id, text, right programs."""
    signs = set[tuple[str, str]]()
    for row in examples:
        program = row.source if row.fault is Fault.CORRECT else ""
        signs |= {("id", row.task_id), ("text", row.prompt), ("program", program)}
    return {(kind, words) for kind, text in signs if (words := " ".join(text.split()))}


def _learned(row: Example, known: dict[str, Task], template: PromptTemplate) -> Example:
    """Return a row with its prompt as a model reads it, and its program as it is to go on."""
    if row.task_id not in known:
        raise InputError(f"no task '{row.task_id}', of which there are programs: give its file with --data, too")
    task = replace(known[row.task_id], prompt=row.prompt or known[row.task_id].prompt)
    program = plain_lines(row.source).removeprefix(task.tags.get("prelude", "")).rstrip() + "\n"
    if template.continues and not program.startswith(task.prompt):
        raise InputError(f"a program of '{task.id}' does not begin with the task's text: give --template apps")
    end = "".join(template.stop[:1]).removeprefix("\n")
    written = program.removeprefix(task.prompt) if template.continues else program.lstrip("\n") + end
    return replace(row, prompt=render(template, task), source=written)


# --- the model, its tokens, the training


def _tune(base: str, programs: list[Example], folder: Path, settings: GeneratorSettings, say: Say) -> dict[str, Any]:
    torch.manual_seed(settings.seed)
    tokenizer, network = _open(base)
    length = min(settings.length, getattr(network.config, "max_position_embeddings", None) or settings.length)
    parts, sizes = _fitting(programs, tokenizer, length)
    told = "{programs:,} programs to learn, {valid:,} to choose by; {too_long:,} of over {length:,} tokens left out"
    say(told.format_map(sizes))

    # --- training
    steps = settings.epochs * math.ceil(len(parts["train"]) / settings.batch)
    at_once = math.gcd(settings.batch, settings.at_once)
    sizes_of = dict.fromkeys(("per_device_train_batch_size", "per_device_eval_batch_size"), at_once)
    looking = run.look_arguments(folder / run.RUN, settings, steps, run.LOSS)
    arguments = TrainingArguments(**looking, **sizes_of, gradient_accumulation_steps=settings.batch // at_once)
    trainer = Trainer(network, arguments, DataCollatorForSeq2Seq(tokenizer), parts["train"], parts["valid"])
    looks = run.train_to_the_best_look(trainer, lambda: float(trainer.evaluate()[run.LOSS]), folder, say, steps)

    # --- saving
    record.rewrite(run.looks_of(folder), looks)
    network.config.use_cache = True  # which the trainer turned off
    for part in (network, tokenizer):
        part.save_pretrained(folder)
    best = min(looks[1:], key=lambda look: float(look["valid_loss"]))
    found = {"before": looks[0]["valid_loss"], "loss": best["valid_loss"], "step": best["step"], "steps": steps}
    return {**sizes, **found, "looks": looks}


def _open(base: str) -> tuple[Any, Any]:
    """Return the tokenizer and the network, in float32."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    with opening(base):
        tokenizer = AutoTokenizer.from_pretrained(base, padding_side="right", **hub_options(base))
        network = AutoModelForCausalLM.from_pretrained(base, **hub_options(base)).float()
    names = network.config.architectures or ()
    if names and not any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names):
        raise InputError(f"'{base}' is {', '.join(names)}, wanted a causal language model, such as Qwen2ForCausalLM")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token or tokenizer.unk_token
    return tokenizer, network


def _fitting(
    programs: list[Example], tokenizer: Any, length: int
) -> tuple[dict[str, list[dict[str, list[int]]]], dict[str, int]]:
    """Return the tokens of the programs that fit, by their split, and how many they are."""
    parts: dict[str, list[dict[str, list[int]]]] = {"train": [], "valid": []}
    for row in programs:
        if len((made := tokens_of(row, tokenizer))["labels"]) <= length:
            parts[row.split].append(made)
    learned, valid = len(parts["train"]), len(parts["valid"])
    if not (learned and valid):
        raise InputError(
            f"{learned:,} programs of at most {length:,} tokens to learn, and {valid:,} to choose by; give more tasks"
        )
    return parts, {"programs": learned, "valid": valid, "too_long": len(programs) - learned - valid, "length": length}


def tokens_of(row: Example, tokenizer: Any) -> dict[str, list[int]]:
    """Return the tokens of prompt and program, and as labels those of the program and of its end."""
    prompt = tokenizer(row.prompt)["input_ids"]
    program = tokenizer(row.source, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    return {"input_ids": prompt + program, "labels": [IGNORED] * len(prompt) + program}
