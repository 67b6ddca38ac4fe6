"""Examples to a folder of ranking weights: cross-validate, fit, calibrate, measure, write.

The figures are honest about other repositories: each query is scored by weights that were learned without its
repository. What is written was learned from all of them, and is calibrated on the scores of the cross-validation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from assay.errors import InputError
from assay.io import files
from assay.protocols import Say
from assay.runs.record import write_manifest
from assay.search.calibrate import calibrated
from assay.search.features import KIND_FEATURES, TOKEN_FEATURES
from assay.search.fit_order import FILES, fit_order, list_example, order_figures
from assay.search.fit_ranking import Stages, fit_stages, second_stage, use_one_thread
from assay.search.list_order import ListOrder
from assay.search.phrases import PHRASE_FEATURES
from assay.search.ranking import RANKING_NAMES, SHIPPED, Ranking, RankingName, as_json, weights_file
from assay.search.ranking_card import card
from assay.search.ranking_examples import RankingExample, RankingExamples
from assay.search.ranking_figures import ScoredExample, compared, figures_of, measured
from assay.search.ranking_train_settings import RankingTrainSettings
from assay.search.trained_ranking import Ablation, SystemFigures, TrainedRanking

GROUPS: Mapping[str, tuple[str, ...]] = {
    "words in fields (BM25F)": ("lexical", "lexical_share", "lexical_place"),
    "covered words": ("covered", "covered_name", "covered_body", "rare_missing"),
    "vectors": ("dense", "dense_share", "dense_place", "meaning_known"),
    "token similarity": TOKEN_FEATURES,
    "whole names": ("name_whole",),
    "rest of the file": ("file_lexical", "file_dense"),
    "kind of unit": ("callable", "block", "has_doc"),
    "tests, examples and asides": ("test", "example", "aside"),
    "length": ("log_lines",),
    "kind asked for": KIND_FEATURES,
    "phrases": PHRASE_FEATURES,
}
"""Features that say much the same, which an ablation leaves out together."""


def train_all(
    examples: RankingExamples, folder: Path, settings: RankingTrainSettings, say: Say, *, ablate: bool = False
) -> tuple[list[TrainedRanking], list[SystemFigures]]:
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
            one, scores = train_ranking_of(of_name, name, settings, GROUPS if ablate else {})
            trained.append(one)
            tested += scores
    full = [one for name in RANKING_NAMES for one in _learned_from(examples.of(name).own)]
    table = compared(tested, full, {one.name: one.ranking.probabilities for one in trained})
    folder.mkdir(parents=True, exist_ok=True)
    texts = {one.name: as_json(one.ranking) for one in trained}
    for name in RANKING_NAMES:
        file = weights_file(name, settings.encoder)
        files.write(folder / file, texts.get(name) or (SHIPPED / file).read_text("utf-8"))
    files.write(folder / "README.md", card(trained, table, settings))
    asked = ((one.judged.repository, one.judged.query.text, one.judged.entries) for one in examples.own)
    write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=asked)
    return trained, table


def train_ranking_of(
    examples: RankingExamples, name: RankingName, settings: RankingTrainSettings, groups: Mapping[str, Sequence[str]]
) -> tuple[TrainedRanking, list[ScoredExample]]:
    """Learn from everything; some groups of features are left out in turn to see their worth.

    The second value is every example with the scores of the cross-validation. The figures are of the queries that ask
    for this mode alone, if there are any.
    """
    every = cross_validated(examples.own, name, settings)
    tested = [one for one in every if not one.example.judged.names_files]
    stages = fit_stages(_learned_from(examples.own), name, settings)
    foreign = [scored(one, stages) for one in examples.foreign]
    calibration = calibrated(tested, foreign, settings)
    alone = [one.example.judged.query.mode != "all" for one in tested]
    chosen = [at for at, own in enumerate(alone) if own or not any(alone)]
    whole = measured([tested[at] for at in chosen])

    def without(group: str) -> Ablation:
        less_known = cross_validated(_learned_from(examples.own), name, settings, groups[group])
        less = measured([less_known[at] for at in chosen])
        return Ablation(group, figures_of({measure: less[measure] - values for measure, values in whole.items()}))

    curve = calibration.scale, calibration.offset, calibration.floor
    order, lists = _order(every, calibration.scale, settings)
    ranking = Ranking(*stages, calibration.relevance, *curve, order)
    one = TrainedRanking(
        name,
        len(examples.own),
        repositories_of(examples.own),
        figures_of(whole),
        calibration.rejected,
        calibration.foreign_rejected,
        ranking,
        tuple(without(group) for group in groups),
        tuple(lists),
    )
    return one, tested


def _learned_from(examples: Sequence[RankingExample]) -> list[RankingExample]:
    """Return the examples that stages are learned from: a whole file does not say which of its chunks is the answer."""
    return [one for one in examples if not one.judged.names_files]


def _order(
    every: Sequence[ScoredExample], scale: float, settings: RankingTrainSettings
) -> tuple[ListOrder | None, list[SystemFigures]]:
    """Return an order of the list with its figures, where some truth names files."""
    lists = [list_example(one.example, scale * one.scores) for one in every]
    if not any(one.manner == FILES for one in lists):
        return None, []
    return fit_order(lists), order_figures(lists, settings.folds)


def repositories_of(examples: Sequence[RankingExample]) -> tuple[str, ...]:
    """Return the repositories that examples are of, each once."""
    return tuple(sorted({one.judged.repository for one in examples}))


# --- cross-validation: by writer and repository, never by query, for those of one resemble each other


def cross_validated(
    examples: Sequence[RankingExample], name: RankingName, settings: RankingTrainSettings, without: Collection[str] = ()
) -> list[ScoredExample]:
    """Return every example scored by weights that were learned on other repositories and writers."""
    names = sorted({one.judged.group for one in examples})
    if len(names) < 2:
        alone = f"the {name} queries are all of '{names[0]}'"
        raise InputError(f"{alone}: give those of a second repository, or leave them out")
    results: dict[int, ScoredExample] = {}
    for fold in range(min(settings.folds, len(names))):
        held_out = set(names[fold :: settings.folds])
        known = [one for one in _learned_from(examples) if one.judged.group not in held_out]
        stages = fit_stages(known, name, settings, without)
        results |= {at: scored(one, stages) for at, one in enumerate(examples) if one.judged.group in held_out}
    return [results[at] for at in range(len(examples))]


def scored(example: RankingExample, stages: Stages) -> ScoredExample:
    """Return the candidates that reach the second stage with their scores."""
    first, second = stages
    passed = second_stage(example, first)
    return ScoredExample(passed, second.scores(passed.rows))
