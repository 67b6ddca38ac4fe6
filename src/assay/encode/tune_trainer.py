"""Examples and a model to trained weights, by sentence-transformers' trainer and losses: looks, best one, early stop.

The trainer's checkpoints hold the weights, the optimizer, the schedule and every random state, so that a run that was
killed goes on as if it had not been. One that was being written when it was killed does not count.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset, DatasetDict
from datasets.utils.logging import disable_progress_bar
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from torch.utils.data import BatchSampler
from transformers import EarlyStoppingCallback, PrinterCallback, TrainerCallback

from assay.encode.low_rank import read_weights, write_weights
from assay.encode.process_group import process_count, training_device
from assay.encode.training_folder import last_whole
from assay.encode.tune_examples import TuneExamples
from assay.encode.tune_losses import losses_of
from assay.encode.tune_settings import TuneSettings
from assay.protocols import Say


@dataclass(frozen=True, slots=True)
class TuneLook:
    """How a model does after a step: mean loss since the look before, mean reciprocal rank on the validation part."""

    step: int
    loss: float
    mrr: float


@dataclass(frozen=True, slots=True)
class LookOut:
    """What looks at a model while it is trained, and who hears of it."""

    mrr: Callable[[], float]
    """Return the mean reciprocal rank on the validation part."""
    keep: Callable[[TuneLook], None]
    say: Say


def train(
    model: SentenceTransformer, examples: TuneExamples, folder: Path, settings: TuneSettings, out: LookOut
) -> list[TuneLook]:
    """Train a model to its best look and return all looks; what a run before left in the folder goes on."""
    for library in ("transformers", "sentence_transformers"):
        logging.getLogger(library).setLevel(logging.ERROR)
    disable_progress_bar()
    rows = examples.named()
    steps = _steps(rows, settings)
    start = TuneLook(0, math.nan, out.mrr())
    out.say(f"step 0 of {steps:,}: MRR {start.mrr:.3f} on the validation part")
    checkpoint = last_whole(folder, out.say)
    if checkpoint is None:
        out.keep(start)
    trainer = _Trainer(
        model=model,
        args=_arguments(folder, settings, steps),
        train_dataset=DatasetDict({name: Dataset.from_list(each) for name, each in rows.items()}),
        loss=losses_of(model, rows, settings),
        evaluator=[lambda *_, **__: {}],
        callbacks=[_Progress(out, steps), *_early_stop(settings)],
    )
    trainer.look = out.mrr
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=checkpoint)
    return [start, *_looks(trainer.state.log_history)]


class _Trainer(SentenceTransformerTrainer):
    """The library's trainer, which looks at retrieval and keeps nothing but what is trained."""

    look: Callable[[], float]
    args: Any
    control: Any

    def evaluate(self, *_: object, **__: object) -> dict[str, float]:
        """Return the mean reciprocal rank on the validation part."""
        metrics = {"eval_mrr": self.look()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def get_batch_sampler(self, dataset: Dataset, *given: Any, **options: Any) -> BatchSampler | None:
        """Return batches without a text twice, but for grades: those of one query are to be compared."""
        args = self.args
        if "score" in dataset.column_names:
            self.args = copy(args)
            self.args.batch_sampler = "batch_sampler"
        try:
            sampler: BatchSampler | None = super().get_batch_sampler(dataset, *given, **options)
        finally:
            self.args = args
        return sampler

    def add_model_card_callback(self, *_: object) -> None:
        """Leave out the library's card: there is one of our own."""

    def _save(self, output_dir: str | None = None, state_dict: object = None) -> None:  # noqa: ARG002
        write_weights(self.model, Path(output_dir or self.args.output_dir))

    def _load_from_checkpoint(self, checkpoint_path: str, *_: object) -> None:
        read_weights(self.model, Path(checkpoint_path))


class _Progress(TrainerCallback):
    """A line a look."""

    def __init__(self, out: LookOut, steps: int) -> None:
        self._out, self._steps, self._loss = out, steps, math.nan

    def on_log(self, _args: Any, _state: Any, _control: Any, logs: Mapping[str, float], **_: Any) -> None:
        self._loss = logs.get("loss", self._loss)

    def on_evaluate(self, _args: Any, state: Any, _control: Any, metrics: Mapping[str, float], **_: Any) -> None:
        mrr, best = metrics["eval_mrr"], state.best_metric or 0.0
        beside = "best so far" if mrr > best else f"best {best:.3f}"
        self._out.say(f"step {state.global_step:,} of {self._steps:,}: loss {self._loss:.4f}, MRR {mrr:.3f} ({beside})")
        self._out.keep(TuneLook(state.global_step, self._loss, mrr))


def _arguments(folder: Path, settings: TuneSettings, steps: int) -> SentenceTransformerTrainingArguments:
    on_gpu = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    between = max(steps // settings.looks, 1)
    return SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        dataloader_drop_last=process_count() > 1,  # devices exchange batches of one size
        learning_rate=settings.rate,
        warmup_steps=math.ceil(settings.warm * steps),
        weight_decay=settings.decay,
        use_cpu=training_device().type == "cpu",
        bf16=settings.bf16 == "yes" or (settings.bf16 == "auto" and on_gpu),
        eval_strategy="steps",
        eval_steps=between,
        save_strategy="steps",
        save_steps=between,
        save_total_limit=2,
        logging_strategy="steps",
        logging_steps=between,
        load_best_model_at_end=True,
        metric_for_best_model="eval_mrr",
        greater_is_better=True,
        restore_callback_states_from_checkpoint=True,
        batch_sampler="no_duplicates",
        multi_dataset_batch_sampler="proportional",
        seed=settings.seed,
        data_seed=settings.seed,
        disable_tqdm=True,
        report_to=[],
    )


def _steps(rows: Mapping[str, list[Any]], settings: TuneSettings) -> int:
    """Return how many steps all epochs take."""
    devices = process_count()
    rounded = math.ceil if devices == 1 else math.floor
    batches = sum(rounded(len(each) / settings.batch) for each in rows.values())
    return settings.epochs * math.ceil(rounded(batches / devices) / settings.accumulate)


def _early_stop(settings: TuneSettings) -> list[EarlyStoppingCallback]:
    return [EarlyStoppingCallback(settings.patience)] if settings.patience else []


def _looks(history: list[dict[str, float]]) -> list[TuneLook]:
    """Return the looks that the trainer's log holds."""
    losses = {int(entry["step"]): entry["loss"] for entry in history if "loss" in entry}
    return [
        TuneLook(int(entry["step"]), losses.get(int(entry["step"]), math.nan), entry["eval_mrr"])
        for entry in history
        if "eval_mrr" in entry
    ]
