"""A repository of a few commits becomes a data set: what its tests say of the candidates is what the labels say."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from assay.cage.limits import Ended
from assay.faults import Fault
from assay.rank.cosine_ranker import CosineRanker
from assay.rank.holes.hole_runs import check_out, fault_of_run
from assay.types import Program, Task

FIRST = '''"""Numbers."""
from .limits import LIMIT


def clip(number):
    """Return a number, the limit where it is above that."""
    if number > LIMIT:
        return number
    return LIMIT


def double(number):
    """Return a number twice."""
    result = number * 2
    return result
'''
NEXT = FIRST.replace("        return number\n    return LIMIT", "        return LIMIT\n    return number")
LAST = NEXT.replace("if number > LIMIT", "if number >= LIMIT")
TESTS = """import pytest
from box.numbers import clip, double

@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_clip(number):
    assert clip(number) == min(number, 3)

def test_double():
    assert double(4) == 8

def test_of_something_else():
    import nobody
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "box"
    files = {"src/box/__init__.py": "", "src/box/limits.py": "LIMIT = 3\n", "tests/test_box.py": TESTS}

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", root, *who, *arguments], check=True, capture_output=True)

    root.mkdir()
    git("init", "-q")
    for text in (FIRST, NEXT, LAST):
        for name, content in {**files, "src/box/numbers.py": text}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        git("add", "-A")
        git("commit", "-qm", "on")
    (root / "src/box/numbers.py").write_text("not committed")
    return root


def rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_repository_becomes_a_labelled_dataset(assay, repository: Path, tmp_path: Path):
    out = tmp_path / "holes"
    said = ("rank", "holes", repository, "--out", out, "--mutants", "3", "--alike", "1")
    ran = assay(*said)
    assert ran.status == 0, ran.err
    assert ran.out.startswith("2 holes, ")
    samples, outcomes = rows(out / "samples.jsonl"), rows(out / "outcomes.jsonl")
    faults = {row["program_id"]: row["fault"] for row in outcomes}
    clip = [row for row in samples if row["entry_point"] == "clip"]
    told = [(row["config"], faults[row["id"]]) for row in clip]
    assert told[:3] == [("original", "correct"), ("older", "correct"), ("older", "other intent error")]
    assert {config for config, _ in told} == {"original", "older", "mutant", "alike"}
    assert dict(told)["alike"] == "other intent error"
    assert clip[0]["task_id"] == "src/box/numbers.py::clip"
    assert clip[0]["code"].startswith("from box.numbers import LIMIT\n\n\ndef clip(number):\n    if number >= LIMIT:")
    assert clip[0]["prompt"].startswith('def clip(number):\n    """Return a number, the limit')
    before = (out / "samples.jsonl").read_bytes(), (out / "outcomes.jsonl").read_bytes()
    runs = (out / "runs.jsonl").read_text()
    (out / "runs.jsonl").write_text(runs[: len(runs) // 2])  # as a kill leaves it
    assert assay(*said).status == 0
    assert before == ((out / "samples.jsonl").read_bytes(), (out / "outcomes.jsonl").read_bytes())
    assert sorted((out / "runs.jsonl").read_text().splitlines()) == sorted(runs.splitlines())
    measured = assay(
        "rank", "eval", out / "samples.jsonl", out / "outcomes.jsonl", "--ranker", "cosine", "--ranker", "consensus"
    )
    assert measured.status == 0, measured.err
    assert "2 tasks" in measured.out


def test_no_setting_of_the_repository_runs_and_no_link_leads_out(repository: Path, tmp_path: Path):
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", repository, *who, *arguments], check=True, capture_output=True)

    (repository / ".gitattributes").write_text("*.py filter=evil\ntests export-ignore\n")
    (repository / "absolute").symlink_to("/etc/passwd")
    (repository / "beside").symlink_to("src/box")
    git("add", ".gitattributes", "absolute", "beside")
    git("commit", "-qm", "odd")
    git("config", "filter.evil.smudge", f"sh -c 'touch {tmp_path / 'ran'}; cat'")
    place = check_out(repository, tmp_path / "out")
    assert not (tmp_path / "ran").exists()
    assert (place / "tests/test_box.py").read_text() == TESTS
    assert (place / "beside").is_symlink()
    assert not (place / "absolute").is_symlink()


def test_labels_are_made_again_when_the_rest_of_the_repository_changed(assay, repository: Path, tmp_path: Path):
    said = ("rank", "holes", repository, "--out", tmp_path / "h", "--mutants", "2", "--alike", "0", "--older", "1")
    assert assay(*said).status == 0
    before = {row["program_id"]: row["fault"] for row in rows(tmp_path / "h/outcomes.jsonl")}
    (repository / "tests/test_box.py").write_text(TESTS.replace("assert double(4) == 8", "double(4)"))
    subprocess.run(["git", "-C", repository, "add", "tests"], check=True)
    subprocess.run(
        ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "weaker"], check=True
    )
    assert assay(*said).status == 0
    after = {row["program_id"]: row["fault"] for row in rows(tmp_path / "h/outcomes.jsonl")}
    assert "other intent error" in {fault for name, fault in before.items() if "double" in name}
    assert "other intent error" not in {fault for name, fault in after.items() if "double" in name}


def test_what_cannot_become_holes_is_said_in_a_line(assay, repository: Path, tmp_path: Path):
    ran = assay("rank", "holes", tmp_path, "--out", tmp_path / "h")
    assert ran.status == 2
    assert "not a git repository" in ran.err
    (repository / "tests/test_box.py").write_text("def test_nothing():\n    assert False, 'never'\n")
    subprocess.run(
        ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "x"], check=True
    )
    ran = assay("rank", "holes", repository, "--out", tmp_path / "h")
    assert ran.status == 2
    assert re.search(r"no test passes in the sandbox \(.*never.*\): there is nothing that could decide", ran.err)


@pytest.mark.parametrize(
    ("ended", "fault"),
    [
        (Ended("", ended="broken"), None),
        (Ended("", ended="cpu"), Fault.TIMEOUT),
        (Ended("", ended="wall"), Fault.TIMEOUT),
        (Ended("", stdout=b'{"status": 0, "passed": ["a::b", "a::c"]}'), Fault.CORRECT),
        (Ended("", stdout=b'{"status": 0, "passed": ["a::b"]}'), Fault.INTENT_OTHER),
        (Ended("", stdout=b'{"status": 0}'), Fault.INTENT_OTHER),
        (Ended("", stdout=b'noise\n{"status": 1, "error": "AssertionError"}'), Fault.INTENT_OTHER),
        (Ended("", stdout=b'{"status": 1, "error": "KeyError"}'), Fault.KEY_ERROR),
        (Ended("", stdout=b'{"status": 1, "error": "LengthError"}'), Fault.EXECUTION_OTHER),
        (Ended("", stdout=b'{"status": 1, "error": "Oops"}'), Fault.EXECUTION_OTHER),
        (Ended("", stdout=b"["), Fault.EXECUTION_OTHER),
        (Ended("", ended="signal"), Fault.EXECUTION_OTHER),
    ],
)
def test_a_run_says_how_a_candidate_fares(ended: Ended, fault: Fault | None):
    assert fault_of_run(ended, ("a::b", "a::c")) is fault


def test_cosine_prefers_what_is_near_the_text():
    programs = [Program("t", "def send_mail(server):\n    server.send()\n"), Program("t", "x = 1 / 0\n")]
    ranker = CosineRanker("hash:256")
    near, far = ranker.rank(Task("t", "send a mail to the server"), programs)
    assert near.score > far.score
    assert ranker.name == "cosine:hash:256"
    assert ranker.rank(Task("t", ""), []) == []
