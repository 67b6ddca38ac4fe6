"""Labelled programs and a base model to a folder that `neural:` reads (Inala et al. 2022, sections 3.3 and 4.1).

Reads top to bottom: settings, data, model, loop, evaluation, saving. The folder always holds the best ranker so far, by
ranked pass@1 on the tasks that are held out; `log.jsonl` has a line a step and a line a look at those, from which the
curves of the paper's figures 4 and 7 are drawn; a run that is cut off goes on where it last looked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import InputError
from assay.protocols import Say
from assay.rank.dataset.examples import Example
from assay.rank.dataset.splits import leaks
from assay.rank.neural import checkpoint
from assay.rank.neural.batches import Ints, Reader, padded
from assay.rank.neural.example_weights import Floats, micro_batches, order, weights
from assay.rank.neural.fault_classes import class_of
from assay.rank.neural.held_out import HeldOutExamples, look
from assay.rank.neural.losses import class_loss, line_loss, ranking_loss
from assay.rank.neural.model import RankerModel, TorchRunner, device_of, save, start, tensors
from assay.rank.neural.model_folder import ABOUT, ModelCard
from assay.rank.neural.neural_settings import NeuralSettings
from assay.runs.record import append_lines
from assay.runs.run_manifest import digest, write_manifest


@dataclass(frozen=True, slots=True)
class TrainingArrays:
    """What is learned, as arrays with a place an example."""

    learned: HeldOutExamples
    classes: Ints
    tasks: Ints
    """A number for each programming task."""
    places: Ints
    """The token of the newline that stands for the line that breaks."""
    weights: Floats
    lengths: Ints


@dataclass(frozen=True, slots=True)
class TrainingState:
    """What changes while it learns."""

    model: RankerModel
    optimizer: Any
    schedule: Any
    device: str
    half: bool
    """Whether it computes in bfloat16."""


def train(
    examples: Sequence[Example], folder: Path, settings: NeuralSettings, say: Say, *, resume: bool = False
) -> dict[str, float]:
    """Train a ranker and return what the best one reaches on the tasks that are held out."""
    _claim(folder, resume=resume)
    torch.manual_seed(settings.seed)

    # --- model
    model, tokenizer, layout, reads = start(settings)

    # --- data: whole tasks are held out, as the rows say
    reader = Reader(tokenizer, layout)
    data = prepare(_of_split(examples, "train"), reader, settings)
    held_out = read_examples(_of_split(examples, "valid"), reader)
    say(f"{len(data.classes):,} programs to learn, {len(held_out.rows):,} held out, at most {layout.window} tokens")

    # --- how long, how fast, and from where
    per_epoch = -(-len(data.classes) // settings.batch)
    total = settings.steps or settings.epochs * per_epoch
    state = _state(model, settings, total)
    run = digest((settings, *examples))
    step, best, worse = _resumed(state, folder, run) if resume else (0, {"pass@1": -1.0}, 0)
    write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=examples)

    # --- loop: learn, look at what is held out, keep the best so far; a few looks without a better one end it
    for step, loss in steps(state, data, folder, settings, layout.padding, step, total):  # noqa: B020
        found = _evaluated(state, held_out, folder, settings, layout.padding, step)
        say(f"step {step:,}/{total:,}: loss {loss:.4f}, " + ", ".join(f"{name} {at:.3f}" for name, at in found.items()))
        worse = 0 if found["pass@1"] > best["pass@1"] else worse + 1
        if not worse:
            best = found
            save(folder, model, tokenizer, ModelCard(Path(settings.base).name, settings.task, reads, layout, found))
        if worse >= settings.patience:
            say(f"no better ranked pass@1 in {worse} looks: that was all")
            break
        _write_checkpoint(state, folder, {"run": run, "step": step, "best": best, "worse": worse})

    (folder / checkpoint.FILE).unlink(missing_ok=True)
    return best


# --- data -----------------------------------------------------------------------------------------------------------


def read_examples(examples: Sequence[Example], reader: Reader) -> HeldOutExamples:
    """Tokenize programs, those of one prompt together; the examples of a task become neighbours."""
    groups: dict[tuple[str, str], list[Example]] = {}
    for example in examples:
        groups.setdefault((example.task_id, example.prompt), []).append(example)
    rows = [row for (_, prompt), of in groups.items() for row in reader.rows(prompt, [each.source for each in of])]
    return HeldOutExamples([example for of in groups.values() for example in of], rows)


def prepare(examples: Sequence[Example], reader: Reader, settings: NeuralSettings) -> TrainingArrays:
    """Return what is learned as arrays."""
    learned = read_examples(examples, reader)
    number = {task: place for place, task in enumerate(dict.fromkeys(each.task_id for each in learned.examples))}
    classes = _ints(class_of(settings.task, each.fault) for each in learned.examples)
    tasks = _ints(number[each.task_id] for each in learned.examples)
    n = _ints(each.n for each in learned.examples)
    placed = zip(learned.examples, learned.rows, strict=True)
    places = _ints(row.newlines[row.place_of(each.line if each.fault.is_execution else -1)] for each, row in placed)
    lengths = _ints(len(row.ids) for row in learned.rows)
    return TrainingArrays(learned, classes, tasks, places, weights(classes, tasks, n, settings), lengths)


def batches(tasks: Ints, settings: NeuralSettings, step: int, total: int) -> Iterator[Ints]:
    """Yield the batch of each step that is left; which one that is depends on the seed and the step only."""
    per_epoch = -(-len(tasks) // settings.batch)
    while step < total:
        epoch, at = divmod(step, per_epoch)
        shuffled = order(tasks, epoch, settings)
        for start_at in range(at * settings.batch, len(tasks), settings.batch):
            if step < total:
                yield shuffled[start_at : start_at + settings.batch]
            step += 1


def _of_split(examples: Sequence[Example], split: str) -> list[Example]:
    """Return the rows of a split; tasks on both sides would make every figure a lie."""
    chosen = [example for example in examples if example.split == split]
    if not chosen:
        raise InputError(f"no row of split '{split}' among {len(examples):,}; 'assay rank data' splits them by task")
    if shared := leaks(examples):
        raise InputError(f"{len(shared):,} tasks are in more than one split, {shared[0]!r} first; split by task")
    return chosen


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


# --- model and loop -------------------------------------------------------------------------------------------------


def steps(  # noqa: PLR0913, PLR0917  each is one thing
    state: TrainingState,
    data: TrainingArrays,
    folder: Path,
    settings: NeuralSettings,
    padding: int,
    step: int,
    total: int,
) -> Iterator[tuple[int, float]]:
    """Take the steps from `step` to `total`, a line in the log each; yield number and loss when it is time to look."""
    per_epoch = -(-len(data.classes) // settings.batch)
    began = perf_counter()
    for chosen in batches(data.tasks, settings, step, total):
        loss = learn(state, data, chosen, settings, padding)
        step += 1
        line = {"step": step, "epoch": round(step / per_epoch, 3), "loss": loss, "seconds": perf_counter() - began}
        append_lines(folder / checkpoint.LOG, [line])
        if step % (settings.evaluate_every or per_epoch) == 0 or step == total:
            yield step, loss


def _evaluated(  # noqa: PLR0913, PLR0917  each is one thing
    state: TrainingState, held_out: HeldOutExamples, folder: Path, settings: NeuralSettings, padding: int, step: int
) -> dict[str, float]:
    runner = TorchRunner(state.model.eval(), state.device, half=state.half)
    found = look(runner, held_out, settings.task, padding=padding, size=settings.micro)
    append_lines(folder / checkpoint.LOG, [{"step": step, **found}])
    return found


def learn(state: TrainingState, data: TrainingArrays, chosen: Ints, settings: NeuralSettings, padding: int) -> float:
    """Take one step of the optimizer over a batch, a part of it at a time, and return its loss."""
    state.model.train()
    total = 0.0
    for micro in micro_batches(chosen.tolist(), data.lengths, settings):
        with torch.autocast(state.device, torch.bfloat16, enabled=state.half):
            loss = loss_of(state, data, micro, settings, padding) / len(chosen)
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(state.model.parameters(), settings.clip)
    state.optimizer.step()
    state.schedule.step()
    state.optimizer.zero_grad()
    return total


def loss_of(
    state: TrainingState, data: TrainingArrays, micro: Sequence[int], settings: NeuralSettings, padding: int
) -> Tensor:
    """Return the summed loss of some examples: of the class, of the line, of the order within tasks."""

    def taken(values: Any) -> Tensor:
        return torch.from_numpy(values[micro]).to(state.device)

    batch = padded([data.learned.rows[place] for place in micro], padding)
    logits, *lines = (each.float() for each in state.model(*tensors(batch, state.device)))
    classes, weight = taken(data.classes), taken(data.weights)
    loss = class_loss(logits, classes, weight)
    if lines:
        newlines = torch.from_numpy(batch.newlines).to(state.device)
        loss = loss + line_loss(lines[0], newlines, taken(data.places), weight)
    if settings.ranking != "none":
        ranked = ranking_loss(settings.ranking, logits, classes == 0, taken(data.tasks))
        loss = loss + settings.ranking_weight * len(micro) * ranked
    return loss


def rate_at(step: int, total: int, warm: float) -> float:
    """Return the share of the full rate: rising at first, then falling to nothing in a straight line."""
    rising = max(round(warm * total), 1)
    return (step + 1) / rising if step < rising else max((total - step) / max(total - rising, 1), 0.0)


def _state(model: RankerModel, settings: NeuralSettings, total: int) -> TrainingState:
    device = device_of()
    able = device == "cuda" and torch.cuda.is_bf16_supported()
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, total, settings.warm))
    half = settings.precision == "bfloat16" or (settings.precision == "auto" and able)
    return TrainingState(model, optimizer, schedule, device, half)


# --- going on -------------------------------------------------------------------------------------------------------


def _claim(folder: Path, *, resume: bool) -> None:
    """Make the folder of a run; one that holds another run is left as it is."""
    held = [name for name in (ABOUT, checkpoint.FILE) if (folder / name).exists()]
    if held and not resume:
        raise InputError(f"{folder} holds {held[-1]} of another run; give --resume, or another folder")
    folder.mkdir(parents=True, exist_ok=True)
    if not resume:
        (folder / checkpoint.LOG).unlink(missing_ok=True)


def _write_checkpoint(state: TrainingState, folder: Path, progress: dict[str, Any]) -> None:
    parts = {name: getattr(state, name).state_dict() for name in ("model", "optimizer", "schedule")}
    checkpoint.write(folder, {**progress, **parts})


def _resumed(state: TrainingState, folder: Path, run: str) -> tuple[int, dict[str, float], int]:
    """Return step, best figures, and looks since, with everything that changes as it was then."""
    held = checkpoint.read(folder, run)
    for name in ("model", "optimizer", "schedule"):
        getattr(state, name).load_state_dict(held[name])
    return held["step"], held["best"], held["worse"]
