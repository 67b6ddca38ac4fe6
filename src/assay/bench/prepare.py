"""A set of queries as it was named in, everything that asking and scoring it needs out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from assay.bench import files
from assay.bench.corpus import Corpus, cached, checkout_of, corpus_of, lines_of
from assay.bench.formats.found import about_file
from assay.bench.mine.mine import Options, mine
from assay.bench.places import resolved
from assay.bench.plan import SetSpec
from assay.bench.scores import Expected, expected
from assay.bench.truth import Truth
from assay.corpus.builtin import OWN_REPORTS, OWN_TRUTH
from assay.corpus.languages import BY_EXTENSION, PROSE
from assay.errors import InputError
from assay.measure.lines import Span
from assay.protocols import Progress, Say
from assay.types import Mode, Problem, Query


@dataclass(frozen=True, slots=True)
class Prepared:
    """One set, ready to be asked."""

    spec: SetSpec
    truth: Truth
    corpus: Corpus
    expected: Expected
    problems: tuple[Problem, ...]
    """What the ground truth holds that is no use."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Of documents, the id by the path of the file."""

    def named(self, span: Span) -> Span:
        """Return a result as the ground truth names it: the file of a document by the document's id."""
        return replace(span, path=self.ids.get(span.path, span.path)) if self.ids else span


def prepare(spec: SetSpec, out: Path, say: Say, watch: Progress | None = None) -> Prepared:
    """Read or mine a ground truth and pin its corpus; what is mined is written below `out`, to be looked at."""
    truth, problems = _truth(spec, out, say, watch)
    truth = replace(truth, name=spec.name, queries=tuple(_completed(truth)))
    corpus = corpus_of(truth, checkout_of(truth, spec.corpus), cached(), without=_told_in(spec, out))
    lines = resolved(replace(truth, commit=""), corpus.root)  # which is at that commit
    right = expected(lines.truth)
    ids = {document.path: document.id for document in corpus.documents}
    told = (*problems, *lines.problems, *right.problems, *_missing(right, corpus))
    return Prepared(spec, truth, corpus, right, told, ids)


def _missing(right: Expected, corpus: Corpus) -> Iterator[Problem]:
    """Yield the answers that no system can find, for the corpus has no such place; they count as not found."""
    known = {document.id for document in corpus.documents}
    length = cache(lambda path: len(lines_of(corpus, path)))
    for query, entries in right.entries.items():
        for span in (entry.span for entry in entries if entry.grade and entry.span.path not in known):
            size = length(span.path)
            if not size:
                yield Problem(f"query {query}", f"{span}: no such file in the corpus, so that it counts as not found")
            elif span.start > size:
                yield Problem(f"query {query}", f"{span}: the file ends at line {size:,}; it counts as not found")


def _told_in(spec: SetSpec, out: Path) -> tuple[Path, ...]:
    """Return what holds the questions or earlier answers, should it lie in the corpus."""
    own = [spec.corpus / name for name in (OWN_TRUTH, OWN_REPORTS)] if spec.corpus else []
    told = (spec.truth, about_file(spec.truth)) if spec.truth else ()
    return (out, *filter(Path.exists, own), *told)


def _truth(spec: SetSpec, out: Path, say: Say, watch: Progress | None) -> tuple[Truth, tuple[Problem, ...]]:
    if spec.truth is not None:
        reading = files.read(spec.truth, spec.form)
        return reading.truth, reading.problems
    assert spec.corpus is not None
    mined = mine(spec.corpus, Options(), watch)
    if not mined.truth.queries:
        why = "; ".join(mined.notes) or "its history, documentation and tests hold no question with an answer"
        raise InputError(f"nothing to ask of '{spec.corpus}': {why}")
    for note in mined.notes:
        say(f"{spec.name}: {note}")
    (out / "truth").mkdir(parents=True, exist_ok=True)
    place = out / "truth" / f"{spec.name}.jsonl"
    files.write(mined.truth, place)
    say(f"{spec.name}: {_told(mined.truth)}; read a sample before you trust it: {place}")
    return mined.truth, ()


def _told(truth: Truth) -> str:
    """Return how many queries were mined from where."""
    sources = Counter(query.tags.get("source", "") for query in truth.queries)
    parts = ", ".join(f"{count} of its {source}" for source, count in sources.items())
    at = f"; pinned to {truth.commit[:12]}" if truth.commit else ""
    return f"{len(truth.queries)} queries mined: {parts}{at}"


def _completed(truth: Truth) -> Iterator[Query]:
    """Yield the queries, each with the language of its best answer and the mode that a person would ask them in.

    Where a ground truth does not tell: all of a set whose answers are code ask for code, all of one whose answers are
    prose for prose. Nothing is read off a single answer but its language, which no system sees.
    """
    known = {document.id: document.language for document in truth.documents}
    best: dict[str, str] = {}
    for judgment in sorted((each for each in truth.judgments if each.grade), key=lambda judgment: -judgment.grade):
        path = judgment.target.partition(":")[0]
        best.setdefault(judgment.query_id, known.get(judgment.target) or BY_EXTENSION.get(path.rpartition(".")[2], ""))
    prose = {language in PROSE for language in best.values() if language}
    mode: Mode = "all" if len(prose) != 1 else "docs" if prose.pop() else "code"
    for query in truth.queries:
        language = query.tags.get("language") or best.get(query.id, "")
        tags = {**query.tags, "language": language} if language else query.tags
        yield replace(query, tags=tags, mode=mode if query.mode == "all" else query.mode)
