"""Files, folders, their history and their colours as a session answers: bounded, and never more than what is served."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.errors import InputError
from assay.operations import files
from assay.operations.files import file_text, folder_list, found_lines
from assay.operations.log import blame, history
from assay.operations.requests import Blame, FileLines, Find, LineHistory, Tree
from assay.serve.page_files import CLASSES, styled
from assay.serve.session import NotServed, Session
from assay.settings import Settings
from git_repositories import git

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


def test_a_file_has_its_lines_and_declarations(session: Session, project: Path):
    told = file_text(FileLines(path="mail/send.py", line=1, count=2000), session)
    assert told.text == (project / "mail/send.py").read_text()
    assert (told.path, told.language, told.lines, told.complete) == ("mail/send.py", "python", 12, True)
    assert [(one.name, one.line, one.end_line) for one in told.outline] == [("send_mail", 6, 12)]
    part = file_text(FileLines(path="mail/send.py", line=6, count=2), session)
    assert (part.start_line, part.text.count("\n"), part.complete, part.outline) == (6, 2, False, [])
    assert file_text(FileLines(path="mail/send.py", line=12, count=1), session).start_line == 12
    with pytest.raises(NotServed, match="has 12 lines; there is no line 13"):
        file_text(FileLines(path="mail/send.py", line=13, count=1), session)
    linked = file_text(FileLines(path="beside.py", line=1, count=1), session)
    assert linked.path == "mail/send.py", "a link inside leads to its file"
    for text, lines in (("SERVER", []), ("server", [6, 7, 9]), ("deliver", [7, 9]), ("Deliver", [7])):
        assert found_lines(Find(path="mail/send.py", text=text), session).lines == lines


HIDDEN = "secret.env|.git/config|node_modules/x/index.js|leads.py|../x|/etc/passwd|mail|nothing.py|mail/../../x|\0"


@pytest.mark.parametrize("path", HIDDEN.split("|"))
def test_hidden_and_outside_files_are_not_opened(session: Session, path: str):
    for ask in (
        lambda: file_text(FileLines(path=path, line=1, count=10), session),
        lambda: blame(Blame(path=path, line=1, count=10), session),
        lambda: found_lines(Find(path=path, text="a"), session),
        lambda: folder_list(Tree(path=".git", limit=10), session),
        lambda: folder_list(Tree(path="node_modules/x", limit=10), session),
        lambda: folder_list(Tree(path="README.md", limit=10), session),
    ):
        with pytest.raises(NotServed):
            ask()


def test_binary_minified_and_large_files_are_bounded(session: Session, project: Path, monkeypatch: pytest.MonkeyPatch):
    binary = file_text(FileLines(path="data.txt", line=1, count=10), session)
    assert (binary.binary, binary.text, binary.lines) == (True, "", 0)
    assert file_text(FileLines(path="logo.png", line=1, count=10), session).reason == "binary"
    minified = file_text(FileLines(path="app.min.js", line=1, count=10), session)
    assert (len(minified.text), minified.cut, minified.reason) == (4000, {1: 46_000}, "minified")
    monkeypatch.setattr(files, "MAX_SHOWN_BYTES", 1000)
    (project / "large.txt").write_text("0123456789\n" * 200)
    large = file_text(FileLines(path="large.txt", line=1, count=2000), session)
    assert (large.truncated, large.lines, large.size) == (True, 90, 2200)
    monkeypatch.setattr(files, "_MAX_CHARS", 110)
    assert file_text(FileLines(path="large.txt", line=1, count=2000), session).text.count("\n") == 10
    with pytest.raises(InputError, match="binary"):
        blame(Blame(path="data.txt", line=1, count=1), session)


def test_a_folder_is_listed_in_pages(session: Session, project: Path):
    told = folder_list(Tree(path="", limit=100), session)
    assert told.folders == ["mail", "web"]
    reasons = {"app.min.js": "minified", "logo.png": "binary", "package-lock.json": "a lock file"}
    names = (".gitignore", "README.md", "app.min.js", "data.txt", "logo.png", "package-lock.json")
    assert [(one.name, one.reason) for one in told.files] == [(name, reasons.get(name, "")) for name in names]
    (project / "many").mkdir()
    for at in range(25):
        (project / f"many/{at:03}.py").touch()
    names, cursor = [], ""
    while cursor or not names:
        told = folder_list(Tree(path="many", limit=10, cursor=cursor), session)
        names += [one.name for one in told.files]
        cursor = told.cursor
    assert names == [f"{at:03}.py" for at in range(25)]


def test_authors_and_commits_of_a_unit(session: Session, project: Path):
    assert [span.commit for span in blame(Blame(path="mail/send.py", line=1, count=100), session).spans] == [""]
    assert history(LineHistory(path="mail/send.py", line=6, end_line=12, limit=10), session).commits == []
    (project / ".git/config").unlink()
    git(project, "init", "-q")
    git(project, "remote", "add", "origin", "git@github.com:a/b.git")
    git(project, "add", ".")
    git(project, "-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-qm", "First\n\nBody")
    told = blame(Blame(path="mail/send.py", line=6, count=3), session)
    assert [(span.start_line, span.end_line) for span in told.spans] == [(6, 8)]
    assert told.commits[0].author == "Ann"
    came = history(LineHistory(path="mail/send.py", line=6, end_line=12, limit=10), session)
    assert [(each.subject, each.body) for each in came.commits] == [("First", "Body")]
    assert came.links.commits == "https://github.com/a/b/commit/"
    shown = file_text(FileLines(path="mail/send.py", line=1, count=1), session)
    assert shown.links.file.startswith("https://github.com/a/b/blob/")
    assert not shown.modified
    (project / "mail/send.py").write_text("new = 1\n")
    assert file_text(FileLines(path="mail/send.py", line=1, count=1), session).modified


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


def test_pieces_of_code_have_their_class():
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


def test_a_very_long_file_is_plain_text():
    lines = styled("x = 1\n" * 20_000, "python")
    assert lines[0] != [("", "x = 1")] == lines[-1]
    assert len(lines) == 20_000
    for text, language in (("\n" * 90_000, "c"), ("-" * 90_000, "diff"), ("a " * 45_000, "objc")):
        assert_whole(text, language)  # the lexer of each takes minutes for it, were it not given up on
