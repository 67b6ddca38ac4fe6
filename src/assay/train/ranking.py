"""Train the weights of the learned ranking, and of the order of its list.

Gradients of a softmax over candidates do not know that a second hit of a file adds nothing to a question for files, and
trees and networks over the same evidence carried over worse than a dozen weights (`docs/log.md`). So each weight is
moved while the mean figure of the questions rises: nDCG@10 of files where truth names files, half Hit@5 and half
reciprocal rank where it names lines, lines as a whole counting twice as much as files.

The figures are honest about other repositories: each query is scored by weights that were learned without its
repository. What is written was learned from all of them, and is calibrated on the scores of the cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.io import files
from assay.operations.corpus_search import dictionary
from assay.operations.indexes import encoder_of
from assay.protocols import Encoder, Say, reads_order
from assay.runs.record import write_manifest
from assay.search.list_order import EVIDENCE, FIXED, ORDER_WEIGHTS, ListEvidence, ListOrder
from assay.search.question import Question
from assay.search.ranking import RANKING_NAMES, SHIPPED, Ranking, RankingName, as_json, weights_file
from assay.search.retrievers import Array
from assay.settings import EncoderSettings, Settings
from assay.train import ranking_figures
from assay.train.ranking_examples import RankingExample, RankingExamples, foreign_queries, gather, judged_queries
from assay.train.ranking_figures import SystemFigures, figures_of
from assay.train.ranking_fit import Stages, calibrated, fit_stages, second_stage, use_one_thread
from assay.train.settings import RankingSettings

START = {
    "typed": 0.5,
    "typed_type": 0.3,
    "member_of_typed": 0.2,
    "parent_words": 0.35,
    "file_words": 0.3,
    "file_words_short": 0.4,
    "file_whole_short": 0.4,
    "file_how": 0.35,
    "file_topic": 0.15,
    "file_other": 0.05,
    "again_name": 0.1,
    "again_how": 0.4,
    "again_topic": 0.25,
    "again_other": 0.03,
}
"""Set by hand; the ascent starts here."""
FILES, LINES = "files", "lines"
"""What truth names as answers."""

_IMPORTANCE = {FILES: 1.0, LINES: 2.0}
_MAX_REPEAT_PENALTY = 0.6  # log odds that a further hit of a file may lose: the second may be the right one
_FIRST, _FIRST_LINES = 10, 5
_ROUNDS, _STEP, _MIN_GAIN, _COST = 4, 0.3, 1e-5, 0.002  # the last is of a weight's size

_MIN_WEIGHTS = np.array([-np.inf if name in EVIDENCE else 0.0 for name in ORDER_WEIGHTS])
_MAX_WEIGHTS = np.array([_MAX_REPEAT_PENALTY if name.startswith("again_") else np.inf for name in ORDER_WEIGHTS])

Scores = NDArray[np.float64]
_DISCOUNT = 1 / np.log2(np.arange(_FIRST) + 2)


@dataclass(frozen=True, slots=True)
class ListExample:
    """One question with the candidates of its list."""

    question: Question
    group: str
    manner: str
    odds: Scores
    """(candidates) what each is worth alone, in log odds."""
    listed: ListEvidence
    answers: NDArray[np.bool_]
    """(answers, candidates) which candidate shows which answer."""

    def figures(self, order: ListOrder | None) -> tuple[float, ...]:
        """Return nDCG@10 of files, or Hit@5 and reciprocal rank of lines, in this order."""
        odds = self.odds if order is None else order.scores(self.question, self.odds, self.listed)
        shown = self.answers[:, np.argsort(-odds, kind="stable")[: 2 * _FIRST]]
        if self.manner == FILES:
            ranks = np.unique([int(row.argmax()) for row in shown[:, :_FIRST] if row.any()]).astype(int)
            return (float(_DISCOUNT[ranks].sum() / _DISCOUNT[: len(self.answers)].sum()),)
        right = np.flatnonzero(shown.any(axis=0))
        return float(len(right) > 0 and right[0] < _FIRST_LINES), 1.0 / (right[0] + 1) if len(right) else 0.0


def list_example(example: RankingExample, odds: Array) -> ListExample:
    """Return what an order is learned from, of candidates with their log odds: the best of each unit."""
    best = np.argsort(-odds, kind="stable")
    _, first = np.unique(example.units[best], return_index=True)
    kept = np.sort(best[first])
    right = [entry.span for entry in example.judged.entries if entry.grade]
    spans = [example.spans[at] for at in kept]
    return ListExample(
        example.question,
        example.judged.group,
        FILES if example.judged.names_files else LINES,
        odds[kept].astype(np.float64),
        example.listed.only(kept.tolist()),
        np.array([[span.overlaps(one) for one in spans] for span in right], bool).reshape(len(right), -1),
    )


def fit_order(examples: Sequence[ListExample]) -> ListOrder:
    """Return the weights with the best mean figures, within bounds for what follows in a file."""
    weights = ListOrder.of(START).weights
    step = np.full(len(weights), _STEP)
    best = _worth(examples, weights)
    for _ in range(_ROUNDS):
        before = best
        for at in (at for at, name in enumerate(ORDER_WEIGHTS) if name not in FIXED):
            for change in (step[at], -step[at]):
                tried = weights.copy()
                tried[at] += change
                if not (tried >= _MIN_WEIGHTS).all() or not (tried <= _MAX_WEIGHTS).all():
                    continue
                worth = _worth(examples, tried)
                if worth > best + _MIN_GAIN:
                    best, weights = worth, tried
                    step[at] *= 1.3
                    break
            else:
                step[at] /= 2
        if best == before:
            break
    return ListOrder(weights)


def _worth(examples: Sequence[ListExample], weights: Scores) -> float:
    order, figures = ListOrder(weights), dict[str, list[float]]()
    for one in examples:
        figures.setdefault(one.manner, []).append(float(np.mean(one.figures(order))))
    gained = sum(_IMPORTANCE[manner] * float(np.mean(values)) for manner, values in figures.items())
    return gained - _COST * float(np.abs(weights).sum())


def order_figures(examples: Sequence[ListExample], folds: int) -> list[SystemFigures]:
    """Return how lists do with an order that was learned without their repository and writer, and without any."""
    groups = {name: at % folds for at, name in enumerate(sorted({one.group for one in examples}))}
    orders = [fit_order([one for one in examples if groups[one.group] != fold]) for fold in range(folds)]
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for one in examples:
        found.setdefault((one.manner, "by score"), []).append(one.figures(None))
        found.setdefault((one.manner, "as a list"), []).append(one.figures(orders[groups[one.group]]))
    names = {FILES: ("nDCG@10",), LINES: ("Hit@5", "MRR")}
    return [
        SystemFigures(manner, system, len(of), figures_of(dict(zip(names[manner], np.array(of).T, strict=True))))
        for (manner, system), of in found.items()
    ]


def train_ranking(  # noqa: PLR0913  what is learned from, how, where to, and who hears of it
    truths: Sequence[Path],
    checkouts: Path,
    folder: Path,
    settings: RankingSettings,
    say: Say,
    *,
    foreign: Sequence[Path] = (),
) -> list[ranking_figures.TrainedRanking]:
    """Train the rankings that some ground truths have queries for into a folder; return how well each does."""
    queries = judged_queries(truths, checkouts)
    examples = gather(queries, checkouts, _encoder(settings), dictionary, say, foreign_queries(foreign))
    return train_all(examples, folder, settings, say)


def _encoder(settings: RankingSettings) -> Encoder:
    return encoder_of(Settings(encoder=EncoderSettings(settings.encoder)))


def train_all(
    examples: RankingExamples, folder: Path, settings: RankingSettings, say: Say
) -> list[ranking_figures.TrainedRanking]:
    """Train a ranking of each name that has queries and write a folder that `search.weights` can name.

    A name without queries keeps the weights that ship, so that the folder serves every search.
    """
    use_one_thread()
    trained = []
    for name in RANKING_NAMES:
        of_name = examples.of(name)
        if of_name.own:
            say(f"{name}: learning from {len(of_name.own):,} queries")
            trained.append(train_ranking_of(of_name, name, settings))
    folder.mkdir(parents=True, exist_ok=True)
    texts = {one.name: as_json(one.ranking) for one in trained}
    for name in RANKING_NAMES:
        file = weights_file(name, reads_order=reads_order(_encoder(settings)))
        files.write(folder / file, texts.get(name) or (SHIPPED / file).read_text("utf-8"))
    files.write(folder / "README.md", ranking_figures.ranking_card(trained, settings))
    asked = ((one.judged.repository, one.judged.query.text, one.judged.entries) for one in examples.own)
    write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=asked)
    return trained


def train_ranking_of(
    examples: RankingExamples, name: RankingName, settings: RankingSettings
) -> ranking_figures.TrainedRanking:
    """Learn from everything; the figures are of the queries that ask for this mode alone, if there are any."""
    asked = [one for one in examples.own if not one.judged.is_mined] or examples.own
    mined = _some_mined(examples.own, settings) if asked is not examples.own else []
    every = cross_validated(asked, name, settings, mined)
    tested = [one for one in every if not one.example.judged.names_files]
    stages = fit_stages([*_learned_from(asked), *mined], name, settings)
    calibration = calibrated(tested, [scored(one, stages) for one in examples.foreign], settings)
    alone = [one.example.judged.query.mode != "all" for one in tested]
    order, lists = _order(every, calibration.scale, settings)
    curve = calibration.scale, calibration.offset, calibration.floor
    return ranking_figures.TrainedRanking(
        name,
        len(asked),
        len(mined),
        tuple(sorted({one.judged.repository for one in examples.own})),
        ranking_figures.figures_of(
            ranking_figures.measured([one for one, own in zip(tested, alone, strict=True) if own or not any(alone)])
        ),
        calibration.rejected,
        calibration.foreign_rejected,
        Ranking(*stages, calibration.relevance, *curve, order),
        tuple(lists),
    )


def _some_mined(examples: Sequence[RankingExample], settings: RankingSettings) -> list[RankingExample]:
    """Return at most so many examples that commits ask: more of them outweigh what people ask."""
    mined = [one for one in examples if one.judged.is_mined]
    order = np.random.default_rng(settings.seed).permutation(len(mined))
    return [mined[at] for at in order[: settings.mined].tolist()]


def _learned_from(examples: Sequence[RankingExample]) -> list[RankingExample]:
    """Return the examples that stages are learned from: a whole file does not say which of its chunks is the answer."""
    return [one for one in examples if not one.judged.names_files]


def _order(
    every: Sequence[ranking_figures.ScoredExample], scale: float, settings: RankingSettings
) -> tuple[ListOrder | None, list[ranking_figures.SystemFigures]]:
    """Return an order of the list with its figures, where some truth names files."""
    lists = [list_example(one.example, scale * one.scores) for one in every]
    if not any(one.manner == FILES for one in lists):
        return None, []
    return fit_order(lists), order_figures(lists, settings.folds)


# --- cross-validation: by writer and repository, never by query, for those of one resemble each other


def cross_validated(
    examples: Sequence[RankingExample],
    name: RankingName,
    settings: RankingSettings,
    mined: Sequence[RankingExample] = (),
) -> list[ranking_figures.ScoredExample]:
    """Return every example scored by weights that were learned on other repositories and writers, and what is mined."""
    names = sorted({one.judged.group for one in examples})
    if len(names) < 2:
        alone = f"the {name} queries are all of '{names[0]}'"
        raise InputError(f"{alone}: give those of a second repository, or leave them out")
    results: dict[int, ranking_figures.ScoredExample] = {}
    for fold in range(min(settings.folds, len(names))):
        held_out = set(names[fold :: settings.folds])
        known = [one for one in (*_learned_from(examples), *mined) if one.judged.group not in held_out]
        stages = fit_stages(known, name, settings)
        results |= {at: scored(one, stages) for at, one in enumerate(examples) if one.judged.group in held_out}
    return [results[at] for at in range(len(examples))]


def scored(example: RankingExample, stages: Stages) -> ranking_figures.ScoredExample:
    """Return the candidates that reach the second stage with their scores."""
    first, second = stages
    passed = second_stage(example, first)
    return ranking_figures.ScoredExample(passed, second.scores(passed.rows))
