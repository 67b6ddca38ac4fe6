"""Labels of annotators: every form of file, and how far those who said something about the same pairs agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.judge.labels import Annotator, compare, read_labels

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


def test_every_form_holds_the_same_and_cut_records_and_several_judges_are_read(tmp_path: Path):
    file = tmp_path / "records.jsonl"
    file.write_text(FORMS["records.jsonl"][:-40])
    found = read_labels(file)
    assert found.annotators[0].grades == {**KEYS, ("q1", "c1"): None}
    assert [problem.what for problem in found.problems] == [
        "the last line is cut, as by a crash: what it said is not counted"
    ]
    file = tmp_path / "cosqa.json"
    rows = [
        {"idx": "dev-1", "doc": "sort a list", "code": "def s(): pass", "label": 1},
        {"idx": "dev-2", "retrieval_idx": 7, "doc": "sort a list", "code": "def t(): pass", "label": 0},
    ]
    file.write_text(json.dumps(rows))
    found = read_labels(file)
    assert found.annotators[0].grades == {("dev-1", "dev-1"): 1, ("dev-2", "7"): 0}
    assert found.texts["dev-2", "7"] == ("sort a list", "def t(): pass")
    file = tmp_path / "both.jsonl"
    file.write_text(lines({"query_id": "q", "code_id": "c", "grade": g, "judge": j} for j, g in (("x", 1), ("y", 0))))
    assert {each.name: each.grades for each in read_labels(file).annotators} == {
        "x": {("q", "c"): 1},
        "y": {("q", "c"): 0},
    }
    assert [each.name for each in read_labels(file, "us").annotators] == ["us:x", "us:y"]
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


def annotator(name: str, marks: str) -> Annotator:
    """Return who labels pairs of two to a query: `-` is undecided, a blank was not looked at."""
    grades = {
        (f"q{at // 2}", f"c{at}"): None if mark == "-" else int(mark) for at, mark in enumerate(marks) if mark != " "
    }
    return Annotator(name, grades)


def test_pairs_without_a_label_are_counted_and_not_dropped():
    found = compare([annotator("a", "1100-- "), annotator("b", "10101  ")], [annotator("t", "1111001")])
    assert (found.pairs, found.queries, found.labelled_twice) == (7, 4, 4)
    a, b, true = found.counts["a"], found.counts["b"], found.true
    assert (a.match, a.non_match, a.undecided, a.absent) == (2, 2, 2, 1)
    assert (b.match, b.non_match, b.undecided, b.absent) == (3, 2, 0, 2)
    assert true
    assert (true.match, true.non_match, true.undecided, true.absent) == (5, 2, 0, 0)
    assert (found.against["a"].decided, found.against["a"].open, found.against["a"].unseen) == (4, 2, 1)
    assert found.against["a"].accuracy.value == 0.5
    assert found.against["a"].of_all.value == pytest.approx(2 / 6), "the seventh was never shown"
    (two,) = found.kappas
    assert (two.pairs, two.same) == (4, 2)


def test_three_are_a_majority_too_and_a_tie_is_undecided():
    found = compare([annotator("a", "110-"), annotator("b", "100-"), annotator("c", "1-1-")], [annotator("t", "1111")])
    most = found.counts["majority"]
    assert (most.match, most.non_match, most.undecided, most.absent) == (1, 1, 2, 0)
    assert found.against["majority"].decided == 2
    for second, why in (("--", "b decided none"), ("  ", "b decided none")):
        with pytest.raises(InputError, match=why):
            compare([annotator("a", "10"), annotator("b", second)])
    assert "majority" not in compare([annotator("a", "10"), annotator("b", "11")]).counts
    with pytest.raises(InputError, match="two annotators are called 'a'"):
        compare([annotator("a", "11")], [annotator("a", "11")])


def test_the_truth_is_the_majority_of_several_and_grades_match_from_a_threshold_on():
    experts = [annotator("x", "1110"), annotator("y", "110-"), annotator("z", "100 ")]
    found = compare([annotator("a", "1101")], experts)
    assert found.truth == ("x", "y", "z")
    assert found.true
    assert (found.true.match, found.true.non_match, found.true.undecided) == (2, 2, 0)
    assert found.truth_alpha
    assert found.truth_alpha.value == pytest.approx(1 - 8 * 4 / (9**2 - 6**2 - 3**2) * 1)
    assert found.against["a"].accuracy.value == 0.75
    graded, plain = annotator("graded", "3210"), annotator("plain", "1100")
    assert compare([plain], [graded], match=2).against["plain"].accuracy.value == 1
    assert compare([plain], [graded]).against["plain"].accuracy.value == 0.75


def test_the_most_divided_pairs_come_first_and_queries_of_the_same_words_are_drawn_together():
    found = compare(
        [annotator("a", "1110-"), annotator("b", "1100-"), annotator("c", "1000 ")], [annotator("t", "1001 ")]
    )
    assert [difference.key[1] for difference in found.differences] == ["c1", "c2", "c3"]
    assert found.differences[0].said == {"t": 0, "a": 1, "b": 1, "c": 0}
    assert next(iter(found.differences[0].said)) == "t"
    truth = Annotator("t", {(f"q{at}", f"c{at}"): int(at < 40) for at in range(80)})
    said = Annotator("a", {(f"q{at}", f"c{at}"): int(at % 4 > 0) for at in range(80)})
    texts = {(f"q{at}", f"c{at}"): (f"Sort  {at // 40}" if at % 2 else f"sort {at // 40}", "x") for at in range(80)}
    by_id, by_text = compare([said], [truth]), compare([said], [truth], texts=texts)
    assert (by_id.queries, by_text.queries) == (80, 2)
    assert by_id.against["a"].kappa.value == by_text.against["a"].kappa.value
    widths = [found.against["a"].f1.high - found.against["a"].f1.low for found in (by_id, by_text)]
    assert widths[1] > 2 * widths[0]
