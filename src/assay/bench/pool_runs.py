"""Files of ranked answers and a ground truth in, the pool of what it does not judge out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from assay.bench.answer_runs import read_any
from assay.bench.system_corpus import SystemCorpus, cached, checkout_of, corpus_of, file_names, text_of
from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.truth.ground_truth import Truth, TruthFile, qrels_of
from assay.truth.judging_pool import Pool, Run, pool
from assay.truth.target_places import resolved
from assay.types import Problem


def pool_runs(reading: TruthFile, files: Iterable[Path], corpus: Path | None, *, depth: int, seed: int) -> Pool:
    """Return what the first `depth` results of any run hold without a judgment, with the problems of all that was read.

    `corpus` is the checkout of the ground truth, if it speaks of one and does not lie where it says.
    """
    truth = reading.truth
    problems: list[Problem] = []
    runs = _runs(truth, list(_run_files(files)), problems)
    searched = None if truth.documents else corpus_of(truth, checkout_of(truth, corpus), cached())
    lines = resolved(replace(reading, truth=replace(truth, commit="")), searched.root) if searched else reading
    right = qrels_of(lines.truth, lines.where)
    found = pool(right, runs, depth, _texts(truth, searched), seed=seed)
    return replace(found, problems=(*problems, *lines.problems, *right.problems, *found.problems))


def _run_files(files: Iterable[Path]) -> Iterator[Path]:
    """Yield files of runs, and those of folders as `assay bench` writes them."""
    for file in files:
        if not file.is_dir():
            yield file
            continue
        inside = sorted(each for each in file.glob("*.jsonl") if not each.name.endswith(".progress.jsonl"))
        if not inside:
            raise InputError(f"no run in the folder '{file}': wanted one that assay bench wrote, as runs/SET, or files")
        yield from inside


def _runs(truth: Truth, files: list[Path], problems: list[Problem]) -> dict[str, Run]:
    """Return each run by its file's name, or its path where names repeat; files of documents get the documents' ids."""
    names = [file.stem for file in files]
    named = zip(file_names(truth.documents), truth.documents, strict=True)
    ids = {name: document.path or document.id for name, document in named}
    runs: dict[str, Run] = {}
    for file in files:
        ranked, found = read_any(file)
        problems += found
        name = str(file) if names.count(file.stem) > 1 else file.stem
        runs[name] = {query: [_of_document(span, ids) for span, _ in results] for query, results in ranked.items()}
    return runs


def _of_document(span: Span, ids: Mapping[str, str]) -> Span:
    return replace(span, path=ids.get(span.path, span.path))


def _texts(truth: Truth, searched: SystemCorpus | None) -> Callable[[Span], str]:
    """Return what gives the text of a place."""
    documents = {document.path or document.id: document.text for document in truth.documents}
    return lambda span: text_of(searched, span) if searched else documents.get(span.path, "")
