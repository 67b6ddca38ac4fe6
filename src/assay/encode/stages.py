"""The three stages of training a static table: project the teacher's words, fit them to texts, learn to search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from assay.encode.bags import Ints, TokenBags, without_shared
from assay.encode.train_settings import TableSettings, TrainSettings
from assay.encode.training_pairs import TrainingPair
from assay.encode.vectors import unit
from assay.encode.vocabulary import Vocabulary
from assay.protocols import Say, Vectors

_FIT_BATCH = 512
_WARM = 0.1  # the share of steps in which the rate rises


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
        given = torch.from_numpy(rows)
        starts = torch.from_numpy(np.searchsorted(owners, np.arange(count)))
        weights = self.weights[given].exp()
        sums = functional.embedding_bag(given, self.directions, starts, mode="sum", per_sample_weights=weights)
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


def project(told: Vectors, words: Vectors, dimension: int) -> tuple[Vectors, Vectors]:
    """Return the texts' vectors and the words' in the principal directions of the texts, both centred."""
    middle = told.mean(0)
    _, _, directions = np.linalg.svd(told - middle, full_matrices=False)
    chosen = directions[:dimension].T
    return unit((told - middle) @ chosen), (words - words.mean(0)) @ chosen


def rarity_weights(bags: TokenBags, entries: int, rarity: float) -> NDArray[np.float32]:
    """Return how much each entry counts before it is trained: `a / (a + p)` (Arora et al. 2017, section 3)."""
    count = np.bincount(bags.flat, minlength=entries) + 1.0
    weights: NDArray[np.float32] = (rarity / (rarity + count / count.sum())).astype(np.float32)
    return weights


def fit(table: Vectors, texts: Texts, settings: TrainSettings, say: Say) -> Vectors:
    """Return a table whose sums point where the teacher's vectors of the same texts do."""
    model, random = WordTable(table), np.random.default_rng(settings.seed)
    optimizer, schedule = _optimizer(
        model, settings.fit_rate, settings.fit_epochs * max(len(texts.bags) // _FIT_BATCH, 1)
    )
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
    model: WordTable, questions: Questions, chosen: Ints, hidden: NDArray[np.bool_], temperature: float
) -> torch.Tensor:
    """Return the cross-entropy of picking each one's partner, both ways, the hidden ones without their shared words."""
    asked, answered = questions.queries.take(chosen), questions.answers.take(chosen)
    stays = without_shared(answered, asked, hidden)
    answers = model(answered[0][stays], answered[1][stays], len(chosen))
    scores = model(*asked, len(chosen)) @ answers.T / temperature
    right = torch.arange(len(chosen))
    return (functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)) / 2


def _distance(model: WordTable, texts: Texts, chosen: Ints) -> torch.Tensor:
    """Return one minus the mean cosine between chosen texts and the teacher's vectors of them."""
    return 1 - (model(*texts.bags.take(chosen), len(chosen)) * texts.targets[chosen]).sum(1).mean()


def _optimizer(
    model: WordTable, rate: float, steps: int
) -> tuple[torch.optim.Adam, torch.optim.lr_scheduler.OneCycleLR]:
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps + 1, pct_start=_WARM)


def _step(loss: torch.Tensor, optimizer: torch.optim.Adam, schedule: torch.optim.lr_scheduler.OneCycleLR) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()


def _batches(count: int, size: int, random: np.random.Generator) -> list[Ints]:
    """Return whole batches in a new order; fewer texts than a batch are one batch."""
    order = random.permutation(count)
    return [order[start : start + size] for start in range(0, max(count - size, 0) + 1, size)]
