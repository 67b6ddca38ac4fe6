"""`assay judge agreement`: how far annotators agree."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from json_lines import write_lines

HOSTILE = "<script>alert(1)</script>\x1b[31m"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write what people say (TSV), two judges (records, JSON lines), and what differs between them."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"q{at}\tc{at}\t{at % 2}\n" for at in range(8))
    Path("people.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows)
    Path("far.tsv").write_text("query-id\tcorpus-id\tscore\nx\ty\t1\n")
    write_lines("agents.jsonl", map(verdict, range(8)))
    plain = ({"query_id": f"q{at}", "code_id": f"c{at}", "label": int(at > 3)} for at in range(8))
    write_lines("other.jsonl", (*plain, "{cut"))


def verdict(at: int) -> dict:
    grade = None if at == 0 else 1 if at == 2 else at % 2
    told = {"kind": "verdict", "pair": str(at), "query_id": f"q{at}", "code_id": f"c{at}", "grade": grade, "judge": "j"}
    texts = {"query": f"how to {at} {HOSTILE}", "code": f"def f{at}():\n\treturn {at}\n", "language": ""}
    return {**told, **texts, "reason": f"because {at} {HOSTILE}", "path": "tests", "problem": ""}


def test_the_figures_and_differences_are_printed_and_in_json(assay):
    ran = assay(*"judge agreement agents.jsonl us=other.jsonl --gold people.tsv".split())
    assert ran.status == 0, ran.err
    assert ran.out.startswith("8 pairs of 8 queries; 1 rows cannot be used\n")
    for row in (r"agents +5 +2 +1 +0$", r"\(the truth\) +4 +4 +0 +0$", r"agents, us +[\d-]"):
        assert re.search(f"^{row}", ran.out, re.MULTILINE), row
    for text in ("0.857 [", "0.750 [", "alpha of all", "match     agents  because 2 <script>", "    |     return 2\n"):
        assert text in ran.out
    assert "\x1b" not in ran.out
    assert "other.jsonl:9: not JSON" in ran.err
    told = json.loads(assay(*"judge agreement agents.jsonl --gold people.tsv --format json".split()).out)
    assert told["against"]["agents"]["accuracy"]["value"] == pytest.approx(6 / 7)
    assert told["against"]["agents"]["open"] == told["counts"]["agents"]["undecided"] == 1
    assert told["alpha"]["value"] is None
    (difference,) = told["differences"]
    assert difference["said"] == {"people": 0, "agents": 1}
    assert difference["reasons"]["agents"].startswith("because 2")
    assert (difference["query_id"], difference["code_id"]) == ("q2", "c2")


def test_as_many_differences_are_shown_as_asked_for_and_labels_of_other_pairs_are_refused(assay, refuses):
    for show in (0, 1, 50):
        ran = assay("judge", "agreement", "agents.jsonl", "other.jsonl", "--show", show)
        assert "5 pairs are labelled in two ways" in ran.out
        assert ran.out.count("    | def") == min(show, 5)
    refuses([("judge agreement agents.jsonl --gold far.tsv", "none is labelled by two")])
    refuses([("judge agreement none.tsv", "none.tsv")])


def test_pairs_of_the_same_texts_are_the_same_under_other_ids(assay):
    row = {"query": "add two", "code": "a + b", "label": 1}
    for name, query, code in (("ann", "1", "6039"), ("gold", "dev-1", "dev-1")):
        write_lines(f"{name}.jsonl", [{**row, "query_id": query, "code_id": code}])
    ran = assay(*"judge agreement ann.jsonl --gold gold.jsonl".split())
    assert (ran.status, "1 pair of" in ran.err and "matched by their texts, as the ids differ" in ran.err) == (0, True)
    assert "1 pair of 1 query" in ran.out
