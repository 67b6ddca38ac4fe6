"""Settings of a training by transformers' trainer in, its arguments out, and the looks at it, as they come or logged.

Encoders and generators are fine-tuned alike: a checkpoint stands at each look, and the best look's weights are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import TrainerCallback

from assay.encode.process_group import training_device

Look = tuple[int, float | None, float]
"""Step, mean loss since the look before where one is known, and the value that was looked at."""


class LookSettings(Protocol):
    """What decides about such a training, whatever is learned."""

    @property
    def epochs(self) -> int:
        """How often all examples are learned from."""

    @property
    def rate(self) -> float:
        """The highest learning rate."""

    @property
    def warm(self) -> float:
        """The fraction of the steps in which the rate rises."""

    @property
    def decay(self) -> float:
        """The weight decay."""

    @property
    def bf16(self) -> str:
        """`yes`, `no`, or `auto`: where there is a GPU that has it."""

    @property
    def looks(self) -> int:
        """How often the validation part is looked at."""

    @property
    def seed(self) -> int:
        """Of the order of the examples."""


def look_arguments(
    folder: Path, settings: LookSettings, steps: int, measure: str, *, higher_is_better: bool
) -> dict[str, Any]:
    """Return the trainer's arguments for looks at a measure, checkpoints beside them, and the best one kept."""
    on_gpu = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    between = max(steps // settings.looks, 1)
    return {
        "output_dir": str(folder),
        "num_train_epochs": settings.epochs,
        "learning_rate": settings.rate,
        "warmup_steps": math.ceil(settings.warm * steps),
        "weight_decay": settings.decay,
        "use_cpu": training_device().type == "cpu",
        "bf16": settings.bf16 == "yes" or (settings.bf16 == "auto" and on_gpu),
        **dict.fromkeys(("eval_strategy", "save_strategy", "logging_strategy"), "steps"),
        **dict.fromkeys(("eval_steps", "save_steps", "logging_steps"), between),
        "save_total_limit": 2,
        "load_best_model_at_end": True,
        "metric_for_best_model": measure,
        "greater_is_better": higher_is_better,
        "seed": settings.seed,
        "data_seed": settings.seed,
        "disable_tqdm": True,
        "report_to": [],
    }


class LookCallback(TrainerCallback):
    """Hands each look on, with the best value before it, None at the first."""

    def __init__(self, measure: str, hear: Callable[[Look, float | None], None]) -> None:
        self._measure, self._hear = measure, hear
        self._loss: float | None = None

    def on_log(self, _args: Any, _state: Any, _control: Any, logs: Mapping[str, float], **_: Any) -> None:
        """Hear the loss since the look before."""
        self._loss = logs.get("loss", self._loss)

    def on_evaluate(self, _args: Any, state: Any, _control: Any, metrics: Mapping[str, float], **_: Any) -> None:
        """Hand on what was seen."""
        self._hear((state.global_step, self._loss, metrics[self._measure]), state.best_metric)


def looks_in(history: list[dict[str, float]], measure: str) -> Iterator[Look]:
    """Yield the looks that the trainer's log holds."""
    losses = {int(entry["step"]): entry["loss"] for entry in history if "loss" in entry}
    for entry in history:
        if measure in entry:
            yield int(entry["step"]), losses.get(int(entry["step"])), entry[measure]
