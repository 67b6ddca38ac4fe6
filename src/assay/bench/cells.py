"""Answers to a cell of results, and a plan and its sets to what results say about them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.bench.answer_runs import Preparation, SystemAnswer, timings
from assay.bench.plan import BenchPlan, SystemSpec
from assay.bench.prepare import Prepared
from assay.bench.results import (
    JudgedFigures,
    MeasuredCell,
    MeasuredQuery,
    MeasuredSet,
    MeasuredSystem,
    RunManifest,
    Target,
    UnseenCounts,
)
from assay.bench.unseen import JudgedSet
from assay.runs.record import code_stamp, digest, hash_of, manifest

_ANSWERS = 10
"""Results of a query that results.json keeps; the files of a run have all."""
_HOW = {"cmd": "command", "http": "http", "mcp": "mcp", "run": "saved"}


@dataclass(frozen=True, slots=True)
class CellSource:
    """All that a cell is computed from."""

    ready: Prepared
    system: str
    answers: Mapping[str, SystemAnswer]
    preparation: Preparation
    plan: BenchPlan
    judged: JudgedSet | None = None

    def each(self) -> list[SystemAnswer]:
        """Return one answer a query, in the order of the set's."""
        return [
            self.answers.get(query.id, SystemAnswer(query.id, error=self.preparation.error))
            for query in self.ready.expected.queries
        ]

    def key(self) -> str:
        """Return a hash of all of it, and of the code that computes."""
        about = (self.system, has_index(self.plan, self.system), [*map(str, self.plan.measures)], self.plan.seed)
        asked = (self.ready.expected, self.ready.corpus.digest, self.judged)
        return hash_of(repr((code_stamp(), about, asked, self.each(), self.preparation)))


def cell_of(source: CellSource, earlier: Mapping[str, MeasuredCell]) -> MeasuredCell:
    """Return one system on one set; of `earlier` cells, by their key, the one that is made of the same."""
    key = source.key()
    return earlier.get(key) or _computed(source, key)


def _computed(source: CellSource, key: str) -> MeasuredCell:
    """Return a cell: its figures, by group too, the values they are made of, and what it cost.

    With labels of a judge there are figures with these, too, in a field of their own.
    """
    from assay.bench.scores import score  # which reads and parses what systems found

    ready, plan, told = source.ready, source.plan, source.each()
    found = {answer.query_id: [ready.truth_span(span) for span in answer.spans] for answer in told}
    scored = score(ready.expected, found, ready.corpus, plan.measures, seed=plan.seed)
    judged = source.judged and score(source.judged.expected, found, ready.corpus, plan.measures, seed=plan.seed)
    return MeasuredCell(
        set=ready.spec.name,
        system=source.system,
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
        timings=timings(told, source.preparation, indexed=has_index(plan, source.system)),
        judged=JudgedFigures(judged.figures(), judged.unjudged) if judged else None,
        key=key,
    )


def has_index(plan: BenchPlan, system: str) -> bool:
    """Say whether a system's preparation made an index: a command without one of its own only starts."""
    spec = next(each for each in plan.systems if each.name == system)
    return spec.spec.partition(":")[0] not in _HOW or "index" in spec.options


def set_of(ready: Prepared, unseen: UnseenCounts | None) -> MeasuredSet:
    """Return a set as results have it."""
    entries, asked = ready.expected.entries, ready.expected.queries
    queries = tuple(
        MeasuredQuery(
            query.id,
            query.text,
            dict(query.tags),
            tuple(Target(str(e.span), e.grade) for e in sorted(entries[query.id], key=lambda e: -e.grade)),
        )
        for query in asked
    )
    return MeasuredSet(
        role=ready.spec.role,
        truth=ready.spec.truth.name if ready.spec.truth else f"mined from {ready.truth.name}",
        commit=ready.corpus.commit,
        queries=queries,
        problems=tuple(map(str, ready.problems)),
        qrels=digest((query.text, [list(each) for each in query.expected]) for query in queries),
        asked=digest((q.id, q.mode, q.languages, q.paths, q.kinds) for q in asked),
        corpus=ready.corpus.digest,
        unseen=unseen,
        published=ready.spec.published,
    )


def manifest_of(plan: BenchPlan, command: str) -> RunManifest:
    """Return how results of retrieval come about."""
    limits = _Limits(plan.k, plan.timeout_s, plan.index_timeout_s, plan.threads)
    about = manifest(limits, seed=plan.seed)
    return manifest_from(about, tuple(map(str, plan.measures)), plan.k, command)


def manifest_from(
    about: dict[str, Any], measures: tuple[str, ...], k: int, command: str, kind: str = "retrieval"
) -> RunManifest:
    """Return how results of any kind come about; `about` is the manifest of their run."""
    versions = about.pop("versions")
    return RunManifest(
        measures=measures,
        k=k,
        seed=about.pop("seed"),
        versions=versions,
        kind=kind,
        when=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        command=command,
        details=about,
    )


def system_of(spec: SystemSpec, failed: Mapping[str, str]) -> MeasuredSystem:
    """Return a system as results have it, with the sets of which it answered nothing."""
    return MeasuredSystem(
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
