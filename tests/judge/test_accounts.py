from __future__ import annotations

import pytest

from assay.judge.accounts import accounts, costs_as_json


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
