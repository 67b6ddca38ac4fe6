"""Patterns decide as git decides; the last that matches wins."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.ignore import compiled

PATTERNS = [
    "a",
    "/a",
    "a/",
    "*.py",
    "!x.py",
    "a/b",
    "**/b",
    "a/**",
    "a/**/c",
    "/*",
    "!a/",
    "b/*.py",
    "[ab]",
    "a?",
    "\\!x",
    "# no",
    " ",
]
PATHS = ["a", "b", "x.py", "a/b", "a/x.py", "b/x.py", "a/b/c", "ab", "b/a", "c/a/b", "!x", "b/c/x.py"]


def ignored(text: str, path: str) -> bool:
    """Decide as the walk does: folder by folder, never entering an ignored one."""
    rules = compiled(text)
    steps = path.split("/")
    for count in range(1, len(steps)):
        folder = "/".join(steps[:count]) + "/"
        if rules and rules.decide(folder, steps[count - 1] + "/"):
            return True
    return bool(rules and rules.decide(path, steps[-1]))


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@given(patterns=st.lists(st.sampled_from(PATTERNS), max_size=6))
@settings(max_examples=60, deadline=None)
def test_decisions_are_those_of_git(repository, patterns):
    text = "\n".join(patterns) + "\n"
    (repository / ".gitignore").write_text(text)
    asked = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin"],
        cwd=repository, input="\n".join(PATHS), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [path for path in PATHS if ignored(text, path)] == asked.stdout.split("\n")[:-1]


def test_a_file_of_comments_holds_no_rules():
    assert compiled("# nothing\n\n") is None


def test_a_forced_path_opens_the_folders_above_it():
    rules = compiled("!a/b/c.py\n!d/*/e\n")
    assert rules is not None
    assert rules.forced == {"a", "a/b", "d"}
    assert rules.opens("a/")
    assert not rules.opens("x/")


@pytest.mark.parametrize(
    "line", ["a*a*a*a*a*a*a*a*a*b", "*a?*a?*a?*a?b", "[a-z]*[a-z]*[a-z]*!", "x/*a*/*b*/*c", "**/a*/**/b*/**/c*z"]
)
def test_patterns_with_several_wildcards_are_matched_in_linear_time(line: str):
    rules = compiled(f"{line}\n*.log\nplain\n")
    engines = [each for each in (rules.any_name, rules.any_path) if each is not None]
    assert any(type(engine).__module__.startswith("re2") for engine in engines)
    assert rules.decide("a.log", "a.log")
    assert rules.decide("a" * 250, "a" * 250) is None
