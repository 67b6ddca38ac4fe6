"""Annotations of functions by their URL, and the corpus that has the functions, to one ground truth with its documents.

CodeSearchNet publishes both apart. Only functions that somebody judged become documents, so that a corpus of a million
is read as a stream. What is judged and not found is a problem each; a language that the corpus lacks is one problem.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from assay.errors import InputError, counted
from assay.truth.formats.csn import url_of
from assay.truth.formats.csn_corpus import functions, id_of
from assay.truth.ground_truth import Truth, TruthFile
from assay.types import Chunk, Judgment, Problem


def joined(reading: TruthFile, corpus: Path) -> TruthFile:
    """Return a ground truth whose documents are the functions of a corpus that it judges; the others are problems."""
    names = {each.target: unquote(id_of(url_of(each.target))) for each in reading.truth.judgments}
    problems: list[Problem] = []
    wanted, found = set(names.values()), dict[str, Chunk]()
    for function in functions(corpus, problems):
        name = unquote(function.id)
        if name in wanted:
            found.setdefault(name, function)
    if not found:
        raise InputError(f"none of {counted(len(wanted), 'judged function')} of '{reading.truth.name}' is in {corpus}")
    kept = [at for at, each in enumerate(reading.truth.judgments) if names[each.target] in found]
    truth = _truth(reading.truth, kept, {target: found[name].id for target, name in names.items() if name in found})
    documents = tuple(found[name] for name in dict.fromkeys(names.values()) if name in found)
    missing = _missing(reading, names, found)
    rows = tuple(reading.rows[at] for at in kept) if reading.rows else ()
    whole = replace(truth, documents=documents)
    return replace(reading, truth=whole, problems=(*reading.problems, *problems, *missing), rows=rows)


def at_least(reading: TruthFile, grade: int) -> TruthFile:
    """Return what a ground truth holds of pairs that somebody gave a grade or a higher one, with their queries.

    Documents of other pairs are left out: 3 makes the 399 pairs of 95 queries of CoSQA+'s test on CodeSearchNet.
    """
    truth = reading.truth
    best: Counter[tuple[str, str]] = Counter()
    for each in truth.judgments:
        best[each.query_id, each.target] = max(best[each.query_id, each.target], each.grade)
    kept = [at for at, each in enumerate(truth.judgments) if best[each.query_id, each.target] >= grade]
    if not kept:
        raise InputError(f"'{truth.name}' has no judgment of {grade} or more")
    part = _truth(truth, kept, {})
    targets = {each.target for each in part.judgments}
    part = replace(part, documents=tuple(each for each in truth.documents if each.id in targets))
    return replace(reading, truth=part, rows=tuple(reading.rows[at] for at in kept) if reading.rows else ())


def _truth(truth: Truth, kept: Sequence[int], names: Mapping[str, str]) -> Truth:
    """Return some judgments under new names of their targets, and the queries that they are of."""
    judgments = [truth.judgments[at] for at in kept]
    asked = {each.query_id for each in judgments}
    return replace(
        truth,
        queries=tuple(query for query in truth.queries if query.id in asked),
        judgments=tuple(replace(each, target=names.get(each.target, each.target)) for each in judgments),
    )


def _missing(reading: TruthFile, names: Mapping[str, str], found: Mapping[str, Chunk]) -> Iterator[Problem]:
    """Yield what was judged and is not there, each function once."""
    language = {query.id: query.tags.get("language", "").lower() for query in reading.truth.queries}
    there = {function.language for function in found.values()}
    gone: dict[str, tuple[int, Judgment]] = {}
    others: Counter[str] = Counter()
    for at, each in enumerate(reading.truth.judgments):
        if names[each.target] in found:
            continue
        if language[each.query_id] and language[each.query_id] not in there:
            others[language[each.query_id]] += 1
        else:
            gone.setdefault(each.target, (at, each))
    for name, count in others.items():
        yield Problem(reading.file, f"{counted(count, 'judgment')} of {name}, of which the corpus has nothing")
    for at, each in gone.values():
        yield Problem(reading.where(at), f"{each.target}: no such function in the corpus")
