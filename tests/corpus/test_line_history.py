"""Lines to the commits that wrote them, in repositories made here; nothing that a repository names is run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.corpus import line_history
from assay.corpus.line_history import blame_lines, changes, head_lines
from assay.errors import InputError

FILE = "box/odd name.py"
FIRST = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
SECOND = FIRST.replace("return 2", "return 22")
NOW = "import os\n" + SECOND + "\n\nthree = 3\n"


def run(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Ann <b>\u202eOther", "-c", "user.email=ann@example.com")
    done = subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "box").mkdir(parents=True)
    run(tmp_path, "init", "-q", "shop")
    for text, message in ((FIRST, "One and two"), (SECOND, "Two is more\n\nIt was too little.")):
        (root / FILE).write_text(text)
        run(root, "add", ".")
        run(root, "commit", "-qm", message)
    (root / FILE).write_text(NOW)
    return root


def test_lines_are_found_in_head_wherever_they_stand_now(repository: Path):
    now = head_lines(repository, FILE, NOW)
    assert now.numbers == (0, 1, 2, 3, 4, 5, 6, 0, 0, 0)
    assert now.is_modified
    assert not head_lines(repository, FILE, SECOND.replace("\n", "\r\n")).is_modified
    assert now.span(1, 3) == (1, 2)
    assert now.span(8, 10) is None


def test_each_line_has_its_commit_and_none_where_it_is_not_committed(repository: Path):
    spans, commits = blame_lines(repository, FILE, head_lines(repository, FILE, NOW), 1, 99)
    subjects = {each.id: each.subject for each in commits}
    told = [(span.start_line, span.end_line, subjects.get(span.commit, "")) for span in spans]
    assert told == [(1, 1, ""), (2, 6, "One and two"), (7, 7, "Two is more"), (8, 10, "")]
    assert {each.author for each in commits} == {"Ann b\u202eOther"}  # git itself drops < and >
    assert all(each.date.endswith("+00:00") for each in commits)


def test_a_unit_has_its_commits_with_what_they_changed(repository: Path):
    found, complete = changes(repository, FILE, (5, 6), 10)
    assert [each.message for each in found] == ["Two is more\n\nIt was too little.", "One and two"]
    assert "-    return 2\n+    return 22" in found[0].patch
    assert complete
    assert [each.message for each in changes(repository, FILE, (1, 2), 10)[0]] == ["One and two"]
    assert (len(changes(repository, FILE, (5, 6), 1)[0]), changes(repository, FILE, (5, 6), 1)[1]) == (1, False)
    assert [each.message[:3] for each in changes(repository, FILE, None, 10)[0]] == ["Two", "One"]


def test_what_is_no_repository_has_no_head(tmp_path: Path):
    (tmp_path / "a.py").write_text("x = 1\n")
    now = head_lines(tmp_path, "a.py", "x = 1\n")
    assert (now.exists, now.numbers) == (False, (0,))
    spans, commits = blame_lines(tmp_path, "a.py", now, 1, 1)
    assert ([each.commit for each in spans], commits) == ([""], [])


def test_programs_that_a_repository_names_are_not_run(repository: Path, tmp_path: Path):
    """Attributes and configuration name a filter and a converter, which git would run on a file of the work tree."""
    ran = tmp_path / "ran"
    (repository / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for name in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "diff.evil.command"):
        run(repository, "config", name, f"touch '{ran}'; cat")
    now = head_lines(repository, FILE, NOW)
    assert blame_lines(repository, FILE, now, 1, 10)[1]
    assert changes(repository, FILE, (5, 6), 10)[0]
    assert changes(repository, FILE, None, 10)[0]
    assert not ran.exists()


def test_a_device_is_not_read_for_commits_to_ignore(repository: Path):
    run(repository, "config", "blame.ignoreRevsFile", "/dev/zero")
    with pytest.raises(InputError, match="git blame of"):
        blame_lines(repository, FILE, head_lines(repository, FILE, NOW), 1, 10)
    (repository / "formatted").write_text(run(repository, "rev-parse", "HEAD"))
    run(repository, "config", "blame.ignoreRevsFile", "formatted")
    spans, _ = blame_lines(repository, FILE, head_lines(repository, FILE, NOW), 1, 10)
    assert len({span.commit for span in spans}) == 2


def test_files_that_differ_too_much_are_not_compared_line_by_line(repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_history, "_MOST_COMPARED", 1)
    assert head_lines(repository, FILE, "\n" + SECOND.replace("one", "uno") + "\n").numbers == (0,) * 8
