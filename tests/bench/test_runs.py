"""Answers of systems in a file: kept, found again by what decides them, never mixed up, and scored."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from assay.bench import answer_runs
from assay.bench.answer_runs import Preparation, RunFile, SystemAnswer, key_of, timings
from assay.bench.results import Timings
from assay.bench.scores import score
from assay.bench.system import SystemCorpus
from assay.errors import InputError, StorageError
from assay.measure.line_spans import Entry, Span
from assay.measure.measures import parse
from assay.truth.ground_truth import Truth, qrels_of
from assay.values import Chunk, Judgment, Query

QUERIES = [Query("1", "send"), Query("2", "read"), Query("3", "write")]
GOOD = SystemAnswer("1", (Span("a.py", 1, 3), Span("b c.py")), (0.5, 0.25), 0.01, cold=True)
BAD = SystemAnswer("2", error="timed out")
PARTLY = SystemAnswer("3", (Span("a.py:7"),), (1.0,), 0.02, "1 of 2 results name no file of the corpus: /etc/passwd")
KEY = key_of("bm25", {}, "digest", 20, QUERIES)


def opened(file: Path, key: str = KEY) -> RunFile:
    return RunFile(file, key, {"spec": "bm25"})


def test_what_was_answered_is_not_asked_again_even_after_an_interrupt(tmp_path: Path):
    file = tmp_path / "deep" / "run.jsonl"
    with opened(file) as run:
        assert run.missing(QUERIES) == QUERIES
        for answer in (GOOD, BAD, PARTLY):
            run.add(answer)
    again = opened(file)
    assert again.answers == {"1": GOOD, "2": BAD, "3": PARTLY}
    assert [query.id for query in again.missing(QUERIES)] == ["2"]
    with again:
        again.add(replace(GOOD, query_id="2"))
    assert opened(file).missing(QUERIES) == []
    file = tmp_path / "run"
    with suppress(KeyboardInterrupt), opened(file) as run:
        run.add(GOOD)
        run.add(PARTLY)
        raise KeyboardInterrupt
    assert opened(file).answers == {"1": GOOD, "3": PARTLY}
    file.write_bytes(file.read_bytes()[:-5])
    assert [query.id for query in opened(file).missing(QUERIES)] == ["2", "3"]
    prepared = Preparation(1.5, 1000, 80.0, "child", 1, 2, "", ("run.txt:3: no",))
    with opened(tmp_path / "other") as run:
        run.prepared(replace(prepared, index_s=9.0))
        run.prepared(prepared)
    assert opened(tmp_path / "other").preparation == prepared, "what preparation took is kept with the answers"


def test_answers_to_another_question_lie_aside_and_two_runs_do_not_write_one_file(tmp_path: Path):
    with opened(tmp_path / "run") as run:
        run.add(GOOD)
    with opened(tmp_path / "run", "another key") as other:
        assert other.answers == {}
        other.add(PARTLY)
    assert answer_runs.is_run(tmp_path / "run", KEY)
    with opened(tmp_path / "run") as back:
        assert back.answers == {"1": GOOD}
    assert opened(tmp_path / "run", "another key").answers == {"3": PARTLY}
    assert not answer_runs.is_run(tmp_path / "run", "a third key")
    with opened(tmp_path / "run"), pytest.raises(InputError, match="another run writes"):
        opened(tmp_path / "run", "another key")
    assert opened(tmp_path / "run").answers == {"1": GOOD}


BROKEN = (
    {"query": 1, "found": [], "seconds": 0.1},
    {"query": "1", "found": 5, "seconds": 0.1},
    {"query": "1", "found": [["a.py", 1, 2]], "seconds": 0.1},
    {"query": "1", "found": [["a.py", "1", 2, 1.0]], "seconds": 0.1},
    {"query": "1", "found": [["a.py", 3, 2, 1.0]], "seconds": 0.1},
    {"query": "1", "found": [["a.py", 1, 10**30, 1.0]], "seconds": 0.1},
    {"query": "1", "found": [], "seconds": "soon"},
    {},
)


def test_a_file_that_holds_something_else_says_so_and_is_left_alone(tmp_path: Path):
    file = tmp_path / "run"
    broken = (f'{{"key": "{KEY}"}}\n{json.dumps(record)}\n' for record in (*BROKEN, {"prepared": 5}))
    for text, said in (
        ('{"mine": 1}\n', "holds no answers of assay bench"),
        ("garbage\n", "run:1: not JSON"),
        *((text, "has an invalid answer") for text in broken),
    ):
        file.write_text(text)
        with pytest.raises(StorageError, match=said):
            opened(file)
        assert file.read_text() == text


def test_saved_answers_are_a_run_of_which_bad_rows_are_left_out(tmp_path: Path):
    with opened(tmp_path / "run") as run:
        run.add(GOOD)
        run.prepared(Preparation())
    read, _ = answer_runs.read_any(tmp_path / "run", 9)
    assert read == {"1": [(Span("a.py", 1, 3), 0.5), (Span("b c.py"), 0.25)]}
    good = {"query": "2", "found": [["a.py", 1, 2, 1.0]], "seconds": 0.1}
    for record in BROKEN:
        (tmp_path / "run").write_text("".join(json.dumps(each) + "\n" for each in ({"key": "k"}, record, good)))
        read, problems = answer_runs.read_any(tmp_path / "run", 9)
        assert read == {"2": [(Span("a.py", 1, 2), 1.0)]}
        assert [problem.where for problem in problems] == ["run:2"]
    spans = (Span("a.py", 1, 3), Span("b.py"))
    (tmp_path / "run.txt").write_text("1 Q0 a.py:1-3 1 2 bm25\n1 Q0 b.py 2 1 bm25\n")
    read, problems = answer_runs.read_any(tmp_path / "run.txt", 9)
    assert ([span for span, _ in read["1"]], problems) == ([*spans], [])


def test_the_key_is_made_of_all_that_decides_an_answer():
    told = {"search": {"limit": 3}}
    keys = {
        KEY,
        key_of("bow", {}, "digest", 20, QUERIES),
        key_of("bm25", told, "digest", 20, QUERIES),
        key_of("bm25", {}, "other", 20, QUERIES),
        key_of("bm25", {}, "digest", 10, QUERIES),
        key_of("bm25", {}, "digest", 20, QUERIES[:2]),
        key_of("bm25", {}, "digest", 20, [*QUERIES[:2], replace(QUERIES[2], text="\udc80")]),
        key_of("bm25", {}, "digest", 20, [replace(each, mode="code") for each in QUERIES]),
    }
    assert len(keys) == 8
    assert key_of("bm25", {"location": "/somewhere"}, "digest", 20, QUERIES) == KEY
    tagged = [replace(each, tags={"kind": "hard"}) for each in QUERIES]
    assert key_of("bm25", {}, "digest", 20, tagged) == KEY


def test_a_run_a_script_or_a_version_of_ours_that_has_changed_is_another_system(tmp_path: Path):
    file = tmp_path / "saved run.txt"
    for spec in (f"run:{file}", f"py:{file}:search", f"cmd:tool '{tmp_path / 'script'}' {{query}}"):
        for each in (file, tmp_path / "script"):
            each.write_text("1 Q0 a.py:1-2 1 1.0 x\n")
        before = key_of(spec, {}, "digest", 20, QUERIES)
        assert key_of(spec, {}, "digest", 20, QUERIES) == before
        for each in (file, tmp_path / "script"):
            each.write_text("1 Q0 b.py:1-2 1 1.0 x\n")
        assert key_of(spec, {}, "digest", 20, QUERIES) != before
    assert key_of(f"cmd:{'x' * 5000} \0", {}, "digest", 20, QUERIES)
    for spec, same in (("assay", False), ("bm25", False), ("cmd:rg {query}", True), ("http:localhost", True)):
        keys = {key_of(spec, {}, "digest", 20, QUERIES, version=version) for version in ("1", "2")}
        assert (len(keys) == 1) == same


def test_timings_tell_cold_from_warm_and_leave_failures_out():
    warm = [SystemAnswer(str(n), seconds=n / 1000) for n in range(1, 101)]
    told = timings([replace(GOOD, seconds=0.5), BAD, *warm], Preparation(1.5, 1000, 80.0), indexed=True)
    assert told == Timings(1.5, 500.0, pytest.approx(50.5), pytest.approx(95.05), 80.0, 1000)
    assert timings([BAD], Preparation(1.5), indexed=False) == Timings(None, None, None, None, 0.0, None)


def queries(*tags: dict[str, str]) -> tuple[Query, ...]:
    return tuple(Query(str(n), f"question {n}", tags=each) for n, each in enumerate(tags))


def test_every_unit_is_measured_from_one_run(project: Path):
    judgments = (Judgment("0", "mail/send.py:6-12", 2), Judgment("0", "mail/address.py:9-9", 1))
    corpus = SystemCorpus("t", project)
    right = qrels_of(Truth("t", queries({}), judgments))
    assert right.units == ("line", "function", "file", "line published")
    run = {"0": [Span("web/router.js", 1, 4), Span("mail/send.py", 10, 10), Span("mail/address.py", 1, 3)]}
    found = score(right, run, corpus, [parse("Recall@5"), parse("MRR"), parse("success@9000tokens")]).values
    assert found["line"]["Recall@5"].tolist() == [0.5]  # __init__ is judged, and lines 1-3 do not reach it
    assert (found["file"]["Recall@5"].tolist(), found["function"]["Recall@5"].tolist()) == ([1.0], [0.5])
    assert (found["line"]["MRR"].tolist(), found["line"]["success@9000tokens"].tolist()) == ([0.5], [0.5])
    right = qrels_of(Truth("t", queries({}), (Judgment("0", "mail/send.py:6-12", 1),)))
    tight, wide = parse("success@20tokens"), parse("success@200tokens")
    whole = score(right, {"0": [Span("mail/send.py", 1, 12)]}, corpus, [tight, wide]).values["line"]
    assert [whole[str(each)].tolist() for each in (tight, wide)] == [[0.0], [1.0]], (
        "tokens are those of the lines found"
    )


def test_what_is_right_is_the_highest_grade_and_what_cannot_be_used_is_told():
    said = ((0, "a"), (2, "b"), (1, "c"))
    judgments = tuple(Judgment("0", "web/router.js:2-4", grade, judge) for grade, judge in said)
    right = qrels_of(Truth("t", queries({}), judgments))
    assert right.entries["0"] == [Entry(Span("web/router.js", 2, 4), 2)]
    right = qrels_of(Truth("t", queries({}), (Judgment("0", "mail/address.py::Address", 1),)))
    assert "names a symbol" in str(right.problems[0])
    right = qrels_of(Truth("t", queries({}), (Judgment("9", "a.py:1-2", 1),)))
    assert "for a query that is not in the file" in str(right.problems[0])
    assert right.entries == {"0": []}


def test_documents_are_measured_whole_and_cost_what_they_hold(tmp_path: Path):
    names = ("q:12", "a::b", "plain")
    documents = tuple(Chunk(name, "x = 1", "python", name) for name in names)
    judgments = tuple(Judgment("0", name, 1) for name in names)
    right = qrels_of(Truth("t", queries({}), judgments, documents))
    assert (right.units, right.problems) == (("file",), ())
    scored = score(
        right, {"0": [Span("a::b"), Span("q:12", 3, 9)]}, SystemCorpus("t", tmp_path, documents), [parse("Recall@5")]
    )
    assert scored.values["file"]["Recall@5"].tolist() == [pytest.approx(2 / 3)]
    (tmp_path / "d1.py").write_text("total = left + right\n" * 100)
    documents = (Chunk("d1", "", "python", "d1.py"),)
    right = qrels_of(Truth("t", queries({}), (Judgment("0", "d1", 1),), documents))
    measures = [parse("success@100tokens"), parse("success@5000tokens")]
    scored = score(right, {"0": [Span("d1")]}, SystemCorpus("t", tmp_path, documents), measures)
    assert [values.tolist() for values in scored.values["file"].values()] == [[0.0], [1.0]]


def test_intervals_are_drawn_with_the_seed_of_the_plan(project: Path):
    truth = Truth("t", queries({}, {}, {}), tuple(Judgment(str(n), "web/router.js:2-4", 1) for n in range(3)))
    run = {str(n): [Span("README.md", 1, 1)] * n + [Span("web/router.js", 1, 4)] for n in range(3)}
    run["2"] = [Span("README.md", 1, 1), Span("README.md", 2, 2), *run["2"][2:]]
    found = [
        score(qrels_of(truth), run, SystemCorpus("t", project), [parse("MRR")], seed=seed).figures()["line"]["MRR"]
        for seed in (0, 0, 1)
    ]
    assert (found[0], found[0][0]) == (found[1], found[2][0])


def test_a_query_without_an_answer_counts_zero_and_groups_are_told_apart(project: Path):
    truth = Truth(
        "t",
        queries({"kind": "hard", "language": "python"}, {"kind": "easy", "language": "python"}, {}),
        tuple(Judgment(str(n), "web/router.js:2-4", 1) for n in range(3)),
    )
    corpus = SystemCorpus("t", project)
    scored = score(qrels_of(truth), {"1": [Span("web/router.js", 1, 4)]}, corpus, [parse("MRR")])
    assert scored.values["line"]["MRR"].tolist() == [0.0, 1.0, 0.0]
    mean, low, high = scored.figures()["line"]["MRR"]
    assert (mean, low) == (pytest.approx(1 / 3), 0.0)
    assert mean < high <= 1
    kinds = scored.groups()["kind"]
    means = {kind: (told.queries, told.figures["line"]["MRR"].mean) for kind, told in kinds.items()}
    assert means == {"(none)": (1, 0.0), "easy": (1, 1.0), "hard": (1, 0.0)}
    assert "split" not in scored.groups()


def test_unjudged_results_are_counted(project: Path):
    right = qrels_of(
        Truth("t", queries({}), (Judgment("0", "web/router.js:2-4", 0), Judgment("0", "README.md:1-3", 1)))
    )
    run = {"0": [Span("web/router.js", 1, 4), Span("mail/send.py", 1, 3), Span("mail/send.py", 5, 9)]}
    assert score(right, run, SystemCorpus("t", project), [parse("MRR")]).unjudged == pytest.approx(2 / 3)
    assert score(right, {}, SystemCorpus("t", project), [parse("MRR")]).unjudged == 0.0
