"""Lists of questions and a base model to a folder that `cross:` reads: a small transformer that reads both together.

Reads top to bottom: data, model, loop, export. Listwise softmax over one right text and some wrong ones (Cao et al.,
2007, *Learning to Rank: From Pairwise Approach to Listwise Approach*); the model that is kept is the one with the best
mean reciprocal rank on lists of sources that are held out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from assay.encode.cross_model import CrossModel, export, start
from assay.encode.question_lists import QuestionList
from assay.encode.reranker_settings import RerankerSettings
from assay.encode.split_pairs import is_held_out
from assay.errors import InputError
from assay.protocols import Say, Vectors

_CLIP = 1.0
_READ = 64  # pairs at a time where nothing is learned


@dataclass(frozen=True, slots=True)
class RerankerLists:
    """Lists to learn from, and lists of other sources that only choose among the models."""

    learned: list[QuestionList]
    held_out: list[QuestionList]


@dataclass(frozen=True, slots=True)
class TrainingLook:
    """How a model does at a step: mean loss since the look before, mean reciprocal rank on held-out lists."""

    step: int
    loss: float
    mrr: float


def train(
    lists: Sequence[QuestionList], base: str, folder: Path, settings: RerankerSettings, say: Say
) -> tuple[RerankerLists, list[TrainingLook]]:
    """Train a reranker, write its model to a folder, and return the lists as they were split and each look at them."""
    torch.manual_seed(settings.seed)

    # --- data
    data = split_lists(lists, settings)
    watched = data.held_out[: settings.evaluated]
    say(f"{len(data.learned):,} lists to learn, {len(data.held_out):,} held out, {len(watched):,} of them to choose by")
    say(f"MRR of the ranking there {ranking_mrr(watched):.3f}")

    # --- model: what reads apart stays as it is
    model = start(base, folder, settings)
    learned = {name: weight for name, weight in model.network.named_parameters() if weight.requires_grad}

    # --- loop: learn, look at what is held out, keep the best so far
    looks: list[TrainingLook] = []
    best: dict[str, torch.Tensor] = {}
    for step, loss in _steps(model, list(learned.values()), data.learned, settings):
        look = TrainingLook(step, loss, mean_reciprocal_rank(model, watched))
        say(f"step {step:,}: loss {look.loss:.4f}, MRR {look.mrr:.3f}")
        if look.mrr > max((one.mrr for one in looks), default=-1.0):
            best = {name: weight.detach().clone() for name, weight in learned.items()}
        looks.append(look)

    # --- export, in whole numbers of 8 bits
    model.network.load_state_dict(best, strict=False)
    export(model, folder)
    return data, looks


# --- data


def split_lists(lists: Sequence[QuestionList], settings: RerankerSettings) -> RerankerLists:
    """Return lists in two parts that share no source; of those held out, judged ones come first."""
    learned = [one for one in lists if not is_held_out(one.source, settings) and any(one.targets)]
    held_out = [one for one in lists if is_held_out(one.source, settings)]
    if not learned or not held_out:
        raise InputError(f"{len(learned)} lists to learn, {len(held_out)} held out: too few; add sources or --pairs")
    random = np.random.default_rng(settings.seed)
    mixed = [held_out[at] for at in random.permutation(len(held_out))]
    return RerankerLists(learned, sorted(mixed, key=lambda one: one.kind != "judged"))


def _batches(
    lists: Sequence[QuestionList], settings: RerankerSettings, random: np.random.Generator
) -> Iterator[list[QuestionList]]:
    """Yield the batches of all epochs; judged questions come back more often than the others."""
    again = [one for one in lists for _ in range(settings.judged_epochs if one.kind == "judged" else 1)]
    for _ in range(settings.epochs):
        order = random.permutation(len(again))
        for start_at in range(0, len(again), settings.batch):
            yield [again[at] for at in order[start_at : start_at + settings.batch]]


def _read_together(one: QuestionList, settings: RerankerSettings, random: np.random.Generator) -> list[tuple[str, str]]:
    """Return one of the right texts and some wrong ones, each with the question; too few wrong ones come again."""
    targets = np.array(one.targets)
    right = random.choice(len(targets), p=targets / targets.sum())
    wrong = np.flatnonzero(targets == 0)
    chosen = random.choice(wrong, settings.negatives, replace=len(wrong) < settings.negatives)
    return [(one.question, one.texts[at]) for at in (right, *chosen)]


# --- loop


def _steps(
    model: CrossModel, weights: Sequence[torch.Tensor], lists: Sequence[QuestionList], settings: RerankerSettings
) -> Iterator[tuple[int, float]]:
    """Take the steps; yield number and mean loss before the first, and whenever it is time to look."""
    random = np.random.default_rng(settings.seed)
    optimizer = torch.optim.AdamW(weights, lr=settings.rate, weight_decay=settings.decay)
    batches = list(_batches(lists, settings, random))
    losses: list[float] = []
    began, done, looked = monotonic(), 0.0, 0.0
    yield 0, 0.0
    for step, batch in enumerate(batches, 1):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * _rate_at(done, settings.warm)
        losses.append(_learn(model, batch, optimizer, settings, random))
        passed = (monotonic() - began) / 60 / settings.minutes if settings.minutes else 0.0
        done = max(step / len(batches), passed)
        if done >= min(looked + 1 / settings.looks, 1.0):
            yield step, float(np.mean(losses))
            looked, losses = done, []
        if done >= 1:
            break


def _learn(
    model: CrossModel,
    batch: Sequence[QuestionList],
    optimizer: torch.optim.Optimizer,
    settings: RerankerSettings,
    random: np.random.Generator,
) -> float:
    """Take one step over a batch of lists and return its loss; the right text is the first of each."""
    model.network.train()
    pairs = [pair for one in batch for pair in _read_together(one, settings, random)]
    scores = model.scores(pairs).view(len(batch), -1)
    loss = functional.cross_entropy(scores, torch.zeros(len(batch), dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([weight for group in optimizer.param_groups for weight in group["params"]], _CLIP)
    optimizer.step()
    return float(loss.detach())


def _rate_at(done: float, warm: float) -> float:
    """Return the share of the full rate: rising at first, then falling to nothing in a straight line."""
    return (done + 1e-3) / warm if done < warm else max((1 - done) / (1 - warm), 0.0)


# --- evaluation


def mean_reciprocal_rank(model: CrossModel, lists: Sequence[QuestionList]) -> float:
    """Return the mean over lists of one over the place of the first right text, by the model alone."""
    model.network.eval()
    with torch.inference_mode():
        return float(np.mean([reciprocal_rank(_scores_of(model, one), one.targets) for one in lists]))


def ranking_mrr(lists: Sequence[QuestionList]) -> float:
    """Return the same of the order in which the ranking has the texts."""
    return float(np.mean([reciprocal_rank(np.array(one.scores), one.targets) for one in lists]))


def reciprocal_rank(scores: NDArray[np.floating[Any]], targets: Sequence[float]) -> float:
    """Return one over the place of the best right text; 0 where none is right."""
    best = max((score for score, target in zip(scores.tolist(), targets, strict=True) if target), default=None)
    return 0.0 if best is None else 1.0 / float((scores >= best).sum())


def _scores_of(model: CrossModel, one: QuestionList) -> Vectors:
    parts = [one.texts[at : at + _READ] for at in range(0, len(one.texts), _READ)]
    scores: Vectors = torch.cat([model.scores([(one.question, text) for text in part]) for part in parts]).numpy()
    return scores
