"""Prepare a set of queries with its corpus, and have judged what systems found and nobody judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

from assay.bench.answer_runs import SystemAnswer
from assay.bench.matrix import SetSpec
from assay.bench.results import UnseenCounts
from assay.bench.system import SystemCorpus, cached, checkout_of, corpus_of, lines_of, text_of
from assay.corpus.languages import BY_EXTENSION, PROSE
from assay.corpus.left_out_names import OWN_REPORTS, OWN_TRUTH
from assay.errors import InputError, counted
from assay.io.files import safe_name, write_rows
from assay.measure.line_spans import Entry, Span, span_of
from assay.protocols import Progress, Say
from assay.truth import truth_formats
from assay.truth.following import UNDOCUMENTED
from assay.truth.formats import trec
from assay.truth.formats.shared import about_file, place_of
from assay.truth.formats.swebench import by_checkout
from assay.truth.ground_truth import Qrels, Truth, TruthFile, qrels_of
from assay.truth.judging_pool import Pool, as_pairs, pool
from assay.truth.target_places import placed_in, resolved
from assay.values import Chunk, Judgment, Mode, Problem, Query

_FOLDERS = 3
"""Folders of a path, from the root, by which questions are grouped."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One set, ready to be asked."""

    spec: SetSpec
    truth: Truth
    corpus: SystemCorpus
    expected: Qrels
    problems: tuple[Problem, ...]
    """What the ground truth holds that is no use."""
    gone: tuple[Problem, ...] = ()
    """Those of them whose places the corpus does not have."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Of documents, the id by the path of the file."""
    is_pinned: bool = False
    """Whether it is about one commit, whatever came after."""

    def truth_span(self, span: Span) -> Span:
        """Return a result as the ground truth names it: the file of a document by the document's id."""
        return replace(span, path=self.ids.get(span.path, span.path)) if self.ids else span


def prepare(spec: SetSpec, out: Path, say: Say, watch: Progress | None = None, *, of_runs: bool = False) -> Prepared:
    """Read or mine a ground truth and pin its corpus; what is mined is written below `out`, to be looked at.

    `of_runs` where nothing but saved runs is measured, which needs no corpus.
    """
    reading = (_without_corpus(spec, say) if of_runs else None) or _truth(spec, out, say, watch)
    _check_state(reading.truth, spec)
    if spec.commit and reading.truth.commit not in {"", spec.commit}:
        raise InputError(f"'{spec.truth}' is about commit {reading.truth.commit}, and its set says {spec.commit}")
    reading = replace(reading, truth=replace(reading.truth, commit=spec.commit or reading.truth.commit))
    is_pinned = bool(reading.truth.commit)
    truth = replace(reading.truth, name=spec.name, queries=tuple(_completed(_of_kinds(reading.truth, spec.kinds))))
    truth = replace(truth, commit=truth.commit or spec.at)
    corpus = corpus_of(truth, checkout_of(truth, spec.corpus), cached(), without=_told_in(spec, out))
    if truth.commit and not corpus.commit and not truth.documents:
        say(f"{spec.name}: its corpus is not a git repository; make sure that it holds commit {truth.commit[:12]}")
    at_corpus = replace(reading, truth=replace(truth, commit=""))  # which is at that commit
    lines = resolved(at_corpus, corpus.root, follow=not is_pinned)
    if lines.moved:
        moved = counted(len(lines.moved), "right place")
        say(f"{spec.name}: {moved} moved to another file; assay truth check --fix writes down where")
    right = qrels_of(lines.truth, lines.where)
    if reading.as_published:
        right = placed_in(right, corpus.root)
    ids = {document.path: document.id for document in corpus.documents}
    missing = () if reading.as_published else tuple(_missing_places(lines, corpus))
    gone = (*lines.problems[len(reading.problems) :], *missing, *_undocumented(truth, corpus.undocumented))
    if gone and len(missing) == sum(each.grade > 0 for each in lines.truth.judgments):
        raise InputError(f"none of its right places exists in the corpus; the first: {gone[0]}")
    return Prepared(spec, truth, corpus, right, (*lines.problems, *right.problems, *missing), gone, ids, is_pinned)


def _of_kinds(truth: Truth, kinds: Mapping[str, range]) -> Truth:
    """Return a ground truth whose queries say of which kind they are, by their rows."""
    if not kinds:
        return truth
    rows = {str(row): kind for kind, of in kinds.items() for row in of}
    if unknown := sorted(rows.keys() - {query.id for query in truth.queries}, key=int):
        raise InputError(f"'{truth.name}' has no row {unknown[0]}, which kinds.{rows[unknown[0]]} of its set names")
    queries = (replace(q, tags={**q.tags, "kind": rows.get(q.id, "standard")}) for q in truth.queries)
    return replace(truth, queries=tuple(queries))


def _check_state(truth: Truth, spec: SetSpec) -> None:
    """Refuse a ground truth of several states of the code: a set is asked of one, where the others' lines are wrong."""
    if (states := len(by_checkout(truth))) > 1:
        raise InputError(
            f"'{spec.truth}' speaks of {states} commits, and a set is asked of one; "
            f"assay truth convert --split '{spec.truth}' FOLDER makes a ground truth of each"
        )


def _undocumented(truth: Truth, symbols: Sequence[str]) -> Iterator[Problem]:
    """Yield the questions whose documentation was taken away, by which they could be found."""
    by_target = {each.target: each.query_id for each in truth.judgments if each.judge == "docs"}
    for each in symbols:
        yield Problem(f"query {by_target.get(each, '')}", f"{each}: {UNDOCUMENTED}")


def _missing_places(reading: TruthFile, corpus: SystemCorpus) -> Iterator[Problem]:
    """Yield the answers that no system can find, for the corpus has no such place; they count as not found."""
    known = {document.id for document in corpus.documents}
    length = cache(lambda path: len(lines_of(corpus, path)))
    for at, judgment in enumerate(reading.truth.judgments):
        span = place_of(judgment.target)
        if not judgment.grade or judgment.target in known or isinstance(span, str):
            continue
        size = length(span.path)
        if not size:
            yield Problem(reading.where(at), f"{span}: no such file in the corpus, so that it counts as not found")
        elif span.start > size:
            yield Problem(reading.where(at), f"{span}: the file ends at line {size:,}; it counts as not found")


def _told_in(spec: SetSpec, out: Path) -> tuple[Path, ...]:
    """Return what holds the questions or earlier answers, should it lie in the corpus."""
    own = [spec.corpus / name for name in (OWN_TRUTH, OWN_REPORTS)] if spec.corpus else []
    told = (spec.truth, about_file(spec.truth)) if spec.truth else ()
    return (out, *filter(Path.exists, own), *told)


def _without_corpus(spec: SetSpec, say: Say) -> TruthFile | None:
    """Return qrels that nobody gave a corpus for, whose targets are then ids; None for any other ground truth."""
    if spec.truth is None or spec.corpus is not None or (spec.form or truth_formats.form_of(spec.truth)) != "trec":
        return None
    reading = trec.read(spec.truth, of_documents=True)
    if reading.truth.repository or not reading.truth.queries:
        return None
    say(f"{spec.name}: no corpus was given: targets are ids of documents and compared as they are")
    return reading


def _truth(spec: SetSpec, out: Path, say: Say, watch: Progress | None) -> TruthFile:
    if spec.truth is not None:
        return truth_formats.read(spec.truth, spec.form)
    from assay.truth.mine import mine
    from assay.truth.requests import MineOptions

    assert spec.corpus is not None
    mined = mine(spec.corpus, MineOptions(), watch)
    if not mined.truth.queries:
        why = "; ".join(mined.notes) or "its history, documentation and tests hold no question with an answer"
        raise InputError(f"nothing to ask of '{spec.corpus}': {why}")
    for note in mined.notes:
        say(f"{spec.name}: {note}")
    (out / "truth").mkdir(parents=True, exist_ok=True)
    place = out / "truth" / f"{spec.name}.jsonl"
    truth_formats.write(mined.truth, place)
    say(f"{spec.name}: {_mined_summary(mined.truth)}; read a sample before you trust it: {place}")
    return TruthFile(mined.truth)


def _mined_summary(truth: Truth) -> str:
    """Return how many queries were mined from where."""
    sources = Counter(query.tags.get("source", "") for query in truth.queries)
    parts = ", ".join(f"{count} of its {source}" for source, count in sources.items())
    at = f"; pinned to {truth.commit[:12]}" if truth.commit else ""
    return f"{len(truth.queries)} queries mined: {parts}{at}"


def _completed(truth: Truth) -> Iterator[Query]:
    """Yield the queries, each with language and folder of its best answer, and the mode a person would ask them in.

    Where a ground truth does not tell: all of a set whose answers are code ask for code, all of one whose answers are
    prose for prose. Nothing is read off a single answer but its language, which no system sees.
    """
    known = {document.id: document.language for document in truth.documents}
    best: dict[str, str] = {}
    folders: dict[str, str] = {}
    for judgment in sorted((each for each in truth.judgments if each.grade), key=lambda judgment: -judgment.grade):
        path = judgment.target.partition(":")[0]
        if not known:
            folders.setdefault(judgment.query_id, "/".join(path.split("/")[:-1][:_FOLDERS]) or ".")
        best.setdefault(judgment.query_id, known.get(judgment.target) or BY_EXTENSION.get(path.rpartition(".")[2], ""))
    prose = {language in PROSE for language in best.values() if language}
    mode: Mode = "all" if len(prose) != 1 else "docs" if prose.pop() else "code"
    for query in truth.queries:
        language = query.tags.get("language") or best.get(query.id, "")
        found = {"language": language, "folder": query.tags.get("folder") or folders.get(query.id, "")}
        tags = {**query.tags, **{name: value for name, value in found.items() if value}}
        yield replace(query, tags=tags, mode=mode if query.mode == "all" else query.mode)


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
    file = folder / f"{safe_name(unseen.judge)}.jsonl"
    languages = {document.id: document.language for document in ready.corpus.documents}
    labels = unseen.label(as_pairs(pooled, ready.expected.queries, languages), file, watch)
    said = {(each.query_id, each.target): replace(each, judge=unseen.judge) for each in labels.judgments}
    write_rows(file.with_suffix(".labels.jsonl"), _filled_in(pooled, said))
    entries = {name: list(held) for name, held in ready.expected.entries.items()}
    for (query, target), judgment in said.items():  # a place that stands for its like stands for them here
        entries[query].append(Entry(Span(target) if target in texts else span_of(target), judgment.grade))
    grades = Counter(judgment.grade > 0 for judgment in said.values())
    asked = len(pooled.pairs)
    counts = (unseen.judge, unseen.depth, asked, grades[True], grades[False], asked - len(said), labels.stopped)
    return JudgedSet(replace(ready.expected, entries=entries), UnseenCounts(*counts))


def _filled_in(pooled: Pool, labels: Mapping[tuple[str, str], Judgment]) -> Iterator[dict[str, object]]:
    """Yield the rows of a pool that was filled in."""
    for pair in pooled.pairs:
        label = labels.get((pair.query_id, pair.target))
        grade, reason, judge = (label.grade, label.reason, label.judge) if label else ("", "", "")
        yield {**asdict(pair), "grade": grade, "reason": reason, "judge": judge}
