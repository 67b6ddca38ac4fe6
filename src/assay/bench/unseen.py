"""What systems found and nobody judged, to the labels of a judge, kept apart from those of people (CoSQA+, VI-A).

A right answer that no person saw counts as wrong: the better a system, the more so. The first results of all systems
are pooled, what is unjudged goes to a judge, and everything is measured once more with its labels. What decides stays
measured without; the labels lie in a file that `assay truth pool --labels` reads, for whoever checked them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.bench.answer_runs import SystemAnswer
from assay.bench.prepare import Prepared
from assay.bench.results import UnseenCounts
from assay.bench.system_corpus import text_of
from assay.io.files import write_rows
from assay.measure.line_spans import Entry, Span, span_of
from assay.protocols import Progress
from assay.truth.ground_truth import Qrels
from assay.truth.judging_pool import Pool, as_pairs, pool
from assay.types import Chunk, Judgment, Query

DEPTH = 10
Pairs = Sequence[tuple[Query, Chunk]]


@dataclass(frozen=True, slots=True)
class UnseenLabels:
    """What a judge said, and why it said no more, should that be so."""

    judgments: Sequence[Judgment]
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Who judges what nobody did."""

    judge: str
    """Its spec, by which labels and figures are marked."""
    label: Callable[[Pairs, Path, Progress | None], UnseenLabels]
    """Judges pairs; what it does is kept in a file, where it goes on. What it cannot decide has no label."""
    depth: int = DEPTH
    """Results of a query that are looked at."""


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """What is right, a judge's labels among it, and what results say about these."""

    expected: Qrels
    counts: UnseenCounts


def judge_unseen(
    ready: Prepared,
    answered: Mapping[str, Mapping[str, SystemAnswer]],
    unseen: Unseen,
    out: Path,
    watch: Progress | None = None,
) -> JudgedSet:
    """Have judged what systems found; records and labels of the set are written below `out`."""
    runs = {
        name: {answer.query_id: [ready.truth_span(span) for span in answer.spans] for answer in answers.values()}
        for name, answers in answered.items()
    }
    texts = {document.id: document.text for document in ready.corpus.documents}
    pooled = pool(ready.expected, runs, unseen.depth, lambda span: texts.get(span.path) or text_of(ready.corpus, span))
    folder = out / "unseen" / ready.spec.name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{_safe(unseen.judge)}.jsonl"
    languages = {document.id: document.language for document in ready.corpus.documents}
    labels = unseen.label(as_pairs(pooled, ready.expected.queries, languages), file, watch)
    said = {(each.query_id, each.target): replace(each, judge=unseen.judge) for each in labels.judgments}
    _write(pooled, said, file.with_suffix(".labels.jsonl"))
    return JudgedSet(_with(ready, said), _counts(unseen, pooled, said, labels.stopped))


def _with(ready: Prepared, said: Mapping[tuple[str, str], Judgment]) -> Qrels:
    """Return what is right with what a judge called right; a place that stands for its like stands for them here."""
    documents = {document.id for document in ready.corpus.documents}
    entries = {name: list(held) for name, held in ready.expected.entries.items()}
    for (query, target), judgment in said.items():
        span = Span(target) if target in documents else span_of(target)
        entries[query].append(Entry(span, judgment.grade))
    return replace(ready.expected, entries=entries)


def _write(pooled: Pool, said: Mapping[tuple[str, str], Judgment], file: Path) -> None:
    """Write the labels as a pool that was filled in."""
    rows = ((pair, said.get((pair.query_id, pair.target))) for pair in pooled.pairs)
    write_rows(
        file,
        (
            {
                "query_id": pair.query_id,
                "query": pair.query,
                "target": pair.target,
                "text": pair.text,
                "grade": label.grade if label else "",
                "reason": label.reason if label else "",
                "judge": label.judge if label else "",
            }
            for pair, label in rows
        ),
    )


def _counts(unseen: Unseen, pooled: Pool, said: Mapping[tuple[str, str], Judgment], stopped: str) -> UnseenCounts:
    grades = Counter(judgment.grade > 0 for judgment in said.values())
    return UnseenCounts(
        judge=unseen.judge,
        depth=unseen.depth,
        asked=len(pooled.pairs),
        right=grades[True],
        wrong=grades[False],
        undecided=len(pooled.pairs) - len(said),
        stopped=stopped,
    )


def _safe(spec: str) -> str:
    """Return the name of a judge as a file may have it."""
    return "".join(letter if letter.isalnum() or letter in "-+" else "_" for letter in spec)[:80]
