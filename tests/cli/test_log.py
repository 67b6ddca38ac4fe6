"""`assay log`: commits by what they say and by what they changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from git_repositories import git


@pytest.fixture
def repository(project: Path) -> Path:
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    who = ("-c", "user.name=Ann", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false")
    git(project, *who, "commit", "--quiet", "-m", "Send mail again\n\nWhy not.")
    return project


def test_a_commit_is_printed_with_its_changes_and_as_json(assay, repository: Path):
    ran = assay("log", "why is mail sent again", repository)
    first, why, files, *_ = ran.out.splitlines()
    assert (ran.status, first.endswith("Ann: Send mail again"), why) == (0, True, "    Why not.")
    assert "mail/send.py" in files
    (commit,) = json.loads(assay("log", "send mail", repository, "--format", "json").out)["commits"]
    keys = ["id", "date", "author", "subject", "body", "score", "files", "change", "lines", "reason", "root"]
    assert list(commit) == keys
    (row,) = assay("log", "", repository, "--format", "jsonl").out.splitlines()
    assert json.loads(row)["body"] == "Why not."


def test_the_commits_of_a_unit_say_what_they_changed_there(assay, repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(repository)
    ran = assay("log", "--at", "mail/send.py:8")
    assert (ran.status, "+def send_mail(" in ran.out) == (0, True)
    assert "leave out query" in assay("log", "tea", ".", "--at", "mail/send.py:8").err
    assert assay("log", repository, "--at", "mail/send.py:8").out == ran.out
    assert "is neither a place nor a name" in assay("log", "--at", "mail/send.py").err


def test_nothing_found_is_status_1_and_bad_input_is_one_line(assay, refuses, repository: Path, tmp_path: Path):
    ran = assay("log", "", repository, "--author", "nobody")
    assert (ran.status, ran.out, ran.err) == (1, "", "assay: no commit found, of 1\n")
    refuses([(("log", "x", repository, "--since", "soon"), "give YYYY-MM-DD"), (("log", "x", tmp_path), "git")])
