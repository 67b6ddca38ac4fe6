from __future__ import annotations

from assay.measure.line_spans import Span
from assay.truth.ground_truth import Truth, qrels_of
from assay.truth.judging_pool import pool
from assay.values import Chunk, Judgment, Query

TEXTS = tuple(Chunk(name, f"text of {name}", path=name) for name in "abcdefgh")
GROUND = Truth(
    "set", (Query("1", "first"), Query("2", "second")), (Judgment("1", "a", 1), Judgment("2", "b", 0)), TEXTS
)
RUNS = {
    "good": {"1": [Span("a"), Span("b"), Span("c")], "2": [Span("b"), Span("h")]},
    "bad": {"1": [Span("d"), Span("b"), Span("e")]},
}


def text_of(span: Span) -> str:
    return f"text of {span}"


def test_the_first_results_that_nobody_judged_are_pooled():
    found = pool(qrels_of(GROUND), RUNS, 2, text_of)
    assert {(pair.query_id, pair.target) for pair in found.pairs} == {("1", "b"), ("1", "d"), ("2", "h")}
    assert (found.found, found.judged, found.together) == (5, 2, 0)
    assert found.shares == {"good": 0.5, "bad": 0}
    assert {(pair.query, pair.text) for pair in found.pairs if pair.target == "h"} == {("second", "text of h")}
    told = {(source.query_id, source.target, source.system, source.rank) for source in found.sources}
    assert told == {("1", "b", "good", 2), ("1", "b", "bad", 2), ("1", "d", "bad", 1), ("2", "h", "good", 2)}
    runs = {"one": {"1": [Span("c"), Span("c"), Span("d")]}}  # a repeated result takes one place
    assert {pair.target for pair in pool(qrels_of(GROUND), runs, 2, text_of).pairs} == {"c", "d"}


def test_the_order_depends_on_the_seed_alone_and_keeps_a_query_together():
    runs = {"one": {query: [Span(name) for name in "cdefgh"] for query in "12"}, **RUNS}
    orders = [pool(qrels_of(GROUND), runs, 6, text_of, seed=seed).pairs for seed in range(8)]
    turned = dict(reversed(runs.items()))
    assert orders == [pool(qrels_of(GROUND), turned, 6, text_of, seed=seed).pairs for seed in range(8)]
    assert len(set(orders)) == 8
    for order in orders:
        first = sum(pair.query_id == order[0].query_id for pair in order)
        assert len({pair.query_id for pair in order[:first]}) == 1
    assert {order[0].query_id for order in orders} == {"1", "2"}


def test_a_place_is_judged_when_it_overlaps_an_entry():
    ground = Truth("set", (Query("1", "first"),), (Judgment("1", "a.py:10-20", 1),))
    run = {"1": [Span("a.py", 20, 30), Span("a.py", 21, 30), Span("a.py"), Span("b.py", 1, 3)]}
    found = pool(qrels_of(ground), {"one": run}, 10, text_of)
    assert {pair.target for pair in found.pairs} == {"a.py:21-30", "b.py:1-3"}
    assert found.shares == {"one": 0.5}


def test_places_of_nearly_the_same_lines_are_asked_once():
    ground = Truth("set", (Query("1", "first"),), ())
    other = [Span("a.py", 2, 10), Span("a.py", 11, 40), Span("a.py", 30, 45)]
    runs = {"one": {"1": [Span("a.py", 1, 12)]}, "other": {"1": other}}
    found = pool(qrels_of(ground), runs, 10, text_of)
    assert {pair.target for pair in found.pairs} == {"a.py:2-10", "a.py:11-40", "a.py:30-45"}
    assert found.together == 1
    told = {(source.target, source.system, source.found) for source in found.sources}
    assert ("a.py:2-10", "one", "a.py:1-12") in told


def test_strangers_and_lost_texts_are_problems():
    runs = {"one": {"1": [Span("c")], "9": [Span("c")]}}
    found = pool(qrels_of(GROUND), runs, 2, lambda _: "")
    assert [str(problem) for problem in found.problems] == [
        "one: 1 of its 2 queries are not in the ground truth: '9'",
        "1: the corpus has no text at c, which one found",
    ]
    assert (found.pairs, found.together) == ((), 0)
