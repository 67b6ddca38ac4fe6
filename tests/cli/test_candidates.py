"""`assay candidates`: the pairs that are worth judging, from files and folders of every kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TEXTS = (
    ("sort a list of numbers", "def order(numbers):\n    return sorted(numbers)"),
    ("read the lines of a file", "def lines(file):\n    return list(file)"),
    ("print a date", "def show(date):\n    print(date)"),
)
COSQA = [{"idx": f"q{n}", "doc": query, "code": code, "label": 1} for n, (query, code) in enumerate(TEXTS, 1)]


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps(COSQA))
    return file


def rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_pairs_are_chosen_counted_and_judged(assay, pairs: Path, tmp_path: Path):
    encoders = ("--encoder", "hash", "--encoder", "hash:64")
    ran = assay("candidates", pairs, pairs, *encoders, "-k", "2", "--labels", pairs)
    assert ran.status == 0, ran.err
    assert ran.out.startswith("3 queries, 3 codes\n6 pairs written to candidates.jsonl\n")
    assert "3 right pairs are known\n" in ran.out
    found = rows(tmp_path / "candidates.jsonl")
    assert [(row["query_id"], row["rank"]) for row in found] == [(q, r) for q in ("q1", "q2", "q3") for r in (1, 2)]
    assert set(found[0]["scores"]) == {"hash", "hash:64"}
    judged = assay("judge", "run", "candidates.jsonl", "--judge", "signals", "--out", "records.jsonl")
    assert judged.status == 0, judged.err
    told = json.loads(
        assay("candidates", pairs, pairs, *encoders, "-k", "2", "--labels", "records.jsonl", "--format", "json").out
    )
    assert sum(row["judged"] for row in told["depths"]["ranks"]) == 6


@pytest.mark.usefixtures("pairs")
def test_what_cannot_be_tested_is_left_out_and_counted(assay, tmp_path: Path):
    ran = assay("candidates", "pairs.json", "pairs.json", "--encoder", "hash", "--testable", "--labels", "pairs.json")
    assert "testable: 2 (66.7%); left out: no value returned 1\n" in ran.out
    assert "2 right pairs are known, beside 1 whose code is not in this corpus\n" in ran.out
    assert {row["code_id"] for row in rows(tmp_path / "candidates.jsonl")} == {"q1", "q2"}


@pytest.mark.usefixtures("pairs")
def test_plain_lists_and_folders_of_code_are_read(assay, project: Path, tmp_path: Path):
    (tmp_path / "asked.txt").write_text(
        "deliver a message when the server is busy\n\nsay whether the mailbox has a host\n"
    )
    ran = assay("candidates", "asked.txt", project, "-k", "1")
    assert ran.status == 0, ran.err
    assert {row["query_id"]: row["code_id"] for row in rows(tmp_path / "candidates.jsonl")} == {
        "1": "mail/send.py:6-12",
        "3": "mail/address.py:11-13",
    }
    lines = (project / "mail" / "send.py").read_text().splitlines(keepends=True)
    assert rows(tmp_path / "candidates.jsonl")[0]["code"] == "".join(lines[5:12])
    (tmp_path / "asked.jsonl").write_text('{"id": 7, "query": "sort numbers"}\n{"id": 8}\nnot JSON\n')
    (tmp_path / "codes.jsonl").write_text(
        '{"code_id": "x", "code": "def order(numbers): ..."}\n{"id": "x", "code": "twice"}\n{"id": "y", "code": " "}\n'
    )
    ran = assay("candidates", "asked.jsonl", "codes.jsonl", "--encoder", "hash", "--out", "more.jsonl", "-v")
    assert [(row["query_id"], row["code_id"]) for row in rows(tmp_path / "more.jsonl")] == [("7", "x")]
    for said in ("asked.jsonl:2: wanted an id", "asked.jsonl:3: ", "'x' was there before", "codes.jsonl:3: wanted"):
        assert said in ran.err


@pytest.mark.usefixtures("pairs")
def test_what_cannot_be_used_is_named(refuses):
    Path("empty").mkdir()
    refuses([
        ("candidates gone.json pairs.json", "no such file or folder: 'gone.json'"),
        ("candidates pairs.json empty", "no code in 'empty'"),
        ("candidates empty pairs.json", "no query in 'empty'"),
        ("candidates pairs.json pairs.json --encoder nope", "unknown encoder 'nope'"),
    ])  # fmt: skip
    assert not Path("candidates.jsonl").exists()


@pytest.mark.usefixtures("pairs")
def test_a_sample_of_queries_is_taken(assay, tmp_path: Path):
    ran = assay("candidates", "pairs.json", "pairs.json", "--encoder", "hash", "--sample", "2", "--seed", "1")
    assert ran.out.startswith("3 queries, 2 of them drawn, 3 codes\n6 pairs written")
    assert len({row["query_id"] for row in rows(tmp_path / "candidates.jsonl")}) == 2
