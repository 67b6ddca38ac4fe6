"""What is wrong with a ground truth, and what of the results of systems nobody judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.truth.audit import Audit, AuditCorpus, asks, audit, collapsed, corpus_at, name_of, texts_at, twins
from assay.truth.ground_truth import Truth, qrels_of
from assay.truth.judging_pool import pool
from assay.values import Chunk, Judgment, Query

LONG = "def area(width, height):\n    return width * height if width > 0 and height > 0 else None\n"


def documents(**texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(name, text, language="python", path=name) for name, text in texts.items())


def truth(
    *judgments: tuple[str, str, int] | tuple[str, str, int, str], texts: tuple[Chunk, ...] = (), **asked: str
) -> Truth:
    names = dict.fromkeys(judgment[0] for judgment in judgments)
    queries = {**{name: f"compute the {name} of things" for name in names}, **asked}
    made = tuple(Judgment(*judgment) for judgment in judgments)
    return Truth("set", tuple(Query(name, text) for name, text in queries.items()), made, texts)


def found(ground: Truth, name: str, **options: float) -> tuple[int, int, tuple[str, ...]]:
    for finding in audit(ground, corpus_at(ground, None), **options).findings:
        if finding.name == name:
            return finding.count, finding.of, finding.examples
    return 0, 0, ()


def names(told: Audit) -> set[str]:
    return {finding.name for finding in told.findings}


def test_a_clean_ground_truth_has_no_findings_and_what_nothing_answers_is_found():
    ground = truth(
        ("area", "a", 2), ("sum", "b", 1), ("sum", "a", 0), texts=documents(a=LONG, b="def add(x, y): return x + y")
    )
    told = audit(ground, corpus_at(ground, None))
    assert (told.findings, list(told)) == ((), [])
    assert told.facts["grades"] == {0: 1, 1: 1, 2: 1}
    assert told.facts["answers"] == {"least": 1, "median": 1, "mean": 1, "most": 1}
    ground = truth(("area", "a", 0), ("gone", "x", 1), texts=documents(a=LONG), sum="add two numbers")
    ground = replace(ground, queries=tuple(each for each in ground.queries if each.id != "gone"))
    assert found(ground, "unanswered queries") == (1, 2, ("area",))
    assert found(ground, "queries without judgment") == (1, 2, ("sum",))
    assert found(ground, "unknown queries") == (1, 2, ("gone",))
    assert found(ground, "unknown targets") == (1, 2, ("x: no such document",))


def test_equal_texts_twins_judged_differently_and_twins_nobody_judged_are_found():
    texts = documents(a="x", b="x", c=LONG, d=LONG, e="x")  # the worst first
    assert found(truth(("area", "a", 1), texts=texts), "equal texts", examples=1) == (3, 5, ("c = d",))
    texts = documents(a=LONG, b=LONG, c=LONG, e="def add(x, y): return x + y")
    ground = truth(("area", "a", 2), ("area", "b", 0), ("sum", "e", 1), texts=texts)
    assert found(ground, "twins judged differently") == (1, 2, ("area: a=2 b=0",))
    assert found(ground, "twins unjudged") == (1, 2, ("area: a=2 b=0 and 1 more that are not judged",))
    ground = truth(("area", "a", 0), ("area", "c", 1), texts=documents(a=LONG, b=LONG, c="def other(): pass"))
    assert found(ground, "twins unjudged")[0] == 0  # twins of wrong answers are no matter


def test_contradictory_judgments_and_overlapping_ranges_of_other_grades_are_found():
    said = (("a", 0, "ann"), ("a", 3, "bob"), ("b", 1, "ann"), ("b", 2, "ann"), ("c", 1, "bob"))
    ground = truth(*(("area", *each) for each in said))
    assert found(ground, "contradictory judgments") == (2, 2, ("area a: ann=0 bob=3", "area b: ann=1 ann=2"))
    assert found(ground, "right and wrong")[0] == 1
    assert found(ground, "self-contradictory judgments") == (1, 2, ("area b: ann=1 ann=2",))
    ground = truth(("area", "a.py:1-9", 2), ("area", "a.py:9-12", 1), ("area", "a.py:10-11", 1), ("sum", "a.py:1-9", 1))
    assert found(ground, "overlapping ranges") == (1, 4, ("area a.py:1-9=2 9-12=1",))


def test_queries_that_ask_the_same_are_found_with_what_they_are_judged():
    ground = truth(
        ("1", "a", 1), ("2", "a", 0), ("3", "b", 1), ("4", "b", 1), ("5", "c", 1),
        **{
            "1": "How to sort lists", "2": "sorting a list", "3": "read the file", "4": "Read the  file",
            "5": "unlike any other",
        },
    )  # fmt: skip
    assert found(ground, "equal queries") == (1, 5, ("3 'read the file' = 4 'Read the file'",))
    assert found(ground, "same queries") == (1, 5, ("1 'How to sort lists' = 2 'sorting a list'",))
    count, of, (example,) = found(ground, "same queries, other grades")
    assert (count, of) == (1, 2)
    assert example.endswith(": a is 1 for 1 and 0 for 2")
    assert found(ground, "same queries, other answers")[0] == 0
    ground = truth(("1", "a", 1), ("2", "b", 1), **{"1": "sort a list", "2": "list sorting"})
    assert found(ground, "same queries, other answers")[:2] == (1, 1)
    texts = documents(a=LONG, b=LONG)
    same = truth(("1", "a", 1), ("2", "b", 1), texts=texts, **{"1": "sort a list", "2": "list sorting"})
    assert found(same, "same queries, other answers")[0] == 0


def test_the_same_words_for_another_language_are_another_query_and_no_words_are_none():
    asked = [Query(f"l{of}", "sort a list", languages=(of,)) for of in ("go", "java")]
    asked += [Query(f"t{of}", "sort a list", tags={"language": of}) for of in ("go", "java")]
    ground = Truth("set", tuple(asked), (Judgment("lgo", "a", 1), Judgment("ljava", "b", 1)))
    assert "equal queries" not in names(audit(ground, AuditCorpus()))
    ground = truth(("area", "a", 1), ("odd", "a", 0), odd="?!")
    assert found(ground, "no word") == (1, 2, ("odd '?!'",))
    ground = Truth("qrels", (Query("1", ""), Query("2", "")), (Judgment("1", "a", 1), Judgment("2", "b", 0)))
    assert names(audit(ground, AuditCorpus())) == {"unanswered queries"}


def test_chunks_of_a_checkout_are_audited_as_hints(tmp_path: Path):
    body = "".join(f"    total = total + {at}\n" for at in range(6))
    (tmp_path / "a.py").write_text(f"def one(total):\n{body}\n\ndef two(total):\n    return total\n")
    (tmp_path / "b.py").write_text(f"def one(total):\n{body}")
    ground = truth(("area", "a.py:2-7", 1), ("sum", "c.py:1-2", 1), ("sum", "a.py:90-99", 1))
    told = audit(ground, corpus_at(ground, tmp_path))
    findings = {finding.name: finding for finding in told}
    assert findings["twins unjudged"].count == 1
    assert findings["unknown targets"].examples == (
        "c.py:1-2: no such file in the folder",
        "a.py:90-99: the file ends at line 11 in the folder",
    )
    assert "equal texts" in {hint.name for hint in told.hints}


def test_lines_speak_of_the_chunks_that_hold_half_of_them_and_words_come_in_any_form():
    texts = [Chunk("", "", path="a.py", start_line=start, end_line=end) for start, end in [(1, 10), (11, 12), (13, 40)]]
    places = texts_at(texts)
    assert (list(places("a.py:2-11")), list(places("a.py:9-15"))) == ([0], [2])
    assert list(places("a.py")) == [0, 1, 2]
    assert list(places("a.py:41-50")) == list(places("b.py:1-2")) == []
    assert name_of(Chunk("7", "x")) == "7"
    assert name_of(Chunk("7", "x", path="a.py", start_line=3, end_line=4)) == "a.py:3-4"
    assert asks("How do I sort the lists?") == asks("sorting list")
    assert asks("what is it") == asks("IT is what")
    assert asks("read file") != asks("write file")


EVERY_KIND = """import os


class Server:
    def run(self):
        return os.getpid()
"""


def test_targets_of_every_kind_are_found_as_they_are_when_they_are_measured(tmp_path: Path):
    (tmp_path / "a.py").write_text(EVERY_KIND)
    (tmp_path / "doc.md").write_text("# One\n\ntext\n")
    (tmp_path / ".gitignore").write_text("made.py\n")
    (tmp_path / "made.py").write_text("x = 1\n")
    targets = ("a.py::Server", "a.py::Server.run", "a.py::Server::run", "a.py:2-3", "a.py", "doc.md::One", "made.py")
    ground = truth(*(("area", target, 1) for target in targets), ("sum", "a.py::Server.walk", 1))
    told = audit(ground, corpus_at(ground, tmp_path))
    findings = {finding.name: finding.examples for finding in told}
    assert findings["unknown targets"] == ("a.py::Server.walk: no such symbol in the folder; did you mean 'Server'?",)
    assert {hint.name: hint.examples for hint in told.hints}["targets outside the chunks"] == ("a.py:2-3", "made.py")


def test_collapsing_keeps_the_first_document_and_the_highest_grade():
    texts = documents(a=LONG, b=LONG, c="def add(x, y): return x + y")
    ground = truth(("area", "b", 1), ("area", "a", 0), ("sum", "c", 1), ("sum", "b", 0, "ann"), texts=texts)
    reading = collapsed(ground, twins([text.text for text in texts]))
    assert [document.id for document in reading.truth.documents] == ["a", "c"]
    assert reading.truth.judgments == (
        Judgment("area", "a", 1), Judgment("sum", "c", 1), Judgment("sum", "a", 0, "ann"),
    )  # fmt: skip
    assert [str(problem) for problem in reading.problems] == ["area: a is judged 1 and 0; 1 stays"]
    assert "twins unjudged" not in names(audit(reading.truth, corpus_at(reading.truth, None)))
    with pytest.raises(InputError, match="no documents to merge"):
        collapsed(truth(("area", "a.py:1-2", 1)), twins(["a"]))


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


def test_a_place_is_judged_when_it_overlaps_an_entry_and_asked_once():
    ground = Truth("set", (Query("1", "first"),), (Judgment("1", "a.py:10-20", 1),))
    run = {"1": [Span("a.py", 20, 30), Span("a.py", 21, 30), Span("a.py"), Span("b.py", 1, 3)]}
    found = pool(qrels_of(ground), {"one": run}, 10, text_of)
    assert {pair.target for pair in found.pairs} == {"a.py:21-30", "b.py:1-3"}
    assert found.shares == {"one": 0.5}
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
