"""Train the neural ranker, with looks, checkpoints and a record.

Reads top to bottom: data, base model, loop, evaluation, the folder, the steps. The folder always holds the best ranker
so far, by ranked pass@1 on the tasks that are held out; `log.jsonl` has a line a step and a line a look at those, from
which the curves of the paper's figures 4 and 7 are drawn. A run that is cut off goes on at its last checkpoint, and
ends as if it had not been.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from assay.errors import InputError
from assay.faults import Fault
from assay.io import files
from assay.measure.agreement import confusion, lines
from assay.measure.passk import Judged, RankMeasure, mean, values
from assay.protocols import Say
from assay.rank.datasets import Example
from assay.rank.neural_data import (
    ABOUT,
    CHECKPOINT,
    CLASSES,
    FAULTS,
    LINES,
    Ints,
    LabeledRows,
    LearningData,
    ModelCard,
    NeuralSettings,
    Reader,
    TokenLayout,
    class_of,
    learning_data,
    padded,
)
from assay.rank.neural_model import RankerModel, TorchRunner, open_base, save, tensors
from assay.rank.neural_ranker import ProgramPrediction, opinions
from assay.runs.record import append_lines, differing, read_lines, rewrite, sole_writer, write_manifest
from assay.train.run import training_device

Floats = NDArray[np.float32]
LOG = "log.jsonl"
MEASURES = (RankMeasure(1), RankMeasure(5), RankMeasure(1, "exec"))


def train(
    examples: Iterable[Example], folder: Path, settings: NeuralSettings, say: Say, *, resume: bool = False
) -> dict[str, float]:
    """Train a ranker and return what the best one reaches on the tasks that are held out."""
    with _claim(folder, resume=resume):
        torch.manual_seed(settings.seed)  # tokens that the base lacks get vectors at random

        # --- base model and data: whole tasks are held out, as the rows say
        base = open_base(settings)
        data = learning_data(examples, Reader(base.tokenizer, base.layout))
        sizes = f"{len(data.train.rows):,} programs to learn, {len(data.valid.rows):,} held out"
        alone = f"; {data.without_prompt:,} have no prompt and are read alone" if data.without_prompt else ""
        say(f"{sizes}, at most {base.layout.window} tokens{alone}")

        # --- classes and heads
        classes = CLASSES[settings.task]
        head = settings.line_head if settings.task == LINES else ""
        torch.manual_seed(settings.seed)
        model = RankerModel(base.body, len(classes), base.reads, head)
        card = ModelCard(Path(settings.base).name, settings.task, base.reads, base.layout, {}, classes, head)

        def keep(found: Mapping[str, float]) -> None:
            save(folder, model, base.tokenizer, replace(card, found=found))

        write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=[data.digest])

        # --- loop: a look now and then, the best ranker so far on the disk; a few looks without a better one end it
        best = _learn_all(model, data, base.layout, folder, settings, say, keep, resume=resume)
        (folder / CHECKPOINT).unlink(missing_ok=True)
        return best


def _learn_all(  # noqa: PLR0913, PLR0917  what learns from what, where to, and who hears of it
    model: RankerModel,
    data: LearningData,
    layout: TokenLayout,
    folder: Path,
    settings: NeuralSettings,
    say: Say,
    keep: Callable[[Mapping[str, float]], None],
    *,
    resume: bool,
) -> dict[str, float]:
    # --- how long, how fast, and from where
    per_epoch = steps_per_epoch(len(data.train.rows), settings)
    total = settings.steps or settings.epochs * per_epoch
    learner = Learner(model, data.train, settings, layout, total)
    key = {**asdict(settings), "data": data.digest}
    step, best, worse = _resumed(learner, folder, key) if resume else (0, {"pass@1": -1.0}, 0)

    # --- steps and looks
    began = perf_counter(), process_time()
    for step, chosen in enumerate(batches(len(data.train.rows), settings, step, total), step + 1):  # noqa: B020
        loss, tokens = learner.learn(chosen)
        _log(folder, {"step": step, "epoch": round(step / per_epoch, 3), "loss": loss, "tokens": tokens}, began)
        is_look = step % (settings.evaluate_every or per_epoch) == 0 or step == total
        if is_look:
            found = _evaluated(learner, data.valid, settings)
            _log(folder, {"step": step, **found})
            say(f"step {step:,}/{total:,}: loss {loss:.4f}, {figures_text(found)}")
            worse = 0 if found["pass@1"] > best["pass@1"] else worse + 1
            if not worse:
                best = found
                keep(found)
            if settings.patience and worse >= settings.patience:
                say(f"no better ranked pass@1 in {worse} looks: that was all")
                break
        if is_look or (settings.checkpoint_steps and step % settings.checkpoint_steps == 0):
            _write_checkpoint(learner, folder, {"run": key, "step": step, "best": best, "worse": worse})
    return best


def figures_text(found: Mapping[str, float]) -> str:
    """Return figures in a line."""
    return ", ".join(f"{name} {value:.3f}" for name, value in found.items())


# --- evaluation -----------------------------------------------------------------------------------------------------


def _evaluated(learner: Learner, held_out: LabeledRows, settings: NeuralSettings) -> dict[str, float]:
    """Return what the model is worth now."""
    runner = TorchRunner(learner.model.eval(), learner.device.type, half=learner.half)
    found = opinions(runner, held_out.rows, learner.layout.padding, settings.micro)
    return worth_of(found, held_out, settings.task)


def worth_of(found: Sequence[ProgramPrediction], held_out: LabeledRows, task: str) -> dict[str, float]:
    """Return ranked pass@1, pass@5 and exec@1, macro-F1, and with lines how many were found."""
    pools: dict[str, list[Judged]] = {}
    about = zip(*(held_out.about[name].tolist() for name in ("task", "fault", "ran_all", "n")), strict=True)
    for (of, fault, ran_all, n), one in zip(about, found, strict=True):
        runs = bool(ran_all) if ran_all >= 0 else not FAULTS[fault].is_execution
        pools.setdefault(str(of), []).append(Judged(float(one.classes[0]), FAULTS[fault] is Fault.CORRECT, runs, n))
    worth = {str(measure): mean(values(pools, measure)).value for measure in MEASURES}
    true, guessed = true_classes(held_out, task).tolist(), [int(one.classes.argmax()) for one in found]
    names = CLASSES[task]
    worth["macro-F1"] = confusion([names[at] for at in true], [names[at] for at in guessed], labels=names).macro_f1
    if task == LINES:
        guesses = [row.line_of(int(one.places.argmax())) for row, one in zip(held_out.rows, found, strict=True)]
        compared = lines(held_out.about["line"].tolist(), guesses)
        worth |= {"line": compared.accuracy, "broken line": compared.found}
    return worth


# --- the folder: one writer, a log, a checkpoint --------------------------------------------------------------------


@contextmanager
def _claim(folder: Path, *, resume: bool) -> Iterator[None]:
    """Make the folder of a run, and be its one writer; one that holds another run is left as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    with sole_writer(folder / LOG):
        held = [name for name in (ABOUT, CHECKPOINT) if (folder / name).exists()]
        if held and not resume:
            raise InputError(f"{folder} holds {held[-1]} of another run; give --resume, or another folder")
        if resume and held == [ABOUT]:
            raise InputError(
                f"{folder} holds a ranker that is finished, there is nothing to resume: "
                f"rank with neural:{folder}, or give another folder"
            )
        if not resume:
            (folder / LOG).unlink(missing_ok=True)
        yield


def _log(folder: Path, line: Mapping[str, Any], began: tuple[float, float] | None = None) -> None:
    """Add a line, that of a step with its times and the most memory so far: the GPU's where it computes there."""
    if began:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak = most // (2**20 if sys.platform == "darwin" else 2**10)
        if torch.cuda.is_available():
            peak = torch.cuda.max_memory_allocated() // 2**20
        times = {"seconds": round(perf_counter() - began[0], 3), "cpu_s": round(process_time() - began[1], 3)}
        line = {**line, **times, "peak_mb": int(peak)}
    append_lines(folder / LOG, [line])


def _write_checkpoint(learner: Learner, folder: Path, progress: Mapping[str, Any]) -> None:
    """Replace the checkpoint of a folder."""
    gpu = torch.cuda.get_rng_state() if torch.cuda.is_available() else None
    with files.replacing(folder / CHECKPOINT) as beside:
        torch.save({**progress, **learner.states(), "random": {"cpu": torch.get_rng_state(), "gpu": gpu}}, beside)


def _resumed(learner: Learner, folder: Path, key: Mapping[str, Any]) -> tuple[int, dict[str, float], int]:
    """Return step, best figures and looks since, with all that changes as it was then, and the log cut to that."""
    file = folder / CHECKPOINT
    if not file.is_file():
        raise InputError(f"no {CHECKPOINT} in {folder}: there is nothing to resume; leave out --resume")
    try:
        state: dict[str, Any] = torch.load(file, weights_only=True, map_location="cpu")
        before, random = dict(state["run"]), dict(state["random"])
    except Exception as error:  # torch raises pickle's errors, zip's and its own
        raise InputError(
            f"{file} is damaged or of an earlier version ({type(error).__name__}); remove it and train again"
        ) from error
    if names := differing(before, key):
        raise InputError(
            f"{file} is of another run: {', '.join(names)} differ; give the same to resume, or another --out"
        )
    torch.set_rng_state(random["cpu"])
    if random["gpu"] is not None:
        torch.cuda.set_rng_state(random["gpu"])
    rewrite(folder / LOG, [line for line in read_lines(folder / LOG) if line["step"] <= state["step"]])
    learner.load(state)
    return state["step"], state["best"], state["worse"]


# --- steps ----------------------------------------------------------------------------------------------------------


def steps_per_epoch(count: int, settings: NeuralSettings) -> int:
    """Return how many steps so many examples take."""
    return -(-count // settings.batch)


def batches(count: int, settings: NeuralSettings, step: int, total: int) -> Iterator[Ints]:
    """Yield the batch of each step that is left; which one that is depends on the seed and the step only."""
    per_epoch = steps_per_epoch(count, settings)
    for number in range(step, total):
        epoch, at = divmod(number, per_epoch)
        order = np.random.default_rng((settings.seed, epoch)).permutation(count)
        yield order[at * settings.batch : (at + 1) * settings.batch]


def weights(classes: Ints, tasks: Ints, n: Ints, settings: NeuralSettings) -> Floats:
    """Return a weight an example, 1 in the mean.

    An example counts as often as it was sampled. Classes are weighed by their frequency to the power of `-balance`;
    after that, with `even_tasks`, the weights of each task add up to the same.
    """
    seen = np.bincount(classes, weights=n)
    weight = n * seen[classes] ** -settings.balance
    if settings.even_tasks:
        weight /= np.bincount(tasks, weights=weight)[tasks]
    mean: Floats = (weight / weight.mean()).astype(np.float32)
    return mean


def true_classes(rows: LabeledRows, task: str) -> Ints:
    """Return the number of each program's class."""
    return np.array([class_of(task, fault) for fault in FAULTS], np.int64)[rows.about["fault"]]


def class_loss(logits: Tensor, classes: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted sum of cross-entropies."""
    return (functional.cross_entropy(logits, classes, reduction="none") * weights).sum()


def line_loss(logits: Tensor, newlines: Tensor, lines: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted sum of cross-entropies over newline tokens; `wanted` is the token of the right one."""
    logits = logits.masked_fill(~newlines, float("-inf"))
    return (functional.cross_entropy(logits, lines, reduction="none") * weights).sum()


def rate_at(step: int, total: int, rising: int) -> float:
    """Return the share of the full rate: rising for some steps, then falling to nothing in a straight line."""
    return (step + 1) / rising if step < rising else max((total - step) / max(total - rising, 1), 0.0)


class Learner:
    """A model with all that changes while it learns."""

    def __init__(
        self, model: RankerModel, rows: LabeledRows, settings: NeuralSettings, layout: TokenLayout, total: int
    ) -> None:
        self.model, self.layout, self._rows, self._settings = model, layout, rows, settings
        self.device = training_device()
        able = self.device.type == "cuda" and torch.cuda.is_bf16_supported()
        self.half = settings.precision == "bfloat16" or (settings.precision == "auto" and able)
        model.to(self.device)
        self._optimizer = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.decay)
        rising = settings.warm_steps or max(round(settings.warm * total), 1)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, lambda step: rate_at(step, total, rising))
        self._lengths = rows.lengths
        self._classes = true_classes(rows, settings.task)
        self._weights = weights(self._classes, rows.about["task"], rows.about["n"], settings)

    def states(self) -> dict[str, Any]:
        """Return all of it for a checkpoint."""
        return {name: part.state_dict() for name, part in self._parts().items()}

    def load(self, states: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        for name, part in self._parts().items():
            part.load_state_dict(states[name])

    def _parts(self) -> dict[str, Any]:
        return {"model": self.model, "optimizer": self._optimizer, "schedule": self._schedule}

    def learn(self, chosen: Ints) -> tuple[float, int]:
        """Take one step over a batch, a part of it at a time; return the loss, and how many tokens were read."""
        self.model.train()
        total, tokens = 0.0, 0
        for micro in self._parts_of(chosen):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
                loss = self._loss_of(micro) / len(chosen)
            loss.backward()
            total, tokens = total + loss.item(), tokens + int(self._lengths[micro].sum())
        if self._settings.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self._settings.clip)
        self._optimizer.step()
        self._schedule.step()
        self._optimizer.zero_grad()
        return total, tokens

    def _parts_of(self, chosen: Ints) -> list[list[int]]:
        """Return the parts of a batch, like lengths together."""
        places = sorted(chosen.tolist(), key=lambda place: int(self._lengths[place]))
        size = self._settings.micro
        return [places[start : start + size] for start in range(0, len(places), size)]

    def _loss_of(self, micro: Sequence[int]) -> Tensor:
        """Return the summed loss of some examples: of the class, and of the line."""

        def taken(values: Any) -> Tensor:
            return torch.from_numpy(values[micro]).to(self.device)

        batch = padded([self._rows.rows[place] for place in micro], self.layout.padding)
        logits, *lines = (each.float() for each in self.model(*tensors(batch, self.device)))
        weight = taken(self._weights)
        loss = class_loss(logits, taken(self._classes), weight)
        if lines:
            newlines = torch.from_numpy(batch.newlines).to(self.device)
            even = torch.ones_like(weight) if self._settings.line_head == "vector" else weight
            loss = loss + line_loss(lines[0], newlines, taken(self._rows.about["place"]), even)
        return loss
