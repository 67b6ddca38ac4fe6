from __future__ import annotations

import json
from pathlib import Path

import pytest

AREA = "def area(width, height):\n    return width * height if width > 0 and height > 0 else None\n"


@pytest.fixture
def twins(tmp_path: Path) -> Path:
    """Return a ground truth with twins, one of them judged otherwise."""
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    texts = {"a": AREA, "b": AREA, "c": "def add(x, y): return x + y", "d": AREA.replace("None", "0")}
    (folder / "corpus.jsonl").write_text(
        lines({"_id": name, "title": "", "text": text} for name, text in texts.items())
    )
    queries = {"1": "compute the area of a rectangle", "2": "add two numbers", "3": "install numpy quickly"}
    (folder / "queries.jsonl").write_text(lines({"_id": name, "text": text} for name, text in queries.items()))
    rows = "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n2\tc\t1\n3\tc\t0\n"
    (folder / "qrels" / "test.tsv").write_text(rows)
    return folder


def lines(records) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_what_is_wrong_is_counted_with_examples(assay, twins: Path):
    ran = assay("truth", "audit", twins)
    assert ran.status == 1, ran.err
    assert ran.out.startswith("set: 3 queries, 4 judgments, 4 documents\ngrades   0: 2  1: 2\n")
    assert "        1 of 4 (25.0%)  texts that equal an earlier one\n          a = b\n" in ran.out
    assert "equal texts judged differently for one query\n          1: a=1 b=0\n" in ran.out
    assert ran.out.index("findings") < ran.out.index("hints") < ran.out.index("install numpy quickly")


def test_the_same_as_json(assay, twins: Path):
    told = json.loads(assay("truth", "audit", twins, "--format", "json", "--examples", "0").out)
    counts = {finding["name"]: finding["count"] for finding in told["findings"]}
    assert counts["equal texts"] == counts["nearly equal texts"] == counts["unanswered queries"] == 1
    assert {finding["name"] for finding in told["hints"]} >= {"not about code", "poor queries"}
    assert not any(finding["examples"] for finding in told["findings"])


@pytest.mark.parametrize(("options", "left"), [([], 3), (["--near"], 2)])
def test_twins_are_made_one(assay, twins: Path, tmp_path: Path, options: list[str], left: int):
    out = tmp_path / "out.jsonl"
    ran = assay("truth", "audit", twins, "--collapse", out, *options, "-v")
    assert ran.status == 1, ran.err
    assert f"4 documents made {left}, written to {out}\n" in ran.out
    assert "1: a (its twin b) is judged 1 and 0; 1 stays\n" in ran.out
    again = json.loads(assay("truth", "audit", out, "--format", "json").out)
    assert again["documents"] == left
    assert not {finding["name"] for finding in again["findings"]} & {
        "equal texts",
        "twins judged differently, equal texts",
    }


def test_targets_that_a_check_finds_are_found_by_an_audit(assay, tmp_path: Path, project: Path):
    rows = [
        "mail/send.py:6-12",
        "mail/send.py::send_mail",
        "mail/address.py::Address",
        "mail/address.py::Address::is_valid",
    ]
    file = tmp_path / "symbols.jsonl"
    file.write_text(
        lines(
            [
                {"type": "query", "id": "1", "text": "deliver a message again when busy"},
                *({"type": "judgment", "query_id": "1", "target": target, "grade": 1} for target in rows),
            ]
        )
    )
    checked = assay("truth", "check", file, "--corpus", project)
    assert (checked.status, checked.out) == (0, "1 query, 4 targets: 0 problems\n"), checked.out
    ran = assay("truth", "audit", file, "--corpus", project, "--format", "json")
    assert "unknown targets" not in {finding["name"] for finding in json.loads(ran.out)["findings"]}, ran.out


def test_nothing_found_is_success(assay, tmp_path: Path, project: Path):
    file = tmp_path / "clean.csv"
    file.write_text("query,result1\ndeliver a message again when busy,mail/send.py:6-12:2\n")
    for options in ([], ["--corpus", project]):
        ran = assay("truth", "audit", file, *options)
        assert (ran.status, "findings: none" in ran.out) == (0, True), ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.csv"], "none.csv"),
        (["clean.csv", "--near"], "give --collapse OUT, too"),
        (["clean.csv", "--collapse", "out.jsonl"], "no documents to make one"),
        (["clean.csv", "--corpus", "nowhere"], "is not a folder"),
        (["clean.csv", "--threshold", "0"], "0.1<=x<=1"),
        (["clean.csv", "--from", "csvv"], "unknown format"),
    ],
)
def test_what_cannot_be_audited_is_said(assay, tmp_path: Path, monkeypatch, arguments: list[str], said: str):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.csv").write_text("query,result1\ndeliver a message again when busy,mail/send.py:6-12:2\n")
    ran = assay("truth", "audit", *arguments)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()
