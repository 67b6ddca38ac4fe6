"""Score the answers of one system to one set, and describe sets, systems and runs for results.json."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from assay.bench import results
from assay.bench.answer_runs import Preparation, SystemAnswer, timings
from assay.bench.matrix import BenchPlan, SystemSpec
from assay.bench.query_sets import JudgedSet, Prepared
from assay.bench.system import SystemCorpus, checkout_of, lines_of
from assay.corpus.git import answer
from assay.corpus.outline import functions
from assay.corpus.pinned import LINKS, changed, tree
from assay.errors import InputError
from assay.measure.compare import Values, interval
from assay.measure.line_spans import Span, Unit
from assay.measure.matched import Matched, match
from assay.measure.measures import Measure
from assay.report.document import Mean
from assay.runs.record import code_stamp, digest, hash_of, manifest
from assay.terms import tokens
from assay.truth.ground_truth import Qrels
from assay.values import NamedSpan

_GROUPS = ("kind", "folder", "language", "source", "split")
"""Tags that measures are told by."""
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Scored:
    """One system on one set."""

    values: Mapping[Unit, Mapping[str, Values]]
    """By unit and measure, one value a query in the order of the set's."""
    unjudged: float
    """The share of its first ten results that nobody judged."""
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By tag, its value for each query."""
    seed: int = 0
    """Of the intervals."""

    def figures(self) -> results.Figures:
        """Return mean and 95% interval by unit and measure."""
        return self._figures(slice(None))

    def groups(self) -> dict[str, dict[str, results.GroupFigures]]:
        """Return the figures of each group of queries, by tag and its value; a tag with one value says nothing."""
        return {tag: dict(self._grouped(values)) for tag, values in self.tags.items() if len(set(values)) > 1}

    def _grouped(self, values: Sequence[str]) -> Iterator[tuple[str, results.GroupFigures]]:
        members: dict[str, list[int]] = defaultdict(list)
        for place, value in enumerate(values):
            members[value or "(none)"].append(place)
        for value, places in sorted(members.items()):
            yield value, results.GroupFigures(len(places), self._figures(np.array(places)))

    def _figures(self, members: Any) -> results.Figures:
        return {unit: self._means(values, members) for unit, values in self.values.items()}

    def _means(self, values: Mapping[str, Values], members: Any) -> dict[str, Mean]:
        chosen = {name: every[members] for name, every in values.items()}
        return {name: Mean(_mean(some), *interval(some, seed=self.seed)) for name, some in chosen.items() if len(some)}


def score(
    truth: Qrels,
    answers: Mapping[str, Sequence[Span]],
    corpus: SystemCorpus,
    measures: Sequence[Measure],
    *,
    seed: int = 0,
) -> Scored:
    """Measure ranked answers; a query without one counts zero."""
    files = {document.id: document.path for document in corpus.documents}

    @cache
    def lines(path: str) -> list[str]:
        return lines_of(corpus, files.get(path, path))

    @cache
    def units(path: str) -> list[NamedSpan]:
        return functions(path, "\n".join(lines(path)))

    def cost(span: Span) -> int:
        """Return how many tokens a reader pays for a result."""
        read = lines(span.path)
        return tokens("\n".join(read[span.start - 1 : span.end] if span.start else read))

    values: dict[Unit, dict[str, Values]] = {}
    judged = 0.0
    for unit in truth.units:
        matched = match(answers, truth.entries, unit, cost=cost, units=units)
        computed = {str(measure): measure.of(matched) for measure in measures}
        values[unit] = {name: each for name, each in computed.items() if not np.isnan(each).any()}  # lines of a file
        if unit == truth.units[0]:
            judged = _judged(matched)
    tags = {tag: [query.tags.get(tag, "") for query in truth.queries] for tag in _GROUPS}
    return Scored(values, 1 - judged, tags, seed)


def _judged(matched: Matched) -> float:
    """Return the share of the results within reach of a reader that somebody judged."""
    filled = int(np.minimum(matched.filled, _DEPTH).sum())
    return float(matched.judged[:, :_DEPTH].sum()) / filled if filled else 1.0


def _mean(values: Values) -> float:
    """Add up in order, for then a figure equals that of a plain loop to the last digit."""
    return float(sum(values.tolist())) / len(values)


_ANSWERS = 10
"""Results of a query that results.json keeps; the files of a run have all."""
_HOW = {"cmd": "command", "http": "http", "mcp": "mcp", "run": "saved"}


def cell_of(  # noqa: PLR0913, PLR0917  all that a cell is computed from
    ready: Prepared,
    system: str,
    answers: Mapping[str, SystemAnswer],
    preparation: Preparation,
    plan: BenchPlan,
    judged: JudgedSet | None,
    earlier: Mapping[str, results.MeasuredCell],
) -> results.MeasuredCell:
    """Return one system on one set: its figures, by group too, the values they are made of, and what it cost.

    Of `earlier` cells, by their key, it is the one that is made of the same by the same code. With labels of a judge
    there are figures with these, too, in a field of their own.
    """
    asked, indexed = ready.expected.queries, has_index(plan, system)
    told = [answers.get(query.id, SystemAnswer(query.id, error=preparation.error)) for query in asked]
    about = (system, indexed, [*map(str, plan.measures)], plan.seed)
    key = hash_of(repr((code_stamp(), about, (ready.expected, ready.corpus.digest, judged), told, preparation)))
    if key in earlier:
        return earlier[key]
    found = {answer.query_id: [ready.truth_span(span) for span in answer.spans] for answer in told}
    scored = score(ready.expected, found, ready.corpus, plan.measures, seed=plan.seed)
    second = judged and score(judged.expected, found, ready.corpus, plan.measures, seed=plan.seed)
    return results.MeasuredCell(
        set=ready.spec.name,
        system=system,
        figures=scored.figures(),
        groups=scored.groups(),
        values={
            unit: {name: tuple(each.tolist()) for name, each in values.items()}
            for unit, values in scored.values.items()
        },
        answers=tuple(tuple(str(span) for span in found[answer.query_id][:_ANSWERS]) for answer in told),
        seconds=tuple(answer.seconds for answer in told),
        errors={answer.query_id: answer.error for answer in told if answer.error},
        unjudged=scored.unjudged,
        timings=timings(told, preparation, indexed=indexed),
        judged=results.JudgedFigures(second.figures(), second.unjudged) if second else None,
        key=key,
    )


def has_index(plan: BenchPlan, system: str) -> bool:
    """Say whether a system's preparation made an index: a command without one of its own only starts."""
    spec = next(each for each in plan.systems if each.name == system)
    return spec.spec.partition(":")[0] not in _HOW or "index" in spec.options


def set_of(ready: Prepared, unseen: results.UnseenCounts | None) -> results.MeasuredSet:
    """Return a set as results have it."""
    entries, asked = ready.expected.entries, ready.expected.queries
    queries = []
    for query in asked:
        best = sorted(entries[query.id], key=lambda each: -each.grade)
        expected = tuple(results.Target(str(each.span), each.grade) for each in best)
        queries.append(results.MeasuredQuery(query.id, query.text, dict(query.tags), expected))
    return results.MeasuredSet(
        role=ready.spec.role,
        truth=ready.spec.truth.name if ready.spec.truth else f"mined from {ready.truth.name}",
        commit=ready.corpus.commit or _head(ready.spec.corpus),
        queries=tuple(queries),
        problems=tuple(map(str, ready.problems)),
        gone=tuple(map(str, ready.gone)),
        qrels=digest((query.text, [list(each) for each in query.expected]) for query in queries),
        asked=digest((q.id, q.mode, q.languages, q.paths, q.kinds) for q in asked),
        corpus=ready.corpus.digest,
        unseen=unseen,
        published=ready.spec.published,
        behind=_behind(ready) if ready.is_pinned and ready.corpus.commit else None,
        follows=not ready.is_pinned and not ready.truth.documents,
    )


def _behind(ready: Prepared) -> int | None:
    """Return how many commits of the checkout came after the one that a set is about; None where nobody can say."""
    folder = checkout_of(ready.truth, ready.spec.corpus)
    told = answer(folder, "rev-list", "--count", f"{ready.corpus.commit}..HEAD") if folder else ""
    return int(told) if told.isdecimal() else None


def _head(folder: Path | None) -> str:
    """Return the commit that a folder has checked out; empty where tracked files differ from it."""
    with suppress(InputError):
        head = answer(folder, "rev-parse", "--verify", "--quiet", "HEAD") if folder else ""
        files = (path for path, blob in tree(folder, head).items() if blob.mode not in LINKS) if folder and head else ()
        return head if folder and head and not changed(folder, head, files) else ""
    return ""


def manifest_of(plan: BenchPlan, command: str) -> results.RunManifest:
    """Return how results of retrieval come about."""
    limits = _Limits(plan.k, plan.timeout_s, plan.index_timeout_s, plan.threads)
    about = manifest(limits, seed=plan.seed)
    return manifest_from(about, tuple(map(str, plan.measures)), plan.k, command)


def manifest_from(
    about: dict[str, Any], measures: tuple[str, ...], k: int, command: str, kind: str = "retrieval"
) -> results.RunManifest:
    """Return how results of any kind come about; `about` is the manifest of their run."""
    versions = about.pop("versions")
    return results.RunManifest(
        measures=measures,
        k=k,
        seed=about.pop("seed"),
        versions=versions,
        kind=kind,
        when=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        command=command,
        details=about,
    )


def system_of(spec: SystemSpec, failed: Mapping[str, str]) -> results.MeasuredSystem:
    """Return a system as results have it, with the sets of which it answered nothing."""
    return results.MeasuredSystem(
        spec=spec.spec,
        base=spec.base,
        chosen_on=spec.chosen_on,
        failed=failed,
        name=spec.name,
        needs=spec.needs,
        how=_HOW.get(spec.spec.partition(":")[0], "in process"),
        settings=spec.options,
        threshold=spec.threshold,
    )


@dataclass(frozen=True, slots=True)
class _Limits:
    """What is the same for all systems."""

    k: int
    timeout_s: float
    index_timeout_s: float
    threads: int
