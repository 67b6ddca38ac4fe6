"""A set of queries as it was named in, everything that asking and scoring it needs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs

from assay.bench import files, mine
from assay.bench.corpus import Corpus, corpus_of
from assay.bench.places import resolved
from assay.bench.plan import SetSpec
from assay.bench.scores import Expected, expected
from assay.bench.truth import Problem, Truth
from assay.corpus.languages import BY_EXTENSION, PROSE
from assay.errors import InputError
from assay.measure.lines import Span
from assay.types import Mode, Query

Say = Callable[[str], None]
Watch = Callable[[str, int, int], None]


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


def prepare(spec: SetSpec, out: Path, say: Say, watch: Watch | None = None) -> Prepared:
    """Read or mine a ground truth and pin its corpus; what is mined is written below `out`, to be looked at."""
    truth, problems = _truth(spec, out, say, watch)
    truth = replace(truth, name=spec.name, queries=tuple(_completed(truth)))
    corpus = corpus_of(truth, spec.corpus or _beside(truth), platformdirs.user_cache_path("assay") / "corpora")
    lines = resolved(replace(truth, commit=""), corpus.root)  # which is at that commit
    right = expected(lines.truth)
    ids = {document.path: document.id for document in corpus.documents}
    return Prepared(spec, truth, corpus, right, (*problems, *lines.problems, *right.problems), ids)


def _truth(spec: SetSpec, out: Path, say: Say, watch: Watch | None) -> tuple[Truth, tuple[Problem, ...]]:
    if spec.truth is not None:
        reading = files.read(spec.truth, spec.form)
        return reading.truth, reading.problems
    assert spec.corpus is not None
    mined = mine.mine(spec.corpus, mine.Options(), watch)
    if not mined.truth.queries:
        why = "; ".join(mined.notes) or "its history, documentation and tests hold no question with an answer"
        raise InputError(f"nothing to ask of '{spec.corpus}': {why}")
    for note in mined.notes:
        say(f"{spec.name}: {note}")
    (out / "truth").mkdir(exist_ok=True)
    files.write(mined.truth, out / "truth" / f"{spec.name}.jsonl")
    return mined.truth, ()


def _beside(truth: Truth) -> Path | None:
    """Return the folder that a ground truth names as its repository, if there is such a folder."""
    return Path(truth.repository) if truth.repository and Path(truth.repository).is_dir() else None


def _completed(truth: Truth) -> Iterator[Query]:
    """Yield the queries, each with the language of its best answer and the mode that a person would ask them in.

    Where a ground truth does not tell: all of a set whose answers are code ask for code, all of one whose answers are
    prose for prose. Nothing is read off a single answer but its language, which no system sees.
    """
    known = {document.id: document.language for document in truth.documents}
    best: dict[str, str] = {}
    for judgment in sorted(truth.judgments, key=lambda judgment: -judgment.grade):
        path = judgment.target.partition(":")[0]
        best.setdefault(judgment.query_id, known.get(judgment.target) or BY_EXTENSION.get(path.rpartition(".")[2], ""))
    prose = {language in PROSE for language in best.values() if language}
    mode: Mode = "all" if len(prose) != 1 else "docs" if prose.pop() else "code"
    for query in truth.queries:
        language = query.tags.get("language") or best.get(query.id, "")
        tags = {**query.tags, "language": language} if language else query.tags
        yield replace(query, tags=tags, mode=mode if query.mode == "all" else query.mode)
