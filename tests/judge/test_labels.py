from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.judge.labels import read_labels

KEYS = {("q1", "c1"): 1, ("q1", "c2"): 0, ("q2", "c1"): None}


def lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def verdict(query: str, code: str, grade: int | None, reason: str = "") -> dict[str, object]:
    ids = {"kind": "verdict", "pair": query + code, "query_id": query, "code_id": code, "judge": "agents", "path": "x"}
    return {**ids, "grade": grade, "reason": reason, "query": f"ask {query}", "code": f"def {code}(): ..."}


FORMS = {
    "judgments.jsonl": lines({"query_id": q, "target": c, "grade": g} for (q, c), g in KEYS.items()),
    "pairs.json": json.dumps([{"query_id": q, "code_id": c, "label": g} for (q, c), g in KEYS.items()]),
    "beir.tsv": "query-id\tcorpus-id\tscore\nq1\tc1\t1\nq1\tc2\t0\nq2\tc1\t\n",
    "sheet.csv": '\ufeffquery_id,code_id,label,reason\nq1,c1,1,"it sorts, in place"\nq1,c2,0,\nq2,c1,,\n',
    "records.jsonl": lines(
        [
            {"kind": "reply", "pair": "q1c1", "cost": 0.1},
            verdict("q1", "c1", None),
            verdict("q1", "c2", 0),
            verdict("q2", "c1", None),
            verdict("q1", "c1", 1, "the tests pass"),
        ]
    ),
}


def test_every_form_holds_the_same_and_records_and_sheets_say_why(tmp_path: Path):
    for name, text in FORMS.items():
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        found = read_labels(file)
        (annotator,) = found.annotators
        assert (annotator.grades, annotator.name, list(found.problems)) == (KEYS, file.stem, []), name
    for name, reason in (("records.jsonl", "the tests pass"), ("sheet.csv", "it sorts, in place")):
        assert read_labels(tmp_path / name).annotators[0].reasons == {("q1", "c1"): reason}
    texts = read_labels(tmp_path / "records.jsonl").texts
    assert texts["q1", "c1"] == ("ask q1", "def c1(): ...")


def test_records_that_were_cut_are_read_up_to_there(tmp_path: Path):
    file = tmp_path / "records.jsonl"
    file.write_text(FORMS["records.jsonl"][:-40])
    found = read_labels(file)
    assert found.annotators[0].grades == {**KEYS, ("q1", "c1"): None}
    assert [problem.what for problem in found.problems] == [
        "the last line is cut, as by a crash: what it said is not counted"
    ]


def test_cosqa_is_its_own_code_unless_it_says_which(tmp_path: Path):
    file = tmp_path / "cosqa.json"
    rows = [
        {"idx": "dev-1", "doc": "sort a list", "code": "def s(): pass", "label": 1},
        {"idx": "dev-2", "retrieval_idx": 7, "doc": "sort a list", "code": "def t(): pass", "label": 0},
    ]
    file.write_text(json.dumps(rows))
    found = read_labels(file)
    assert found.annotators[0].grades == {("dev-1", "dev-1"): 1, ("dev-2", "7"): 0}
    assert found.texts["dev-2", "7"] == ("sort a list", "def t(): pass")


def test_a_file_of_several_judges_holds_several_annotators(tmp_path: Path):
    file = tmp_path / "both.jsonl"
    file.write_text(lines({"query_id": "q", "code_id": "c", "grade": g, "judge": j} for j, g in (("x", 1), ("y", 0))))
    assert {each.name: each.grades for each in read_labels(file).annotators} == {
        "x": {("q", "c"): 1},
        "y": {("q", "c"): 0},
    }
    assert [each.name for each in read_labels(file, "us").annotators] == ["us:x", "us:y"]


def test_what_cannot_be_used_is_named_and_the_rest_read(tmp_path: Path):
    file = tmp_path / "odd.jsonl"
    good = {"query_id": "q", "code_id": "c", "label": 1}
    rows = [good, {"label": 1}, {**good, "label": "yes"}, {**good, "label": -1}, good, {**good, "label": 0}]
    renamed = {"query_id": "q", "code_id": "e", "label": 1, "chance": 0.9}
    file.write_text(lines(rows) + "{cut\n[1]\n" + lines([{"query_id": "q", "code_id": "d"}, renamed]))
    found = read_labels(file)
    assert found.annotators[0].grades == {("q", "c"): 1}
    assert [problem.where.rpartition(":")[2] for problem in found.problems] == [*"23456789", "10"]
    said = [problem.what for problem in found.problems]
    assert "the first counts" in said[4]
    assert "the first counts" not in said[3]
    assert "not JSON" in said[5]
    assert said[7].startswith("no label, wanted one of grade, label")
    assert said[8] == "the field 'chance' is called 'probability' now: rename it"


def test_a_file_without_labels_that_is_not_there_or_no_text_is_refused(tmp_path: Path):
    for text in ("hello\n", '{"a": 1}\n', "[]", "\x00\x01"):
        (tmp_path / "none.txt").write_text(text)
        with pytest.raises(InputError, match=r"holds no label.*wanted records"):
            read_labels(tmp_path / "none.txt")
    with pytest.raises(InputError, match="no such file"):
        read_labels(tmp_path / "nowhere")
    (tmp_path / "latin.csv").write_bytes(b"query_id,code_id,label\nq,\xe9,1\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_labels(tmp_path / "latin.csv")
