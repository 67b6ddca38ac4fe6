"""Find what is wrong with a ground truth: twins, contradictions, queries without an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assay.corpus.chunk import parse
from assay.corpus.walk import walk
from assay.corpus.walked_files import read
from assay.errors import InputError
from assay.measure.line_spans import Span, span_of
from assay.protocols import Progress
from assay.truth import audit_findings
from assay.truth.audit_findings import Audit, AuditFinding, TextsAt
from assay.truth.ground_truth import Truth, TruthFile
from assay.truth.target_places import Places, fault_of, path_of
from assay.truth.twins import THRESHOLD, Numbers, Twins, clusters, jaccard, numbered, twins_of
from assay.values import Chunk, Judgment, Problem


@dataclass(frozen=True, slots=True)
class AuditCorpus:
    """What the judgments speak of."""

    texts: Sequence[Chunk] = ()
    """The documents, or the chunks of the checkout."""
    checkout: Places | None = None
    """What finds targets there, the one way that checking and measuring find them."""


def audit(
    truth: Truth,
    corpus: AuditCorpus,
    *,
    threshold: float = THRESHOLD,
    examples: int = 3,
    report: Progress | None = None,
) -> Audit:
    """Find what is wrong with a ground truth."""
    texts = corpus.texts
    names = [name_of(text) for text in texts]
    places = texts_at(texts, corpus.checkout)
    twins = twins_of(texts, threshold, report) if texts else None
    facts = {**audit_findings.facts(truth), "texts": len(texts), **_counts(twins)}
    of_texts = _corpus(texts, twins, threshold, examples) if twins else ()
    found = [
        *(replace(each, hint=not truth.documents) for each in of_texts),
        *audit_findings.query_findings(truth.queries, _grades(truth, names, places, twins)),
        *audit_findings.judgment_findings(truth, names, places, twins, faults_in(truth, places, corpus.checkout)),
    ]
    return Audit(facts, tuple(replace(each, examples=each.examples[:examples]) for each in found if each.count))


def corpus_at(truth: Truth, root: Path | None) -> AuditCorpus:
    """Return what there is to find: the documents of a ground truth, else a folder, taken as it is."""
    if truth.documents or root is None:
        return AuditCorpus(truth.documents)
    chunks = tuple(
        chunk
        for file in walk(root).files
        if isinstance(text := read(root, file), str)
        for chunk in parse(file.path, text).chunks
    )
    return AuditCorpus(chunks, Places(root, ""))


def name_of(text: Chunk) -> str:
    """Return the target that names a text: its lines where it has any, else its id."""
    return f"{text.path}:{text.start_line}-{text.end_line}" if text.path and text.start_line else text.path or text.id


def faults_in(truth: Truth, places: TextsAt, checkout: Places | None) -> Mapping[str, str]:
    """Return the targets that nobody can find, and why."""
    targets = dict.fromkeys(judgment.target for judgment in truth.judgments)
    if checkout is None:
        return {target: "no such document" for target in targets if not places(target)} if truth.documents else {}
    checkout.load(map(path_of, targets))
    return {target: fault for target in targets if (fault := fault_of(checkout, target))}


def texts_at(texts: Sequence[Chunk], checkout: Places | None = None) -> TextsAt:
    """Return what finds the texts that a target speaks of.

    Lines speak of the chunks that hold half of them, so that a bracket at their edge is not taken for an answer, or
    else of the chunk that holds most; a file speaks of all its chunks.
    """
    by_path: defaultdict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        by_path[text.path or text.id].append(place)

    def places(target: str) -> Collection[int]:
        if target in by_path:
            return by_path[target]
        try:
            span = checkout.span(target) if checkout else span_of(target)
        except InputError:
            return ()
        return _holding(span, texts, by_path)

    return places


def _holding(span: Span, texts: Sequence[Chunk], by_path: Mapping[str, Sequence[int]]) -> Collection[int]:
    shared = {
        place: min(texts[place].end_line, span.end) - max(texts[place].start_line, span.start) + 1
        for place in by_path.get(span.path, ())
    }
    most = max(shared.values(), default=0)
    least = min(most, (span.end - span.start + 2) // 2)
    return [place for place, lines in shared.items() if lines >= max(least, 1)]


def _counts(twins: Twins | None) -> dict[str, int]:
    if twins is None:
        return {}
    kinds = {"different": twins.exact, "different_plain": twins.plain, "different_near": twins.near}
    return {name: len(np.unique(groups)) for name, groups in kinds.items()}


def _corpus(texts: Sequence[Chunk], twins: Twins, threshold: float, examples: int) -> Iterator[AuditFinding]:
    """Yield the three kinds of twins, each with what the one before it has not."""
    plain = "texts that equal an earlier one but for layout and comments"
    near = f"texts that are nearly an earlier one: {threshold:g} of the five-token shingles of both are shared"
    yield _surplus("equal texts", "texts that equal an earlier one", np.arange(len(texts)), twins.exact, texts)
    yield _surplus("equal but for layout", plain, twins.exact, twins.plain, texts)
    pairs = [group[:2] for group in _different(twins.plain, twins.near, texts)[:examples]]
    similar = [jaccard(*numbered([texts[place] for place in pair])) for pair in pairs]
    finding = _surplus("nearly equal texts", near, twins.plain, twins.near, texts)
    told = [f"{text} ({share:.2f} shared)" for text, share in zip(finding.examples, similar, strict=False)]
    yield replace(finding, examples=tuple(told))


def _surplus(name: str, what: str, finer: Numbers, groups: Numbers, texts: Sequence[Chunk]) -> AuditFinding:
    different = _different(finer, groups, texts)
    count = sum(len(group) - 1 for group in different)
    return AuditFinding(
        name, count, len(texts), what, tuple(_listed([name_of(texts[at]) for at in each]) for each in different)
    )


def _different(finer: Numbers, groups: Numbers, texts: Sequence[Chunk]) -> list[list[int]]:
    """Return groups of texts that differ by a finer measure, one of each kind; most repeated text first."""
    firsts = np.flatnonzero(finer == np.arange(len(finer)))
    found = [[int(firsts[place]) for place in group] for group in clusters(groups[firsts])]
    return sorted(found, key=lambda group: -(len(group) - 1) * len(texts[group[0]].text))


def _listed(group: Sequence[str]) -> str:
    more = f" … {len(group)} in all" if len(group) > 4 else ""
    return " = ".join(group[:4]) + more


def _grades(
    truth: Truth, names: Sequence[str], places: TextsAt, twins: Twins | None
) -> Mapping[str, Mapping[Hashable, int]]:
    """Return the highest grade of what was judged, by query; equal texts are one."""
    found: defaultdict[str, dict[Hashable, int]] = defaultdict(dict)
    for judgment in truth.judgments:
        known = tuple(places(judgment.target)) if twins is not None else ()
        target = names[twins.exact[known[0]]] if twins is not None and len(known) == 1 else judgment.target
        grades = found[judgment.query_id]
        grades[target] = max(judgment.grade, grades.get(target, 0))
    return found


def collapsed(truth: Truth, groups: Numbers) -> TruthFile:
    """Make each group of documents one; the problems are the judgments that contradicted a higher one."""
    if not truth.documents:
        raise InputError(f"'{truth.name}' has no documents to make one: twins in a checkout stay two places")
    names = [document.path or document.id for document in truth.documents]
    first = {names[place]: names[group[0]] for group in clusters(groups) for place in group}
    kept = tuple(each for each, name in zip(truth.documents, names, strict=True) if first.get(name, name) == name)
    judgments, problems = _moved(truth.judgments, first)
    hidden = tuple(dict.fromkeys(first.get(target, target) for target in truth.hidden))
    return TruthFile(replace(truth, documents=kept, judgments=judgments, hidden=hidden), problems)


def _moved(judgments: Sequence[Judgment], first: dict[str, str]) -> tuple[tuple[Judgment, ...], tuple[Problem, ...]]:
    best: dict[tuple[str, str, str], Judgment] = {}
    problems = []
    for judgment in judgments:
        moved = replace(judgment, target=first.get(judgment.target, judgment.target))
        key = moved.query_id, moved.target, moved.judge
        other = best.setdefault(key, moved)
        if other.grade != moved.grade:
            high, low = sorted((other, moved), key=lambda each: -each.grade)
            best[key] = high
            problems.append(_problem_of(high, low, judgment))
    return tuple(best.values()), tuple(problems)


def _problem_of(high: Judgment, low: Judgment, judgment: Judgment) -> Problem:
    by = f" by {high.judge}" if high.judge else ""
    where = high.target if judgment.target == high.target else f"{high.target} (its twin {judgment.target})"
    return Problem(high.query_id, f"{where} is judged {high.grade} and {low.grade}{by}; {high.grade} stays")
