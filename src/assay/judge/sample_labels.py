"""Annotators in, the same with a random sample of their pairs out: whole queries, single pairs, or pairs by label.

Drawn is among the pairs that the truth labels, where there is one, else among all. The label of a pair is the majority
of those that are the truth, else the first annotator's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.errors import InputError, nearest
from assay.judge.annotators import Annotator, Key
from assay.measure.agreement import majority
from assay.runs.draw_sample import BY_PAIR, BY_QUERY, SampleDraw, draw_within

_BY = (BY_QUERY, BY_PAIR, "label")


def sample_labels(
    annotators: Sequence[Annotator], truth: Sequence[Annotator], sample: SampleDraw
) -> tuple[list[Annotator], list[Annotator]]:
    """Return annotators and truth with the labels of the drawn pairs alone; without a size with all of them."""
    if not sample.size:
        return [*annotators], [*truth]
    if sample.by not in _BY:
        raise InputError(f"--sample-by {sample.by} is not known here; {nearest(sample.by, _BY)}")
    keys = dict.fromkeys(key for each in truth or annotators for key in each.grades)
    strata = {_name(key, sample): _label(key, truth or annotators[:1]) if sample.by == "label" else "" for key in keys}
    drawn = draw_within(strata, sample.size, sample.seed, BY_QUERY if sample.by == BY_QUERY else BY_PAIR)
    kept = {key for key in keys if _name(key, sample) in drawn}
    return [_only(each, kept) for each in annotators], [_only(each, kept) for each in truth]


def _name(key: Key, sample: SampleDraw) -> str:
    return key[0] if sample.by == BY_QUERY else "\t".join(key)


def _label(key: Key, labelled: Sequence[Annotator]) -> str:
    return str(majority(each.grades.get(key) for each in labelled))


def _only(annotator: Annotator, kept: set[Key]) -> Annotator:
    return replace(annotator, grades={key: grade for key, grade in annotator.grades.items() if key in kept})
