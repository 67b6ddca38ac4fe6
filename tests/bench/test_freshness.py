"""`assay bench freshness`: a change that is seen at once, one that is never seen, and systems that cannot be asked."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

PYTHON = shlex.quote(sys.executable)


@pytest.fixture
def freshness(assay):
    def run(*systems: str, **options: str):
        named = [word for each in systems for word in ("--system", each)]
        more = [word for key, value in options.items() for word in (f"--{key}", value)]
        ran = assay("bench", "freshness", *named, "--format", "json", *more)
        figures = json.loads(ran.out) if ran.status < 2 else []
        return ran, {each["change"]: each for each in figures}

    return run


def test_a_system_that_reads_the_files_sees_every_change_at_once(freshness):
    ran, figures = freshness("grep=cmd:grep -rnw {query} {corpus} --include=*.py")
    assert ran.status == 0, ran.err
    changes = "start,new file,edit,revert,rename,delete,branch switch,branch switched back,worktree start"
    assert [*figures] == changes.split(",")
    assert {(each["answers"], each["stale"]) for each in figures.values()} == {(1, 0)}


def test_a_system_that_answers_of_old_files_is_stale_until_the_limit(freshness):
    """Its answers name every file that there was at the beginning."""
    places = " ".join(f"src/{name}.py:1" for name in ("renamed", "deleted", "branch", "kept"))
    ran, figures = freshness(f"old=cmd:printf %s\\\\n {places}", limit="0.1")
    assert ran.status == 1
    assert {name for name, each in figures.items() if each["stale"]} == {"rename", "delete", "branch switched back"}
    assert figures["new file"]["seconds"] is None


def test_what_cannot_be_started_is_said_and_git_is_needed(freshness, monkeypatch):
    ran, _ = freshness("gone=py:nosuchmodule:make")
    assert (ran.status, "gone: no Python module 'nosuchmodule'" in ran.err) == (2, True)
    ends = "http:http://127.0.0.1:9/?q={query}"
    ran, _ = freshness(f"web={ends}", set=f"web.serve={PYTHON} -c pass")
    assert (ran.status, "ended with 0 before it accepted a connection" in ran.err) == (2, True)
    monkeypatch.setenv("PATH", "/nonexistent")
    ran, _ = freshness("grep=cmd:grep {query}")
    assert (ran.status, "git" in ran.err) == (2, True)
