"""A set of queries as it was named in, everything that asking and scoring it needs out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from assay.bench.plan import SetSpec
from assay.bench.system_corpus import SystemCorpus, cached, checkout_of, corpus_of, lines_of
from assay.corpus.builtin import OWN_REPORTS, OWN_TRUTH
from assay.corpus.languages import BY_EXTENSION, PROSE
from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.protocols import Progress, Say
from assay.truth import truth_formats
from assay.truth.formats.shared import about_file, place_of
from assay.truth.formats.swebench import by_checkout
from assay.truth.ground_truth import Qrels, Truth, TruthFile, qrels_of
from assay.truth.target_places import placed_in, resolved
from assay.types import Mode, Problem, Query

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
    ids: Mapping[str, str] = field(default_factory=dict)
    """Of documents, the id by the path of the file."""

    def truth_span(self, span: Span) -> Span:
        """Return a result as the ground truth names it: the file of a document by the document's id."""
        return replace(span, path=self.ids.get(span.path, span.path)) if self.ids else span


def prepare(spec: SetSpec, out: Path, say: Say, watch: Progress | None = None) -> Prepared:
    """Read or mine a ground truth and pin its corpus; what is mined is written below `out`, to be looked at."""
    reading = _truth(spec, out, say, watch)
    _check_state(reading.truth, spec)
    truth = replace(reading.truth, name=spec.name, queries=tuple(_completed(reading.truth)))
    corpus = corpus_of(truth, checkout_of(truth, spec.corpus), cached(), without=_told_in(spec, out))
    if truth.commit and not corpus.commit and not truth.documents:
        say(f"{spec.name}: its corpus is not a git repository; make sure that it holds commit {truth.commit[:12]}")
    lines = resolved(replace(reading, truth=replace(truth, commit="")), corpus.root)  # which is at that commit
    right = qrels_of(lines.truth, lines.where)
    if reading.as_published:
        right = placed_in(right, corpus.root)
    ids = {document.path: document.id for document in corpus.documents}
    told = (*lines.problems, *right.problems, *(() if reading.as_published else _missing(lines, corpus)))
    return Prepared(spec, truth, corpus, right, told, ids)


def _check_state(truth: Truth, spec: SetSpec) -> None:
    """Refuse a ground truth of several states of the code: a set is asked of one, where the others' lines are wrong."""
    if (states := len(by_checkout(truth))) > 1:
        raise InputError(
            f"'{spec.truth}' speaks of {states} commits, and a set is asked of one; "
            f"assay truth convert --split '{spec.truth}' FOLDER makes a ground truth of each"
        )


def _missing(reading: TruthFile, corpus: SystemCorpus) -> Iterator[Problem]:
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


def _truth(spec: SetSpec, out: Path, say: Say, watch: Progress | None) -> TruthFile:
    if spec.truth is not None:
        return truth_formats.read(spec.truth, spec.form)
    from assay.truth.mine import MineOptions, mine

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
