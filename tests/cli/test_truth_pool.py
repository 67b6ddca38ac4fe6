from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the project, with a ground truth of it and the runs of two systems."""
    folder = project.parent
    (folder / "set.csv").write_text(
        "query,result1\nsay whether a mailbox is valid,mail/address.py:11-13:2\n"
        "find the handler of a path,web/router.js:2-4:2\n"
    )
    (folder / "quick.run").write_text(
        "1 Q0 mail/address.py:11-13 1 9 q\n1 Q0 mail/send.py:6-13 2 8 q\n2 Q0 README.md:5-7 1 9 q\n"
    )
    (folder / "slow.run").write_text("1 Q0 mail/send.py:6-12 1 9 s\n1 Q0 gone.py:1-2 2 8 s\n9 Q0 README.md:1-3 1 9 s\n")
    monkeypatch.chdir(folder)
    return folder


def test_what_nobody_judged_is_written_without_who_found_it(assay, folder: Path):
    ran = assay("truth", "pool", "set.csv", "quick.run", "slow.run", "--corpus", "postbox", "--out", "pool.jsonl", "-v")
    assert ran.status == 0, ran.err
    rows = [json.loads(line) for line in (folder / "pool.jsonl").read_text().splitlines()]
    assert {(row["query_id"], row["target"]) for row in rows} == {("1", "mail/send.py:6-12"), ("2", "README.md:5-7")}
    text = next(row["text"] for row in rows if row["target"] == "README.md:5-7")
    assert text.startswith("## Configuration")
    assert "quick" not in (folder / "pool.jsonl").read_text()
    assert '"system": "quick"' in (folder / "pool.sources.jsonl").read_text()
    assert "the corpus has no text at gone.py:1-2" in ran.err
    assert "'9'" in ran.err


@pytest.mark.usefixtures("folder")
def test_counts_and_judged_at_k_are_shown(assay):
    ran = assay(
        "truth", "pool", "set.csv", "quick.run", "slow.run", "--corpus", "postbox", "--depth", "1", "--format", "json"
    )
    told = json.loads(ran.out)
    assert (told["found"], told["judged"], told["to_judge"], told["together"]) == (3, 1, 2, 0)
    assert told["judged_share"] == {"quick": 0.5, "slow": 0}
    text = assay("truth", "pool", "set.csv", "quick.run", "--corpus", "postbox").out
    assert "to be judged                             2\n  quick  judged@10 0.250\n" in text


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_labels_come_back_and_leave_nothing_to_judge(assay, folder: Path, ending: str):
    pool = folder / f"pool.{ending}"
    assay("truth", "pool", "set.csv", "quick.run", "--corpus", "postbox", "--out", pool)
    text = pool.read_text()
    empty = '"grade": ""' if ending == "jsonl" else ",,"
    pool.write_text(text.replace(empty, '"grade": 1' if ending == "jsonl" else ",0,"))
    ran = assay("truth", "pool", "set.csv", "--labels", pool, "--judge", "ann", "--out", "new.jsonl")
    assert (ran.status, ran.out) == (0, "2 labels read; 4 judgments written to new.jsonl\n"), ran.err
    again = assay("truth", "pool", "new.jsonl", "quick.run", "--corpus", "postbox")
    assert again.status == 1
    assert "quick  judged@10 1.000" in again.out


def test_a_wrong_grade_names_its_row_and_the_rest_counts(assay, folder: Path):
    rows = [{"query_id": "1", "target": "mail/send.py:6-13", "grade": grade} for grade in ("good", 1)]
    (folder / "pool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = assay("truth", "pool", "set.csv", "--labels", "pool.jsonl", "--judge", "ann", "--out", "new.jsonl", "-v")
    assert (ran.status, ran.out) == (0, "1 labels read; 3 judgments written to new.jsonl\n")
    assert "pool.jsonl:1: 'good' is no grade" in ran.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["set.csv"], "give RUN files to pool, or --labels POOL"),
        (["set.csv", "quick.run", "--labels", "pool.jsonl"], "give RUN files to pool, or --labels POOL"),
        (["set.csv", "quick.run"], "--corpus FOLDER"),
        (["set.csv", "set.csv", "--corpus", "postbox"], "holds no run"),
        (["set.csv", "none.run", "--corpus", "postbox"], "none.run"),
        (["set.csv", "quick.run", "--corpus", "postbox", "--out", "pool.txt"], "neither .jsonl nor .csv"),
        (["set.csv", "--labels", "quick.run"], "--labels needs --out NEW"),
    ],
)
def test_what_cannot_be_pooled_is_said(assay, arguments: list[str], said: str):
    ran = assay("truth", "pool", *arguments)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
