"""Read the labels of annotators and measure how far they agree.

Read are records of `assay judge run`, JSON lines or a list, CSV and TSV (BEIR's qrels too). The truth
is one file, or the majority of several; a majority that ties is no label. Intervals draw queries by their words, for
the codes of one query are labelled with one reading of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.errors import InputError
from assay.io import rows
from assay.io.rows import plain
from assay.judge import records
from assay.judge.pairs import CODE_IDS, QUERY_IDS, first_of
from assay.measure.agreement import AgainstTruth, Estimate, against, alpha, kappa, majority
from assay.terms import same_words
from assay.truth.formats.shared import CODE_TEXTS, QUERY_TEXTS
from assay.values import Problem

Key = tuple[str, str]
"""The ids of a query and of a code."""
_GRADES = ("grade", "label", "score", "relevance")
_JUDGES = ("judge", "annotator")
_OF_TRUTH = ("truth", "query", "document")
"""Lines of a ground truth beside its judgments."""
_LABEL_FORMATS = (
    "wanted records of `assay judge run`, JSON or JSON lines, or CSV or TSV with a line of names; "
    "`assay truth convert` makes JSON lines of TREC's qrels"
)


@dataclass(slots=True)
class Annotator:
    """Who labels, and what."""

    name: str
    grades: dict[Key, int | None] = field(default_factory=dict)
    """None is a pair that was looked at and left undecided."""
    reasons: dict[Key, str] = field(default_factory=dict)
    probabilities: dict[Key, float] = field(default_factory=dict)
    """How likely a pair is a match, where records say so."""


@dataclass(slots=True)
class LabelFiles:
    """What files of labels hold."""

    annotators: list[Annotator] = field(default_factory=list)
    texts: dict[Key, tuple[str, str]] = field(default_factory=dict)
    """Query and code of a pair, where the file has them."""
    problems: list[Problem] = field(default_factory=list)

    def named_as(self, texts: Texts) -> int:
        """Give pairs the ids that others have for the same two texts, and return how many are renamed."""
        known = {tuple(map(same_words, two)): key for key, two in texts.items()}
        mine = ((key, known.get(tuple(map(same_words, two)))) for key, two in self.texts.items() if key not in texts)
        others = {key: other for key, other in mine if other and other not in self.texts}
        if len(set(others.values())) < len(others):
            return 0  # two of ours are one of theirs
        for each in self.annotators:
            for held in (each.grades, each.reasons, each.probabilities):
                renamed = {others.get(key, key): value for key, value in held.items()}
                held.clear()
                held.update(renamed)  # type: ignore[arg-type]
        self.texts = {others.get(key, key): two for key, two in self.texts.items()}
        return len(others)


def read_labels(file: Path, name: str = "") -> LabelFiles:
    """Read the labels of a file; its only annotator is called by the name given, or else by the file."""
    found = LabelFiles()
    by: dict[str, Annotator] = {}
    for where, row in _rows(file, found.problems):
        if problem := _add(found, by, row):
            found.problems.append(Problem(where, problem))
    if records.is_records(file) and records.cut(file):
        found.problems.append(Problem(f"{file}", "the last line is cut, as by a crash: what it said is not counted"))
    if not by:
        why = f" ({found.problems[0]})" if found.problems else ""
        raise InputError(f"{file} holds no label{why}; {_LABEL_FORMATS}")
    called = name or plain(file).stem
    for judge, annotator in by.items():
        annotator.name = called if len(by) == 1 else f"{name}:{judge}" if name else judge or called
        found.annotators.append(annotator)
    return found


def _add(found: LabelFiles, by: dict[str, Annotator], row: Mapping[str, Any]) -> str:
    """Take a row in, or return what is wrong with it."""
    query_id, code_id = first_of(row, QUERY_IDS), first_of(row, CODE_IDS)
    if query_id is None or code_id is None:
        return f"wanted a query_id and a code_id, found {', '.join(sorted(map(str, row)))[:80]}"
    named = next((name for name in _GRADES if name in row), None)
    if named is None:
        return f"no label, wanted one of {', '.join(_GRADES)}"
    grade = _grade(row[named])
    if isinstance(grade, str):
        return grade
    if "chance" in row:
        return "the field 'chance' is called 'probability' now: rename it"
    key, judge = (str(query_id), str(code_id)), str(first_of(row, _JUDGES) or "")
    annotator = by.setdefault(judge, Annotator(judge))
    if key in annotator.grades:
        same = annotator.grades[key] == grade
        return f"{key[0]}, {key[1]} is labelled twice" + ("" if same else " and otherwise: the first counts")
    annotator.grades[key] = grade
    if row.get("reason"):
        annotator.reasons[key] = str(row["reason"])
    if isinstance(row.get("probability"), float | int):
        annotator.probabilities[key] = float(row["probability"])
    query, code = first_of(row, QUERY_TEXTS), first_of(row, CODE_TEXTS)
    if isinstance(query, str) and isinstance(code, str):
        found.texts.setdefault(key, (query, code))
    return ""


def _grade(value: object) -> int | str | None:
    """Return a grade, None for undecided, or what is wrong with it."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else -1.0
    except ValueError:
        number = -1.0
    if number < 0 or not number.is_integer():
        return f"grade {str(value)[:40]!r}, wanted a whole number from 0, or nothing where undecided"
    return int(number)


def _rows(file: Path, problems: list[Problem]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a file, each with its place."""
    if records.is_records(file):
        yield from ((str(file), record) for record in records.verdicts(file))
    else:
        for row, fields in rows.objects(file, problems):
            if fields.get("type") not in _OF_TRUTH:
                yield rows.place(file, row), {name.lower(): value for name, value in fields.items()}


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
    keys, judged = labels.keys, labels.by_annotator
    draws: dict[str, Any] = {"groups": labels.queries, "seed": seed}
    said = {each.name: judged[each.name] for each in annotators}
    sources = list(zip(*labels.sources.values(), strict=True))
    seen = {each.name: each.grades.keys() for each in annotators}
    looked: set[Key] = set().union(*seen.values())
    found = LabelAgreement(
        pairs=len(keys),
        queries=len(set(labels.queries)),
        counts={name: _counts(given, keys, seen.get(name, looked)) for name, given in judged.items()},
        truth=tuple(labels.sources),
        true=_counts(labels.truth, keys, {key for each in truth for key in each.grades}) if truth else None,
        truth_alpha=alpha(sources, **draws) if len(truth) > 1 else None,
        against=_against_truth(labels, annotators, looked, draws) if truth else {},
        kappas=tuple(
            AnnotatorPair(a, b, kappa(said[a], said[b], **draws), *_same(said[a], said[b]))
            for a, b in combinations(said, 2)
        ),
        alpha=alpha(rows := [*zip(*said.values(), strict=True)], **draws),
        labelled_twice=sum(sum(label is not None for label in row) > 1 for row in rows),
        differences=_differences(keys, {**labels.sources, **said}, [*truth, *annotators]),
    )
    if not found.labelled_twice and not any(each.decided for each in found.against.values()):
        undecided = [each.name for each in annotators if not any(label is not None for label in said[each.name])]
        why = f"{undecided[0]} decided none" if undecided else "query and code ids have to be the same"
        raise InputError(f"of {len(keys):,} pairs none is labelled by two: {why}")
    return found


def _against_truth(
    labels: Labels, annotators: Sequence[Annotator], looked: set[Key], draws: Mapping[str, Any]
) -> dict[str, AgainstTruth]:
    """Compare each with the truth, on the pairs that it was shown: the majority on all that somebody was."""
    everybody = {MAJORITY: Annotator(MAJORITY, dict.fromkeys(looked)), **{each.name: each for each in annotators}}
    found = {}
    for name, given in labels.by_annotator.items():
        one = everybody[name]
        shown, probabilities = [key in one.grades for key in labels.keys], [*map(one.probabilities.get, labels.keys)]
        found[name] = against(labels.truth, given, shown, probabilities, **draws)
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


def _same(a: Sequence[int | None], b: Sequence[int | None]) -> tuple[int, int]:
    """Return how many pairs have both labels, and how many of these the same one."""
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return len(both), sum(x == y for x, y in both)


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
