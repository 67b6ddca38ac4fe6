"""What a campaign comes to: a benchmark with its splits and statistics, and the costs of its pairs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.accounts import accounts, costs_as_json
from assay.judge.export import SPLITS, benchmark, split_of, statistics, table
from assay.values import Chunk, Query


def verdict(query: str, code: str, grade: int | None, **more: Any) -> dict[str, Any]:
    told = {"path": "tests", "problem": "" if grade is not None else "chat", "reason": "r", "judge": "agents:m"}
    texts = {"query": f"how to {query}", "code": f"def {code}(): pass", "language": ""}
    return {"kind": "verdict", "query_id": query, "code_id": code, "grade": grade, **told, **texts, **more}


VERDICTS = [
    verdict("sort", "c1", 1, cases=4, executable=True, fixes=[]),
    verdict("sort", "c2", 0, cases=2, executable=False, fixes=[]),
    verdict("open", "c1", 1),
    verdict("open", "c3", None),
    verdict("lost", "c3", None),
]


def test_labels_and_all_codes_are_there_and_undecided_pairs_are_not():
    made = benchmark(VERDICTS, more=[Chunk("c9", "never a candidate"), Chunk("c1", "another text")])
    assert {query.id for query in made.queries} == {"sort", "open"}
    assert {code.id: code.text for code in made.codes}["c1"] == "def c1(): pass"
    assert [code.id for code in made.codes] == ["c1", "c2", "c3", "c9"]
    assert [(each.query_id, each.target, each.grade, each.judge) for each in made.judgments] == [
        ("sort", "c1", 1, "agents:m"),
        ("sort", "c2", 0, "agents:m"),
        ("open", "c1", 1, "agents:m"),
    ]


def test_the_statistics_are_those_of_table_two():
    made = benchmark(VERDICTS)
    told = statistics(made, VERDICTS)
    assert (told["pairs"], told["queries"], told["codes"], told["undecided"]) == (3, 2, 3, 2)
    assert told["code_length"] == len("def c1(): pass")
    assert (told["cases_a_program"], told["executable_share"]) == (3.0, 0.5)
    assert sum(each["pairs"] for each in told["splits"].values()) == 3
    assert "| 3 | 3 | 14.000 | 3.00 | 50.00% |" in table(told)
    verdicts = [verdict("sort", "c1", 1)]
    told = statistics(benchmark(verdicts), verdicts)
    assert told["executable_share"] is None
    assert "| none run | none run |" in table(told)


@given(st.integers(0, 400), st.integers(0, 9))
def test_splits_are_eight_to_one_to_one(count: int, seed: int):
    splits = split_of([Query(str(number), f"ask {number}") for number in range(count)], seed=seed)
    held = [list(splits.values()).count(name) for name in SPLITS]
    assert sum(held) == count
    assert all(abs(have - share * count / 10) < 1 for have, share in zip(held, (8, 1, 1), strict=True))


def test_a_seed_repeats_and_queries_of_the_same_words_share_a_split():
    queries = [Query(str(number), f"ask {number}") for number in range(50)]
    assert split_of(queries, seed=1) == split_of(queries[::-1], seed=1) != split_of(queries, seed=2)
    queries = [
        Query(str(number), f"Ask  {number // 5}" if number % 2 else f"ask {number // 5}") for number in range(60)
    ]
    splits = split_of(queries)
    assert all(len({splits[str(5 * group + one)] for one in range(5)}) == 1 for group in range(12))


def record(query: str, code: str, grade: int | None, path: str, **more):
    seconds = {"model": 2.0, "sandbox": 0.0, "install": 0.0}
    plain = {"query_id": query, "code_id": code, "grade": grade, "path": path, "problem": "" if path else "chat",
             "code": "x" * 10, "calls": {"screen": 1}, "tokens_in": 100, "tokens_out": 10, "cost": 0.001,
             "seconds": seconds}  # fmt: skip
    return {**plain, **more}


TESTED = {"calls": {"screen": 1, "tests": 1, "arbitrate": 1}, "cost": 0.003,
          "seconds": {"model": 6.0, "sandbox": 3.0, "install": 1.0}}  # fmt: skip
ROWS = [
    record("a", "1", 1, "screen"),
    record("a", "2", 1, "screen"),
    record("a", "3", 0, "screen"),
    record("b", "1", 1, "tests", cases=4, executable=True, fixes=["install"], **TESTED),
    record("b", "2", 0, "tests", cases=5, executable=False, fixes=["model", "irreparable"], **TESTED),
    record("c", "3", None, "", cost=None),
]


def test_accounts_are_those_of_the_paper():
    made = accounts(ROWS)
    figures = costs_as_json(made)
    assert figures["pairs"] == 6
    assert {path: each["pairs"] for path, each in figures["paths"].items()} == {"screen": 3, "tests": 2, "undecided": 1}
    assert [each["seconds_a_pair"] for each in figures["paths"].values()] == [2.0, 10.0, 2.0], "by path"
    assert (figures["cases_a_program"], figures["executable_share"], figures["repaired"]) == (4.5, 0.5, 1)
    assert (figures["calls"], figures["model_s"], figures["cost"]) == (10, 20.0, None)
    assert accounts(ROWS[:5]).cost == pytest.approx(0.009)
    assert costs_as_json(accounts([]))["pairs"] == 0
