"""Answers to a cell of results, and a plan and its sets to what results say about them: plain values for JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from assay import records
from assay.bench.plan import Plan, SystemSpec
from assay.bench.prepare import Prepared
from assay.bench.results import Results, empty
from assay.bench.runs import Answer, Preparation, timings
from assay.bench.scores import score
from assay.bench.unseen import Seen
from assay.measure.lines import Span

_ANSWERS = 10
"""Results of a query that results.json keeps; the files of a run have all."""
_HOW = {"cmd": "command", "http": "http", "mcp": "mcp", "run": "saved"}


def cell(  # noqa: PLR0913, PLR0917  # each is one thing
    ready: Prepared,
    system: str,
    answers: Mapping[str, Answer],
    preparation: Preparation,
    plan: Plan,
    judged: Seen | None = None,
) -> dict[str, Any]:
    """Return one system on one set: its figures, by group too, the values they are made of, and what it cost.

    With labels of a judge there are figures with these, too, under a key of their own.
    """
    queries = ready.expected.queries
    told = [answers.get(query.id, Answer(query.id, error=preparation.error)) for query in queries]
    found = {answer.query_id: [ready.named(span) for span in answer.spans] for answer in told}
    scored = score(ready.expected, found, ready.corpus, plan.measures, seed=plan.seed)
    return {
        "set": ready.spec.name,
        "system": system,
        "figures": scored.figures(),
        "groups": scored.groups(),
        "values": {
            unit: {name: each.tolist() for name, each in values.items()} for unit, values in scored.values.items()
        },
        "answers": [[str(span) for span in found[query.id][:_ANSWERS]] for query in queries],
        "seconds": [answer.seconds for answer in told],
        "errors": {answer.query_id: answer.error for answer in told if answer.error},
        "unjudged": scored.unjudged,
        "timings": timings(told, preparation) | ({} if has_index(plan, system) else {"index_s": None}),
        **({"judged": _judged(ready, found, plan, judged)} if judged else {}),
    }


def _judged(ready: Prepared, found: Mapping[str, list[Span]], plan: Plan, judged: Seen) -> dict[str, Any]:
    """Return the figures that labels of a judge make beside those of people."""
    scored = score(judged.expected, found, ready.corpus, plan.measures, seed=plan.seed)
    return {"figures": scored.figures(), "unjudged": scored.unjudged}


def has_index(plan: Plan, system: str) -> bool:
    """Say whether a system's preparation made an index: a command without one of its own only starts."""
    spec = next(each for each in plan.systems if each.name == system)
    return spec.spec.partition(":")[0] not in _HOW or "index" in spec.options


def told(ready: Prepared) -> dict[str, Any]:
    """Return a set as results have it."""
    entries = ready.expected.entries
    queries = [
        {
            "id": query.id,
            "text": query.text,
            "tags": dict(query.tags),
            "expected": [[str(e.span), e.grade] for e in sorted(entries[query.id], key=lambda e: -e.grade)],
        }
        for query in ready.expected.queries
    ]
    return {
        "role": ready.spec.role,
        "truth": ready.spec.truth.name if ready.spec.truth else f"mined from {ready.truth.name}",
        "qrels": records.digest((query["text"], query["expected"]) for query in queries),
        "asked": records.digest((q.id, q.mode, q.languages, q.paths, q.kinds) for q in ready.expected.queries),
        "commit": ready.corpus.commit,
        "corpus": ready.corpus.digest,
        "queries": queries,
        "problems": list(map(str, ready.problems)),
    }


def described(plan: Plan, command: str) -> Results:
    """Return results without cells: how they come about, and the systems."""
    about = {
        **records.manifest(_Limits(plan.k, plan.timeout_s, plan.index_timeout_s, plan.threads), seed=plan.seed),
        "measures": list(map(str, plan.measures)),
        "k": plan.k,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": command,
    }
    systems = {each.name: _system(each) for each in plan.systems}
    return {**empty(), "manifest": about, "systems": systems}


@dataclass(frozen=True, slots=True)
class _Limits:
    """What is the same for all systems."""

    k: int
    timeout_s: float
    index_timeout_s: float
    threads: int


def _system(spec: SystemSpec) -> dict[str, Any]:
    held = asdict(spec)
    how = _HOW.get(spec.spec.partition(":")[0], "in process")
    return {**held, "settings": held.pop("options"), "how": how, "failed": {}}
