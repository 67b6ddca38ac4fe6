from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.truth.truth_formats import read


@pytest.fixture
def history(project: Path) -> Path:
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "Everything")
    return project


def test_mining_writes_what_can_be_read_back(history: Path, assay, tmp_path: Path):
    base = git(history, "rev-parse", "HEAD")
    send = history / "mail" / "send.py"
    send.write_text(send.read_text().replace("2**attempt", "3**attempt"))
    git(history, "commit", "--quiet", "--all", "-m", "Wait longer between deliveries")
    out = tmp_path / "post.jsonl"
    ran = assay("truth", "mine", history, "--out", out, "--at", base)
    assert ran.status == 0
    assert ran.out.startswith(f"written to {out}\n")
    assert "history: 1 query (1 hard)" in ran.out
    truth = read(out).truth
    assert truth.commit == base
    assert {query.tags["source"] for query in truth.queries} == {"history", "docs"}
    assert truth.hidden


def test_a_format_that_holds_less_says_so_or_drops(history: Path, assay, tmp_path: Path):
    out = tmp_path / "post.csv"
    ran = assay("truth", "mine", history, "--from", "docs", "--out", out)
    assert ran.status == 2
    assert "--lossy" in ran.err
    assert not out.exists()
    ran = assay("truth", "mine", history, "--from", "docs", "--out", out, "--lossy")
    assert ran.status == 0
    assert "dropped: " in ran.err
    assert read(out).truth.queries


def test_nothing_to_mine_is_status_1_with_a_reason(history: Path, assay, tmp_path: Path):
    ran = assay("truth", "mine", history, "--from", "history", "--out", tmp_path / "a.jsonl")
    assert ran.status == 1
    assert "no commit after the pin" in ran.err
    assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "is not a folder"),
        (("https://example.org/a/b.git",), "clone it with all its history"),
        ((".", "--at", "nothing"), "has no commit nothing"),
        ((".", "--out", "a.what"), "does not say what format"),
        ((".", "--limit", "0"), "--limit"),
        ((".", "--from", "dreams"), "dreams"),
    ],
)
def test_bad_input_is_one_line(
    history: Path, assay, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
):
    monkeypatch.chdir(history)
    ran = assay("truth", "mine", *arguments)
    assert ran.status == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()
