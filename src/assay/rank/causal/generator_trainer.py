"""Rows of tokens and a network to trained weights, by the trainer of transformers: looks, and the best of them.

Its checkpoints hold weights, optimizer, schedule and every random state, so that a run that was killed goes on as if it
had not been.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, Trainer, TrainingArguments

from assay.errors import InputError
from assay.protocols import Say
from assay.rank.causal.causal_model import CausalModel
from assay.rank.causal.generator_settings import GeneratorSettings
from assay.runs import record
from assay.train.run import (
    RUN,
    Look,
    LookCallback,
    is_main_process,
    last_whole,
    look_arguments,
    looks_in,
    looks_of,
    process_count,
)

_CHECKPOINTING = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
"""Without reentering, which matrices of a low rank on a frozen base have no gradients with."""
_MEASURE = "eval_loss"
IGNORED = -100
"""The label of a token that is not learned."""
Row = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class GeneratorLook:
    """How a model does after a step: mean loss since the look before, loss of a token on the validation part."""

    step: int
    loss: float | None
    valid_loss: float


@dataclass(frozen=True, slots=True)
class GeneratorTexts:
    """What is learned, what chooses the model, and how rows become a batch."""

    learned: Sequence[Row]
    valid: Sequence[Row]
    collate: Callable[[Sequence[Row]], dict[str, torch.Tensor]]


def train(
    network: Any, texts: GeneratorTexts, folder: Path, settings: GeneratorSettings, say: Say
) -> list[GeneratorLook]:
    """Train a network to its best look and return all looks; what a run before left in the folder goes on."""
    steps = settings.epochs * _steps_per_epoch(len(texts.learned), settings)

    def keep(look: GeneratorLook) -> None:
        if is_main_process():
            record.append_lines(looks_of(folder), [asdict(look)])

    def hear(look: Look, best: float | None) -> None:
        step, loss, found = look
        beside = "lowest so far" if best is None or found < best else f"lowest {best:.4f}"
        learned = "" if loss is None else f"loss {loss:.4f}, "
        say(f"step {step:,} of {steps:,}: {learned}validation {found:.4f} ({beside})")
        keep(GeneratorLook(*look))

    trainer = _GeneratorTrainer(
        model=network,
        args=_arguments(folder / RUN, settings, steps),
        train_dataset=texts.learned,
        eval_dataset=texts.valid,
        data_collator=texts.collate,
        callbacks=[LookCallback(_MEASURE, hear)],
    )
    start = GeneratorLook(0, None, trainer.loss_of_token())
    say(f"step 0 of {steps:,}: loss {start.valid_loss:.4f} on the validation part")
    checkpoint = last_whole(folder / RUN, say)
    if checkpoint is None:
        keep(start)
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=checkpoint)
    return [start, *(GeneratorLook(*look) for look in looks_in(trainer.state.log_history, _MEASURE))]


class _GeneratorTrainer(Trainer):
    """The library's trainer, which looks at the loss of a token, whatever batches the validation part falls into."""

    args: Any
    control: Any

    def evaluate(self, *_: object, **__: object) -> dict[str, float]:
        """Return the loss of a token on the validation part."""
        metrics = {_MEASURE: self.loss_of_token()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def loss_of_token(self) -> float:
        """Return the loss of a token on the validation part."""
        network, total, count = self.model, 0.0, 0
        was_training = network.training
        network.eval()
        for start in range(0, len(self.eval_dataset), self.args.per_device_train_batch_size):
            batch = self.data_collator(self.eval_dataset[start : start + self.args.per_device_train_batch_size])
            batch = {name: values.to(self.args.device) for name, values in batch.items()}
            with torch.inference_mode(), torch.autocast(self.args.device.type, torch.bfloat16, enabled=self.args.bf16):
                logits = network(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
            labels = batch["labels"][:, 1:].reshape(-1)
            losses = torch.nn.functional.cross_entropy(
                logits[:, :-1].float().reshape(len(labels), -1), labels, ignore_index=IGNORED, reduction="sum"
            )
            total, count = total + float(losses), count + int((labels != IGNORED).sum())
        network.train(was_training)
        return total / count


def _arguments(folder: Path, settings: GeneratorSettings, steps: int) -> TrainingArguments:
    return TrainingArguments(
        **look_arguments(folder, settings, steps, _MEASURE, higher_is_better=False),
        per_device_train_batch_size=settings.at_once,
        gradient_accumulation_steps=_accumulated(settings),
        max_grad_norm=settings.clip,
        **(_CHECKPOINTING if settings.checkpointing else {}),
        remove_unused_columns=False,
    )


def fitting(settings: GeneratorSettings) -> GeneratorSettings:
    """Return settings whose `at_once` is no more than a device has of a step; refuse a step that is no whole parts."""
    processes = process_count()
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
    return settings.batch // (settings.at_once * process_count())


def _steps_per_epoch(programs: int, settings: GeneratorSettings) -> int:
    parts = math.ceil(programs / (settings.at_once * process_count()))
    return max(math.ceil(parts / _accumulated(settings)), 1)


def collated(causal: CausalModel, rows: Sequence[Row]) -> dict[str, torch.Tensor]:
    """Return a batch, filled up on the right."""
    ids, mask = causal.padded([row["input_ids"] for row in rows], "right", device="cpu")
    labels = torch.full_like(ids, IGNORED)
    for at, row in enumerate(rows):
        labels[at, : len(row["labels"])] = torch.tensor(row["labels"])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}
