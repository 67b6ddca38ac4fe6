"""Examples to how much each counts, and to the order in which they are learned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.rank.neural.batches import Ints
from assay.rank.neural.neural_settings import NeuralSettings

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
