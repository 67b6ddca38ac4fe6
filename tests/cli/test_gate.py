"""A gate of questions that follow the files: what fails it, what does not, and where it could not see anything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from assay.cli.main import run
from git_repositories import commit, git, repository

SEND = '''import time


def {name}(server, message):
    """Deliver a letter, trying again when the host is busy.

    It gives up after three attempts.
    """
    for attempt in range(3):
        if server.deliver(message):
            return True
    return False
'''
OTHER = '''def is_valid(address):
    """Say whether the mailbox of somebody has a known domain."""
    name, _, domain = address.partition("@")
    known = domain in ("example.com", "example.org")
    return bool(name) and known
'''
TESTS = "def test_is_valid_refuses_unknown_domains():\n    assert not is_valid('a@b')\n"
FILES = {"mail/send.py": SEND.format(name="send_mail"), "mail/address.py": OTHER, "tests/test_address.py": TESTS}
GATE = ("--corpus", ".", "--system", "assay", "--fail-if-worse", "--out", "../out", "--baseline")


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a repository and the questions that were mined from it."""
    folder = tmp_path_factory.mktemp("gate")
    repository(folder / "post", FILES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "post")
        assert run(["truth", "mine", ".", "--follow", "--out", "../asked.jsonl"]) == 0
    return folder


@pytest.fixture
def root(mined: Path, tmp_path: Path, undrawn, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert undrawn
    shutil.copytree(mined, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "post")
    return tmp_path / "post"


@pytest.mark.usefixtures("root")
def test_mined_questions_name_symbols_and_hide_their_source(assay):
    rows = [json.loads(line) for line in Path("../asked.jsonl").read_text().splitlines()]
    targets = sorted(row["target"] for row in rows if row["type"] == "judgment")
    assert targets == ["mail/address.py::is_valid", "mail/address.py::is_valid", "mail/send.py::send_mail"]
    assert rows[0]["hidden"] == ["tests/test_address.py::test_is_valid_refuses_unknown_domains"]
    assert sorted(rows[0]["hidden_docs"]) == ["mail/address.py::is_valid", "mail/send.py::send_mail"]
    assert "commit" not in rows[0]
    assert assay("truth", "check", "../asked.jsonl", "--corpus", ".").out == "3 queries, 2 targets: 0 problems\n"


UNDOCUMENTED = "".join(line for line in OTHER.splitlines(keepends=True) if '"""' not in line)
REMOVED = {
    "renamed": ("mail/send.py", SEND.format(name="post"), "mail/send.py::send_mail: no such symbol"),
    "deleted": ("mail/address.py", "", "mail/address.py::is_valid: no such symbol"),
    "undocumented": ("mail/address.py", UNDOCUMENTED, "is_valid: its documentation, which was the question, is gone"),
}


@pytest.mark.parametrize(("file", "text", "said"), REMOVED.values(), ids=REMOVED)
def test_a_removed_target_fails_and_is_named(root: Path, assay, file: str, text: str, said: str):
    commit(root, {file: text})
    ran = assay("bench", "../asked.jsonl", *GATE[:4], "--out", "../out", "--fail-under", "MRR=0")
    assert (ran.status, "is gone: " in ran.err, said in ran.err) == (1, True, True), ran.err
    assert "where that is meant, assay truth check --fix" in ran.err
    assert (checked := assay("truth", "check", "../asked.jsonl", "--corpus", ".")).status == 1
    assert said in checked.out
    assay("truth", "check", "../asked.jsonl", "--corpus", ".", "--fix", "../mended.jsonl")
    assert assay("truth", "check", "../mended.jsonl", "--corpus", ".").status == 0


def test_a_moved_target_is_followed_and_an_added_file_costs_nothing(root: Path, assay):
    git(root, "mv", "mail/send.py", "mail/post.py")
    (root / "away.sh").write_text("echo tests/test_address.py:1\n")
    commit(root, {"web.py": "def serve():\n    return 1\n"})
    away = ("--system", f"away=cmd:sh {root}/away.sh")
    ran = assay("bench", "../asked.jsonl", *GATE[:4], *away, *GATE[4:], "HEAD~")
    assert (ran.status, "1 right place moved to another file" in ran.err) == (0, True), ran.err
    assert "over 3 queries (p 1.000)" in ran.err
    assert "3 queries answered, never right; it names places as 'tests/test_address.py:1-1'" in ran.err
    assert json.loads(Path("../out/results.json").read_text())["against"]["file"] == "HEAD~"
    checked = assay("truth", "check", "../asked.jsonl", "--corpus", ".", "--fix", "../mended.jsonl", "-v")
    assert "mail/send.py::send_mail: moved to mail/post.py::send_mail" in checked.out
    assert "mail/send.py" not in Path("../mended.jsonl").read_text()


def test_a_gate_that_cannot_fail_or_compare_is_refused_or_noted(root: Path, assay):
    pinned = {"mail/send.py": FILES["mail/send.py"].replace("range(3)", "range(4)")}
    assay("truth", "mine", ".", "--from", "docs", "--out", "../pinned.jsonl")
    commit(root, pinned)
    ran = assay("bench", "../pinned.jsonl", *GATE[:4], "--fail-under", "MRR=0.1", "--out", "../out")
    assert (ran.status, "1 commit behind HEAD: no change since can fail this gate" in ran.err) == (0, True), ran.err
    ran = assay("bench", "../pinned.jsonl", *GATE, "HEAD~")
    assert (ran.status, "every question is about a commit of its own" in ran.err) == (2, True)
    ran = assay("bench", "../asked.jsonl", *GATE, "0123abc")
    assert (ran.status, "has no commit 0123abc: fetch it" in ran.err) == (2, True)
    assert assay("bench", "../asked.jsonl", *GATE[:4], "--out", "../other").status == 0
    results = json.loads(Path("../other/results.json").read_text())
    results["manifest"]["versions"]["assay"] = "0.0.1"
    Path("../old.json").write_text(json.dumps(results))
    ran = assay("bench", "../asked.jsonl", *GATE, "../old.json")
    assert (ran.status, "was measured by Assay 0.0.1" in ran.err) == (2, True)
