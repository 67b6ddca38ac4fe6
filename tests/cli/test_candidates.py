"""`assay candidates`: the pairs that are worth judging, from files and folders of every kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from json_lines import read_lines, write_lines

TEXTS = (
    ("sort a list of numbers", "def order(numbers):\n    return sorted(numbers)"),
    ("read the lines of a file", "def lines(file):\n    return list(file)"),
    ("print a date", "def show(date):\n    print(date)"),
)
COSQA = [{"idx": f"q{n}", "doc": query, "code": code, "label": 1} for n, (query, code) in enumerate(TEXTS, 1)]
OUT = Path("candidates.jsonl")


@pytest.fixture(autouse=True)
def _pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.json").write_text(json.dumps(COSQA))


def test_pairs_are_chosen_counted_and_judged(assay):
    asked = "candidates pairs.json pairs.json --encoder hash --encoder hash:64 -k 2".split()
    ran = assay(*asked, "--labels", "pairs.json")
    assert ran.status == 0, ran.err
    assert ran.out.startswith("3 queries, 3 codes\n6 pairs written to candidates.jsonl\n")
    assert "3 right pairs are known\n" in ran.out
    found = read_lines(OUT)
    assert [(row["query_id"], row["rank"]) for row in found] == [(q, r) for q in ("q1", "q2", "q3") for r in (1, 2)]
    assert set(found[0]["scores"]) == {"hash", "hash:64"}
    assert assay(*"judge run candidates.jsonl --judge signals --out records.jsonl".split()).status == 0
    told = json.loads(assay(*asked, "--labels", "records.jsonl", "--format", "json").out)
    assert sum(row["judged"] for row in told["depths"]["ranks"]) == 6
    ran = assay(*asked, "--testable", "--labels", "pairs.json")
    assert "testable: 2 (66.7%); left out: no value returned 1\n" in ran.out
    assert "2 right pairs are known, beside 1 whose code is not in this corpus\n" in ran.out
    assert {row["code_id"] for row in read_lines(OUT)} == {"q1", "q2"}
    ran = assay(*asked, "--sample", "2", "--seed", "1")
    assert ran.out.startswith("3 queries, 2 of them drawn, 3 codes\n4 pairs written")
    assert len({row["query_id"] for row in read_lines(OUT)}) == 2


def test_plain_lists_and_folders_of_code_are_read(assay, project: Path):
    Path("asked.txt").write_text("deliver a message when the server is busy\n\nsay whether the mailbox has a host\n")
    ran = assay("candidates", "asked.txt", project, "-k", "1")
    assert ran.status == 0, ran.err
    places = {"1": "mail/send.py:6-12", "3": "mail/address.py:11-13"}
    assert {row["query_id"]: row["code_id"] for row in read_lines(OUT)} == places
    lines = (project / "mail" / "send.py").read_text().splitlines(keepends=True)
    assert read_lines(OUT)[0]["code"] == "".join(lines[5:12])
    write_lines("asked.jsonl", ({"id": 7, "query": "sort numbers"}, {"id": 8}, "not JSON"))
    codes = (
        {"code_id": "x", "code": "def order(numbers): ..."},
        {"id": "x", "code": "twice"},
        {"id": "y", "code": " "},
    )
    ran = assay("candidates", "asked.jsonl", write_lines("codes.jsonl", codes), "--encoder", "hash", "-v")
    assert [(row["query_id"], row["code_id"]) for row in read_lines(OUT)] == [("7", "x")]
    for said in ("asked.jsonl:2: wanted an id", "asked.jsonl:3: ", "'x' was there before", "codes.jsonl:3: wanted"):
        assert said in ran.err


def test_a_file_without_queries_or_code_is_refused(refuses):
    Path("empty").mkdir()
    refuses([
        ("candidates gone.json pairs.json", "no such file or folder: 'gone.json'"),
        ("candidates pairs.json empty", "no code in 'empty'"),
        ("candidates empty pairs.json", "no query in 'empty'"),
        ("candidates pairs.json pairs.json --encoder nope", "unknown encoder 'nope'"),
    ])  # fmt: skip
    assert not OUT.exists()
