from __future__ import annotations

import math

import pytest

from assay.judge.accounts import accounts, costs_as_json, planned, priced
from assay.llm.endpoint import price_of


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
    figures = costs_as_json(accounts(ROWS))
    assert (figures["pairs"], figures["queries"], figures["codes"], figures["code_length"]) == (6, 3, 3, 10.0)
    assert figures["labels"] == {"1": 3, "0": 2, "None": 1}
    assert figures["unclear_share"] == 0.5
    assert (figures["cases_a_program"], figures["executable_share"], figures["repaired_share"]) == (4.5, 0.5, 0.5)
    assert figures["fixes"] == {"install": 1, "model": 1, "irreparable": 1}
    assert figures["matches_a_query"] == {"0": 1, "1": 1, "2": 1}
    assert figures["queries_a_code"] == {"1": 1, "2": 1}
    assert figures["codes_of_two_queries"] == 0.5
    assert (figures["paths"]["tests"]["cost"], figures["paths"]["tests"]["median_s"]) == (0.003, 10.0)
    assert figures["paths"]["undecided"]["unpriced"] == 1
    assert figures["published"]["pairs"] == 412_080
    assert costs_as_json(accounts([]))["pairs"] == 0


def test_a_plan_names_its_bottleneck():
    for workers, cores, bottleneck in ((1, 1, "model"), (100, 1, "tests"), (10**6, 10**6, "this")):
        plan = planned(accounts(ROWS), 600, workers=workers, cores=cores)
        assert bottleneck in plan.bottleneck
        assert (plan.calls, plan.cost) == (1000, pytest.approx(0.9))
        assert plan.model_s == pytest.approx(2000 / workers)
        assert plan.sandbox_s == pytest.approx(600 / cores)


def test_a_plan_is_priced_by_the_lists_of_models():
    sent = {"tokens_in": 1000, "tokens_out": 100, "tokens_cached": 640, "asked_again": 1}
    made = accounts([record("a", "1", 1, "screen", **sent), record("a", "2", 0, "screen", **sent)])
    figures = costs_as_json(made)
    assert (figures["cached_share"], figures["asked_again_share"]) == (0.64, 1.0)
    plan = planned(made, 1000, workers=1, cores=1)
    assert (plan.tokens_in, plan.tokens_out, plan.tokens_cached) == (1_000_000, 100_000, 640_000)
    usd = priced(plan, {spec: price_of(spec) for spec in ("openai:gpt-5-mini", "deepseek:deepseek-chat", "x:y")})
    assert usd["openai:gpt-5-mini"] == pytest.approx(0.25 + 0.2)
    assert usd["deepseek:deepseek-chat"] == pytest.approx(0.27 + 0.11)
    assert math.isnan(usd["x:y"])


def test_calls_that_gave_no_answer_are_counted_with_what_they_took():
    made = accounts(ROWS)
    before = made.total("tokens_in")
    made.add_failed({"tokens_in": 500, "tokens_out": 200, "cost": None})
    assert made.total("tokens_in") == before + 500
    assert costs_as_json(made)["failed_calls"] == 1
