"""`assay truth correct`: labels of judges and people become changes of a file, which else stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.truth.truth_formats import read

FILES = {
    "folders.py": 'def make_folder(path):\n    """Create a directory."""\n    os.makedirs(path)\n    return path\n\n\n'
    'def ensure_directory(path):\n    """Create a directory, if need be."""\n    os.makedirs(path, exist_ok=True)\n',
    "mail.py": 'def send(server, text):\n    """Deliver a letter."""\n    server.deliver(text)\n    return True\n',
}
TRUTH = [
    {"type": "query", "id": "q1", "text": "create a directory"},
    {"type": "query", "id": "q2", "text": "deliver a letter"},
    {"type": "judgment", "query_id": "q1", "target": "folders.py:1-4", "grade": 2},
    {"type": "judgment", "query_id": "q2", "target": "mail.py:1-4", "grade": 2},
]
RUN = """q1 Q0 folders.py:1-4 1 3.0 a
q1 Q0 folders.py:7-9 2 2.0 a
q1 Q0 mail.py:1-4 3 1.0 a
q2 Q0 mail.py:1-4 1 2.0 a
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repo").mkdir()
    for name, text in FILES.items():
        (tmp_path / "repo" / name).write_text(text)
    (tmp_path / "truth.jsonl").write_text("\n".join(json.dumps(row) for row in TRUTH))
    (tmp_path / "a.trec").write_text(RUN)
    return tmp_path


def correct(assay, *more: str):
    return assay("truth", "correct", "a.trec", "--truth", "truth.jsonl", "--corpus", "repo", *more)


def replies(home: Path, grade_of: dict[str, int]) -> str:
    lines = [{"contains": part, "value": {"reason": "so", "label": grade}} for part, grade in grade_of.items()]
    (home / "replies.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return "single:scripted:replies.jsonl"


def test_a_judge_adds_right_answers_as_a_difference(assay, home: Path):
    spec = replies(home, {"ensure_directory": 1, "send": 0})
    before = (home / "truth.jsonl").read_text()
    ran = correct(assay, "--judge", spec)
    assert ran.status == 0, ran.err
    assert "of these 1 right, 1 wrong, 0 undecided" in ran.out
    assert "a: 1 new right answer" in ran.out
    (added,) = [line for line in ran.out.splitlines() if line.startswith("+{")]
    told = json.loads(added[1:])
    assert (told["target"], told["grade"]) == ("folders.py:7-9", 1)
    assert (home / "truth.jsonl").read_text() == before
    ran = correct(assay, "--judge", spec, "--write")
    assert "truth.jsonl is changed" in ran.err
    after = (home / "truth.jsonl").read_text()
    assert after.startswith(before)
    assert len(after.splitlines()) == len(before.splitlines()) + 1
    assert [each.grade for each in read(home / "truth.jsonl").truth.judgments] == [2, 2, 1]
    ran = correct(assay, "--judge", spec, "--write", "--keep-wrong")
    assert ran.status == 0
    ran = correct(assay, "--judge", spec)
    assert (ran.status, "0 to judge" in ran.out) == (1, True)


def test_people_label_pairs_and_their_labels_come_back(assay, home: Path):
    from assay.judge.label_ballots import LabelBallot, LabelSettings
    from assay.judge.pairs import Pair
    from assay.judge.pairs import read as read_pairs

    ran = correct(assay)
    assert ran.status == 0, ran.err
    assert "2 pairs without a judgment written to truth.pairs.jsonl" in ran.out
    pairs = [each for each in read_pairs(home / "truth.pairs.jsonl") if isinstance(each, Pair)]
    assert {pair.code.language for pair in pairs} == {"python"}
    with LabelBallot(pairs, home / "labels", LabelSettings(person="ann")) as ballot:
        for pair in pairs:
            right = int("ensure" in pair.code.text)
            ballot.take({"item": pair.digest, "grade": right, "reason": "\u202e<b>because"})
    ran = correct(assay, "--labels", "labels/ann.jsonl", "--write")
    assert ran.status == 0, ran.err
    (*_, last) = read(home / "truth.jsonl").truth.judgments
    assert (last.target, last.grade, last.judge, last.reason) == ("folders.py:7-9", 1, "ann", "\u202e<b>because")


def test_a_spreadsheet_is_corrected_too(assay, home: Path):
    rows = ["query,result1", "create a directory,folders.py:1-4:2", '"deliver, now","mail.py:1-4:2"']
    (home / "truth.csv").write_text("\n".join(rows))
    name = read(home / "truth.csv").truth.queries[0].id
    (home / "a.trec").write_text(RUN.replace("q1", name))
    spec = replies(home, {"ensure_directory": 1, "send": 0})
    ran = assay("truth", "correct", "a.trec", "--truth", "truth.csv", "--corpus", "repo", "--judge", spec, "--write")
    assert ran.status == 0, ran.err
    assert (home / "truth.csv").read_text().splitlines() == [
        "query,result1,result2",
        "create a directory,folders.py:1-4:2,folders.py:7-9:1",
        '"deliver, now","mail.py:1-4:2"',
    ]
    assert len(read(home / "truth.csv").truth.judgments) == 3


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_that_is_overturned_is_replaced_whatever_texts_hold(assay, home: Path, end: str):
    rows = [json.loads(line) for line in (home / "truth.jsonl").read_text().splitlines()]
    rows[0]["text"] = "create\u2028a\u0085directory\u2029"
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (home / "truth.jsonl").write_bytes(end.join(lines).encode())
    labels = "query_id,target,grade\nq1,folders.py:1-4,0\nq1,mail.py:1-4,1\nq9,mail.py:1-4,1\n"
    (home / "labels.csv").write_text(labels)
    ran = assay("truth", "correct", "--truth", "truth.jsonl", "--labels", "labels.csv", "--write")
    assert ran.status == 0, ran.err
    assert "mail.py:1-4 is of a query that nobody asks" in ran.err
    after = (home / "truth.jsonl").read_bytes().decode().split(end)
    assert (after[:2], after[3], after[-1]) == (lines[:2], lines[3], "")
    assert (json.loads(after[2])["grade"], json.loads(after[4])["target"]) == (0, "mail.py:1-4")
    assert len(after) == 6
    assert "\n" not in "".join(after)


def test_line_ends_of_a_spreadsheet_stay(assay, home: Path):
    (home / "truth.csv").write_bytes(b"query,result1\r\ncreate a directory,folders.py:1-4:2\r\nmail,mail.py:1-4:2\r\n")
    name = read(home / "truth.csv").truth.queries[0].id
    (home / "labels.csv").write_text(f"query_id,target,grade\n{name},folders.py:1-4,0\n")
    ran = assay("truth", "correct", "--truth", "truth.csv", "--labels", "labels.csv", "--write")
    assert ran.status == 0, ran.err
    lines = (home / "truth.csv").read_bytes().split(b"\n")
    assert lines[2] == b"mail,mail.py:1-4:2\r"
    assert all(line.endswith(b"\r") for line in lines[:-1])


def test_grades_are_compared_where_both_sides_have_them(assay, home: Path):
    for label, other, overturned in ((1, 2, 1), (1, 0, 0), (2, 2, 0)):
        rows = f"query_id,target,grade\nq1,folders.py:1-4,{label}\nq1,folders.py:7-9,{other}\n"
        (home / "labels.csv").write_text(rows)
        ran = assay("truth", "correct", "--truth", "truth.jsonl", "--labels", "labels.csv", "--format", "json")
        assert json.loads(ran.out)["overturned"] == overturned


def test_signals_judge_without_a_model(assay, home: Path):
    ran = correct(assay, "--judge", "signals", "--format", "json")
    told = json.loads(ran.out)
    assert told["unjudged"] == 2
    assert told["right"] + told["wrong"] + told["undecided"] == 2
    assert (home / "truth.found.jsonl").exists()


@pytest.mark.usefixtures("home")
def test_what_cannot_be_used_is_told_in_a_line(refuses):
    refuses([
        (f"truth correct {more}", why)
        for more, why in (
            ("--truth truth.jsonl", "give RUN files with what systems found, or --labels"),
            ("a.trec --truth truth.jsonl --corpus repo --judge nobody", "no judge 'nobody'"),
            ("a.trec --truth truth.jsonl --judge signals --labels a.trec", "give one of them"),
            ("a.trec --truth truth.jsonl --budget 5usd", "are for --judge SPEC"),
            ("a.trec --truth none.jsonl --judge signals", "none.jsonl"),
            ("none.trec --truth truth.jsonl --corpus repo", "none.trec"),
            ("repo --truth truth.jsonl --corpus repo", "no run in the folder 'repo'"),
            ("truth.jsonl --truth truth.jsonl --corpus repo", "is not a run"),
            ("--truth truth.jsonl --labels a.trec", "holds no label"),
        )
    ])  # fmt: skip
