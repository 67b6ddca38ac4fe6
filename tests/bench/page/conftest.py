"""Results as a bench writes them, made up but consistent."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log2, sqrt
from statistics import fmean, stdev
from typing import Any

import pytest

from assay.bench.comparisons import comparisons
from assay.bench.results import Results
from assay.bench.results_file import read_results

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold?</b> ]]> & ${title}"
TURNED = "find \u202eevil\u202c \x00\x1b[31m text"
WITHIN = {"Hit@1": 1, "Hit@5": 5, "Hit@10": 10, "Recall@5": 4, "success@500tokens": 2, "success@2000tokens": 6}
MEASURES = ("nDCG@10", "MRR", *WITHIN, "lines@5")
SKILLS = {"assay": 0.7, "assay vectors": 0.5, "bm25": 0.42, "semble": 0.66, "ripgrep $x^2$ <i>": 0.2}
SETS = {"click": "dev", "hono": "dev", "gin": "test", "jsoup": "test"}
ABOUT = ("timeout of a request", "parsing of options", "how colors reach the terminal", "escaping of HTML")


def make_results(
    *, sets: Mapping[str, str] = SETS, queries: int = 40, systems: Mapping[str, float] = SKILLS, seed: int = 1
) -> dict[str, Any]:
    """Return the content of a results.json."""
    dice = random.Random(seed)
    told = {name: _set(name, role, queries, dice) for name, role in sets.items()}
    cells = [_cell(name, told[name], system, skill, dice) for name in sets for system, skill in systems.items()]
    return {
        "format": 1,
        "manifest": {
            "measures": list(MEASURES),
            "k": 20,
            "seed": 0,
            "when": "2031-05-06T07:08:09+00:00",
            "command": "assay bench run matrix.toml --out results && echo 'done' <now>",
            "versions": {"assay": "0.3.0", "python": "3.11.9", "numpy": "2.1.0"},
            "hardware": {"machine": "x86_64", "cores": 8, "memory_mb": 32000},
        },
        "sets": told,
        "unusable": {},
        "systems": {name: _system(name, next(iter(systems), "")) for name in systems},
        "cells": cells,
        "comparisons": [],
    }


def _system(name: str, first: str) -> dict[str, Any]:
    own = name.startswith(("assay", "bm25"))
    return {
        "spec": name.split(maxsplit=1)[0] if own else f"cmd:{name} {{query}} {{corpus}}",
        "settings": {"search": {"ranking": "vectors" if "vectors" in name else "all", "depth": 200}},
        "how": "in process" if own else "command",
        "base": first if name == "assay vectors" else "",
        "chosen_on": "test" if name == "semble" else "",
        "failed": {},
    }


def _set(name: str, role: str, queries: int, dice: random.Random) -> dict[str, Any]:
    asked = [_query(at, dice) for at in range(queries)]
    asked[0] |= {"text": HOSTILE, "expected": [[f"src/{HOSTILE}.py:1-3", 2]]}
    asked[1]["text"] = TURNED
    problems = [f"{name}.csv:{row}: 'src/gone.py:9-2' ends before it starts {HOSTILE}" for row in (7, 12)]
    about = {"truth": f"{name}.csv", "qrels": "a1" * 16, "commit": "0123456789abcdef" * 2, "corpus": "c3" * 16}
    return {**about, "role": role, "queries": asked, "problems": problems if role == "dev" else []}


def _query(at: int, dice: random.Random) -> dict[str, Any]:
    path, start = f"src/{dice.choice(('core', 'http', 'cli'))}/parser_{dice.randrange(9)}.py", dice.randrange(1, 400)
    ends = [start + dice.randrange(3, 60) for _ in range(dice.choice((1, 1, 2, 3)))]
    kinds, languages = ("standard", "hard", "symbol", "issue"), ("python", "go", "typescript")
    return {
        "id": str(at + 1),
        "text": f"{dice.choice(ABOUT)}: number {at + 1}, as asked by somebody who has seen it once",
        "tags": {"kind": dice.choice(kinds), "language": dice.choice(languages)},
        "expected": [[f"{path}:{start}-{end}", dice.choice((1, 2))] for end in ends],
    }


def _cell(name: str, told: dict[str, Any], system: str, skill: float, dice: random.Random) -> dict[str, Any]:
    queries = told["queries"]
    ranks = [_rank(query, skill + (0.05 if told["role"] == "dev" else 0), dice) for query in queries]
    values = {unit: _values(ranks) for unit in ("line", "function", "line published")}
    values["file"] = _values([max(1, rank - 1) if rank else 0 for rank in ranks])
    ms = {"assay": 4.0, "assay vectors": 1.1, "bm25": 0.8, "semble": 1.4}.get(system, 35.0)
    late = "timed out after 30 s"
    errors = {"3": f"{late} {HOSTILE}", "4": late} if system.startswith("ripgrep") else {}
    return {
        "set": name,
        "system": system,
        "figures": {unit: {measure: _figure(each) for measure, each in held.items()} for unit, held in values.items()},
        "groups": {tag: _groups(tag, queries, values) for tag in ("kind", "language")},
        "values": values,
        "answers": [
            [] if query["id"] in errors else _answers(query, rank, dice)
            for query, rank in zip(queries, ranks, strict=True)
        ],
        "seconds": [None if query["id"] in errors else ms / 1000 for query in queries],
        "errors": errors,
        "unjudged": 0.7 + 0.2 * dice.random(),
        "timings": {
            "index_s": 12.0 / ms,
            "cold_ms": ms * 9,
            "warm_p50_ms": ms,
            "warm_p95_ms": ms * 2.5,
            "peak_mb": 80 + 40 * ms,
            "index_bytes": None if ms > 30 else 4_200_000,
        },
    }


def _rank(query: dict[str, Any], skill: float, dice: random.Random) -> int:
    hard = 0.35 if query["tags"]["kind"] == "hard" else 0.0
    return next((rank for rank in range(1, 31) if dice.random() < max(0.04, (skill - hard) / (1 + 0.6 * rank))), 0)


def _values(ranks: list[int]) -> dict[str, list[float]]:
    return {
        "nDCG@10": [1 / log2(1 + rank) if 0 < rank <= 10 else 0.0 for rank in ranks],
        "MRR": [1 / rank if rank else 0.0 for rank in ranks],
        **{name: [float(0 < rank <= k) for rank in ranks] for name, k in WITHIN.items()},
        "lines@5": [90.0 + rank for rank in ranks],
    }


def _figure(values: list[float]) -> list[float]:
    mean, error = fmean(values), 1.96 * (stdev(values) if len(values) > 1 else 0) / sqrt(len(values))
    return [mean, mean - error, mean + error]


def _groups(tag: str, queries: list[dict[str, Any]], values: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    members: dict[str, list[int]] = {}
    for at, query in enumerate(queries):
        members.setdefault(query["tags"][tag], []).append(at)
    return {
        value: {"queries": len(places)}
        | {unit: {m: _figure([each[at] for at in places]) for m, each in held.items()} for unit, held in values.items()}
        for value, places in sorted(members.items())
    }


def _answers(query: dict[str, Any], rank: int, dice: random.Random) -> list[str]:
    path = query["expected"][0][0].rpartition(":")[0]
    found = [f"src/core/other_{dice.randrange(99)}.py:{at * 30 + 1}-{at * 30 + 25}" for at in range(10)]
    if rank == 0:
        found[2] = f"{path}:9001-9009"
    elif rank <= 10:
        found[rank - 1] = query["expected"][0][0]
    return found


@pytest.fixture(scope="session")
def results_of() -> Callable[..., Results]:
    """Return what makes results."""

    def make(**how: Any) -> Results:
        found = read_results(make_results(**how), "made up")
        return replace(found, comparisons=tuple(comparisons(found)))

    return make


@pytest.fixture(scope="session")
def hostile() -> str:
    """Return a text that wants to be markup."""
    return HOSTILE
