"""Examples and a model to trained weights, by sentence-transformers' trainer and losses: looks, best one, early stop.

The trainer's checkpoints hold the weights, the optimizer, the schedule and every random state, so that a run that was
killed goes on as if it had not been. One that was being written when it was killed does not count.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset, DatasetDict
from datasets.utils.logging import disable_progress_bar
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from torch.utils.data import BatchSampler
from transformers import EarlyStoppingCallback, PrinterCallback

from assay.encode.low_rank import read_weights, write_weights
from assay.encode.process_group import process_count
from assay.encode.trainer_looks import Look, LookCallback, look_arguments, looks_in
from assay.encode.training_folder import last_whole
from assay.encode.tune_examples import TuneExamples
from assay.encode.tune_settings import TuneSettings
from assay.protocols import Say

_MEASURE = "eval_mrr"


try:
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        CoSENTLoss,
        MultipleNegativesRankingLoss,
    )
except ModuleNotFoundError:  # where they stood before version 6
    from sentence_transformers.losses import (
        CachedMultipleNegativesRankingLoss,
        CoSENTLoss,
        MultipleNegativesRankingLoss,
    )


def losses_of(
    model: SentenceTransformer, rows: Mapping[str, Sequence[object]], settings: TuneSettings
) -> dict[str, torch.nn.Module]:
    """Return the loss of each kind of example.

    Devices see each other's texts only where all have the same kind at a time: else each would wait for the others.
    """
    scale = 1 / settings.temperature
    gathers = process_count() > 1 and len(rows) == 1 and "graded" not in rows
    together: dict[str, Any] = {"scale": scale, "gather_across_devices": gathers}
    ranked: torch.nn.Module
    if settings.batch > settings.at_once:
        ranked = CachedMultipleNegativesRankingLoss(model, mini_batch_size=settings.at_once, **together)
    else:
        ranked = MultipleNegativesRankingLoss(model, **together)
    return {name: CoSENTLoss(model, scale=scale) if name == "graded" else ranked for name in rows}


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

    def hear(look: Look, best: float | None) -> None:
        found = _look(*look)
        beside = "best so far" if found.mrr > (best or 0.0) else f"best {best:.3f}"
        out.say(f"step {found.step:,} of {steps:,}: loss {found.loss:.4f}, MRR {found.mrr:.3f} ({beside})")
        out.keep(found)

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
        callbacks=[LookCallback(_MEASURE, hear), *_early_stop(settings)],
    )
    trainer.look = out.mrr
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=checkpoint)
    return [start, *(_look(*each) for each in looks_in(trainer.state.log_history, _MEASURE))]


class _Trainer(SentenceTransformerTrainer):
    """The library's trainer, which looks at retrieval and keeps nothing but what is trained."""

    look: Callable[[], float]
    args: Any
    control: Any

    def evaluate(self, *_: object, **__: object) -> dict[str, float]:
        """Return the mean reciprocal rank on the validation part."""
        metrics = {_MEASURE: self.look()}
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


def _arguments(folder: Path, settings: TuneSettings, steps: int) -> SentenceTransformerTrainingArguments:
    return SentenceTransformerTrainingArguments(
        **look_arguments(folder, settings, steps, _MEASURE, higher_is_better=True),
        per_device_train_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        dataloader_drop_last=process_count() > 1,  # devices exchange batches of one size
        restore_callback_states_from_checkpoint=True,
        batch_sampler="no_duplicates",
        multi_dataset_batch_sampler="proportional",
    )


def _steps(rows: Mapping[str, list[Any]], settings: TuneSettings) -> int:
    """Return how many steps all epochs take."""
    devices = process_count()
    rounded = math.ceil if devices == 1 else math.floor
    batches = sum(rounded(len(each) / settings.batch) for each in rows.values())
    return settings.epochs * math.ceil(rounded(batches / devices) / settings.accumulate)


def _early_stop(settings: TuneSettings) -> list[EarlyStoppingCallback]:
    return [EarlyStoppingCallback(settings.patience)] if settings.patience else []


def _look(step: int, loss: float | None, mrr: float) -> TuneLook:
    return TuneLook(step, math.nan if loss is None else loss, mrr)
