"""Project, fit, join and contrast the rows of a static table: the stages of its training, one function each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from assay.encode.static import Vocabulary
from assay.encode.vectors import unit
from assay.errors import InputError
from assay.protocols import Say, Vectors
from assay.train.pairs import TrainingPair
from assay.train.settings import DistillSettings, JoinSettings, TableSettings

Ints = NDArray[np.int64]
_FIT_BATCH = 512
_WARM_UP = 0.1
"""The fraction of steps in which the rate rises."""
_MIN_LENGTH = 1e-6
"""A shorter row has no direction."""


class TokenBags:
    """Lists of rows, one a text."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        self.lengths: Ints = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        self.flat: Ints = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(self.lengths.sum()))
        self._starts = np.cumsum(self.lengths) - self.lengths

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, texts: Ints) -> tuple[Ints, Ints]:
        """Return the rows of the chosen texts, one after the other, and the number of the text that each is of."""
        lengths = self.lengths[texts]
        owners = np.repeat(np.arange(len(texts)), lengths)
        starts_here = np.cumsum(lengths) - lengths
        return self.flat[np.arange(len(owners)) + (self._starts[texts] - starts_here)[owners]], owners


Taken = tuple[Ints, Ints]
"""Rows, and the number of the text that each is of."""


def without_shared(taken: Taken, others: Taken, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows stay when the texts to hide lose what the other text of the same number has, too."""
    width = int(max(taken[0].max(initial=0), others[0].max(initial=0))) + 1
    shared = np.isin(taken[1] * width + taken[0], others[1] * width + others[0])
    return ~(shared & hidden[taken[1]])


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts and where the teacher put them."""

    bags: TokenBags
    targets: torch.Tensor


@dataclass(frozen=True, slots=True)
class Questions:
    """Queries and, one each, their answers."""

    queries: TokenBags
    answers: TokenBags

    @classmethod
    def of(cls, pairs: Sequence[TrainingPair], vocabulary: Vocabulary) -> Questions:
        """Return the rows of both texts of pairs."""
        queries = TokenBags([vocabulary.rows(pair.query) for pair in pairs])
        return cls(queries, TokenBags([vocabulary.rows(pair.code) for pair in pairs]))


class WordTable(torch.nn.Module):
    """Rows as directions and logarithms of lengths, so that weight and meaning are learned apart."""

    def __init__(self, table: Vectors) -> None:
        super().__init__()
        lengths = np.maximum(np.linalg.norm(table, axis=1), 1e-6)
        self.directions = torch.nn.Parameter(torch.tensor(table / lengths[:, None]))
        self.weights = torch.nn.Parameter(torch.tensor(np.log(lengths)))

    def forward(self, rows: Ints, owners: Ints, count: int) -> torch.Tensor:
        """Return the unit-length sums of `count` bags."""
        flat = torch.from_numpy(rows)
        starts = torch.from_numpy(np.searchsorted(owners, np.arange(count)))
        weights = self.weights[flat].exp()
        sums = functional.embedding_bag(flat, self.directions, starts, mode="sum", per_sample_weights=weights)
        return functional.normalize(sums, dim=1)

    def rows(self) -> Vectors:
        """Return the table."""
        table: Vectors = (self.directions * self.weights.exp()[:, None]).detach().numpy()
        return table


def sums(table: Vectors, bags: TokenBags) -> Vectors:
    """Return the unit-length sum of the rows of each bag."""
    starts = torch.from_numpy(np.cumsum(bags.lengths) - bags.lengths)
    found: Vectors = functional.embedding_bag(
        torch.from_numpy(bags.flat), torch.from_numpy(table), starts, mode="sum"
    ).numpy()
    return unit(found)


def project(read: Vectors, words: Vectors, dimension: int) -> tuple[Vectors, Vectors]:
    """Return the texts' vectors and the words' in the principal directions of the texts, both centred."""
    middle = read.mean(0)
    _, _, directions = np.linalg.svd(read - middle, full_matrices=False)
    chosen = directions[:dimension].T
    return unit((read - middle) @ chosen), (words - words.mean(0)) @ chosen


def rarity_weights(bags: TokenBags, entries: int, rarity: float) -> NDArray[np.float32]:
    """Return how much each entry counts before it is trained: `a / (a + p)` (Arora et al. 2017, section 3)."""
    count = np.bincount(bags.flat, minlength=entries) + 1.0
    weights: NDArray[np.float32] = (rarity / (rarity + count / count.sum())).astype(np.float32)
    return weights


def fit(table: Vectors, texts: Texts, settings: DistillSettings, say: Say) -> Vectors:
    """Return a table whose sums point where the teacher's vectors of the same texts do."""
    model, random = WordTable(table), np.random.default_rng(settings.seed)
    steps = settings.fit_epochs * max(len(texts.bags) // _FIT_BATCH, 1)
    optimizer, schedule = _optimizer(model, settings.fit_rate, steps)
    for epoch in range(settings.fit_epochs):
        losses = []
        for chosen in _batches(len(texts.bags), _FIT_BATCH, random):
            loss = _distance(model, texts, chosen)
            losses.append(loss.item())
            _step(loss, optimizer, schedule)
        say(f"fit {epoch + 1}/{settings.fit_epochs}: distance to the teacher {np.mean(losses):.4f}")
    return model.rows()


def contrast(table: Vectors, questions: Questions, texts: Texts, settings: TableSettings, say: Say) -> Vectors:
    """Return a table that finds each query's answer among the batch's, and still agrees with the teacher on texts."""
    model, random = WordTable(table), np.random.default_rng(settings.seed)
    count = len(questions.queries)
    optimizer, schedule = _optimizer(model, settings.rate, settings.epochs * max(count // settings.batch, 1))
    for epoch in range(settings.epochs):
        losses = []
        for chosen in _batches(count, settings.batch, random):
            hidden = random.random(len(chosen)) < settings.hide
            found = _search_loss(model, questions, chosen, hidden, settings.temperature)
            losses.append(found.item())
            some = random.integers(0, len(texts.bags), min(_FIT_BATCH, len(texts.bags)))
            _step(found + settings.keep * _distance(model, texts, some), optimizer, schedule)
        say(f"search {epoch + 1}/{settings.epochs}: loss {np.mean(losses):.4f}")
    return model.rows()


def mean_table(tables: Sequence[Vectors]) -> Vectors:
    """Return the mean of tables, each brought to one scale (Wortsman et al. 2022, "Robust fine-tuning")."""
    mean: Vectors = np.mean([table / np.sqrt((table**2).sum(1).mean()) for table in tables], axis=0)
    return mean


def _search_loss(
    model: WordTable, questions: Questions, batch: Ints, hidden: NDArray[np.bool_], temperature: float
) -> torch.Tensor:
    """Return the cross-entropy of picking each one's partner, both ways, the hidden ones without their shared words."""
    queries, answered = questions.queries.take(batch), questions.answers.take(batch)
    stays = without_shared(answered, queries, hidden)
    answers = model(answered[0][stays], answered[1][stays], len(batch))
    scores = model(*queries, len(batch)) @ answers.T / temperature
    right = torch.arange(len(batch))
    return (functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)) / 2


def _distance(model: WordTable, texts: Texts, batch: Ints) -> torch.Tensor:
    """Return one minus the mean cosine between chosen texts and the teacher's vectors of them."""
    return 1 - (model(*texts.bags.take(batch), len(batch)) * texts.targets[batch]).sum(1).mean()


def _optimizer(
    model: WordTable, rate: float, steps: int
) -> tuple[torch.optim.Adam, torch.optim.lr_scheduler.OneCycleLR]:
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps + 1, pct_start=_WARM_UP)


def _step(loss: torch.Tensor, optimizer: torch.optim.Adam, schedule: torch.optim.lr_scheduler.OneCycleLR) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()


def _batches(count: int, size: int, random: np.random.Generator) -> list[Ints]:
    """Return whole batches in a new order; fewer texts than a batch are one batch."""
    order = random.permutation(count)
    return [order[start : start + size] for start in range(0, max(count - size, 0) + 1, size)]


def join(table: Vectors, places: NDArray[np.int64], vectors: Vectors, name: str, settings: JoinSettings) -> Vectors:
    """Return the rows of a table with another model's vectors beside them, which stand at `places`, or nowhere (-1).

    Both sides are as long as the table's rows, times a weight: how much a word counts is the table's to say, and a
    cosine of sums is a mean of both models' cosines. A word that the other model does not know gets a vector by the
    ridge regression that was fitted on the words that both know, which is short where the table's row tells little.
    """
    if not (places >= 0).any():
        raise InputError(
            f"none of the {len(vectors):,} words of '{name}' is in the table: wanted whole lower-case words"
        )
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    others = completed(table / np.maximum(lengths, _MIN_LENGTH), centred(vectors), places, settings.ridge)
    joined: Vectors = np.hstack([table, settings.weight * others * lengths])
    return joined


def centred(vectors: Vectors) -> Vectors:
    """Return vectors of unit length without what all of them share; a row of zeros has only the latter to lose."""
    directions = unit(vectors.copy())
    return unit(directions - directions.mean(0))


def completed(rows: Vectors, vectors: Vectors, places: NDArray[np.int64], ridge: float) -> Vectors:
    """Return a vector for each row: the one at its place, or, where that is -1, what the rows make likely."""
    known = places >= 0
    seen, wanted = rows[known], vectors[places[known]]
    penalty = ridge * np.eye(rows.shape[1], dtype=np.float32)
    vectors_of_rows: Vectors = rows @ np.linalg.solve(seen.T @ seen + penalty, seen.T @ wanted)
    vectors_of_rows[known] = wanted
    return vectors_of_rows


def narrowed(joined: Vectors, texts: TokenBags, dimension: int) -> Vectors:
    """Return the rows in the directions that hold most of the sums of texts, which turns them and cuts the rest."""
    read = sums(joined, texts)
    if min(read.shape) < dimension:
        raise InputError(
            f"{len(read)} texts of {read.shape[1]} numbers have fewer than {dimension} directions: "
            "add pairs, or --set dimension=N"
        )
    _, _, directions = np.linalg.svd(read, full_matrices=False)
    narrow: Vectors = (joined @ directions[:dimension].T).astype(np.float32)
    return narrow
