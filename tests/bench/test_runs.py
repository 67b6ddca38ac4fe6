"""Answers of systems in a file: kept, found again by what decides them, and never mixed up."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from assay.bench import answer_runs
from assay.bench.answer_runs import Preparation, RunFile, SystemAnswer, key_of, timings
from assay.bench.results import Timings
from assay.errors import InputError, StorageError
from assay.measure.line_spans import Span
from assay.values import Query

QUERIES = [Query("1", "send"), Query("2", "read"), Query("3", "write")]
GOOD = SystemAnswer("1", (Span("a.py", 1, 3), Span("b c.py")), (0.5, 0.25), 0.01, cold=True)
BAD = SystemAnswer("2", error="timed out")
PARTLY = SystemAnswer("3", (Span("a.py:7"),), (1.0,), 0.02, "1 of 2 results name no file of the corpus: /etc/passwd")
KEY = key_of("bm25", {}, "digest", 20, QUERIES)


def opened(file: Path, key: str = KEY) -> RunFile:
    return RunFile(file, key, {"spec": "bm25"})


def test_what_was_answered_is_not_asked_again(tmp_path: Path):
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


def test_answers_survive_an_interrupt_and_a_line_that_was_cut_short_is_asked_again(tmp_path: Path):
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
