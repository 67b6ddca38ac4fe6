"""Learn the weights of the ranking: gather examples, cross-validate, fit, calibrate, measure, write.

The figures are honest about other repositories: each query is scored by weights that were learned without its
repository. What is written was learned from all of them, and is calibrated on the scores of the cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import InputError
from assay.io import files
from assay.operations.indexes import encoder_of
from assay.operations.workspace import dictionary
from assay.protocols import Say
from assay.runs.record import write_manifest
from assay.search.list_order import ListOrder
from assay.search.ranking import RANKING_NAMES, SHIPPED, Ranking, RankingName, as_json, weights_file
from assay.settings import EncoderSettings, Settings
from assay.train import ranking_figures
from assay.train.ranking_examples import RankingExample, RankingExamples, foreign_queries, gather, judged_queries
from assay.train.ranking_fit import Stages, calibrated, fit_stages, second_stage, use_one_thread
from assay.train.ranking_order import FILES, fit_order, list_example, order_figures
from assay.train.settings import RankingSettings


def train_ranking(  # noqa: PLR0913  what is learned from, how, where to, and who hears of it
    truths: Sequence[Path],
    checkouts: Path,
    folder: Path,
    settings: RankingSettings,
    say: Say,
    *,
    foreign: Sequence[Path] = (),
) -> tuple[list[ranking_figures.TrainedRanking], list[ranking_figures.SystemFigures]]:
    """Train the rankings that some ground truths have queries for into a folder; return how well each does."""
    queries = judged_queries(truths, checkouts)
    encoder = encoder_of(Settings(encoder=EncoderSettings(settings.encoder)))
    examples = gather(queries, checkouts, encoder, dictionary, say, foreign_queries(foreign))
    return train_all(examples, folder, settings, say)


def train_all(
    examples: RankingExamples, folder: Path, settings: RankingSettings, say: Say
) -> tuple[list[ranking_figures.TrainedRanking], list[ranking_figures.SystemFigures]]:
    """Train a ranking of each name that has queries and write a folder that `search.weights` can name.

    A name without queries keeps the weights that ship, so that the folder serves every search. The second value is how
    the rankings do beside plain orders, for each mode, kind and writer.
    """
    use_one_thread()
    trained, tested = [], []
    for name in RANKING_NAMES:
        of_name = examples.of(name)
        if of_name.own:
            say(f"{name}: learning from {len(of_name.own):,} queries")
            one, scores = train_ranking_of(of_name, name, settings)
            trained.append(one)
            tested += scores
    full = [one for name in RANKING_NAMES for one in _learned_from(examples.of(name).own)]
    table = ranking_figures.compared(tested, full, {one.name: one.ranking.probabilities for one in trained})
    folder.mkdir(parents=True, exist_ok=True)
    texts = {one.name: as_json(one.ranking) for one in trained}
    for name in RANKING_NAMES:
        file = weights_file(name, settings.encoder)
        files.write(folder / file, texts.get(name) or (SHIPPED / file).read_text("utf-8"))
    files.write(folder / "README.md", ranking_figures.ranking_card(trained, table, settings))
    asked = ((one.judged.repository, one.judged.query.text, one.judged.entries) for one in examples.own)
    write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=asked)
    return trained, table


def train_ranking_of(
    examples: RankingExamples, name: RankingName, settings: RankingSettings
) -> tuple[ranking_figures.TrainedRanking, list[ranking_figures.ScoredExample]]:
    """Learn from everything.

    The second value is every example with the scores of the cross-validation. The figures are of the queries that ask
    for this mode alone, if there are any.
    """
    every = cross_validated(examples.own, name, settings)
    tested = [one for one in every if not one.example.judged.names_files]
    stages = fit_stages(_learned_from(examples.own), name, settings)
    calibration = calibrated(tested, [scored(one, stages) for one in examples.foreign], settings)
    alone = [one.example.judged.query.mode != "all" for one in tested]
    order, lists = _order(every, calibration.scale, settings)
    curve = calibration.scale, calibration.offset, calibration.floor
    one = ranking_figures.TrainedRanking(
        name,
        len(examples.own),
        tuple(sorted({one.judged.repository for one in examples.own})),
        ranking_figures.figures_of(
            ranking_figures.measured([one for one, own in zip(tested, alone, strict=True) if own or not any(alone)])
        ),
        calibration.rejected,
        calibration.foreign_rejected,
        Ranking(*stages, calibration.relevance, *curve, order),
        tuple(lists),
    )
    return one, tested


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
    examples: Sequence[RankingExample], name: RankingName, settings: RankingSettings
) -> list[ranking_figures.ScoredExample]:
    """Return every example scored by weights that were learned on other repositories and writers."""
    names = sorted({one.judged.group for one in examples})
    if len(names) < 2:
        alone = f"the {name} queries are all of '{names[0]}'"
        raise InputError(f"{alone}: give those of a second repository, or leave them out")
    results: dict[int, ranking_figures.ScoredExample] = {}
    for fold in range(min(settings.folds, len(names))):
        held_out = set(names[fold :: settings.folds])
        known = [one for one in _learned_from(examples) if one.judged.group not in held_out]
        stages = fit_stages(known, name, settings)
        results |= {at: scored(one, stages) for at, one in enumerate(examples) if one.judged.group in held_out}
    return [results[at] for at in range(len(examples))]


def scored(example: RankingExample, stages: Stages) -> ranking_figures.ScoredExample:
    """Return the candidates that reach the second stage with their scores."""
    first, second = stages
    passed = second_stage(example, first)
    return ranking_figures.ScoredExample(passed, second.scores(passed.rows))
