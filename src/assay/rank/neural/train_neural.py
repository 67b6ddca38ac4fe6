"""Labelled programs and a base model to a folder that `neural:` reads (Inala et al. 2022, sections 3.3 and 4.1).

Reads top to bottom: base model, data, classes, loop, evaluation, saving. The folder always holds the best ranker so
far, by ranked pass@1 on the tasks that are held out; `log.jsonl` has a line a step and a line a look at those, from
which the curves of the paper's figures 4 and 7 are drawn. A run that is cut off goes on at its last checkpoint, and
ends as if it had not been. Several processes share each batch: `accelerate launch -m assay rank train …`.
"""

from __future__ import annotations

import resource
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import torch

from assay.errors import InputError
from assay.faults import Fault
from assay.measure.classify import confusion, lines
from assay.measure.ranked import Judged, RankMeasure, mean, values
from assay.protocols import Say
from assay.rank.dataset.examples import Example
from assay.rank.neural import checkpoint
from assay.rank.neural.batches import Ints, Reader
from assay.rank.neural.fault_classes import LINES, MESSAGES, classes_of
from assay.rank.neural.model import BaseModel, RankerModel, TorchRunner, open_base, save
from assay.rank.neural.model_folder import ABOUT, ModelCard
from assay.rank.neural.neural_ranker import ProgramPrediction, opinions
from assay.rank.neural.neural_settings import NeuralSettings
from assay.rank.neural.token_store import TokenStore
from assay.rank.neural.tokenize_examples import FOLDER, LearningData, learning_data, open_data
from assay.rank.neural.training_steps import (
    StepTaken,
    TrainingArrays,
    TrainingState,
    batches,
    learn,
    steps_per_epoch,
    training_arrays,
    training_state,
    true_classes,
)
from assay.runs.record import append_lines, sole_writer
from assay.runs.run_manifest import write_manifest
from assay.train.run import gathered, is_main_process, process_count, process_number, wait_for_all

MEASURES = (RankMeasure(1), RankMeasure(5), RankMeasure(1, "exec"))


def worth_of(
    said: Sequence[ProgramPrediction], held_out: TokenStore, true: Sequence[int], classes: Sequence[str], task: str
) -> dict[str, float]:
    """Return ranked pass@1, pass@5 and exec@1, macro-F1, and with lines how many were found."""
    faults = held_out.faults()
    pools: dict[str, list[Judged]] = {}
    for about, fault, opinion in zip(held_out.about, faults, said, strict=True):
        runs = bool(about["ran_all"]) if about["ran_all"] >= 0 else not fault.is_execution
        judged = Judged(float(opinion.classes[0]), fault is Fault.CORRECT, runs, int(about["n"]))
        pools.setdefault(str(about["task"]), []).append(judged)
    found = {str(measure): mean(values(pools, measure)).value for measure in MEASURES}
    told = [classes[int(opinion.classes.argmax())] for opinion in said]
    found["macro-F1"] = confusion([classes[at] for at in true], told, labels=tuple(classes)).macro_f1
    if task == LINES:
        guessed = [row.line_of(int(one.places.argmax())) for row, one in zip(held_out, said, strict=True)]
        compared = lines(held_out.about["line"].tolist(), guessed)
        found |= {"line": compared.accuracy, "broken line": compared.found}
    return found


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """What a run is of, and where it writes."""

    folder: Path
    settings: NeuralSettings
    card: ModelCard
    """What its ranker is called and tells apart; nothing was found of it yet."""
    tokenizer: Any


def train(  # noqa: PLR0913  each is one thing
    examples: Iterable[Example],
    folder: Path,
    settings: NeuralSettings,
    say: Say,
    *,
    resume: bool = False,
    data: str = "",
) -> dict[str, float]:
    """Train a ranker and return what the best one reaches on the tasks that are held out.

    `data` is a hash of the examples; with it they are read only where no earlier run left their tokens.
    """
    say = say if is_main_process() else _say_nothing
    with _claim(folder, resume=resume):
        torch.manual_seed(settings.seed)  # tokens that the base lacks get vectors at random

        # --- base model and data: whole tasks are held out, as the rows say
        base = open_base(settings)
        held = _shared_data(examples, base, folder, data)
        say(_size_of(held, base))

        # --- classes and heads
        classes = _classes(held, settings)
        head = settings.line_head if settings.task == LINES else ""
        torch.manual_seed(settings.seed)
        model = RankerModel(base.body, len(classes), base.reads, head)
        card = ModelCard(Path(settings.base).name, settings.task, base.reads, base.layout, {}, classes, head)
        best = _learn_all(model, TrainingRun(folder, settings, card, base.tokenizer), held, say, resume=resume)

        _finish(folder)
        return best


def _learn_all(model: RankerModel, run: TrainingRun, held: LearningData, say: Say, *, resume: bool) -> dict[str, float]:
    """Learn, look at what is held out, keep the best so far; a few looks without a better one end it."""
    settings, folder = run.settings, run.folder
    shapes, classes = list(held.shapes), run.card.classes
    data = training_arrays(held.train, true_classes(held.train, shapes, classes, settings.task), settings)
    true = true_classes(held.valid, shapes, classes, settings.task)

    # --- how long, how fast, and from where
    total = settings.steps or settings.epochs * steps_per_epoch(len(held.train), settings)
    state = training_state(model, settings, total)
    if process_number():  # heads are alike in all processes, what is dropped out is not
        torch.manual_seed(settings.seed + process_number())
    key = {**asdict(settings), "data": held.digest, "processes": process_count()}
    step, best, worse = _resumed(state, folder, key) if resume else (0, {"pass@1": -1.0}, 0)
    if is_main_process():
        write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=[held.digest])

    # --- loop
    for step, loss in steps(state, data, run, step, total):  # noqa: B020
        if _is_look(settings, len(held.train), step, total):
            found = _evaluated(state, held.valid, true, run, step)
            said = ", ".join(f"{name} {at:.3f}" for name, at in found.items())
            say(f"step {step:,}/{total:,}: loss {loss:.4f}, {said}")
            worse = 0 if found["pass@1"] > best["pass@1"] else worse + 1
            if not worse:
                best = found
                _save(run, model, found)
            if settings.patience and worse >= settings.patience:
                say(f"no better ranked pass@1 in {worse} looks: that was all")
                break
        _write_checkpoint(state, folder, {"run": key, "step": step, "best": best, "worse": worse})
    return best


# --- data -----------------------------------------------------------------------------------------------------------


def _shared_data(examples: Iterable[Example], base: BaseModel, folder: Path, data: str) -> LearningData:
    """Return what is learned; one process writes the tokens, all read them."""
    if is_main_process():
        learning_data(examples, Reader(base.tokenizer, base.layout), folder, data=data)
    wait_for_all()
    return open_data(folder / FOLDER)


def _classes(held: LearningData, settings: NeuralSettings) -> tuple[str, ...]:
    """Return what is told apart; messages that no row has cannot be learned."""
    if settings.task == MESSAGES and not any(held.shapes.values()):
        raise InputError(
            "task M predicts messages of exceptions and no row to learn from has one; "
            "run 'assay rank data' again, which writes them as 'message'"
        )
    return classes_of(settings.task, held.shapes, least=settings.message_least, most=settings.message_classes)


def _size_of(held: LearningData, base: BaseModel) -> str:
    said = f"{len(held.train):,} programs to learn, {len(held.valid):,} held out, at most {base.layout.window} tokens"
    return said + (f"; {held.unasked:,} have no prompt and are read alone" if held.unasked else "")


# --- loop -----------------------------------------------------------------------------------------------------------


def steps(
    state: TrainingState, data: TrainingArrays, run: TrainingRun, step: int, total: int
) -> Iterator[tuple[int, float]]:
    """Take the steps from `step` on, a line in the log each; yield number and loss when it is time to look or write."""
    per_epoch = steps_per_epoch(len(data.classes), run.settings)
    every = run.settings.checkpoint_steps
    began = perf_counter(), process_time()
    for chosen in batches(data.tasks, run.settings, step, total):
        took = learn(state, data, chosen, run.settings, run.card.layout.padding)
        step += 1
        if is_main_process():
            append_lines(run.folder / checkpoint.LOG, [_line(took, step, step / per_epoch, began)])
        if _is_look(run.settings, len(data.classes), step, total) or (every and step % every == 0):
            yield step, took.loss


def _is_look(settings: NeuralSettings, count: int, step: int, total: int) -> bool:
    every = settings.evaluate_every or steps_per_epoch(count, settings)
    return step % every == 0 or step == total


def _line(took: StepTaken, step: int, epoch: float, began: tuple[float, float]) -> dict[str, Any]:
    about = {"step": step, "epoch": round(epoch, 3), "loss": took.loss, "tokens": took.tokens}
    times = {"seconds": round(perf_counter() - began[0], 3), "cpu_s": round(process_time() - began[1], 3)}
    return {**about, **times, "peak_mb": _peak_mb()}


def _peak_mb() -> int:
    """Return the most memory that this process has held: the GPU's where it computes there."""
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated() // 2**20)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most // (2**20 if sys.platform == "darwin" else 2**10))


def _evaluated(state: TrainingState, held_out: TokenStore, true: Ints, run: TrainingRun, step: int) -> dict[str, float]:
    """Return what the model is worth now; each process reads its part of the programs."""
    runner = TorchRunner(state.model.eval(), state.device.type, half=state.half)
    own = held_out.part(process_number(), process_count())
    parts = gathered(opinions(runner, own, run.card.layout.padding, run.settings.micro))
    said = [parts[place % len(parts)][place // len(parts)] for place in range(len(held_out))]
    found = worth_of(said, held_out, true.tolist(), run.card.classes, run.settings.task)
    if is_main_process():
        append_lines(run.folder / checkpoint.LOG, [{"step": step, **found}])
    return found


def _save(run: TrainingRun, model: RankerModel, found: dict[str, float]) -> None:
    if is_main_process():
        save(run.folder, model, run.tokenizer, replace(run.card, found=found))


# --- going on -------------------------------------------------------------------------------------------------------


@contextmanager
def _claim(folder: Path, *, resume: bool) -> Iterator[None]:
    """Make the folder of a run, and be its one writer; one that holds another run is left as it is."""
    if not is_main_process():
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with sole_writer(folder / checkpoint.LOG):
        _refuse_held(folder, resume=resume)
        if not resume:
            (folder / checkpoint.LOG).unlink(missing_ok=True)
        yield


def _refuse_held(folder: Path, *, resume: bool) -> None:
    """Refuse a folder of another run, and one whose run is at its end."""
    held = [name for name in (ABOUT, checkpoint.FILE) if (folder / name).exists()]
    if held and not resume:
        raise InputError(f"{folder} holds {held[-1]} of another run; give --resume, or another folder")
    if resume and held == [ABOUT]:
        raise InputError(
            f"{folder} holds a ranker that is finished, there is nothing to resume: "
            f"rank with neural:{folder}, or give another folder"
        )


def _finish(folder: Path) -> None:
    """Remove what is only needed to go on."""
    wait_for_all()
    if is_main_process():
        (folder / checkpoint.FILE).unlink(missing_ok=True)
        shutil.rmtree(folder / FOLDER, ignore_errors=True)


def _write_checkpoint(state: TrainingState, folder: Path, progress: dict[str, Any]) -> None:
    parts = {name: getattr(state, name).state_dict() for name in ("model", "optimizer", "schedule")}
    checkpoint.write(folder, {**progress, **parts})


def _resumed(state: TrainingState, folder: Path, key: dict[str, Any]) -> tuple[int, dict[str, float], int]:
    """Return step, best figures, and looks since, with everything that changes as it was then."""
    held = checkpoint.read(folder, key)
    for name in ("model", "optimizer", "schedule"):
        getattr(state, name).load_state_dict(held[name])
    return held["step"], held["best"], held["worse"]


def _say_nothing(_: str) -> None:
    """Of several processes one speaks."""
