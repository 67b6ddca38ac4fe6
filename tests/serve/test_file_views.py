"""Files, folders and their history as a session answers: bounded, and never more than what is served."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.serve import file_views
from assay.serve.file_history import blame, history
from assay.serve.file_views import file_text, folder_list, found_lines
from assay.serve.session import NotServed, Session
from assay.settings import Settings

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def session(project: Path) -> Session:
    (project / ".gitignore").write_text("secret*\n")
    for name, data in (
        ("secret.env", b"KEY=1"),
        (".git/config", b"[core]\n"),
        ("logo.png", b"\x89PNG\0\0"),
        ("data.txt", b"a\0b"),
        ("package-lock.json", b"{}\n"),
        ("app.min.js", b"x" * 50_000),
        ("node_modules/x/index.js", b"x\n"),
    ):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(data)
    (project / "leads.py").symlink_to("/etc/passwd")
    (project / "beside.py").symlink_to("mail/send.py")
    return Session({project: Settings()})


def test_a_file_has_its_lines_and_what_it_declares(session: Session, project: Path):
    told = file_text(session, "mail/send.py", 1, 2000)
    assert told.text == (project / "mail/send.py").read_text()
    assert (told.path, told.language, told.lines, told.complete) == ("mail/send.py", "python", 12, True)
    assert [(one.name, one.line, one.end_line) for one in told.outline] == [("send_mail", 6, 12)]
    part = file_text(session, "mail/send.py", 6, 2)
    assert (part.start_line, part.text.count("\n"), part.complete, part.outline) == (6, 2, False, [])
    with pytest.raises(NotServed, match="has 12 lines; line 13"):
        file_text(session, "mail/send.py", 13, 1)


@pytest.mark.parametrize(
    "path",
    [
        "secret.env",
        ".git/config",
        "node_modules/x/index.js",
        "leads.py",
        "../x",
        "/etc/passwd",
        "mail",
        "nothing.py",
        "mail/../../x",
        "\0",
    ],
)
def test_what_is_hidden_or_outside_is_not_opened(session: Session, path: str):
    with pytest.raises(NotServed):
        file_text(session, path, 1, 10)
    with pytest.raises(NotServed):
        blame(session, path, 1, 10)


def test_a_link_inside_leads_to_its_file(session: Session):
    assert file_text(session, "beside.py", 1, 1).path == "mail/send.py"


def test_binary_minified_and_large_files_are_bounded(session: Session, project: Path, monkeypatch: pytest.MonkeyPatch):
    binary = file_text(session, "data.txt", 1, 10)
    assert (binary.binary, binary.text, binary.lines) == (True, "", 0)
    assert file_text(session, "logo.png", 1, 10).reason == "binary"
    minified = file_text(session, "app.min.js", 1, 10)
    assert (len(minified.text), minified.cut, minified.reason) == (4000, {1: 46_000}, "minified")
    monkeypatch.setattr(file_views, "LARGEST_SHOWN", 1000)
    (project / "large.txt").write_text("0123456789\n" * 200)
    large = file_text(session, "large.txt", 1, 2000)
    assert (large.truncated, large.lines, large.size) == (True, 90, 2200)
    monkeypatch.setattr(file_views, "_MOST_CHARACTERS", 110)
    assert file_text(session, "large.txt", 1, 2000).text.count("\n") == 10
    with pytest.raises(InputError, match="binary"):
        blame(session, "data.txt", 1, 1)


def test_a_text_is_found_by_lines(session: Session):
    assert found_lines(session, "mail/send.py", "SERVER").lines == []
    assert found_lines(session, "mail/send.py", "server").lines == [6, 7, 9]
    assert found_lines(session, "mail/send.py", "deliver").total == 2


def test_a_folder_lists_what_may_be_opened(session: Session):
    told = folder_list(session, "", 100, "")
    assert told.folders == ["mail", "web"]
    assert [(one.name, one.reason) for one in told.files] == [
        (".gitignore", ""),
        ("README.md", ""),
        ("app.min.js", "minified"),
        ("data.txt", ""),
        ("logo.png", "binary"),
        ("package-lock.json", "a lock file"),
    ]
    with pytest.raises(NotServed, match="is a file"):
        folder_list(session, "README.md", 10, "")
    with pytest.raises(NotServed):
        folder_list(session, ".git", 10, "")
    with pytest.raises(NotServed):
        folder_list(session, "node_modules/x", 10, "")


def test_a_folder_of_many_files_comes_in_pages(session: Session, project: Path):
    (project / "many").mkdir()
    for at in range(25):
        (project / f"many/{at:03}.py").touch()
    names, cursor = [], ""
    while True:
        told = folder_list(session, "many", 10, cursor)
        names += [one.name for one in told.files]
        cursor = told.cursor
        if not cursor:
            break
    assert names == [f"{at:03}.py" for at in range(25)]


def test_who_wrote_a_unit_and_how_it_came_to_be(session: Session, project: Path):
    assert [span.commit for span in blame(session, "mail/send.py", 1, 100).spans] == [""]
    assert history(session, "mail/send.py", 6, 12, 10).commits == []
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    (project / ".git/config").unlink()
    for arguments in (
        ["init", "-q"],
        ["remote", "add", "origin", "git@github.com:a/b.git"],
        ["add", "."],
        [*who, "commit", "-qm", "First\n\nBody"],
    ):
        subprocess.run(["git", *arguments], cwd=project, check=True, capture_output=True)
    told = blame(session, "mail/send.py", 6, 3)
    assert [(span.start_line, span.end_line) for span in told.spans] == [(6, 8)]
    assert told.commits[0].author == "Ann"
    came = history(session, "mail/send.py", 6, 12, 10)
    assert [(each.subject, each.body) for each in came.commits] == [("First", "Body")]
    assert came.links.commits == "https://github.com/a/b/commit/"
    shown = file_text(session, "mail/send.py", 1, 1)
    assert shown.links.file.startswith("https://github.com/a/b/blob/")
    assert not shown.modified
    (project / "mail/send.py").write_text("new = 1\n")
    assert file_text(session, "mail/send.py", 1, 1).modified
