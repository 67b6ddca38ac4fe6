from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.operations.commits import History, reason_of
from assay.operations.found_commit import FoundCommit, commit_text, commits_text
from assay.search.history import CommitFilter
from assay.settings import Settings
from assay.store.index_location import history_location
from assay.terms import terms

ALL = CommitFilter()


@pytest.fixture
def repository(project: Path) -> Path:
    git(project, "init", "--quiet", "--initial-branch=main")
    commit(project, "Add a postbox\n\nMail goes out by SMTP.", "2023-04-01")
    send = project / "mail" / "send.py"
    send.write_text(send.read_text().replace("attempts=3", "attempts=5"))
    commit(project, "Be patient with slow servers", "2024-02-03", author="Bea <bea@example.org>")
    (project / "notes.txt").write_text("Tea at five.\n")
    commit(project, "Write down when there is tea", "2024-05-06")
    return project


def test_a_commit_is_found_by_its_message_and_by_what_it_changed(repository: Path):
    history = History(repository, Settings())
    answer = history.search("when is tea served", ALL, 3)
    assert answer.commits[0].subject == "Write down when there is tea"
    assert answer.indexed == 3
    found = history.search('how many times "attempts=5"', ALL, 3).commits[0]
    assert (found.subject, found.change) == ("Be patient with slow servers", "mail/send.py")
    assert any(line.startswith("+") and "attempts=5" in line for line in found.lines)


TEA, PATIENT, BOX = "Write down when there is tea", "Be patient with slow servers", "Add a postbox"


def test_a_filter_holds_for_questions_and_without_one_commits_come_newest_first(repository: Path):
    history = History(repository, Settings())
    for keep, subjects in (
        (ALL, [TEA, PATIENT, BOX]), (CommitFilter(author="BEA@"), [PATIENT]),
        (CommitFilter(since="2024"), [TEA, PATIENT]), (CommitFilter(until="2024-02"), [PATIENT, BOX]),
        (CommitFilter(since="2024-02-03", until="2024-02-03"), [PATIENT]),
        (CommitFilter(since="2024-02-04", until="2024-05-05"), []), (CommitFilter(paths=("*.txt",)), [TEA]),
        (CommitFilter(paths=("mail/**", "!send.py")), [BOX]),
    ):  # fmt: skip
        assert [commit.subject for commit in history.search("", keep, 5).commits] == subjects, keep
    for question, keep, subject in (
        ("mail", CommitFilter(author="bea"), PATIENT),
        ("mail tea", CommitFilter(paths=("*.txt",)), TEA),
    ):
        assert {commit.subject for commit in history.search(question, keep, 5).commits} == {subject}
    assert history.search("/attempts=5/", ALL, 5).commits[0].subject == PATIENT


def test_a_new_commit_is_added_and_one_that_is_gone_is_removed(repository: Path):
    history = History(repository, Settings())
    before = history.search("", ALL, 9).commits
    (repository / "notes.txt").write_text("Tea at six.\n")
    commit(repository, "Tea is later", "2024-07-08")
    assert history.search("", ALL, 9).commits[0].subject == "Tea is later"
    git(repository, "reset", "--quiet", "--hard", "HEAD~2")
    assert history.search("", ALL, 9).commits == before[1:]
    (history_location(repository) / "manifest.json").write_text("{")  # a damaged index is made again
    assert History(repository, Settings()).search("", ALL, 9).indexed == 2


def test_a_merge_and_an_empty_commit_are_found_by_their_messages_and_changed_no_file(repository: Path):
    git(repository, "checkout", "--quiet", "-b", "side", "HEAD~1")
    message = "Bring the tea in\n\n# Conflicts:\n# cake"
    git(repository, "merge", "--quiet", "--no-ff", "-m", message, "main", day="2024-06-01")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "Nothing at all", day="2024-06-02")
    history = History(repository, Settings())
    empty, merge, *_ = history.search("", ALL, 9).commits
    assert [(one.subject, one.files) for one in (empty, merge)] == [("Nothing at all", ()), ("Bring the tea in", ())]
    assert history.search("who brought it in", ALL, 9).indexed == 5
    assert history.search("", CommitFilter(paths=("*cake*",)), 9).commits == []


def test_commits_come_in_the_order_of_git_whatever_their_time_zones(repository: Path):
    for day, message in (("2030-01-02T01:00:00+09:00", "earlier"), ("2030-01-01T23:00:00-07:00", "later")):
        git(repository, "commit", "--quiet", "--allow-empty", "-m", message, day=day)
    assert [one.subject for one in History(repository, Settings()).search("", ALL, 2).commits] == ["later", "earlier"]


def test_query_words_mean_what_they_mean_in_a_search(repository: Path):
    history = History(repository, Settings())
    assert history.search("tea file:*.txt", ALL, 5).commits[0].files == ("notes.txt",)
    assert history.search("patient file:mail/send.py", ALL, 5).commits[0].subject == "Be patient with slow servers"
    for words in ("kind:class x", "repo:x y", "sym:f z"):
        with pytest.raises(InputError, match="not commits"):
            history.search(words, ALL, 5)


def test_the_beginning_of_an_id_says_which_commit_alone(repository: Path):
    history = History(repository, Settings())
    (first, patient, _) = history.search("", ALL, 9).commits
    (found,) = history.search(first.id[:8], ALL, 3).commits
    assert (found.id, found.subject, found.files) == (first.id, first.subject, first.files)
    (same,) = history.search(patient.id[:9], ALL, 1).commits  # which shows the beginning of what it changed
    assert (same.change, {line[0] for line in same.lines}) == ("mail/send.py", {"@", "-", "+"})
    with pytest.raises(InputError, match="no commit begins with '0000000'"):
        history.search("0000000", ALL, 5)
    with pytest.raises(InputError, match="leave out author"):
        history.search(first.id, CommitFilter(author="x"), 5)


def test_the_end_of_a_shallow_clone_added_nothing(repository: Path, tmp_path: Path):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", str(clone))
    (only,) = History(clone, Settings()).search("", ALL, 9).commits
    assert (only.subject, only.files) == ("Write down when there is tea", ())


def test_what_has_no_history_and_a_date_that_is_none_are_refused(project: Path):
    with pytest.raises(InputError, match=r"not a git repository|has no commit"):
        History(project, Settings()).search("tea", ALL, 1)
    for date in ("yesterday", "2024-5-1", "24", "2024-05-01T10"):
        with pytest.raises(InputError, match="give YYYY-MM-DD"):
            CommitFilter(since=date)


def test_text_names_a_few_files_first_the_one_that_was_found_and_moves_no_cursor():
    many = FoundCommit("a" * 40, "2024-01-01", "A <a@b>", "s", "", 1.0, tuple(f"f{n}" for n in range(9)), change="f7")
    assert commit_text(many).splitlines()[1] == "    f7, f0, f1, f2 and 5 more"
    hostile = FoundCommit("a" * 40, "2024-01-01", "\x1b[2Jme <m>", "\u202esub\nject", "", 1.0, ("x\x07",))
    text = commit_text(hostile)
    assert text.isprintable() or set(filter(lambda letter: not letter.isprintable(), text)) == {"\n"}
    assert text.count("\n") == 2


def test_the_lines_of_a_reason_that_were_asked_for_stand_below_the_subject():
    lines = [f"Reason {number}." for number in range(9)]
    lines[7] = "The kettle boiled over."
    body = "\n".join(lines)
    told = reason_of(body, frozenset(terms("why did the kettle boil")))
    one = FoundCommit("a" * 40, "2024-01-01", "A <a@b>", "Change", body, 1.0, ("x",), reason=told)
    assert commit_text(one).splitlines()[1:3] == ["    The kettle boiled over.", "    … 8 more lines"]
    assert "Reason 8." in commits_text([one])
    assert reason_of(body) == tuple(lines[:4])
    assert reason_of("One long paragraph. " * 40) == ("One long paragraph. " * 40,)
    long = replace(one, reason=reason_of("One long paragraph. " * 40))
    assert len(commits_text([long, one]).splitlines()[1]) > 700


def test_a_commit_that_its_message_found_shows_what_it_changed(repository: Path):
    (repository / "tea.py").write_text("WATER_DEGREES = 80\nCUPS = 4\n")
    commit(repository, "Prepare", "2024-06-01")
    (repository / "tea.py").write_text("WATER_DEGREES = 95\nCUPS = 4\n")
    commit(repository, "Hotter water, for black tea tasted flat below ninety degrees", "2024-06-02")
    (first, *_) = History(repository, Settings()).search("why was the water made hotter for black tea", ALL, 3).commits
    assert first.subject.startswith("Hotter water")
    assert {"- WATER_DEGREES = 80", "+ WATER_DEGREES = 95"} <= set(first.lines)


def commit(root: Path, message: str, day: str, author: str = "A <a@example.org>") -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--author", author, "-m", message, day=day)


def git(root: Path, *arguments: str, day: str = "2024-01-01") -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"]
    dated = {**os.environ, "GIT_COMMITTER_DATE": _time(day), "GIT_AUTHOR_DATE": _time(day)}
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, env=dated)


def _time(day: str) -> str:
    return day if "T" in day else f"{day}T12:00:00Z"
