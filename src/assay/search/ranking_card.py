"""A trained ranking to its model card, in Markdown: what it is for, what it was learned from, how well it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from assay.search.features import ALL_FEATURES, FEATURES
from assay.search.ranking import SECOND_STAGE
from assay.search.ranking_train_settings import RankingTrainSettings
from assay.search.trained_ranking import RankingFigure, SystemFigures, TrainedRanking

_PAGE = """\
# Weights of the learned ranking

Written by `assay train ranking`, which also writes `manifest.json`: every setting, the versions of all libraries and a
hash of the queries. Use its folder with `--set search.weights=FOLDER`.

## Intended use

Code search with the encoder `{encoder}` or one of its sort: the candidates of one query in, ordered and with the
probability that each is right. Not for comparing answers to different queries beyond that probability, and not for
rankers of programs.

## Model

Two stages. The first scores all candidates (some 300) by {first} features, the second the best {second_code} of
code and {second_docs} of documentation by {all},
which `docs/formats.md` explains. Each is a linear part and, for each seed, a hidden layer of {hidden_code} units for
code, {hidden_docs} for documentation; {seeds} seeds, averaged. A third network, of {relevance_hidden} hidden units,
adds the same to every candidate of a query, as the corpus is likely to answer it or not.

## Training

Listwise softmax over the candidates of a query. A candidate's target is its grade times the square root of the
fraction of its lines that answer. AdamW, one cycle of {steps} steps of {batch} queries, rate {rate}, decay {decay_code}
(code) and {decay_docs} (documentation); {hide:.0%} of the features are hidden from each query. Seed {seed}.

## Results

Each query scored by weights that were learned without its repository and without its writer, where he is known
({folds} folds), strict measures over the first 20 hits, 95% bootstrap intervals over queries.

{results}

### Beside plain orders

The same candidates in the learned order, by the sum of the standardized scores of words and vectors (`linear`), by the
sum of their reciprocal ranks (`rrf`) and by words alone (`keywords`): Hit@5 / MRR. A query about code and documentation
(mode `all`) has one list.

{compared}

## Limits

The queries were written and judged by few people, in English, for a few languages. Retraining with another seed moves
Hit@5 and MRR by about 0.01. *Nothing relevant here* is for questions of another field: the floor lets
{false_alarms:.0%} of the queries that are answered in the first five fall under it, and the tables say how many of
those put to a wrong repository, and of those that none answers, it catches.
"""


def card(trained: Sequence[TrainedRanking], table: Sequence[SystemFigures], settings: RankingTrainSettings) -> str:
    """Return the model card of a run."""
    return _PAGE.format(
        first=len(FEATURES),
        all=len(ALL_FEATURES),
        second_code=SECOND_STAGE["code"],
        second_docs=SECOND_STAGE["docs"],
        compared=_compared(table),
        results="\n\n".join(map(_results, trained)),
        **asdict(settings),
    )


def _results(trained: TrainedRanking) -> str:
    rows = "\n".join(f"| {one.name} | {one.value:.3f} | {one.low:.3f} to {one.high:.3f} |" for one in trained.figures)
    return (
        f"### {trained.name}: {trained.queries:,} queries of {len(trained.repositories)} repositories\n\n"
        f"{', '.join(trained.repositories)}.\n\n"
        f"| measure | mean | interval |\n|---|---|---|\n{rows}"
        f"{_refused(trained)}"
        f"{_lists(trained)}"
        f"{_ablations(trained)}"
    )


def _refused(trained: TrainedRanking) -> str:
    """Return a row a sort of foreign queries."""
    rows = (("put to a wrong repository", trained.rejected), ("that no repository answers", trained.foreign_rejected))
    return "".join(f"\n| {name}, and rejected | {value:.3f} | |" for name, value in rows if value is not None)


def _lists(trained: TrainedRanking) -> str:
    """Return how the order of the list does, held out by repository and writer, where one was learned."""
    if not trained.lists:
        return ""
    rows = "\n".join(
        f"| {each.group} | {each.queries} | {each.system} | {one.name} "
        f"| {one.value:.3f} | {one.low:.3f} to {one.high:.3f} |"
        for each in trained.lists
        for one in each.figures
    )
    return f"\n\n| truth names | queries | list | measure | mean | interval |\n|---|---|---|---|---|---|\n{rows}"


def _compared(table: Sequence[SystemFigures]) -> str:
    """Return a row a group of queries and a column a system."""
    systems = list(dict.fromkeys(one.system for one in table))
    rows: dict[str, dict[str, SystemFigures]] = {}
    for one in table:
        rows.setdefault(one.group, {})[one.system] = one
    lines = [
        f"| {name} | {of[systems[0]].queries} | " + " | ".join(_pair(of[s].figures) for s in systems) + " |"
        for name, of in rows.items()
    ]
    head = f"| queries | number | {' | '.join(systems)} |\n|---|---|{'---|' * len(systems)}"
    return "\n".join((head, *lines))


def _pair(figures: Sequence[RankingFigure]) -> str:
    hit, mrr = figures
    return f"{hit.value:.3f} [{hit.low:.3f}, {hit.high:.3f}] / {mrr.value:.3f}"


def _ablations(trained: TrainedRanking) -> str:
    """Return the change of each measure without each group of features, with its interval."""
    if not trained.ablations:
        return ""
    names = [one.name for one in trained.figures]
    rows = (
        f"| {one.group} | " + " | ".join(f"{c.value:+.3f} [{c.low:+.3f}, {c.high:+.3f}]" for c in one.changes) + " |"
        for one in trained.ablations
    )
    head = f"| without | {' | '.join(names)} |\n|---|{'---|' * len(names)}"
    return "\n\n" + "\n".join((head, *rows))
