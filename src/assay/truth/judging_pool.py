"""Pool unjudged answers, and correct a ground truth with their labels."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import MappingProxyType

from assay.corpus.languages import BY_EXTENSION
from assay.errors import InputError
from assay.io.rows import on_disk
from assay.measure.line_spans import Entry, Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.truth.formats.jsonl_truth import record_of
from assay.truth.ground_truth import Qrels, Truth, TruthFile
from assay.truth.truth_formats import form_of, write
from assay.values import Chunk, Judgment, Problem, Query

Run = Mapping[str, Sequence[Span]]
"""The ranked answers of one system, by the query's id."""


@dataclass(frozen=True, slots=True)
class UnjudgedPair:
    """What is to be judged."""

    query_id: str
    query: str
    target: str
    text: str


@dataclass(frozen=True, slots=True)
class FoundBy:
    """Who found it; never shown to a judge."""

    query_id: str
    target: str
    system: str
    rank: int
    found: str
    """What the system said: the target itself, or a place that it stands for."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What several systems found, and what of it is to be judged."""

    pairs: tuple[UnjudgedPair, ...]
    sources: tuple[FoundBy, ...]
    found: int
    """Different results within the depth, all queries together."""
    judged: int
    """How many of them were judged already."""
    shares: Mapping[str, float]
    """By system, judged@depth: the mean share of its results that were judged."""
    together: int
    """How many of them another one, of nearly the same lines, stands for."""
    problems: tuple[Problem, ...] = ()


def pool(right: Qrels, runs: Mapping[str, Run], depth: int, text_of: Callable[[Span], str], *, seed: int = 0) -> Pool:
    """Return the unjudged pairs within the first `depth` results of any run; those whose text is gone are problems."""
    found = {query.id: _results(runs, query.id, depth) for query in right.queries}
    standing = {query_id: _standing(results, right.entries[query_id]) for query_id, results in found.items()}
    asked = {query.id: query.text for query in right.queries}
    pairs: list[UnjudgedPair] = []
    sources: list[FoundBy] = []
    problems = list(_strangers(runs, asked))
    for query_id in _shuffled(asked, f"{seed}"):
        for target in _shuffled(standing[query_id], f"{seed} {query_id}"):
            spans = standing[query_id][target]
            text = text_of(spans[0])
            by = [(span, *each) for span in spans for each in found[query_id][span]]
            sources += [FoundBy(query_id, target, system, rank, str(span)) for span, system, rank in by]
            if text.strip():
                pairs.append(UnjudgedPair(query_id, asked[query_id], target, text))
            else:
                systems = ", ".join(dict.fromkeys(system for system, _ in found[query_id][spans[0]]))
                problems.append(Problem(query_id, f"the corpus has no text at {target}, which {systems} found"))
    results = sum(map(len, found.values()))
    unjudged = sum(len(spans) for each in standing.values() for spans in each.values())
    together = unjudged - sum(map(len, standing.values()))
    shares = {name: _share(right, run, depth) for name, run in runs.items()}
    return Pool(tuple(pairs), tuple(sources), results, results - unjudged, shares, together, tuple(problems))


def as_pairs(
    found: Pool, queries: Iterable[Query], languages: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[Query, Chunk]]:
    """Return what is to be judged as pairs; `languages` are those of documents, files tell theirs by their ending."""
    asked = {query.id: query for query in queries}
    return [
        (asked[each.query_id], Chunk(each.target, each.text, languages.get(each.target) or _language(each.target)))
        for each in found.pairs
    ]


def _language(target: str) -> str:
    return BY_EXTENSION.get(target.partition(":")[0].rpartition(".")[2], "")


def _standing(results: Iterable[Span], entries: Sequence[Entry]) -> dict[str, list[Span]]:
    """Return the places to ask about, each with the unjudged ones that it stands for, itself the first.

    The shortest come first, then whole files.
    """
    unjudged = [span for span in results if not any(span.overlaps(entry.span) for entry in entries)]
    stands: dict[str, list[Span]] = {}
    by_path: defaultdict[str, list[Span]] = defaultdict(list)
    for span in sorted(unjudged, key=lambda span: (not span.start, span.end - span.start, str(span))):
        like = next((other for other in by_path[span.path] if _alike(span, other)), None)
        if like is None:
            by_path[span.path].append(span)
        stands.setdefault(str(like or span), []).append(span)
    return stands


def _results(runs: Mapping[str, Run], query_id: str, depth: int) -> dict[Span, list[tuple[str, int]]]:
    """Return who found what within the depth; what a system repeats keeps its first rank."""
    found: defaultdict[Span, list[tuple[str, int]]] = defaultdict(list)
    for name, run in runs.items():
        for rank, span in enumerate(list(dict.fromkeys(run.get(query_id, ())))[:depth], 1):
            found[span].append((name, rank))
    return found


def _alike(one: Span, other: Span) -> bool:
    """Say whether two places of one file share at least half of the lines of both together."""
    if not one.start or not other.start:
        return one == other
    shared = min(one.end, other.end) - max(one.start, other.start) + 1
    both = max(one.end, other.end) - min(one.start, other.start) + 1
    return 2 * shared >= both


def _shuffled(values: Iterable[str], seed: str) -> list[str]:
    shuffled = sorted(values)
    Random(seed).shuffle(shuffled)  # noqa: S311  # an order, not a secret
    return shuffled


def _strangers(runs: Mapping[str, Run], asked: Collection[str]) -> Iterator[Problem]:
    for name, run in runs.items():
        if strange := [query_id for query_id in run if query_id not in asked]:
            yield Problem(name, f"{len(strange)} of its {len(run)} queries are not in the ground truth: '{strange[0]}'")


def _share(right: Qrels, run: Run, depth: int) -> float:
    known = {query.id: run.get(query.id, ()) for query in right.queries}
    values = parse(f"judged@{depth}").of(match(known, right.entries, right.units[0]))
    return float(values.mean()) if len(values) else 0.0


_OWN = "jsonl"
_ANSWERS = 2


@dataclass(frozen=True, slots=True)
class Correction:
    """What labels change in a ground truth."""

    right: tuple[Judgment, ...] = ()
    """New right answers."""
    wrong: tuple[Judgment, ...] = ()
    """What was found, and answers nothing."""
    overturned: tuple[tuple[int, Judgment], ...] = ()
    """Judgments that stand there, by their place, each with the one that takes it."""
    same: int = 0
    """Labels that say what stood there."""
    problems: tuple[Problem, ...] = ()


def correction_of(truth: Truth, labels: Iterable[Judgment]) -> Correction:
    """Compare labels with a ground truth; of several for one pair the first counts."""
    known: dict[tuple[str, str], int] = {}
    for at, each in enumerate(truth.judgments):
        known.setdefault((each.query_id, each.target), at)
    queries = {query.id for query in truth.queries}
    labels = list(labels)
    graded = _graded(truth.judgments) & _graded(labels)
    right, wrong, problems = list[Judgment](), list[Judgment](), list[Problem]()
    overturned, said, same = list[tuple[int, Judgment]](), set[tuple[str, str]](), 0
    for label in labels:
        key = label.query_id, label.target
        if key[0] not in queries or key in said:
            why = "was labelled before: the first label counts" if key in said else "is of a query that nobody asks"
            problems.append(Problem(label.query_id, f"{label.target} {why}"))
            continue
        said.add(key)
        if key not in known:
            (right if label.grade else wrong).append(label)
        elif _says(truth.judgments[known[key]].grade, graded) != _says(label.grade, graded):
            overturned.append((known[key], label))
        else:
            same += 1
    return Correction(tuple(right), tuple(wrong), tuple(overturned), same, tuple(problems))


def _graded(judgments: Iterable[Judgment]) -> bool:
    """Say whether grades are 0, 1 and 2; below 2 they may be plain labels."""
    return max((each.grade for each in judgments), default=0) == _ANSWERS


def _says(grade: int, graded: bool) -> int:  # noqa: FBT001  # what is compared, and how
    return grade if graded else int(bool(grade))


def corrected(truth: Truth, correction: Correction, *, keep_wrong: bool = False) -> Truth:
    """Return a ground truth with a correction; what was judged wrong is kept on demand, to be asked no more."""
    held = dict(correction.overturned)
    judgments = [held.get(at, each) for at, each in enumerate(truth.judgments)]
    return replace(truth, judgments=(*judgments, *_added(correction, keep_wrong=keep_wrong)))


def corrected_text(
    reading: TruthFile, path: Path, correction: Correction, *, keep_wrong: bool = False
) -> tuple[str, str, list[str]]:
    """Return the text of a file as it is and as it would be, and what its format cannot hold of that."""
    if path.is_dir() or on_disk(path).suffix in {".gz", ".zst"}:
        raise InputError(f"'{path}' is a folder or compressed: make it JSON lines first, with assay truth convert")
    before = _text_of(path)
    form = form_of(path)
    if form == _OWN:
        return before, _edited(before, reading, correction, keep_wrong=keep_wrong), []
    with TemporaryDirectory(prefix="assay-") as folder:
        new = Path(folder) / path.name
        dropped = write(corrected(reading.truth, correction, keep_wrong=keep_wrong), new, form, lossy=True)
        after = _text_of(new)
    if on_disk(path).suffix == ".csv":
        return before, _with_rows_that_stay(before, after), dropped
    return before, "".join(_ended(line, before) for line in _lines(after)), dropped


def difference(before: str, after: str, name: str) -> str:
    """Return a unified difference, as `patch` reads it; empty where there is none."""
    old, new = _lines(before), _lines(after)
    return "".join(unified_diff(old, new, f"a/{name}", f"b/{name}", n=0))


def _with_rows_that_stay(before: str, after: str) -> str:
    """Return a table with the rows of an earlier one in the place of those that say the same, as they were written."""
    old, new = _lines(before), _lines(after)
    if len(old) != len(new) or list(csv.reader(new)) != [row for line in new for row in csv.reader([line])]:
        return after  # a cell goes over several lines
    rows = zip(old, new, strict=True)
    return "".join(one if _cells(one) == _cells(other) else _ended(other, before) for one, other in rows)


def _text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig")  # line ends stay as they are


def _lines(text: str) -> list[str]:
    return list(StringIO(text, newline="\n"))


def _ended(line: str, before: str) -> str:
    """Return a line with the end that the first line of a text has."""
    first = before.partition("\n")[0]
    return line.removesuffix("\n").removesuffix("\r") + ("\r\n" if first.endswith("\r") else "\n")


def _cells(line: str) -> list[str]:
    cells = next(csv.reader([line]), [])
    while cells and not cells[-1].strip():
        cells.pop()
    return cells


def _edited(before: str, reading: TruthFile, correction: Correction, *, keep_wrong: bool) -> str:
    lines = _lines(before)
    for at, judgment in correction.overturned:
        lines[reading.rows[at] - 1] = _ended(_line(judgment), before)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] = _ended(lines[-1], before)
    added = _added(correction, keep_wrong=keep_wrong)
    return "".join([*lines, *(_ended(_line(each), before) for each in added)])


def _added(correction: Correction, *, keep_wrong: bool) -> tuple[Judgment, ...]:
    return (*correction.right, *correction.wrong) if keep_wrong else correction.right


def _line(judgment: Judgment) -> str:
    return json.dumps(record_of(judgment), ensure_ascii=False) + "\n"
