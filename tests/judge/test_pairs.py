from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.judge.pairs import MAX_TEXT_CHARS, Pair, laid_out, not_python, notes, read, read_sample
from assay.runs.options import SampleDraw
from assay.values import Chunk, Problem, Query

GOOD = {"query_id": "q", "query": "add", "code_id": "c", "code": "def f(a):\n    return a\n"}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_our_own_lines_and_ids_with_texts_in_files_beside(tmp_path: Path):
    (pair,) = read(written(tmp_path / "p.jsonl", GOOD))
    assert (pair.query.id, pair.query.text, pair.code.id, pair.code.text) == tuple(GOOD.values())
    queries = written(tmp_path / "q.jsonl", {"_id": "1", "text": "add"})
    corpus = written(tmp_path / "c.jsonl", {"id": "2", "code": "x = 1", "language": "ruby"})
    for names in (("query_id", "code_id"), ("query-id", "corpus-id"), ("query_id", "target")):
        ids = [dict(zip(names, each, strict=True)) for each in ("12", "19")]
        pair, unknown = read(written(tmp_path / "p.jsonl", *ids), queries=queries, corpus=corpus)
        assert (pair.query.text, pair.code.text, pair.code.language) == ("add", "x = 1", "ruby")
        assert str(unknown) == "p.jsonl:2: unknown code id '9': no text beside it, and none in the corpus"
    with pytest.raises(InputError, match="no such file"):
        list(read(tmp_path / "none"))


def test_the_list_of_cosqa(tmp_path: Path):
    file = tmp_path / "cosqa.json"
    file.write_text(
        json.dumps([{"idx": "dev-0", "doc": "add", "code": "x", "label": 1}, {"idx": "dev-1"}, 7], indent=1)
    )
    pair, *problems = read(file)
    assert (pair.query.id, pair.code.id, pair.query.text) == ("dev-0", "dev-0", "add")
    assert [problem.where for problem in problems] == ["cosqa.json:8", "cosqa.json:11"]


def test_what_cannot_be_judged_is_named_and_the_rest_comes(tmp_path: Path):
    bad = [
        ({**GOOD, "code": " \n"}, "is empty"),
        (
            {**GOOD, "code": "x" * (MAX_TEXT_CHARS + 1)},
            f"{MAX_TEXT_CHARS + 1:,} characters; at most {MAX_TEXT_CHARS:,}",
        ),
        ({**GOOD, "query": ""}, "is empty"),
        ({**GOOD, "code": 7}, "wanted text"),
        ({"code_id": "c"}, "wanted query_id and code_id"),
        ({"query_id": "x", "code_id": "c", "code": "x"}, "unknown query id 'x'"),
        ({**GOOD, "code_id": "a\tb"}, "no id may"),
        ("{", "not JSON"),
        ("7", "wanted a JSON object"),
        (GOOD, "was there before"),
    ]
    file = written(
        tmp_path / "p.jsonl", GOOD, *(row for row, _ in bad), {**GOOD, "code_id": "last", "code": "x" * MAX_TEXT_CHARS}
    )
    first, *problems, last = read(file)
    assert isinstance(first, Pair)
    assert isinstance(last, Pair)
    assert [problem.where for problem in problems] == [f"p.jsonl:{number}" for number in range(2, 2 + len(bad))]
    for problem, (_, why) in zip(problems, bad, strict=True):
        assert why in problem.what


def test_code_that_cannot_be_run_is_said_and_indented_code_is_laid_out_without_a_change():
    for code, language, why in (
        ("def f(): return 1", "", ""),
        ("    def f():\n        return 1", "python", ""),
        ("print 'old'", "", "not Python 3"),
        ("function f() {}", "javascript", "javascript, not Python"),
        ("x" + "(" * 500, "", "not Python 3"),
    ):
        told = not_python(Chunk("c", code, language))
        assert (why in told) if why else not told
    assert laid_out("  x = 1\n").endswith("  x = 1\n")  # indented as a whole
    assert laid_out("x = 1") == "x = 1"


def test_queries_in_other_letters_are_noted():
    told = notes(Pair(Query("q", "リストをソートする"), Chunk("c", "x = 1")))
    assert [type(each) for each in told] == [Problem]
    assert "Latin" in told[0].what
    assert not notes(Pair(Query("q", "wie sortiere ich"), Chunk("c", "x = 1")))


def test_rows_that_are_no_pairs_are_told_and_not_drawn_and_a_missing_field_is_named(tmp_path: Path):
    rows = [
        {
            "query_id": f"q{at // 5}",
            "query": f"ask {at // 5}",
            "code_id": f"c{at}",
            "code": "" if at % 2 else f"x = {at}",
        }
        for at in range(200)
    ]
    file = written(tmp_path / "pairs.jsonl", *rows)
    found = read_sample(file, SampleDraw(size=90, by="pair"))
    each = list(found.pairs)
    assert (len(each), found.total) == (190, 190)
    assert sum(isinstance(one, Problem) for one in each) == 100
    said = r"--sample-by kind: .* has no such field; wanted query, pair or one of code, "
    with pytest.raises(InputError, match=said):
        read_sample(file, SampleDraw(size=3, by="kind"))
