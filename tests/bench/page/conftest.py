"""Results as a bench writes them, made up but consistent."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations
from math import erfc, log2, sqrt
from statistics import fmean, stdev
from typing import Any

import pytest

from assay.bench.results import Results, read_results

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold?</b> ]]> & ${title}"
TURNED = "find \u202eevil\u202c \x00\x1b[31m text"
MEASURES = (
    "nDCG@10",
    "MRR",
    "Hit@1",
    "Hit@5",
    "Hit@10",
    "Recall@5",
    "Recall@10",
    "success@500tokens",
    "success@2000tokens",
    "lines@5",
)
SKILLS = {"assay": 0.7, "assay vectors": 0.5, "bm25": 0.42, "semble": 0.66, "ripgrep $x^2$ <i>": 0.2}
KINDS = ("standard", "hard", "symbol", "issue")
LANGUAGES = ("python", "go", "typescript")
SETS = {"click": "dev", "hono": "dev", "gin": "test", "jsoup": "test"}


def make_results(
    *, sets: dict[str, str] | None = None, queries: int = 40, systems: dict[str, float] | None = None, seed: int = 1
) -> dict[str, Any]:
    """Return the content of a results.json."""
    dice = random.Random(seed)
    sets = SETS if sets is None else sets
    systems = SKILLS if systems is None else systems
    told = {name: _set(name, role, queries, dice) for name, role in sets.items()}
    cells = [_cell(name, told[name], system, skill, dice) for name in sets for system, skill in systems.items()]
    first = next(iter(systems), "")
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
        "systems": {
            name: {
                "spec": name.split()[0] if name.startswith(("assay", "bm25")) else f"cmd:{name} {{query}} {{corpus}}",
                "settings": {"search": {"ranking": "vectors" if "vectors" in name else "all", "depth": 200}},
                "how": "in process" if name.startswith(("assay", "bm25")) else "command",
                "base": first if name == "assay vectors" else "",
                "chosen_on": "test" if name == "semble" else "",
                "failed": {},
            }
            for name in systems
        },
        "cells": cells,
        "comparisons": [*_comparisons(told, cells)],
    }


def _set(name: str, role: str, queries: int, dice: random.Random) -> dict[str, Any]:
    asked = [_query(at, dice) for at in range(queries)]
    asked[0]["text"], asked[1]["text"] = HOSTILE, TURNED
    asked[0]["expected"] = [[f"src/{HOSTILE}.py:1-3", 2]]
    problems = (
        [f"{name}.csv:{row}: 'src/gone.py:9-2' ends before it starts {HOSTILE}" for row in (7, 12)]
        if role == "dev"
        else []
    )
    return {
        "role": role,
        "truth": f"{name}.csv",
        "qrels": "a1" * 16,
        "commit": "0123456789abcdef" * 2,
        "corpus": "c3" * 16,
        "queries": asked,
        "problems": problems,
    }


def _query(at: int, dice: random.Random) -> dict[str, Any]:
    about = dice.choice(
        (
            "timeout of a request",
            "parsing of options",
            "how colours reach the terminal",
            "where retries stop",
            "escaping of HTML",
        )
    )
    folder, stem = dice.choice(("core", "http", "cli")), dice.choice(("parser", "client", "style", "types"))
    path = f"src/{folder}/{stem}_{dice.randrange(9)}.py"
    start = dice.randrange(1, 400)
    expected = [
        [f"{path}:{start}-{start + dice.randrange(3, 60)}", dice.choice((1, 2))]
        for _ in range(dice.choice((1, 1, 2, 3)))
    ]
    tags = {"kind": dice.choice(KINDS), "language": dice.choice(LANGUAGES)}
    return {
        "id": str(at + 1),
        "text": f"{about}: number {at + 1}, as asked by somebody who has seen it once",
        "tags": tags,
        "expected": expected,
    }


def _cell(name: str, told: dict[str, Any], system: str, skill: float, dice: random.Random) -> dict[str, Any]:
    ranks = [_rank(query, skill + (0.05 if told["role"] == "dev" else 0), dice) for query in told["queries"]]
    values = {
        unit: _values([max(1, rank - shift) if rank else 0 for rank in ranks])
        for unit, shift in (("line", 0), ("function", 0), ("file", 1), ("line published", 0))
    }
    speed = {"assay": 4.0, "assay vectors": 1.1, "bm25": 0.8, "semble": 1.4}.get(system, 35.0)
    errors = (
        {"3": f"timed out after 30 s {HOSTILE}", "4": "timed out after 30 s"} if system.startswith("ripgrep") else {}
    )
    return {
        "set": name,
        "system": system,
        "figures": {unit: {measure: _figure(each) for measure, each in held.items()} for unit, held in values.items()},
        "groups": {tag: _groups(tag, told["queries"], values) for tag in ("kind", "language")},
        "values": values,
        "answers": [
            _answers(query, rank, dice) if query["id"] not in errors else []
            for query, rank in zip(told["queries"], ranks, strict=True)
        ],
        "seconds": [None if query["id"] in errors else speed / 1000 for query in told["queries"]],
        "errors": errors,
        "unjudged": 0.7 + 0.2 * dice.random(),
        "timings": {
            "index_s": 12.0 / speed,
            "cold_ms": speed * 9,
            "warm_p50_ms": speed,
            "warm_p95_ms": speed * 2.5,
            "peak_mb": 80 + 40 * speed,
            "index_bytes": None if speed > 30 else 4_200_000,
        },
    }


def _rank(query: dict[str, Any], skill: float, dice: random.Random) -> int:
    hard = 0.35 if query["tags"]["kind"] == "hard" else 0.0
    return next((rank for rank in range(1, 31) if dice.random() < max(0.04, (skill - hard) / (1 + 0.6 * rank))), 0)


def _values(ranks: list[int]) -> dict[str, list[float]]:
    def within(k: int) -> list[float]:
        return [float(0 < rank <= k) for rank in ranks]

    return {
        "nDCG@10": [1 / log2(1 + rank) if 0 < rank <= 10 else 0.0 for rank in ranks],
        "MRR": [1 / rank if rank else 0.0 for rank in ranks],
        "Hit@1": within(1),
        "Hit@5": within(5),
        "Hit@10": within(10),
        "Recall@5": within(4),
        "Recall@10": within(9),
        "success@500tokens": within(2),
        "success@2000tokens": within(6),
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


def _comparisons(sets: dict[str, Any], cells: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    roles: dict[str, list[str]] = {}
    for name, told in sets.items():
        roles.setdefault(told["role"], []).append(name)
    groups = {name: [name] for name in sets} | {
        f"all {role}".strip(): names for role, names in roles.items() if len(names) > 1
    }
    for group, names in groups.items():
        values: dict[str, list[float]] = {}
        for cell in cells:
            if cell["set"] in names:
                values.setdefault(cell["system"], []).extend(cell["values"]["line"]["nDCG@10"])
        for a, b in combinations(values, 2):
            mean, low, high = _figure([x - y for x, y in zip(values[a], values[b], strict=True)])
            p = erfc(abs(mean) / max(1e-9, (high - mean) / 1.96) / sqrt(2))
            yield {
                "set": group,
                "unit": "line",
                "measure": "nDCG@10",
                "a": a,
                "b": b,
                "difference": mean,
                "low": low,
                "high": high,
                "randomisation": p,
                "t": p,
                "holm": min(1.0, p * 10),
                "queries": len(values[a]),
            }


@pytest.fixture(scope="session")
def results_of() -> Callable[..., Results]:
    """Return what makes results."""
    return lambda **how: read_results(make_results(**how), "made up")


@pytest.fixture(scope="session")
def hostile() -> str:
    """Return a text that wants to be markup."""
    return HOSTILE
