"""Train a causal language model on programs by the trainer of transformers, with looks that choose the best.

Reads top to bottom: base, texts, training, saving. The tokens of the task are read and not learned. The model with the
lowest loss on the validation part is kept, since more training than that costs variety (section 3.1).
The trainer's checkpoints hold weights, optimizer, schedule and every random state, so that a run that was killed goes
on as if it had not been.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments
from transformers.utils import logging as transformers_logging

from assay.encode.hub import hub_options, is_local, opening
from assay.encode.models import split_model
from assay.errors import InputError
from assay.protocols import Say
from assay.runs import record
from assay.train import run
from assay.train.generator import BASE_OPTIONS, GeneratorSettings, SolvedTask, SolvedTasks


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
