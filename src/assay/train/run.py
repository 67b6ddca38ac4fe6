"""Run a training that can be killed and goes on: its folder, its looks, and the weights it keeps.

A checkpoint stands at each look, the best look's weights are kept, and the looks stand beside the checkpoints with the
settings that decide about them: a run of other settings is refused.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import EarlyStoppingCallback, PrinterCallback, TrainerCallback

from assay.errors import InputError
from assay.protocols import Say
from assay.runs import record
from assay.train.settings import FineTuneSettings

Look = tuple[int, float | None, float]
"""Step, mean loss since the look before where one is known, and the value that was looked at."""

RUN = "training"
"""The folder in the model's one that holds what a run needs to go on, and its looks."""
_LOOKS, _STATE, _WEIGHTS = "looks.jsonl", "trainer_state.json", "weights.pt"
MRR, LOSS = "eval_mrr", "eval_loss"
_MEASURES = {MRR: ("MRR", "mrr"), LOSS: ("validation loss", "valid_loss")}
"""How a look says what it found: in its line for people, and as a field."""


def training_device() -> torch.device:
    """Return where a training computes: on the GPU where there is one."""
    kinds = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return torch.device(next(kind for kind, is_there in kinds.items() if is_there))


# --- the folder


def looks_of(folder: Path) -> Path:
    """Return where the looks of a run stand."""
    return folder / RUN / _LOOKS


@contextmanager
def training(
    folder: Path, record_file: str, begin: Callable[[], object], say: Say, *, fresh: bool = False
) -> Iterator[bool]:
    """Be the one run that trains into a folder, and tell whether it is still to be trained: its record ends it.

    `begin` writes what decides about the run, or refuses.
    """
    if fresh and (folder / RUN).exists():
        old = folder.with_name(f"{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        folder.replace(old)
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / RUN).is_dir()):
        raise InputError(f"'{folder}' holds something that no training put there; give another --out")
    with record.sole_writer(looks_of(folder)):
        begin()
        is_done = (folder / record_file).exists()
        if is_done:
            say(f"{folder} was trained so before; --fresh trains it again")
        yield not is_done


def last_whole(folder: Path, say: Say) -> str | None:
    """Return the last checkpoint whose state was written, which comes last; one that was cut off is removed."""
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=lambda path: -int(path.name.partition("-")[2])):
        try:
            step = json.loads((checkpoint / _STATE).read_text("utf-8"))["global_step"]
        except (OSError, ValueError, KeyError):
            shutil.rmtree(checkpoint)
            continue
        say(f"going on after step {step:,}")
        return str(checkpoint)
    return None


def remove_checkpoints(folder: Path) -> None:
    """Remove what is only needed to go on."""
    for checkpoint in (folder / RUN).glob("checkpoint-*"):
        shutil.rmtree(checkpoint)


# --- the looks, by the trainer of transformers


def look_arguments(folder: Path, settings: FineTuneSettings, steps: int, measure: str = MRR) -> dict[str, Any]:
    """Return the trainer's arguments for looks, checkpoints beside them, and the best one kept."""
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
        "greater_is_better": measure != LOSS,
        "seed": settings.seed,
        "data_seed": settings.seed,
        "disable_tqdm": True,
        "report_to": [],
    }


class LookingTrainer:
    """Beside a trainer of transformers: its evaluation is a look at a measure of ours."""

    look: Callable[[], float]
    args: Any
    state: Any
    control: Any
    log: Callable[[dict[str, float]], None]
    callback_handler: Any

    def evaluate(self, *_: object, **__: object) -> dict[str, float]:
        """Return what a look finds."""
        metrics = {self.args.metric_for_best_model: self.look()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


class _LookCallback(TrainerCallback):
    """Hands each look on, with the best value before it, None at the first."""

    def __init__(self, hear: Callable[[Look, float | None], None]) -> None:
        self._hear = hear
        self._loss: float | None = None

    def on_log(self, _args: Any, _state: Any, _control: Any, logs: Mapping[str, float], **_: Any) -> None:
        """Note the loss since the look before."""
        self._loss = logs.get("loss", self._loss)

    def on_evaluate(self, args: Any, state: Any, _control: Any, metrics: Mapping[str, float], **_: Any) -> None:
        """Hand on what was seen."""
        self._hear((state.global_step, self._loss, metrics[args.metric_for_best_model]), state.best_metric)


def train_to_the_best_look(  # noqa: PLR0913  who looks, where it is kept, who is told, when it ends
    trainer: Any, look: Callable[[], float], folder: Path, say: Say, steps: int, *, patience: int = 0
) -> list[dict[str, Any]]:
    """Train until `patience` looks are no better and return all looks; what a run before left in the folder goes on.

    Without `patience` it trains to the end.
    """
    measure = trainer.args.metric_for_best_model
    name, key = _MEASURES[measure]
    trainer.look = look
    trainer.remove_callback(PrinterCallback)

    start: Look = (0, None, look())

    def hear(look: Look, best: float | None) -> None:
        step, loss, found = look
        best = start[2] if best is None else best
        is_best = step == 0 or all(_is_better(found, than, measure) for than in (best, start[2]))
        learned = "" if loss is None else f"loss {loss:.4f}, "
        beside = "best so far" if is_best else f"best {best:.4f}"
        say(f"step {step:,} of {steps:,}: {learned}{name} {found:.4f} ({beside})")
        record.append_lines(looks_of(folder), [_as_line(look, key)])

    checkpoint = last_whole(folder / RUN, say)
    if checkpoint is None:
        hear(start, None)
    trainer.add_callback(_LookCallback(hear))
    if patience:
        trainer.add_callback(EarlyStoppingCallback(patience))
    trainer.train(resume_from_checkpoint=checkpoint)
    history = trainer.state.log_history
    losses = {int(entry["step"]): entry["loss"] for entry in history if "loss" in entry}
    looks = [(at := int(entry["step"]), losses.get(at), entry[measure]) for entry in history if measure in entry]
    if not any(_is_better(found, start[2], measure) for *_, found in looks):
        say(f"no step is better than the base, whose {name} is {start[2]:.4f}; what is written is of the best step")
    return [_as_line(each, key) for each in (start, *looks)]


def _is_better(found: float, than: float, measure: str) -> bool:
    return found < than if measure == LOSS else found > than


def _as_line(look: Look, key: str) -> dict[str, Any]:
    return dict(zip(("step", "loss", key), look, strict=True))


# --- the weights


def write_weights(model: torch.nn.Module, folder: Path) -> None:
    """Write the weights that are trained."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(_trained(model), folder / _WEIGHTS)


def read_weights(model: torch.nn.Module, folder: Path) -> None:
    """Set the weights that are trained to those of a folder."""
    stored: dict[str, Any] = torch.load(folder / _WEIGHTS, map_location="cpu", weights_only=True)
    with torch.no_grad():
        for name, weight in _trained(model).items():
            weight.copy_(stored[name])


def _trained(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.data for name, weight in model.named_parameters() if weight.requires_grad}
