"""Batches of labelled programs to better weights: the order in which they come, the loss, one step of the optimizer.

A batch is that of all processes together. Each takes some of its parts, and their gradients are summed before the step,
so that the same run on one process or on several differs in rounding alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from assay.errors import InputError
from assay.rank.neural.batches import Ints, padded
from assay.rank.neural.fault_classes import class_of
from assay.rank.neural.model import RankerModel, tensors
from assay.rank.neural.neural_settings import NeuralSettings
from assay.rank.neural.token_store import FAULTS, TokenStore
from assay.train.run import process_count, process_number, sum_in_place, training_device

Floats = NDArray[np.float32]


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
