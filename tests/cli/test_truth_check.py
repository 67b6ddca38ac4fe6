"""`assay truth check` and `assay truth convert` as they are typed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

CSV = """query,kind,result1,result2
send it,standard,mail/send.py:6-12:2,
check it,hard,mail/address.py:11-13:2,web/router.js:2-4:1
"""


@pytest.fixture
def checkout(project: Path) -> str:
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", project, *who, *arguments], check=True)
    return _head(project)


def _head(project: Path) -> str:
    done = subprocess.run(["git", "-C", project, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def truth(tmp_path: Path, checkout: str) -> Path:
    file = tmp_path / "set.csv"
    file.write_text(CSV)
    file.with_name("set.meta.json").write_text(json.dumps({"repo": "o/n", "commit": checkout}))
    return file


def test_all_is_well(assay, project: Path, truth: Path, checkout: str):
    ran = assay("truth", "check", truth, "--corpus", project)
    assert (ran.status, ran.out) == (0, f"2 queries, 3 targets: 0 problems at {checkout[:12]}\n")


def test_without_a_checkout_rows_alone_are_checked(assay, truth: Path):
    ran = assay("truth", "check", truth)
    assert (ran.status, ran.out) == (
        0,
        "2 queries, 3 targets: 0 problems; no file was looked at: give --corpus FOLDER\n",
    )


def test_problems_are_lines_with_file_and_row(assay, project: Path, truth: Path, checkout: str):
    truth.write_text(CSV + "more,hard,mail/send.py:6-99:2,none.py:1-x:1\n")
    ran = assay("truth", "check", truth, "--corpus", project)
    assert ran.status == 1
    assert ran.out.splitlines() == [
        "set.csv:4: 'none.py:1-x:1': wanted path:start-end:grade",
        f"set.csv:4: mail/send.py:6-99: the file ends at line 12 at {checkout[:12]}",
        f"3 queries, 4 targets: 2 problems at {checkout[:12]}",
    ]
    told = json.loads(assay("truth", "check", truth, "--corpus", project, "--format", "json").out)
    assert [problem["where"] for problem in told["problems"]] == ["set.csv:4", "set.csv:4"]
    assert (told["commit"], told["checked"], told["targets"]) == (checkout, True, 4)


def test_drift_is_told_and_followed(assay, project: Path, truth: Path, checkout: str, tmp_path: Path):
    send = project / "mail" / "send.py"
    send.write_text("# first\n" + send.read_text())
    router = project / "web" / "router.js"
    router.write_text(router.read_text().replace("path) {", "path, more) {"))
    subprocess.run(
        ["git", "-C", project, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "x"], check=True
    )
    ran = assay("truth", "check", truth, "--corpus", project)
    head = _head(project)
    assert (ran.status, ran.out.splitlines()) == (
        0,
        [
            "set.csv:3: web/router.js:2-4: changed, now web/router.js:2-4",
            f"2 queries, 3 targets: 0 problems at {checkout[:12]}",
            f"1 moved, 1 changed between {checkout[:12]} and HEAD {head[:12]} (--fix OUT follows them)",
        ],
    )
    assert "moved to mail/send.py:7-13" in assay("truth", "check", truth, "--corpus", project, "-v").out
    fixed = tmp_path / "fixed.csv"
    assert assay("truth", "check", truth, "--corpus", project, "--fix", fixed).status == 0
    assert fixed.read_text() == CSV.replace("6-12", "7-13")
    assert json.loads(fixed.with_name("fixed.meta.json").read_text()) == {"repo": "o/n", "commit": head}
    assert assay("truth", "check", fixed, "--corpus", project).out.endswith(f"0 problems at {head[:12]}\n")


def test_a_commit_can_be_named(assay, project: Path, truth: Path, checkout: str):
    truth.with_name("set.meta.json").unlink()
    assert "at" not in assay("truth", "check", truth, "--corpus", project).out.split("problems")[1]
    assert checkout[:12] in assay("truth", "check", truth, "--corpus", project, "--commit", "HEAD").out
    ran = assay("truth", "check", truth, "--corpus", project, "--commit", "nope")
    assert (ran.status, ran.out) == (2, "")


def test_nothing_usable_is_an_error(assay, tmp_path: Path):
    (tmp_path / "set.csv").write_text("query,result1\nq,x\n")
    for command in (("check",), ("convert", tmp_path / "out.jsonl")):
        ran = assay("truth", command[0], tmp_path / "set.csv", *command[1:])
        assert (ran.status, ran.out) == (2, "")
        assert "holds no query that can be used: set.csv:2: 'x': wanted path:start-end:grade (and 1 more)" in ran.err


def test_convert_says_what_it_wrote(assay, truth: Path, tmp_path: Path):
    out = tmp_path / "set.jsonl"
    ran = assay("truth", "convert", truth, out)
    assert (ran.status, ran.out) == (0, f"2 queries, 3 judgments, 0 documents (0 problems) written to {out}\n")
    back = tmp_path / "back.csv"
    assert assay("truth", "convert", out, back).status == 0
    assert back.read_text() == CSV
    assert back.with_name("back.meta.json").exists()


def test_convert_refuses_a_loss_until_told(assay, truth: Path, tmp_path: Path):
    out = tmp_path / "set.qrels"
    ran = assay("truth", "convert", truth, out)
    assert (ran.status, ran.out) == (2, "")
    assert "trec cannot hold the tags kind: drop them with --lossy" in ran.err
    assert not out.exists()
    ran = assay("truth", "convert", truth, out, "--lossy")
    assert (ran.status, ran.err) == (0, "assay: dropped: the tags kind\n")


def test_convert_makes_symbols_lines_of_a_checkout(assay, checkout: str, project: Path, tmp_path: Path):
    file, out = tmp_path / "symbols.jsonl", tmp_path / "out.csv"
    targets = ("mail/send.py::send_mail", "mail/address.py::Address.is_valid", "mail/send.py::gone")
    rows = [{"type": "truth", "commit": checkout}, {"type": "query", "id": "1", "text": "send it"}]
    rows += [{"type": "judgment", "query_id": "1", "target": target, "grade": 2} for target in targets]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = assay("truth", "convert", file, out)
    assert ran.status == 2
    assert "symbols (3): make symbols lines with --corpus FOLDER, drop them with --lossy" in ran.err
    ran = assay("truth", "convert", file, out, "--corpus", project, "-v")
    assert ran.status == 0, ran.err
    assert "symbols.jsonl:5: mail/send.py::gone: no such symbol at" in ran.err
    assert out.read_text() == "query,result1,result2\nsend it,mail/send.py:6-12:2,mail/address.py:11-13:2\n"


def test_convert_shows_problems_when_asked(assay, truth: Path, tmp_path: Path):
    truth.write_text(CSV + "more,hard,mail/send.py:6-9:2,none.py:1-x:1\n")
    ran = assay("truth", "convert", truth, tmp_path / "out", "--to", "jsonl", "-v")
    assert "(1 problem) written" in ran.out
    assert ran.err == "assay: set.csv:4: 'none.py:1-x:1': wanted path:start-end:grade\n"
    assert assay("truth", "convert", tmp_path / "out", tmp_path / "x.csv", "--from", "trec").status == 2


def test_convert_splits_by_repository_and_commit(assay, tmp_path: Path):
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    rows = [
        {"instance_id": f"i{at}", "repo": repo, "base_commit": "c1", "problem_statement": "it fails", "patch": patch}
        for at, repo in enumerate(("o/a", "o/b", "o/a"))
    ]
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ran = assay("truth", "convert", tmp_path / "test.jsonl", tmp_path / "parts", "--split")
    assert ran.status == 0
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["o__a-c1.jsonl", "o__b-c1.jsonl"]
    assert "2 queries" in assay("truth", "check", tmp_path / "parts" / "o__a-c1.jsonl").out
    assert assay("truth", "convert", tmp_path / "test.jsonl", tmp_path / "test.jsonl", "--split").status == 2
