"""Annotators in, how far they agree out: each with the truth, each two, all together, and where they differ.

The truth is one file of labels, or the majority of several. Of graded labels a match is what reaches a threshold, so
that they compare with plain ones, which are 0 and 1. Pairs without a label are counted for each annotator, and a
majority that ties is no label. Intervals draw queries by their words, for the codes of one query are labelled with one
reading of it, whatever it is called in each row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType

from assay.errors import InputError
from assay.judge.annotators import Annotator, Key
from assay.measure.agreement import AgainstTruth, Estimate, against, alpha, kappa, majority
from assay.terms import same_words

MAJORITY = "majority"
Texts = Mapping[Key, tuple[str, str]]
"""Query and code of a pair."""
NO_TEXTS: Texts = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Counts:
    """What an annotator did with the pairs."""

    match: int
    non_match: int
    undecided: int
    """Looked at and left without a grade, or a tie of several."""
    absent: int
    """Not looked at, while somebody else did."""


@dataclass(frozen=True, slots=True)
class AnnotatorPair:
    """Two annotators beside each other."""

    a: str
    b: str
    kappa: Estimate
    pairs: int
    """Which both labelled."""
    same: int


@dataclass(frozen=True, slots=True)
class LabelDifference:
    """A pair that was labelled in two ways."""

    key: Key
    said: dict[str, int | None]
    """By annotator that looked at it, the truth's first; 1 is a match."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """All of it."""

    pairs: int
    queries: int
    counts: dict[str, Counts]
    truth: tuple[str, ...]
    """Whose majority it is."""
    true: Counts | None
    """What the truth says of the pairs that it knows."""
    truth_alpha: Estimate | None
    """Of those whose majority it is, where they are several."""
    against: dict[str, AgainstTruth]
    kappas: tuple[AnnotatorPair, ...]
    alpha: Estimate
    labelled_twice: int
    """Pairs that two annotators or more labelled: alpha is of these."""
    differences: tuple[LabelDifference, ...] = field(repr=False)
    """Most divided first."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What was said of each pair: 1 is a match, 0 is none, None undecided or absent."""

    keys: tuple[Key, ...]
    truth: tuple[int | None, ...]
    """The majority of those that are the truth; empty where nobody is."""
    sources: dict[str, list[int | None]]
    """By annotator, those that are the truth."""
    by_annotator: dict[str, list[int | None]]
    """By annotator, and of three or more their majority."""
    queries: tuple[str, ...]
    """The words of each pair's query, where a file has them, else its id: pairs of one are drawn together."""


def labels_of(
    annotators: Sequence[Annotator], truth: Sequence[Annotator] = (), *, match: int = 1, texts: Texts = NO_TEXTS
) -> Labels:
    """Return labels pair by pair; of graded ones a match is what reaches `match`."""
    _named_apart([*annotators, *truth])
    keys = tuple(dict.fromkeys(key for each in (*truth, *annotators) for key in each.grades))
    sources = {each.name: _plain(each, keys, match) for each in truth}
    said = {each.name: _plain(each, keys, match) for each in annotators}
    if len(said) > 2:  # two that differ have no majority
        said[MAJORITY] = [majority(row) for row in zip(*said.values(), strict=True)]
    words = {query: same_words(text) for (query, _), (text, _) in texts.items()}
    queries = tuple(words.get(query, query) for query, _ in keys)
    return Labels(keys, tuple(majority(row) for row in zip(*sources.values(), strict=True)), sources, said, queries)


def compare(
    annotators: Sequence[Annotator],
    truth: Sequence[Annotator] = (),
    *,
    match: int = 1,
    seed: int = 0,
    texts: Texts = NO_TEXTS,
) -> LabelAgreement:
    """Compare annotators, three or more also as a majority, with one another and with the truth if there is one."""
    labels = labels_of(annotators, truth, match=match, texts=texts)
    keys, sources, judged, true = labels.keys, labels.sources, labels.by_annotator, labels.truth
    queries = labels.queries
    said = {each.name: judged[each.name] for each in annotators}
    rows = list(zip(*said.values(), strict=True))
    seen = {each.name: each.grades.keys() for each in annotators}
    looked: set[Key] = set().union(*seen.values())
    known = {key for each in truth for key in each.grades}
    found = LabelAgreement(
        pairs=len(keys),
        queries=len(set(queries)),
        counts={name: _counts(labels, keys, seen.get(name, looked)) for name, labels in judged.items()},
        truth=tuple(sources),
        true=_counts(true, keys, known) if truth else None,
        truth_alpha=alpha(list(zip(*sources.values(), strict=True)), groups=queries, seed=seed)
        if len(truth) > 1
        else None,
        against={name: against(true, labels, groups=queries, seed=seed) for name, labels in judged.items()}
        if truth
        else {},
        kappas=tuple(_two(a, b, said, queries, seed) for a, b in combinations(said, 2)),
        alpha=alpha(rows, groups=queries, seed=seed),
        labelled_twice=sum(sum(label is not None for label in row) > 1 for row in rows),
        differences=_differences(keys, {**sources, **said}, [*truth, *annotators]),
    )
    if not found.labelled_twice and not any(each.decided for each in found.against.values()):
        raise InputError(f"of {len(keys):,} pairs none is labelled by two: query and code ids have to be the same")
    return found


def _plain(annotator: Annotator, keys: Sequence[Key], match: int) -> list[int | None]:
    """Return 1 for a match, 0 for none; grades of 0 and 1 alone are such labels already."""
    grades = annotator.grades
    least = match if max((grade or 0 for grade in grades.values()), default=0) > 1 else 1
    return [None if (grade := grades.get(key)) is None else int(grade >= least) for key in keys]


def _counts(labels: Sequence[object], keys: Sequence[Key], seen: Container[Key]) -> Counts:
    found = Counter(labels)
    looked = sum(key in seen for key in keys)
    return Counts(found[1], found[0], looked - found[1] - found[0], len(keys) - looked)


def _two(a: str, b: str, said: dict[str, list[int | None]], queries: Sequence[str], seed: int) -> AnnotatorPair:
    both = [(x, y) for x, y in zip(said[a], said[b], strict=True) if x is not None and y is not None]
    return AnnotatorPair(
        a, b, kappa(said[a], said[b], groups=queries, seed=seed), len(both), sum(x == y for x, y in both)
    )


def _differences(
    keys: Sequence[Key], labels: dict[str, list[int | None]], annotators: Sequence[Annotator]
) -> tuple[LabelDifference, ...]:
    """Return the pairs that got both labels, those first whose smaller side is larger."""
    found = []
    for place, key in enumerate(keys):
        here = {each.name: labels[each.name][place] for each in annotators if key in each.grades}
        sides = Counter(label for label in here.values() if label is not None)
        if len(sides) > 1:
            found.append((-min(sides.values()), place, LabelDifference(key, here)))
    return tuple(difference for *_, difference in sorted(found, key=lambda each: each[:2]))


def _named_apart(annotators: Sequence[Annotator]) -> None:
    names = [each.name for each in annotators]
    twice = next((name for name in names if names.count(name) > 1), MAJORITY if MAJORITY in names else None)
    if twice:
        raise InputError(f"two annotators are called '{twice}': name one by NAME=FILE")
