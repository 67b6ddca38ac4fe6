"""Train the neural ranker, with looks, checkpoints and a record, on one device or several.

Reads top to bottom: worth, base model, data, classes, loop, evaluation, saving, the steps, checkpoints. The folder
always holds the best ranker so far, by ranked pass@1 on the tasks that are held out; `log.jsonl` has a line a step and
a line a look at those, from which the curves of the paper's figures 4 and 7 are drawn. A run that is cut off goes on at
its last checkpoint, and ends as if it had not been. Several processes share each batch (`accelerate launch -m assay
rank train …`): each takes some of its parts, and their gradients are summed before the step.
"""

from __future__ import annotations

import resource
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
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
from assay.rank.dataset.rows import Example
from assay.rank.neural.data import (
    FAULTS,
    FOLDER,
    Ints,
    LearningData,
    Reader,
    TokenStore,
    learning_data,
    open_data,
    padded,
)
from assay.rank.neural.model import BaseModel, RankerModel, TorchRunner, open_base, save, tensors
from assay.rank.neural.ranker import ABOUT, ModelCard, ProgramPrediction, opinions
from assay.rank.neural.settings import LINES, MESSAGES, NeuralSettings, class_of, classes_of
from assay.runs.record import append_lines, differing, read_lines, rewrite, sole_writer, write_manifest
from assay.train.run import (
    gathered,
    is_main_process,
    process_count,
    process_number,
    sum_in_place,
    training_device,
    wait_for_all,
)

Floats = NDArray[np.float32]
FILE, LOG = "checkpoint.pt", "log.jsonl"
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
            append_lines(run.folder / LOG, [_line(took, step, step / per_epoch, began)])
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
        append_lines(run.folder / LOG, [{"step": step, **found}])
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
    with sole_writer(folder / LOG):
        _refuse_held(folder, resume=resume)
        if not resume:
            (folder / LOG).unlink(missing_ok=True)
        yield


def _refuse_held(folder: Path, *, resume: bool) -> None:
    """Refuse a folder of another run, and one whose run is at its end."""
    held = [name for name in (ABOUT, FILE) if (folder / name).exists()]
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
        (folder / FILE).unlink(missing_ok=True)
        shutil.rmtree(folder / FOLDER, ignore_errors=True)


def _write_checkpoint(state: TrainingState, folder: Path, progress: dict[str, Any]) -> None:
    parts = {name: getattr(state, name).state_dict() for name in ("model", "optimizer", "schedule")}
    _write_state(folder, {**progress, **parts})


def _resumed(state: TrainingState, folder: Path, key: dict[str, Any]) -> tuple[int, dict[str, float], int]:
    """Return step, best figures, and looks since, with everything that changes as it was then."""
    held = _read_state(folder, key)
    for name in ("model", "optimizer", "schedule"):
        getattr(state, name).load_state_dict(held[name])
    return held["step"], held["best"], held["worse"]


def _say_nothing(_: str) -> None:
    """Of several processes one speaks."""


# --- steps ----------------------------------------------------------------------------------------------------------


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


def order(tasks: Ints, epoch: int, settings: NeuralSettings) -> Ints:
    """Return the examples in the order of an epoch: shuffled, with a ranking loss in groups of one task."""
    random = np.random.default_rng((settings.seed, epoch))
    shuffled = random.permutation(len(tasks))
    if settings.ranking == "none":
        return shuffled
    groups: list[list[int]] = []
    open_groups: dict[int, list[int]] = {}
    for place in shuffled.tolist():
        group = open_groups.get(int(tasks[place]), [])
        if len(group) in (0, settings.group):
            group = open_groups[int(tasks[place])] = []
            groups.append(group)
        group.append(place)
    return np.array([place for at in random.permutation(len(groups)) for place in groups[at]], dtype=np.int64)


def micro_batches(chosen: Sequence[int], lengths: Ints, settings: NeuralSettings, size: int = 0) -> list[list[int]]:
    """Return a batch in the parts that go through the model at once, of `micro` examples where no size is given.

    Like lengths go together; with a ranking loss neighbours do, since they are of one task.
    """
    places = list(chosen)
    if settings.ranking == "none":
        places.sort(key=lambda place: int(lengths[place]))
    size = size or settings.micro
    return [places[start : start + size] for start in range(0, len(places), size)]


def class_loss(logits: Tensor, classes: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted sum of cross-entropies."""
    return (functional.cross_entropy(logits, classes, reduction="none") * weights).sum()


def line_loss(logits: Tensor, newlines: Tensor, wanted: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted sum of cross-entropies over newline tokens; `wanted` is the token of the right one."""
    logits = logits.masked_fill(~newlines, float("-inf"))
    return (functional.cross_entropy(logits, wanted, reduction="none") * weights).sum()


def ranking_loss(kind: str, logits: Tensor, right: Tensor, tasks: Tensor) -> Tensor:
    """Return how badly right programs stand above wrong ones of their task, the mean over what can be compared.

    `pairwise` is the logistic loss of each pair; `listwise` the cross-entropy of picking each right program from among
    itself and all wrong ones. Both compare log-odds of being right.
    """
    odds = logits[:, 0] - torch.logsumexp(logits[:, 1:], dim=1)
    rivals = (tasks[:, None] == tasks[None, :]) & right[:, None] & ~right[None, :]
    if not rivals.any():
        return logits.sum() * 0.0
    if kind == "pairwise":
        return functional.softplus(odds[None, :] - odds[:, None])[rivals].mean()
    against = torch.where(rivals, odds[None, :], float("-inf"))
    both = torch.logsumexp(torch.cat((odds[:, None], against), dim=1), dim=1)
    return (both - odds)[rivals.any(1)].mean()


@dataclass(frozen=True, slots=True)
class TrainingArrays:
    """What is learned: tokens on the disk, and arrays with a place an example."""

    store: TokenStore
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
    network: Any
    """What computes the loss: the model, or what it was compiled to."""
    optimizer: Any
    schedule: Any
    device: torch.device
    half: bool
    """Whether it computes in bfloat16."""


@dataclass(frozen=True, slots=True)
class StepTaken:
    """What a step came to."""

    loss: float
    tokens: int
    """How many went through the model, without padding, on all processes."""


def true_classes(store: TokenStore, shapes: Sequence[str], classes: Sequence[str], task: str) -> Ints:
    """Return the number of each program's class."""
    plain = np.array([class_of(task, fault, classes=classes) for fault in FAULTS], dtype=np.int64)
    found: Ints = plain[store.about["fault"]]
    numbers = store.about["shape"]
    for number, shape in enumerate(shapes):
        if shape in classes:
            found[numbers == number] = classes.index(shape)
    return found


def training_arrays(store: TokenStore, classes: Ints, settings: NeuralSettings) -> TrainingArrays:
    """Return what is learned."""
    tasks, places, n = (store.about[name].astype(np.int64) for name in ("task", "place", "n"))
    return TrainingArrays(store, classes, tasks, places, weights(classes, tasks, n, settings), store.lengths)


def training_state(model: RankerModel, settings: NeuralSettings, total: int) -> TrainingState:
    """Return a model that is ready to learn."""
    device = training_device()
    able = device.type == "cuda" and torch.cuda.is_bf16_supported()
    model.to(device)
    if settings.gradient_checkpointing:
        if not getattr(model.body, "supports_gradient_checkpointing", False):
            raise InputError(
                f"{settings.base!r} does not support gradient checkpointing; set gradient_checkpointing=false"
            )
        model.body.gradient_checkpointing_enable({"use_reentrant": False})
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.decay)
    rising = settings.warm_steps or max(round(settings.warm * total), 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, total, rising))
    half = settings.precision == "bfloat16" or (settings.precision == "auto" and able)
    network = torch.compile(model, dynamic=True) if settings.compile else model
    return TrainingState(model, network, optimizer, schedule, device, half)


def batches(tasks: Ints, settings: NeuralSettings, step: int, total: int) -> Iterator[Ints]:
    """Yield the batch of each step that is left; which one that is depends on the seed and the step only."""
    per_epoch = steps_per_epoch(len(tasks), settings)
    while step < total:
        epoch, at = divmod(step, per_epoch)
        shuffled = order(tasks, epoch, settings)
        for start_at in range(at * settings.batch, len(tasks), settings.batch):
            if step < total:
                yield shuffled[start_at : start_at + settings.batch]
            step += 1


def steps_per_epoch(count: int, settings: NeuralSettings) -> int:
    """Return how many steps so many examples take."""
    return -(-count // settings.batch)


def learn(
    state: TrainingState, data: TrainingArrays, chosen: Ints, settings: NeuralSettings, padding: int
) -> StepTaken:
    """Take one step of the optimizer over a batch, a part of it at a time."""
    state.model.train()
    told = torch.zeros(2, dtype=torch.float64)  # the loss, and how many tokens
    for micro in _own_parts(chosen, data.lengths, settings):
        with torch.autocast(state.device.type, torch.bfloat16, enabled=state.half):
            loss = loss_of(state, data, micro, settings, padding) / len(chosen)
        loss.backward()
        told += torch.tensor([loss.item(), int(data.lengths[micro].sum())], dtype=torch.float64)
    sum_gradients(state.model)
    told = told.to(state.device, torch.float32 if state.device.type == "mps" else torch.float64)
    sum_in_place([told])
    if settings.clip:
        torch.nn.utils.clip_grad_norm_(state.model.parameters(), settings.clip)
    state.optimizer.step()
    state.schedule.step()
    state.optimizer.zero_grad()
    return StepTaken(float(told[0]), int(told[1]))


def sum_gradients(model: torch.nn.Module) -> None:
    """Give each weight the gradient of all processes; one that had no part of a batch adds nothing."""
    if process_count() == 1:
        return
    trained = list(model.parameters())
    used = torch.tensor([weight.grad is not None for weight in trained], dtype=torch.int32, device=trained[0].device)
    sum_in_place([used])
    for weight, times in zip(trained, used.tolist(), strict=True):
        if times and weight.grad is None:
            weight.grad = torch.zeros_like(weight)
    sum_in_place(weight.grad for weight in trained if weight.grad is not None)


def loss_of(
    state: TrainingState, data: TrainingArrays, micro: Sequence[int], settings: NeuralSettings, padding: int
) -> Tensor:
    """Return the summed loss of some examples: of the class, of the line, of the order within tasks."""

    def taken(values: Any) -> Tensor:
        return torch.from_numpy(values[micro]).to(state.device)

    batch = padded([data.store[place] for place in micro], padding)
    logits, *lines = (each.float() for each in state.network(*tensors(batch, state.device)))
    classes, weight = taken(data.classes), taken(data.weights)
    loss = class_loss(logits, classes, weight)
    if lines:
        newlines = torch.from_numpy(batch.newlines).to(state.device)
        even = torch.ones_like(weight) if settings.line_head == "vector" else weight
        loss = loss + line_loss(lines[0], newlines, taken(data.places), even)
    if settings.ranking != "none":
        ranked = ranking_loss(settings.ranking, logits, classes == 0, taken(data.tasks))
        loss = loss + settings.ranking_weight * len(micro) * ranked
    return loss


def rate_at(step: int, total: int, rising: int) -> float:
    """Return the share of the full rate: rising for some steps, then falling to nothing in a straight line."""
    return (step + 1) / rising if step < rising else max((total - step) / max(total - rising, 1), 0.0)


def _own_parts(chosen: Ints, lengths: Ints, settings: NeuralSettings) -> list[list[int]]:
    """Return the parts of a batch that this process computes; of few examples each gets some."""
    count = process_count()
    size = min(settings.micro, -(-len(chosen) // count))
    return micro_batches(chosen.tolist(), lengths, settings, size)[process_number() :: count]


# --- checkpoints ----------------------------------------------------------------------------------------------------


def _write_state(folder: Path, state: dict[str, Any]) -> None:
    """Replace the checkpoint of a folder; each process takes part."""
    gpu = torch.cuda.get_rng_state() if torch.cuda.is_available() else None
    random = gathered({"cpu": torch.get_rng_state(), "gpu": gpu})
    if is_main_process():
        with files.replacing(folder / FILE) as beside:
            torch.save({**state, "random": random}, beside)


def _read_state(folder: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a run, with its random numbers where they were and its log cut to what it had done."""
    file = folder / FILE
    if not file.is_file():
        raise InputError(f"no {FILE} in {folder}: there is nothing to resume; leave out --resume")
    try:
        state: dict[str, Any] = torch.load(file, weights_only=True, map_location="cpu")
        before, random = dict(state["run"]), state["random"][process_number()]
    except Exception as error:  # torch raises pickle's errors, zip's and its own
        raise InputError(
            f"{file} is damaged or of an earlier version ({type(error).__name__}); remove it and train again"
        ) from error
    if names := differing(before, run):
        raise InputError(
            f"{file} is of another run: {', '.join(names)} differ; give the same to resume, or another --out"
        )
    torch.set_rng_state(random["cpu"])
    if random["gpu"] is not None:
        torch.cuda.set_rng_state(random["gpu"])
    if is_main_process():
        kept = [record for record in read_lines(folder / LOG) if record["step"] <= state["step"]]
        rewrite(folder / LOG, kept)
    return state
