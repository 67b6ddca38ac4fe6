"""Rows of tokens and a network to trained weights, by the trainer of transformers: looks, and the best of them.

Its checkpoints hold weights, optimizer, schedule and every random state, so that a run that was killed goes on as if it
had not been.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from assay.encode.process_group import is_main_process, process_count, training_device
from assay.encode.training_folder import RUN, last_whole, looks_of
from assay.errors import InputError
from assay.protocols import Say
from assay.rank.causal.causal_model import CausalModel
from assay.rank.causal.generator_settings import GeneratorSettings
from assay.runs import record

_CHECKPOINTING = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
"""Without reentering, which matrices of a low rank on a frozen base have no gradients with."""
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

    def keep(look: GeneratorLook) -> None:
        if is_main_process():
            record.append_lines(looks_of(folder), [asdict(look)])

    steps = settings.epochs * _steps_per_epoch(len(texts.learned), settings)
    trainer = _GeneratorTrainer(
        model=network,
        args=_arguments(folder / RUN, settings, steps),
        train_dataset=texts.learned,
        eval_dataset=texts.valid,
        data_collator=texts.collate,
        callbacks=[_LookCallback(say, keep, steps)],
    )
    start = GeneratorLook(0, None, trainer.loss_of_token())
    say(f"step 0 of {steps:,}: loss {start.valid_loss:.4f} on the validation part")
    checkpoint = last_whole(folder / RUN, say)
    if checkpoint is None:
        keep(start)
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=checkpoint)
    return [start, *_looks(trainer.state.log_history)]


class _GeneratorTrainer(Trainer):
    """The library's trainer, which looks at the loss of a token, whatever batches the validation part falls into."""

    args: Any
    control: Any

    def evaluate(self, *_: object, **__: object) -> dict[str, float]:
        """Return the loss of a token on the validation part."""
        metrics = {"eval_loss": self.loss_of_token()}
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


class _LookCallback(TrainerCallback):
    """A line a look."""

    def __init__(self, say: Say, keep: Callable[[GeneratorLook], None], steps: int) -> None:
        self._say, self._keep, self._steps = say, keep, steps
        self._loss: float | None = None

    def on_log(self, _args: Any, _state: Any, _control: Any, logs: Mapping[str, float], **_: Any) -> None:
        """Hear the loss since the look before."""
        self._loss = logs.get("loss", self._loss)

    def on_evaluate(self, _args: Any, state: Any, _control: Any, metrics: Mapping[str, float], **_: Any) -> None:
        """Say and keep a look."""
        found, best = metrics["eval_loss"], state.best_metric
        beside = "lowest so far" if best is None or found < best else f"lowest {best:.4f}"
        learned = "" if self._loss is None else f"loss {self._loss:.4f}, "
        self._say(f"step {state.global_step:,} of {self._steps:,}: {learned}validation {found:.4f} ({beside})")
        self._keep(GeneratorLook(state.global_step, self._loss, found))


def _arguments(folder: Path, settings: GeneratorSettings, steps: int) -> TrainingArguments:
    on_gpu = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    between = max(steps // settings.looks, 1)
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.at_once,
        gradient_accumulation_steps=_accumulated(settings),
        learning_rate=settings.rate,
        warmup_steps=math.ceil(settings.warm * steps),
        weight_decay=settings.decay,
        max_grad_norm=settings.clip,
        use_cpu=training_device().type == "cpu",
        bf16=settings.bf16 == "yes" or (settings.bf16 == "auto" and on_gpu),
        **(_CHECKPOINTING if settings.checkpointing else {}),
        remove_unused_columns=False,
        eval_strategy="steps",
        eval_steps=between,
        save_strategy="steps",
        save_steps=between,
        save_total_limit=2,
        logging_strategy="steps",
        logging_steps=between,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        seed=settings.seed,
        data_seed=settings.seed,
        disable_tqdm=True,
        report_to=[],
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


def _looks(history: list[dict[str, float]]) -> list[GeneratorLook]:
    """Return the looks that the trainer's log holds."""
    losses = {int(entry["step"]): entry["loss"] for entry in history if "loss" in entry}
    return [
        GeneratorLook(int(entry["step"]), losses.get(int(entry["step"])), entry["eval_loss"])
        for entry in history
        if "eval_loss" in entry
    ]
