from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.truth.ground_truth import Truth, qrels_of
from assay.truth.judging_pool import COLUMNS, Pool, pool, read_labels, write_pool
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


def pooled(depth: int = 2, **options: int) -> Pool:
    return pool(qrels_of(GROUND), RUNS, depth, text_of, **options)


def test_the_first_results_that_nobody_judged_are_pooled():
    found = pooled()
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
    runs = {
        "one": {"1": [Span("a.py", 1, 12)]},
        "other": {"1": [Span("a.py", 2, 10), Span("a.py", 11, 40), Span("a.py", 30, 45)]},
    }
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


def test_a_judge_sees_no_system_and_no_rank(tmp_path: Path):
    out = tmp_path / "pool.jsonl"
    beside = write_pool(pooled(), out)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(tuple(row) == COLUMNS and row["grade"] == row["reason"] == "" for row in rows)
    assert "good" not in out.read_text()
    assert beside == tmp_path / "pool.sources.jsonl"
    assert '"system": "good"' in beside.read_text()


@pytest.mark.parametrize("name", ["pool.jsonl", "pool.csv"])
def test_labels_come_back_as_far_as_they_go(tmp_path: Path, name: str):
    out = tmp_path / name
    write_pool(pooled(), out)
    fill(out, {("1", "b"): ("2", "all of it"), ("2", "h"): (" 0 ", "")})
    reading = read_labels(GROUND, out, "ann")
    assert reading.problems == ()
    added = set(reading.truth.judgments[2:])
    assert added == {Judgment("1", "b", 2, "ann", "all of it"), Judgment("2", "h", 0, "ann")}
    assert read_labels(reading.truth, out, "ann").truth == reading.truth


def fill(file: Path, grades: dict[tuple[str, str], tuple[str, str]]) -> None:
    """Label some rows of a pool, as a person would."""
    lines = file.read_text().splitlines()
    rows = list(csv.DictReader(lines)) if file.suffix == ".csv" else [json.loads(line) for line in lines]
    for row in rows:
        row["grade"], row["reason"] = grades.get((row["query_id"], row["target"]), ("", ""))
    with file.open("w", newline="") as handle:
        if file.suffix == ".csv":
            writer = csv.DictWriter(handle, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        else:
            handle.writelines(json.dumps(row) + "\n" for row in rows)


def test_a_row_that_cannot_be_used_is_a_problem_of_its_own(tmp_path: Path):
    file = tmp_path / "pool.jsonl"
    good = {"query_id": "1", "target": "d", "grade": 3}
    for row, what in (
        ({"query_id": "1", "target": "c", "grade": "good"}, "'good' is no grade"),
        ({"query_id": "1", "target": "c", "grade": -1}, "'-1' is no grade"),
        ({"query_id": "1", "target": "c", "grade": 1.5}, "'1.5' is no grade"),
        ({"query_id": "1", "target": "c", "grade": True}, "'True' is no grade"),
        ({"query_id": "9", "target": "c", "grade": 1}, "the ground truth has no query '9'"),
        ({"query_id": "1", "target": "../c", "grade": 1}, "leads out of the repository"),
        ({"query_id": "1", "grade": 1}, "is no path"),
    ):
        file.write_text("".join(json.dumps(each) + "\n" for each in (row, good)) + "no json\n")
        reading = read_labels(GROUND, file, "ann")
        assert [problem.where for problem in reading.problems] == ["pool.jsonl:1", "pool.jsonl:3"]
        assert what in reading.problems[0].what
        assert reading.truth.judgments[2:] == (Judgment("1", "d", 3, "ann"),)


def test_a_judge_who_changes_his_mind_is_told(tmp_path: Path):
    file = tmp_path / "pool.csv"
    file.write_text("query_id,target,grade,judge\n1,c,2,ann\n1,c,1,ann\n1,c,1,bob\n1,c,2,ann\n1,c,1,ann,too,many\n")
    reading = read_labels(GROUND, file)
    assert [str(problem) for problem in reading.problems] == [
        "pool.csv:3: c is judged 2 already: 1 is left out",
        "pool.csv:6: 6 cells, wanted 4",
    ]
    assert [judgment.judge for judgment in reading.truth.judgments[2:]] == ["ann", "bob"]


def test_a_pool_without_a_judge_a_column_or_a_form_is_an_error_and_no_cell_is_a_formula(tmp_path: Path):
    file = tmp_path / "pool.csv"
    file.write_text("query_id,target,grade\n1,c,2\n")
    with pytest.raises(InputError, match=r"pool\.csv:2 does not say who judged: give --judge NAME"):
        read_labels(GROUND, file)
    file.write_text("query,target,grades\n1,c,2\n")
    with pytest.raises(InputError, match="no column 'query_id'; did you mean 'query'"):
        read_labels(GROUND, file, "ann")
    with pytest.raises(InputError, match=r"neither \.jsonl nor \.csv"):
        write_pool(pooled(), tmp_path / "pool.txt")
    write_pool(pool(qrels_of(GROUND), RUNS, 2, lambda _: "=cmd()"), file)
    with file.open(newline="") as handle:
        assert {row["text"] for row in csv.DictReader(handle)} == {"'=cmd()"}
