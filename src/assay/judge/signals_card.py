"""A trained judge to its model card and to the figure of its reliability."""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge.judge_train_settings import JudgeTrainSettings
from assay.judge.train_signals import TrainedSignals
from assay.measure.compare import wilson
from assay.report.document import CurvePanel, Curves, Mean, Series

_PAGE = """\
# Weights of the judge `signals`

Written by `assay train judge`, which also writes `manifest.json`: every setting, the versions of all libraries and a
hash of the pairs. Use the folder with `--judge signals:FOLDER`{encoder}.

## Model

A logistic model over {columns} columns of evidence about a query and a code (`assay.judge.evidence`){cosine}. Evidence
for a match cannot count against one. Every source counts the same, and so do its matches and its other pairs; each has
an intercept of its own, and their mean is used. L2 penalty {penalty:g} on standardized evidence; a pair with its
documentation unread counts {unread:g}.

The probabilities are for a set of which half matches; `--prior` says otherwise. Up to {low:.2f} a pair is a clear
*no*, from {high:.2f} a clear *yes* (beyond 0 to 1: never): there the lower end of the 95% interval of agreeing held-out
labels is at least {sure:g}.

## Results

Each source judged by weights that were learned on the others, from pairs that share neither query nor code with it;
with a single source, on folds by code. 95% bootstrap intervals over queries. Accuracy at even odds; the Brier score and
*called* (the fraction called a match) with the true fraction of matches as the prior.

{results}

Reliability of the same probabilities: `reliability.svg`, where matplotlib is installed.

## Limits

Knows English and names of code. Code other than Python is read by its words. A source whose labels contradict each
other cannot show how good a judge is.
"""


def card(trained: TrainedSignals, settings: JudgeTrainSettings) -> str:
    """Return the model card of a training."""
    weights = trained.weights
    named = weights["encoder"]
    return _PAGE.format(
        encoder=f" --encoder {named['spec']}" if named else "",
        cosine=f", the last of which is the cosine by `{named['spec']}`" if named else "",
        columns=len(weights["linear"]),
        penalty=settings.penalty,
        unread=0 if named else settings.unread,
        low=weights["low"],
        high=weights["high"],
        sure=settings.sure,
        results=results_table(trained),
    )


def results_table(trained: TrainedSignals) -> str:
    """Return the figures of held-out sources as a Markdown table."""
    head = "| held out | pairs | matches | ROC-AUC | accuracy | Brier | called | plain orders, ROC-AUC |"
    rows = (
        f"| {one.name} | {one.pairs:,} | {one.matches:.3f} | {one.roc_auc} | {one.accuracy} | {one.brier:.3f} | "
        f"{one.called:.3f} | {', '.join(f'{name} {value:.3f}' for name, value in one.plain.items())} |"
        for one in trained.figures
    )
    return "\n".join((head, "|---|---|---|---|---|---|---|---|", *rows))


def reliability_figure(trained: TrainedSignals) -> Curves:
    """Return how many pairs match among those of each probability, a line a source."""
    named = [("calibrated", ((0.0, 0.0, 0), (1.0, 1.0, 0))), *trained.reliability]
    lines = tuple(_line(place, name, points) for place, (name, points) in enumerate(named))
    return Curves(
        "Reliability",
        "Fraction of matches among held-out pairs, by their probability. A calibrated judge lies on the diagonal.",
        (CurvePanel("fraction of matches", lines),),
        "probability",
    )


def _line(place: int, name: str, points: Sequence[tuple[float, float, int]]) -> Series:
    """Return the line of one source, with Wilson's intervals."""
    shares = tuple(Mean(share, *wilson(round(share * count), count)) for _, share, count in points)
    return Series(name, place, tuple(chance for chance, _, _ in points), shares)
