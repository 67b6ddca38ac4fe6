"""Questions mined from the history, the documentation and the tests of a repository."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from assay.bench.system import corpus_of, lines_of
from assay.errors import InputError
from assay.truth.mine import MinedTruth, mine
from assay.truth.requests import MineOptions

SEND = '''"""Sending."""

import time


def send_mail(server, message, attempts=3):
    """Deliver a letter, trying again when the server is busy."""
    for attempt in range(attempts):
        if server.deliver(message):
            return True
        time.sleep(2**attempt)
    return False


def forget(message):
    message.clear()
    message.sender = None
    return message
'''
TESTS = """from mail.send import forget, send_mail


def test_send_mail_gives_up_at_last():
    assert not send_mail(Busy(), None)


def test_works():
    assert send_mail(Good(), None)
"""
READ_ME = "# Post\n\nSends letters to people.\n\n## Settings\n\nThere is a timeout.\n\nIt is in seconds.\n"

Commit = Callable[..., str]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "post"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    return root


@pytest.fixture
def commit(repository: Path) -> Commit:
    clock = count(1_600_000_000, 86_400)

    def make(message: str, /, *edits: tuple[str, str, str], author: str = "Ann", **files: str) -> str:
        for path, old, new in edits:
            text = (repository / path).read_text()
            assert old in text
            (repository / path).write_text(text.replace(old, new))
        for name, text in files.items():
            path = repository / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git(repository, "add", "--all")
        git(repository, "commit", "--quiet", "--allow-empty", "-m", message, at=next(clock), author=author)
        return git(repository, "rev-parse", "HEAD")

    return make


@pytest.fixture
def base(commit: Commit) -> str:
    code = {"mail__send_dot_py": SEND, "tests__test_send_dot_py": TESTS}
    return commit("Send mail", **code, README_dot_md=READ_ME, LICENSE="do as you like")


def test_a_subject_asks_for_what_its_commit_changed_as_it_was_at_the_pin(repository: Path, commit: Commit, base: str):
    commit("Say who wrote it", ("mail/send.py", '"""Sending."""', '"""Sending."""\n\n__author__ = "Ann"'))
    later = commit("fix(mail): wait longer between deliveries (#12)", ("mail/send.py", "2**attempt", "3**attempt"))
    mined = mine(repository, MineOptions(sources=("history",), at=base))
    (query,) = mined.truth.queries
    assert mined.truth.commit == base
    assert (query.text, query.mode) == ("wait longer between deliveries", "code")
    made = {"source": "history", "commit": later[:12], "date": "2020-09-15T12:26:40+00:00"}
    assert query.tags == {**made, "kind": "hard", "split": "dev"}
    (judgment,) = mined.truth.judgments
    assert (judgment.target, judgment.grade, judgment.judge) == ("mail/send.py:6-12", 2, "history")
    assert judgment.reason == later
    assert mined.left_out["history"] == {"a subject of too few telling words": 1}


def test_only_old_lines_of_code_answer(repository: Path, commit: Commit, base: str):
    commit("Count sleeping pigeons in the loft", mail__loft_dot_py="def pigeons(loft):\n    return len(loft)\n")
    commit("Let sleeping pigeons count twice", ("mail/loft.py", "len(loft)", "2 * len(loft)"))
    commit("Explain which licence pigeons need", LICENSE="do as pigeons do")
    commit("Check that pigeons never give up", ("tests/test_send.py", "Good()", "Better()"))
    mined = mine(repository, MineOptions(sources=("history",), at=base))
    assert not mined.truth.queries
    assert mined.left_out["history"]["no unit of the pin changed"] == 3
    assert mined.left_out["history"]["only tests, changelogs, examples or settings"] == 1


def test_commits_that_ask_for_nothing_are_counted(repository: Path, commit: Commit, base: str):
    waits = ("mail/send.py", "2**attempt", "3**attempt")
    commit("Wait longer between delivery attempts", waits, author="renovate[bot]")
    commit("Sleep between delivery attempts anew", ("mail/send.py", "3**attempt", "3 ** attempt"))
    mined = mine(repository, MineOptions(sources=("history",), at=base))
    assert not mined.truth.queries
    assert mined.left_out["history"] == {"a bot": 1, "no line changed but in white space": 1}


def test_prose_answers_where_only_prose_changed(repository: Path, commit: Commit, base: str):
    commit("Explain which timeout holds abroad", ("README.md", "a timeout.", "a timeout abroad."))
    commit(
        "Clear letters of their sender first",
        ("mail/send.py", "message.clear()", "message.wipe()"),
        ("README.md", "letters", "clean letters"),
    )
    mined = mine(repository, MineOptions(sources=("history",), at=base))
    assert [(query.tags["kind"], query.mode) for query in mined.truth.queries] == [("docs", "docs"), ("hard", "code")]
    assert [judgment.target for judgment in mined.truth.judgments] == ["README.md:1-9", "mail/send.py:15-18"]


def test_kinds_say_how_a_question_relates_to_its_answer(repository: Path, commit: Commit, base: str):
    commit("Make send_mail patient with slow servers", ("mail/send.py", "2**attempt", "3**attempt"))
    commit("Return every message that nobody wants", ("mail/send.py", "return message", "return message, None"))
    body = "A letter that was sent may still be on the desk.\nSomebody reads it, and finds out who wrote it there."
    told = f"Leave no trace of who wrote\n\n{body}\n\nFixes: #12\nSigned-off-by: Ann <a@b>"
    commit(told, ("mail/send.py", "clear", "wipe"))
    symbol, standard, issue = mine(repository, MineOptions(sources=("history",), at=base)).truth.queries
    assert [query.tags["kind"] for query in (symbol, standard, issue)] == ["symbol", "standard", "issue"]
    assert issue.text == "Leave no trace of who wrote. " + body.replace("\n", " ")
    assert [query.tags["split"] for query in (symbol, standard, issue)] == ["dev", "dev", "test"]


def test_files_are_followed_under_new_names_and_pull_requests_have_titles(repository: Path, commit: Commit, base: str):
    git(repository, "mv", "mail/send.py", "mail/post.py")
    commit("Post things under another roof")
    git(repository, "switch", "--quiet", "--create", "side")
    commit("wip", ("mail/post.py", "2**attempt", "9**attempt"))
    git(repository, "switch", "--quiet", "main")
    for message in ("Merge pull request #7 from ann/side\n\nWait ages between deliveries", "Merge branch 'side'"):
        git(repository, "merge", "--quiet", "--no-ff", "-m", message, "side", at=1_700_000_000)
        git(repository, "switch", "--quiet", "side")
        commit("more wip", ("mail/post.py", "9**attempt", "7**attempt")) if "Merge pull" in message else None
        git(repository, "switch", "--quiet", "main")
    mined = mine(repository, MineOptions(sources=("history",), at=base))
    assert [query.text for query in mined.truth.queries] == ["Wait ages between deliveries"]
    assert [judgment.target for judgment in mined.truth.judgments] == ["mail/send.py:6-12"]
    assert mined.left_out["history"]["a merge without a title"] == 1


@pytest.mark.usefixtures("base")
def test_a_pin_beside_the_line_of_commits_still_maps(repository: Path, commit: Commit):
    git(repository, "switch", "--quiet", "--create", "release")
    pin = commit("Only here", ("mail/send.py", '"""Sending."""', '"""Sending\n\nmail."""'))
    git(repository, "switch", "--quiet", "main")
    commit("Wait longer between deliveries", ("mail/send.py", "2**attempt", "3**attempt"))
    mined = mine(repository, MineOptions(sources=("history",), at=pin))
    assert [judgment.target for judgment in mined.truth.judgments] == ["mail/send.py:8-14"]


def test_without_a_pin_the_newer_half_asks(repository: Path, commit: Commit, base: str):
    for number in range(3, 12):
        told = f"Wait number {number} between deliveries of pigeons"
        commit(told, ("mail/send.py", f"{number - 1}**", f"{number}**"))
    mined = mine(repository, MineOptions(sources=("history",)))
    assert len(mined.truth.queries) == 1  # each changes the line that the one before it made
    assert "tests" not in mined.left_out
    few = mine(repository, MineOptions(sources=("history",), at=base, limit=1))
    assert len(few.truth.queries) == 1


@pytest.mark.usefixtures("base")
def test_a_sentence_or_the_name_of_a_test_asks_for_its_function_and_is_hidden(repository: Path, tmp_path: Path):
    mined = mine(repository, MineOptions(sources=("docs",)))
    (query,) = mined.truth.queries
    assert query.text == "Deliver a letter, trying again when the server is busy"
    assert query.tags["kind"] == "standard"
    assert [judgment.target for judgment in mined.truth.judgments] == ["mail/send.py:6-12"]
    assert mined.truth.hidden == ("mail/send.py:7-7",)
    corpus = corpus_of(mined.truth, repository, tmp_path / "cache")
    assert lines_of(corpus, "mail/send.py")[5:8] == [SEND.split("\n")[5], "", SEND.split("\n")[7]]
    mined = mine(repository, MineOptions(sources=("tests",)))  # the name of a test asks for what it tests
    (query,) = mined.truth.queries
    assert (query.text, query.tags["kind"]) == ("send mail gives up at last", "casual")
    assert [judgment.target for judgment in mined.truth.judgments] == ["mail/send.py:6-12"]
    assert mined.truth.hidden == ("tests/test_send.py:4-5",)
    assert mined.left_out["tests"] == {"a test whose name says too little": 1}


def test_all_sources_speak_of_one_commit_and_a_seed_repeats(repository: Path, commit: Commit, base: str):
    commit("Wait longer between deliveries", ("mail/send.py", "2**attempt", "3**attempt"))
    mined = mine(repository, MineOptions(at=base))
    assert sorted(query.tags["source"] for query in mined.truth.queries) == ["docs", "history", "tests"]
    assert mined == mine(repository, MineOptions(at=base))


@pytest.mark.usefixtures("base")
def test_what_there_is_no_history_of(repository: Path, tmp_path: Path):
    one = mine(repository, MineOptions(sources=("history",)))
    assert not one.truth.queries
    assert "no commit after the pin" in said(one)
    with pytest.raises(InputError, match="has no commit nowhere"):
        mine(repository, MineOptions(at="nowhere"))
    plain = tmp_path / "plain"
    (plain / "mail").mkdir(parents=True)
    (plain / "mail" / "send.py").write_text(SEND)
    found = mine(plain, MineOptions())
    assert (len(found.truth.queries), found.truth.commit) == (1, "")
    assert "not a git repository" in said(found)
    with pytest.raises(InputError, match="--from docs"):
        mine(plain, MineOptions(sources=("history",)))
    with pytest.raises(InputError, match="not a folder"):
        mine(tmp_path / "nothing", MineOptions())


@pytest.mark.usefixtures("base")
def test_a_shallow_clone_is_said(repository: Path, commit: Commit, tmp_path: Path):
    commit("Wait longer between deliveries", ("mail/send.py", "2**attempt", "3**attempt"))
    git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), "shallow")
    mined = mine(tmp_path / "shallow", MineOptions())
    assert "shallow" in said(mined)
    assert {query.tags["source"] for query in mined.truth.queries} == {"docs", "tests"}


def said(mined: MinedTruth) -> str:
    return " | ".join(mined.notes)


def git(root: Path, *arguments: str, at: int = 1_600_000_000, author: str = "Ann") -> str:
    who = {"NAME": author, "EMAIL": "ann@example.org", "DATE": f"{at} +0000"}
    names = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    environment = {**names, "PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(root)}
    command = ["git", "-c", "commit.gpgSign=false", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, env=environment).stdout.strip()
