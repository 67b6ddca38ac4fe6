"""Labels: what a reader says becomes ground truth that the bench reads, and nothing that was there is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.operations.requests import Search, SearchFilter, StatusOf
from assay.operations.search import search
from assay.operations.status import status
from assay.serve.labels import DamagedTruth, LabeledQuestion, Labeller
from assay.serve.reader import Waits
from assay.serve.session import NotServed, Session
from assay.settings import Settings
from assay.truth.target_places import resolved
from assay.truth.truth_formats import read
from json_lines import write_lines

TARGET = "mail/send.py:6-12"
KEPT = "mail/send.py::send_mail"
HEAD = {"type": "truth", "format": 1, "name": "mine"}


@pytest.fixture
def session(project: Path) -> Session:
    return Session({project: Settings()}, waits=Waits(fresh_s=0.0, refresh_s=30.0))


@pytest.fixture
def labeller(session: Session) -> Labeller:
    return Labeller(session, "me")


@pytest.fixture
def truth(project: Path) -> Path:
    return project / "assay-truth.jsonl"


def say(
    labeller: Labeller, grade: int | None, query: str = "where is mail sent", target: str = TARGET
) -> LabeledQuestion:
    return labeller.say("", query, target, grade)


def test_labels_are_checked_and_measured_by_the_bench(labeller: Labeller, truth: Path, undrawn: Callable[..., Any]):
    query = "deliver a message, trying again when the server is busy"
    say(labeller, 1, query)
    say(labeller, 0, query, target="mail/address.py")
    reading = read(truth)
    assert [(each.target, each.grade, each.judge) for each in reading.truth.judgments] == [
        (KEPT, 1, "me"),
        ("mail/address.py", 0, "me"),
    ]
    assert not reading.problems
    assert undrawn("truth", "check", truth, "--corpus", truth.parent).status == 0
    out = truth.parent / "assay-bench"
    ran = undrawn("bench", truth, "--corpus", truth.parent, "--system", "bm25", "--out", out, "--format", "json")
    assert ran.status == 0, ran.err
    (cell,) = json.loads(ran.out)["cells"]
    assert cell["figures"]["line"]["Hit@1"][0] == 1.0
    assert not [answer for answers in cell["answers"] for answer in answers if "assay-" in answer]


def test_the_same_words_are_one_question(labeller: Labeller, truth: Path):
    truth.touch()  # an empty file is begun
    first = say(labeller, 1)
    again = say(labeller, 0, "  Where  is mail\nSENT ", "README.md:5-7")
    assert (again.id, again.text) == (first.id, "where is mail sent")
    assert say(labeller, 1, "where is mail lost").id != first.id
    assert len(read(truth).truth.queries) == 2
    for text in ("où est envoyé", "郵便は", "a\ud800b", "a\u202eb", "a\x00b", '"quoted" \\ back'):
        say(labeller, 1, text)
    assert {query.text for query in read(truth).truth.queries} >= {"où est envoyé", "郵便は", "a\ud800b"}
    assert not read(truth).problems
    with pytest.raises(InputError, match="query is empty"):
        say(labeller, 1, "  ")


def test_a_judgment_is_changed_and_withdrawn_by_its_judge(session: Session, labeller: Labeller, project: Path):
    say(labeller, 1)
    assert [mark.grade for mark in say(labeller, 0).judgments] == [0]
    assert say(labeller, None).judgments == say(labeller, None).judgments == []
    assert labeller.read("").queries == []
    say(labeller, 1)
    other = Labeller(session, "you")
    assert [(mark.judge, mark.grade) for mark in say(other, 0).judgments] == [("me", 1), ("you", 0)]
    (project / "mail/send.py").unlink()
    (mine, _) = labeller.read("").queries[0].judgments
    assert (mine.target, mine.lines) == (KEPT, ""), "lines that are gone can be taken back too"
    assert [mark.judge for mark in say(labeller, None, target=mine.target).judgments] == ["you"]


def test_a_label_follows_its_code(labeller: Labeller, truth: Path, project: Path):
    (mark,) = say(labeller, 1).judgments
    assert (mark.target, mark.lines) == (KEPT, TARGET)
    file = project / "mail/send.py"
    file.write_text("# one\n# two\n" + file.read_text())
    (mark,) = labeller.read("").queries[0].judgments
    assert (mark.target, mark.lines) == (KEPT, "mail/send.py:8-14")
    reading = resolved(read(truth), project)
    assert [each.target for each in reading.truth.judgments] == [mark.lines]
    assert [mark.grade for mark in say(labeller, 0, target=mark.lines).judgments] == [0]
    assert say(labeller, None, target="mail/send.py:8-14").judgments == []


def test_lines_of_one_unit_are_kept_by_its_name(labeller: Labeller, project: Path):
    (project / "twice.py").write_text("def a():\n    return 1\n\n\ndef a():\n    return 2\n\n\nx, y = 1, 2\n")
    for target in ("mail/send.py:7-12", "mail/send.py:1-12", "twice.py:1-2", "twice.py:5-6", "twice.py"):
        (mark,) = say(labeller, 1, target, target).judgments
        assert (mark.target, mark.lines) == (target, target)
    (project / "box.py").write_text(
        "class Box:\n    def open(self):\n        return 1\n\n    def shut(self):\n        return 2\n"
    )
    assert say(labeller, 1, "a", "box.py:2-3").judgments[0].target == "box.py::Box.open"
    assert say(labeller, 1, "b", "box.py:1-6").judgments[0].target == "box.py::Box"


@pytest.mark.parametrize(("kept", "said"), [*product([TARGET, KEPT], repeat=2)])
def test_a_grade_is_found_in_either_form(labeller: Labeller, truth: Path, kept: str, said: str):
    mark = {"type": "judgment", "query_id": "7", "target": kept, "grade": 1}
    query = {"type": "query", "id": "7", "text": "where is mail sent"}
    write_lines(truth, [HEAD, query, {**mark, "judge": "me"}, {**mark, "judge": "you"}])
    assert [(each.grade, each.judge) for each in say(labeller, 0, target=said).judgments] == [(1, "you"), (0, "me")]
    assert [each.judge for each in say(labeller, None, target=said).judgments] == ["you"]


def test_other_records_stay(labeller: Labeller, truth: Path):
    query = {"type": "query", "id": "7", "text": "How is mail sent?", "tags": {"kind": "hard"}, "languages": ["python"]}
    mark = {
        "type": "judgment",
        "query_id": "7",
        "target": "mail/send.py",
        "grade": 3,
        "judge": "them",
        "reason": "it is",
    }
    write_lines(truth, [{**HEAD, "hidden": ["README.md:1-2"]}, query, mark])
    before = read(truth).truth
    assert say(labeller, 1, "how is mail sent?").id == "7"
    after = read(truth).truth
    assert (after.name, after.hidden, after.queries) == (before.name, before.hidden, before.queries)
    assert after.judgments[:-1] == before.judgments
    say(labeller, None, "how is mail sent?")
    assert read(truth).truth == before


DAMAGED = [
    b'{"type": "truth", "format": 1}\n{"type": "query", "id": "1"}\n',
    b'{"type": "truth", "format": 2}\n',
    b'{"type": "truth", "format": 1}\n{"type": "judgment", "query_id": "x", "target": "a", "grade": 1}\n',
    b'{"type": "truth", "format": 1}\n<<<<<<< HEAD\n',
    b"query,result1\nhow,a.py:1-2\n",
    b"\xff\xfe\x00",
    b"   \n",
]


def test_a_damaged_file_or_a_link_is_left_as_it_is(labeller: Labeller, truth: Path, tmp_path: Path):
    asks = (lambda: say(labeller, 1), lambda: say(labeller, None), lambda: labeller.read(""))
    for text in DAMAGED:
        truth.write_bytes(text)
        for ask in asks:
            with pytest.raises(DamagedTruth, match="was not changed"):
                ask()
        assert truth.read_bytes() == text
    other = tmp_path / "other.jsonl"
    write_lines(other, [HEAD])
    truth.unlink()
    truth.symlink_to(other)
    for ask in asks:
        with pytest.raises(DamagedTruth, match="symbolic link"):
            ask()
    assert json.loads(other.read_text()) == HEAD


REFUSED = {
    "mail/send.py:6-99": "ends at line 12",
    "mail/gone.py:1-2": "no such file",
    "../outside.py:1-2": "leads out of the repository",
    "/etc/passwd": "is absolute",
    "mail": "is not a file of",
    "mail/../mail/send.py": "leads out",
    "mail//send.py": "is not a file of",
    "./mail/send.py": "is not a file of",
    "mail/send.py:9-6": "invalid line range",
    "mail/send.py:0": "invalid line range",
    "mail/send.py::send_male": "declares no 'send_male'",
    "mail/send.py::": "names no symbol",
    "a\0b": "is not a path",
    "a\nb": "is not a path",
    "": "is not a path",
    "link.py:1-1": "is not a file of",
    "out.py": "outside of what is served",
    "nested/a.py": "is not a file of",
    "photo.bin": "is binary",
}


def test_a_target_is_a_served_file(labeller: Labeller, project: Path, truth: Path):
    (project / "link.py").symlink_to(project / "mail/send.py")
    (project.parent / "out.py").write_text("secret = 1\n")
    (project / "out.py").symlink_to(project.parent / "out.py")
    (project / "nested/.git").mkdir(parents=True)
    (project / "nested/a.py").write_text("a = 1\n")
    (project / "photo.bin").write_bytes(b"\0\1")
    for target, told in REFUSED.items():
        with pytest.raises(InputError, match=told):
            say(labeller, 1, target=target)
    assert not truth.exists()
    for path, told in (("https://example.com/a/b.git", "not for clones"), ("/etc", "outside")):
        with pytest.raises(NotServed, match=told):
            labeller.read(path)
    assert labeller.read("mail").file == labeller.read(str(project)).file


@pytest.mark.parametrize("name", ["assay-truth.jsonl", "queries.jsonl", "../kept/mine.jsonl"])
def test_another_file_may_be_named_and_is_not_searched(session: Session, project: Path, name: str):
    labeller = Labeller(session, "me", project / name)
    say(labeller, 1, "unmistakable zebra")
    assert (project / name).exists()
    assert labeller.read("").file == (project / name).name
    (project / "assay-bench").mkdir()
    (project / "assay-bench" / "notes.py").write_text("unmistakable_zebra = 1\n")
    keep = SearchFilter(mode="all")
    found = search(Search("unmistakable zebra", keep=keep, limit=50, budget=50_000), session)
    assert not [hit.path for hit in found.hits if "jsonl" in hit.path or "assay-bench" in hit.path]
    left_out = status(StatusOf(), session).left_out
    assert left_out.get("a ground truth") == (None if name.startswith("..") else 1)


def test_many_labels_of_a_file_read_it_once(labeller: Labeller, truth: Path, monkeypatch: pytest.MonkeyPatch):
    looks: list[str] = []
    look = Labeller._look
    monkeypatch.setattr(Labeller, "_look", lambda self, root, path: looks.append(path) or look(self, root, path))
    records: list[object] = [HEAD]
    for number in range(50):
        records.append({"type": "query", "id": str(number), "text": f"question {number}"})
        records.append({"type": "judgment", "query_id": str(number), "target": TARGET, "grade": 1, "judge": "me"})
    write_lines(truth, records)
    assert [len(each.judgments) for each in labeller.read("").queries] == [1] * 50
    assert len(looks) == 1


SAYS = """
import sys
from pathlib import Path
from assay.serve.labels import Labeller
from assay.serve.session import Session
from assay.settings import Settings
labeller = Labeller(Session({Path(sys.argv[1]): Settings()}), sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
for number in range(6):
    labeller.say("", f"question {sys.argv[2]} {number}", "mail/send.py:1-1", 1)
"""


def test_threads_and_processes_at_once_lose_no_label(session: Session, project: Path, truth: Path, tmp_path: Path):
    said = []
    for judge in ("ann", "bob"):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / judge)}
        command = [sys.executable, "-c", SAYS, str(project), judge]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        said.append(subprocess.Popen(command, **pipes, text=True, env=environment))
    assert [each.stdout.readline() for each in said] == ["ready\n"] * 2

    def one(number: int) -> None:
        Labeller(session, f"judge {number % 3}").say("", f"question {number % 10}", TARGET, number % 2)

    for each in said:
        each.stdin.write("go\n")
        each.stdin.flush()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(one, range(30)))
    for each in said:
        each.communicate(timeout=60)
        assert each.returncode == 0
    reading = read(truth)
    assert not reading.problems
    assert (len(reading.truth.queries), len(reading.truth.judgments)) == (10 + 12, 30 + 12)
