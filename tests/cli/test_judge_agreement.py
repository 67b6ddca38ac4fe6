"""`assay judge agreement`: how far annotators agree."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

HOSTILE = "<script>alert(1)</script>\x1b[31m"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with what people say (TSV), two judges (records, JSON lines), and what differs between them."""
    rows = "".join(f"q{at}\tc{at}\t{at % 2}\n" for at in range(8))
    (tmp_path / "people.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows)
    (tmp_path / "agents.jsonl").write_text("".join(verdict(at) + "\n" for at in range(8)))
    plain = ({"query_id": f"q{at}", "code_id": f"c{at}", "label": int(at > 3)} for at in range(8))
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in plain) + "{cut")
    return tmp_path


def verdict(at: int) -> str:
    grade = None if at == 0 else 1 if at == 2 else at % 2
    told = {"kind": "verdict", "pair": str(at), "query_id": f"q{at}", "code_id": f"c{at}", "grade": grade, "judge": "j"}
    texts = {"query": f"how to {at} {HOSTILE}", "code": f"def f{at}():\n\treturn {at}\n", "language": ""}
    return json.dumps({**told, **texts, "reason": f"because {at} {HOSTILE}", "path": "tests", "problem": ""})


def test_the_figures_and_who_said_what(assay, files: Path):
    ran = assay(
        "judge", "agreement", files / "agents.jsonl", f"us={files / 'other.jsonl'}", "--gold", files / "people.tsv"
    )
    assert ran.status == 0, ran.err
    assert ran.out.startswith("8 pairs of 8 queries; 1 rows cannot be used\n")
    assert re.search(r"^agents +5 +2 +1 +0$", ran.out, re.MULTILINE)
    assert re.search(r"^\(the truth\) +4 +4 +0 +0$", ran.out, re.MULTILINE)
    assert "0.857 [" in ran.out
    assert "0.750 [" in ran.out
    assert re.search(r"^agents, us +[\d-]", ran.out, re.MULTILINE)
    assert "alpha of all" in ran.out
    assert "match     agents  because 2 <script>" in ran.out
    assert "    |     return 2\n" in ran.out
    assert "\x1b" not in ran.out
    assert "other.jsonl:9: not JSON" in ran.err


def test_the_same_as_json(assay, files: Path):
    ran = assay("judge", "agreement", files / "agents.jsonl", "--gold", files / "people.tsv", "--format", "json")
    told = json.loads(ran.out)
    assert told["against"]["agents"]["accuracy"]["value"] == pytest.approx(6 / 7)
    assert told["against"]["agents"]["open"] == told["counts"]["agents"]["undecided"] == 1
    assert told["alpha"]["value"] is None
    (difference,) = told["differences"]
    assert difference["said"] == {"people": 0, "agents": 1}
    assert difference["reasons"]["agents"].startswith("because 2")
    assert (difference["query_id"], difference["code_id"]) == ("q2", "c2")


def test_no_more_is_shown_than_asked_for(assay, files: Path):
    for show in (0, 1, 50):
        ran = assay("judge", "agreement", files / "agents.jsonl", files / "other.jsonl", "--show", show)
        assert "5 pairs are labelled in two ways" in ran.out
        assert ran.out.count("    | def") == min(show, 5)


def test_labels_of_other_pairs_are_an_error(assay, files: Path):
    (files / "far.tsv").write_text("query-id\tcorpus-id\tscore\nx\ty\t1\n")
    ran = assay("judge", "agreement", files / "agents.jsonl", "--gold", files / "far.tsv")
    assert ran.status == 2
    assert "none is labelled by two" in ran.err
    assert assay("judge", "agreement", files / "none.tsv").status == 2


def test_pairs_of_the_same_texts_are_the_same_under_other_ids(assay, tmp_path: Path):
    row = {"query": "add two", "code": "a + b", "label": 1}
    for name, ids in (
        ("ann", {"query_id": "1", "code_id": "6039"}),
        ("gold", {"query_id": "dev-1", "code_id": "dev-1"}),
    ):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({**row, **ids}) + "\n")
    ran = assay("judge", "agreement", tmp_path / "ann.jsonl", "--gold", tmp_path / "gold.jsonl")
    assert (ran.status, "1 pair of" in ran.err and "matched by their texts, as the ids differ" in ran.err) == (0, True)
    assert "1 pair of 1 query" in ran.out
