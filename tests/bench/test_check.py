"""Targets against a repository made here: what is not there at the pinned commit, and what became of the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.patches import Hunk
from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.truth.ground_truth import Truth, TruthFile
from assay.truth.target_places import resolved
from assay.truth.truth_check import Drift, TruthCheck, _find_place, check, follow, repinned
from assay.values import Chunk, Judgment, Problem, Query
from git_repositories import commit, git, repository

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


@pytest.fixture
def checkout(tmp_path: Path) -> tuple[Path, str]:
    files = {"mail.py": CODE, "doc/a b.md": "# One\n\ntext\n", "old.py": "x = 1\n" * 9, "image.bin": "a\0b"}
    root = repository(tmp_path / "repository", files)
    (root / "link.py").symlink_to("mail.py")
    return root, commit(root, {})


def reading(*targets: str, pin: str = "", rows: bool = True) -> TruthFile:
    judgments = tuple(Judgment("1", target, 1) for target in targets)
    truth = Truth("set", (Query("1", "ask"),), judgments, commit=pin)
    return TruthFile(truth, (), tuple(range(2, len(targets) + 2)) if rows else (), "set.csv")


def test_what_is_there_is_fine_and_the_work_tree_is_not_touched(checkout):
    root, pin = checkout
    (root / "mail.py").write_text("gone\n")
    before = git(root, "status", "--porcelain")
    symbols = ("mail.py::send", "mail.py::Server.deliver", "doc/a b.md::One")
    targets = ("mail.py:1-26", "mail.py:26", "mail.py", "doc/a b.md:1-3", *symbols)
    found = check(reading(*targets, pin=pin), root)
    assert (found.problems, found.drift, found.targets, found.commit) == ((), (), 7, pin)
    assert found.uncommitted == ("mail.py",)
    assert git(root, "status", "--porcelain") == before


def test_what_is_not_there_is_a_problem_with_its_row(checkout):
    root, pin = checkout
    for target, said in (
        ("mail.py:20-27", "the file ends at line 26 at {pin}"),
        ("none.py:1-2", "no such file at {pin}"),
        ("lib/mail.py:1-2", "no such file at {pin}; did you mean 'mail.py'?"),
        ("./mail.py:1-2", "no such file at {pin}; did you mean 'mail.py'?"),
        ("link.py", "a symbolic link"),
        ("image.bin:1-1", "the file is binary"),
        ("mail.py::sent", "no such symbol at {pin}; did you mean 'send'?"),
        ("mail.py::Server.nothing", "no such symbol at {pin}"),
        ("none.py::send", "no such file at {pin}"),
    ):
        found = check(reading("mail.py", target, pin=pin), root)
        assert [problem.where for problem in found.problems] == ["set.csv:3"]
        assert found.problems[0].what.startswith(f"{target}: {said.format(pin=pin[:12])}")
    assert check(reading(target, pin=pin, rows=False), root).problems[0].where == "query 1"


def test_files_or_a_folder_of_a_repository_serve_where_no_commit_is_named(checkout, tmp_path: Path):
    root, _ = checkout
    (root / "new.py").write_text("x = 1\n")
    found = check(reading("new.py:1-1", "new.py:1-2"), root)
    assert list(map(str, found.problems)) == ["set.csv:3: new.py:1-2: the file ends at line 1 in the folder"]
    (tmp_path / "plain").mkdir()
    for folder, pin, said in (
        (tmp_path / "plain", "c0ffee", "is not a git repository, and the ground truth names commit c0ffee"),
        (root, "c0ffee", "has no commit c0ffee"),
        (tmp_path / "nowhere", "", "is not a folder"),
    ):
        with pytest.raises(InputError, match=said):
            check(reading("a.py", pin=pin), folder)
    root, pin = checkout
    assert check(reading("a b.md:1-3", pin=pin), root / "doc").problems == ()
    head = commit(root, {"doc/a b.md": "new\n# One\n\ntext\n"})
    found = check(reading("a b.md:1-3", pin=pin), root / "doc")
    assert found.head == head
    assert [str(drift) for drift in found.drift] == ["set.csv:2: a b.md:1-3: moved to a b.md:2-4"]


def change(root: Path, files: dict[str, str | None]) -> str:
    for name in files:
        (root / name).unlink(missing_ok=True)
    return commit(root, {name: text for name, text in files.items() if text is not None})


def drifted(checkout, files: dict[str, str | None], *targets: str) -> tuple[TruthCheck, TruthFile]:
    root, pin = checkout
    change(root, files)
    found = reading(*targets, pin=pin)
    return check(found, root), found


def test_drift_says_what_moved_changed_and_went(checkout):
    new = ["import os\n", "\n", *CODE.splitlines(keepends=True)]
    new[new.index("        return True\n")] = "        return bool(message)\n"
    files = {"mail.py": "".join(new), "old.py": None, "lib/doc.md": "# One\n\ntext\n", "doc/a b.md": None}
    targets = "mail.py:20-26|mail.py:11-14|mail.py:1-3|old.py:1-2|doc/a b.md:1-3|mail.py::send|old.py|none.py"
    found, read = drifted(checkout, files, *targets.split("|"))
    assert found.drift == (
        Drift("set.csv:2", "mail.py:20-26", "moved", "mail.py:22-28"),
        Drift("set.csv:3", "mail.py:11-14", "changed", "mail.py:13-16"),
        Drift("set.csv:4", "mail.py:1-3", "moved", "mail.py:3-5"),
        Drift("set.csv:5", "old.py:1-2", "gone"),
        Drift("set.csv:6", "doc/a b.md:1-3", "moved", "lib/doc.md:1-3"),
        Drift("set.csv:8", "old.py", "gone"),
    )
    said = (
        "3: mail.py:11-14: changed, now mail.py:13-16",
        "4: mail.py:1-3: moved to mail.py:3-5",
        "5: old.py:1-2: gone",
    )
    assert [str(each) for each in found.drift[1:4]] == [f"set.csv:{each}" for each in said]
    truth = repinned(read.truth, found)
    kept = ["mail.py:22-28", "mail.py:13-16", "mail.py:3-5", "lib/doc.md:1-3", "mail.py::send"]
    assert [each.target for each in truth.judgments] == kept
    assert truth.commit == found.head


def test_lines_that_were_moved_within_their_file_or_indented_anew_are_found(checkout):
    lines = CODE.splitlines(keepends=True)
    moved = "".join([*lines[19:], "\n", "\n", *lines[:19]])
    found, _ = drifted(checkout, {"mail.py": moved}, "mail.py:11-14", "mail.py:20-26")
    assert [(drift.state, drift.to) for drift in found.drift] == [("moved", "mail.py:20-23"), ("moved", "mail.py:1-7")]
    indented = "".join(f"    {line}" if line.strip() else line for line in lines)
    assert drifted(checkout, {"mail.py": indented}, "mail.py:11-14")[0].drift == ()
    assert _find_place(["a", "b"], ["x", "a", "b"]) == 1
    assert _find_place(["a", "b"], ["a", "b", "x", "a", "b"]) is None, "lines in several places moved to none of them"


def test_a_query_without_answers_left_is_left_out_and_hidden_lines_follow(checkout):
    root, pin = checkout
    change(root, {"old.py": None, "mail.py": "\n" + CODE})
    queries = (Query("1", "ask"), Query("2", "other"), Query("3", "unanswered"))
    truth = Truth("set", queries, (Judgment("1", "old.py:1-2", 1), Judgment("2", "mail.py:20-26", 1)), commit=pin)
    truth = replace(truth, hidden=("mail.py:5-5", "old.py:1-1"))
    found = check(TruthFile(truth, file="set.csv"), root)
    assert [drift.where for drift in found.drift] == ["query 1", "query 2", "set.csv (hidden)", "set.csv (hidden)"]
    new = repinned(truth, found)
    assert [query.id for query in new.queries] == ["2", "3"]
    assert [each.target for each in new.judgments] == ["mail.py:21-27"]
    assert new.hidden == ("mail.py:6-6",)
    with pytest.raises(InputError, match="nothing to follow"):
        repinned(truth, TruthCheck(1))


def test_symbols_become_lines_and_documents_are_not_looked_for(checkout):
    root, pin = checkout
    targets = ("mail.py:12-12", "mail.py::Server.deliver", "mail.py:20-21", "mail.py::none", "mail.py::Server")
    found = resolved(reading(*targets[:4], pin=pin), root)
    assert {each.target for each in found.truth.judgments} == {"mail.py:11-14", "mail.py:20-21"}
    assert str(found.problems[0]).startswith("set.csv:5: mail.py::none: no such symbol")
    whole = resolved(reading(targets[4], pin=pin), root)
    assert [each.target for each in whole.truth.judgments] == ["mail.py:4-18"]
    plain = reading("mail.py:1-2")
    assert resolved(plain, root).truth is plain.truth
    said = (Problem("set.csv:9", "broken"),)
    texts = Truth("set", (Query("1", "ask"),), (Judgment("1", "d", 1),), (Chunk("d", "x", path="d"),))
    assert check(TruthFile(texts, said), Path("nowhere")).problems == said
    found = check(replace(reading("none.py"), problems=said), None)
    assert (found.problems, found.looked) == (said, False)
    tags = ({"repository": "o/a", "commit": "1"}, {"repository": "o/b", "commit": "2"})
    queries = tuple(Query(str(at), "ask", tags=each) for at, each in enumerate(tags))
    with pytest.raises(InputError, match="2 checkouts: split it with assay truth convert --split"):
        check(TruthFile(Truth("set", queries, (Judgment("0", "a.py", 1),))), checkout[0])


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
