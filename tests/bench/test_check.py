"""Targets against a repository made here: what is not there at the pinned commit, and what became of the rest."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.patches import Hunk
from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.truth.check_truth import TruthCheck, check, repinned
from assay.truth.drift import Drift, follow
from assay.truth.ground_truth import Truth, TruthFile
from assay.truth.target_places import resolved
from assay.types import Chunk, Judgment, Problem, Query

CODE = '''"""Sending mail."""


class Server:
    """Where mail goes."""

    def __init__(self, host):
        self.host = host
        self.queue = []

    def deliver(self, message):
        """Take one message."""
        self.queue.append(message)
        return True

    def empty(self):
        """Forget what waits."""
        self.queue.clear()


def send(server, message, attempts=3):
    """Deliver a message, trying again when the server is busy."""
    for _ in range(attempts):
        if server.deliver(message):
            return True
    return False
'''


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", "-C", root, *who, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(root: Path, files: dict[str, str | None]) -> str:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).unlink(missing_ok=True)
        if text is not None:
            (root / name).write_text(text, encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "change")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, str]:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    files = {"mail.py": CODE, "doc/a b.md": "# One\n\ntext\n", "old.py": "x = 1\n" * 9, "image.bin": "a\0b"}
    first = commit(root, files)
    (root / "link.py").symlink_to("mail.py")
    return root, commit(root, {}) if git(root, "status", "--porcelain") else first


def reading(*targets: str, pin: str = "", rows: bool = True) -> TruthFile:
    judgments = tuple(Judgment("1", target, 1) for target in targets)
    truth = Truth("set", (Query("1", "ask"),), judgments, commit=pin)
    return TruthFile(truth, (), tuple(range(2, len(targets) + 2)) if rows else (), "set.csv")


def looked(found: TruthFile, root: Path) -> TruthCheck:
    return check(found, root)


def test_what_is_there_is_fine_and_the_work_tree_is_not_touched(repository):
    root, pin = repository
    (root / "mail.py").write_text("gone\n")
    before = git(root, "status", "--porcelain")
    symbols = ("mail.py::send", "mail.py::Server.deliver", "doc/a b.md::One")
    targets = ("mail.py:1-26", "mail.py:26", "mail.py", "doc/a b.md:1-3", *symbols)
    found = looked(reading(*targets, pin=pin), root)
    assert (found.problems, found.drift, found.targets, found.commit) == ((), (), 7, pin)
    assert found.uncommitted == ("mail.py",)
    assert git(root, "status", "--porcelain") == before


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("mail.py:20-27", "the file ends at line 26 at {pin}"),
        ("none.py:1-2", "no such file at {pin}"),
        ("lib/mail.py:1-2", "no such file at {pin}; did you mean 'mail.py'?"),
        ("./mail.py:1-2", "no such file at {pin}; did you mean 'mail.py'?"),
        ("link.py", "a symbolic link"),
        ("image.bin:1-1", "the file is binary"),
        ("mail.py::sent", "no such symbol at {pin}; did you mean 'send'?"),
        ("mail.py::Server.nothing", "no such symbol at {pin}"),
        ("none.py::send", "no such file at {pin}"),
    ],
)
def test_what_is_not_there_is_a_problem_with_its_row(repository, target: str, said: str):
    root, pin = repository
    found = looked(reading("mail.py", target, pin=pin), root)
    assert [problem.where for problem in found.problems] == ["set.csv:3"]
    assert found.problems[0].what.startswith(f"{target}: {said.format(pin=pin[:12])}")
    assert looked(reading(target, pin=pin, rows=False), root).problems[0].where == "query 1"


def test_the_files_as_they_are_serve_where_no_commit_is_named(repository, tmp_path: Path):
    root, _ = repository
    (root / "new.py").write_text("x = 1\n")
    found = looked(reading("new.py:1-1", "new.py:1-2"), root)
    assert [str(problem) for problem in found.problems] == [
        "set.csv:3: new.py:1-2: the file ends at line 1 in the folder"
    ]
    (tmp_path / "plain").mkdir()
    with pytest.raises(InputError, match="is no git repository, and the ground truth speaks of commit c0ffee"):
        looked(reading("a.py", pin="c0ffee"), tmp_path / "plain")
    with pytest.raises(InputError, match="has no commit c0ffee"):
        looked(reading("a.py", pin="c0ffee"), root)
    with pytest.raises(InputError, match="is not a folder"):
        looked(reading("a.py"), tmp_path / "nowhere")


def test_a_folder_inside_its_repository_is_a_checkout_of_its_own(repository):
    root, pin = repository
    assert looked(reading("a b.md:1-3", pin=pin), root / "doc").problems == ()
    head = commit(root, {"doc/a b.md": "new\n# One\n\ntext\n"})
    found = looked(reading("a b.md:1-3", pin=pin), root / "doc")
    assert found.head == head
    assert [str(drift) for drift in found.drift] == ["set.csv:2: a b.md:1-3: moved to a b.md:2-4"]


def drifted(repository, files: dict[str, str | None], *targets: str) -> tuple[TruthCheck, TruthFile]:
    root, pin = repository
    commit(root, files)
    found = reading(*targets, pin=pin)
    return looked(found, root), found


def test_drift_says_what_moved_changed_and_went(repository):
    lines = CODE.splitlines(keepends=True)
    new = ["import os\n", "\n", *lines]
    new[new.index("        return True\n")] = "        return bool(message)\n"
    files = {"mail.py": "".join(new), "old.py": None, "lib/doc.md": "# One\n\ntext\n", "doc/a b.md": None}
    targets = (
        "mail.py:20-26",
        "mail.py:11-14",
        "mail.py:1-3",
        "old.py:1-2",
        "doc/a b.md:1-3",
        "mail.py::send",
        "old.py",
    )
    found, read = drifted(repository, files, *targets, "none.py")
    assert found.drift == (
        Drift("set.csv:2", "mail.py:20-26", "moved", "mail.py:22-28"),
        Drift("set.csv:3", "mail.py:11-14", "changed", "mail.py:13-16"),
        Drift("set.csv:4", "mail.py:1-3", "moved", "mail.py:3-5"),
        Drift("set.csv:5", "old.py:1-2", "gone"),
        Drift("set.csv:6", "doc/a b.md:1-3", "moved", "lib/doc.md:1-3"),
        Drift("set.csv:8", "old.py", "gone"),
    )
    assert [str(each) for each in found.drift[1:4]] == [
        "set.csv:3: mail.py:11-14: changed, now mail.py:13-16",
        "set.csv:4: mail.py:1-3: moved to mail.py:3-5",
        "set.csv:5: old.py:1-2: gone",
    ]
    truth = repinned(read.truth, found)
    kept = ["mail.py:22-28", "mail.py:13-16", "mail.py:3-5", "lib/doc.md:1-3", "mail.py::send"]
    assert [each.target for each in truth.judgments] == kept
    assert truth.commit == found.head


def test_lines_that_were_moved_within_their_file_are_found(repository):
    lines = CODE.splitlines(keepends=True)
    moved = [*lines[19:], "\n", "\n", *lines[:19]]
    found, _ = drifted(repository, {"mail.py": "".join(moved)}, "mail.py:11-14", "mail.py:20-26")
    assert [(drift.state, drift.to) for drift in found.drift] == [("moved", "mail.py:20-23"), ("moved", "mail.py:1-7")]


def test_lines_that_are_indented_anew_did_not_change(repository):
    indented = "".join(f"    {line}" if line.strip() else line for line in CODE.splitlines(keepends=True))
    found, _ = drifted(repository, {"mail.py": indented}, "mail.py:11-14")
    assert found.drift == ()


def test_a_query_without_answers_left_is_left_out_and_hidden_lines_follow(repository):
    root, pin = repository
    commit(root, {"old.py": None, "mail.py": "\n" + CODE})
    queries = (Query("1", "ask"), Query("2", "other"), Query("3", "unanswered"))
    truth = Truth("set", queries, (Judgment("1", "old.py:1-2", 1), Judgment("2", "mail.py:20-26", 1)), commit=pin)
    truth = replace(truth, hidden=("mail.py:5-5", "old.py:1-1"))
    found = looked(TruthFile(truth, file="set.csv"), root)
    assert [drift.where for drift in found.drift] == ["query 1", "query 2", "set.csv (hidden)", "set.csv (hidden)"]
    new = repinned(truth, found)
    assert [query.id for query in new.queries] == ["2", "3"]
    assert [each.target for each in new.judgments] == ["mail.py:21-27"]
    assert new.hidden == ("mail.py:6-6",)
    with pytest.raises(InputError, match="nothing to pin again"):
        repinned(truth, TruthCheck(1))


def test_documents_and_nothing_to_look_at_give_back_what_reading_said():
    said = (Problem("set.csv:9", "broken"),)
    texts = Truth("set", (Query("1", "ask"),), (Judgment("1", "d", 1),), (Chunk("d", "x", path="d"),))
    assert looked(TruthFile(texts, said), Path("nowhere")).problems == said
    found = check(replace(reading("none.py"), problems=said), None)
    assert (found.problems, found.looked) == (said, False)


def test_several_checkouts_are_refused(repository):
    tags = ({"repository": "o/a", "commit": "1"}, {"repository": "o/b", "commit": "2"})
    queries = tuple(Query(str(at), "ask", tags=each) for at, each in enumerate(tags))
    with pytest.raises(InputError, match="2 checkouts: split it with assay truth convert --split"):
        looked(TruthFile(Truth("set", queries, (Judgment("0", "a.py", 1),))), repository[0])


def test_symbols_become_lines_and_take_the_hunks_inside_them(repository):
    root, pin = repository
    targets = ("mail.py:12-12", "mail.py::Server.deliver", "mail.py:20-21", "mail.py::none", "mail.py::Server")
    found = resolved(reading(*targets[:4], pin=pin), root)
    assert {each.target for each in found.truth.judgments} == {"mail.py:11-14", "mail.py:20-21"}
    assert str(found.problems[0]).startswith("set.csv:5: mail.py::none: no such symbol")
    whole = resolved(reading(targets[4], pin=pin), root)
    assert [each.target for each in whole.truth.judgments] == ["mail.py:4-18"]
    plain = reading("mail.py:1-2")
    assert resolved(plain, root).truth is plain.truth


LINE = st.integers(0, 30)


@given(old=st.lists(LINE, max_size=20, unique=True), new=st.lists(LINE, max_size=20, unique=True), data=st.data())
def test_following_keeps_every_line_that_stayed(old: list[int], new: list[int], data):
    """Any change is hunks between the lines that stay; the new span holds exactly the old span's lines that stayed."""
    old, new = sorted(old), sorted(new)
    stay = [line for line in old if line in new]
    hunks, at, to = [], 0, 0
    for line in [*stay, None]:
        before, after = (old.index(line), new.index(line)) if line is not None else (len(old), len(new))
        if before > at or after > to:
            size = before - at
            hunks.append(Hunk(at + 1 if size else at, size, after - to))
        at, to = before + 1, after + 1
    if not old:
        return
    start = data.draw(st.integers(1, len(old)))
    end = data.draw(st.integers(start, len(old)))
    first, last, kept = follow(Span("a", start, end), hunks)
    inside = [line for line in old[start - 1 : end] if line in stay]
    assert kept == len(inside)
    assert [line for line in new[first - 1 : last] if line in stay] == inside
    if last >= first:
        assert 1 <= first <= last <= len(new)
