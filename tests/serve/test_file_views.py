"""Files, folders, their history and their colours as a session answers: bounded, and never more than what is served."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.errors import InputError
from assay.serve import file_views
from assay.serve.file_views import file_text, folder_list, found_lines
from assay.serve.history_tools import blame, history
from assay.serve.page_files import CLASSES, styled
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
    assert file_text(session, "mail/send.py", 12, 1).start_line == 12
    with pytest.raises(NotServed, match="has 12 lines; line 13"):
        file_text(session, "mail/send.py", 13, 1)
    assert file_text(session, "beside.py", 1, 1).path == "mail/send.py", "a link inside leads to its file"
    assert found_lines(session, "mail/send.py", "SERVER").lines == []
    assert found_lines(session, "mail/send.py", "server").lines == [6, 7, 9]
    assert found_lines(session, "mail/send.py", "deliver").total == 2
    assert found_lines(session, "mail/send.py", "Deliver").lines == [7]


HIDDEN = "secret.env|.git/config|node_modules/x/index.js|leads.py|../x|/etc/passwd|mail|nothing.py|mail/../../x|\0"


def test_what_is_hidden_or_outside_is_not_opened(session: Session):
    for path in HIDDEN.split("|"):
        for ask in (
            lambda path=path: file_text(session, path, 1, 10),
            lambda path=path: blame(session, path, 1, 10),
            lambda path=path: found_lines(session, path, "a"),
        ):
            with pytest.raises(NotServed):
                ask()
    for path in (".git", "node_modules/x"):
        with pytest.raises(NotServed):
            folder_list(session, path, 10, "")
    with pytest.raises(NotServed, match="is a file"):
        folder_list(session, "README.md", 10, "")


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


def test_a_folder_lists_what_may_be_opened_in_pages(session: Session, project: Path):
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
    (project / "many").mkdir()
    for at in range(25):
        (project / f"many/{at:03}.py").touch()
    names, cursor = [], ""
    while cursor or not names:
        told = folder_list(session, "many", 10, cursor)
        names += [one.name for one in told.files]
        cursor = told.cursor
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


LANGUAGES = sorted({*BY_EXTENSION.values(), *BY_NAME.values(), "", "no such language"})
PYTHON = '''@cache
def add(one, other=1.5):
    """Add two
    numbers."""
    return one + other  # sum
'''


def assert_whole(text: str, language: str) -> None:
    lines = styled(text, language)
    assert "\n".join("".join(piece for _, piece in line) for line in lines) == text.removesuffix("\n"), language
    assert {name for line in lines for name, _ in line} <= {*CLASSES, ""}, language


def test_pieces_of_code_have_the_class_of_what_they_are():
    lines = styled(PYTHON, "python")
    assert lines[0] == [("nd", "@cache")]
    assert lines[1][:3] == [("k", "def"), ("", " "), ("nf", "add")]
    assert ("m", "1.5") in lines[1]
    assert (lines[3][-1], lines[4][-1], len(lines)) == (("s", '    numbers."""'), ("c", "# sum"), 5)
    plain = {language for language in LANGUAGES if {name for name, _ in styled("if x: # y\n", language)[0]} == {""}}
    assert {"python", "typescript", "tsx", "go", "rust", "csharp", "swift", "kotlin", "yaml", "css"}.isdisjoint(plain)


def test_every_language_keeps_its_text():
    odd = ("a\r\nb\rc\n\n\n", "\n\n  x\t\n", "\ufeffa", "", "# T\n\n*e* `f`\n", "<a href='b'>c</a>\n# d\n")
    for language in LANGUAGES:
        assert_whole(PYTHON + "\ufeff" + "".join(odd), language)
    for text in odd:
        assert_whole(text, "python")


@settings(max_examples=50)
@given(st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_any_text_is_kept(text: str, language: str):
    assert_whole(text, language)


def test_what_nobody_reads_to_the_end_is_plain_and_whole():
    lines = styled("x = 1\n" * 20_000, "python")
    assert lines[0] != [("", "x = 1")] == lines[-1]
    assert len(lines) == 20_000
    for text, language in (("\n" * 90_000, "c"), ("-" * 90_000, "diff"), ("a " * 45_000, "objc")):
        assert_whole(text, language)  # the lexer of each takes minutes for it, were it not given up on
