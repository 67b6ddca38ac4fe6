from __future__ import annotations

import re
from fnmatch import translate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.search.filters import filter_mask, globs, keeping
from assay.types import Chunk, Query

CHUNKS = (
    Chunk("run", "def run", "python", "src/app/run.py", 1, 1, "run", "function"),
    Chunk("App", "class App", "python", "src/app/run.py", 2, 3, "App", "class"),
    Chunk("route", "function route", "javascript", "src/web/route.js", 1, 1, "route", "function"),
    Chunk("top", "x = 1", "python", "setup.py", 1, 1, "", "block"),
    Chunk("guide", "How to", "markdown", "docs/guide.md", 1, 2, "Guide", "section"),
    Chunk("notes", "Notes", "restructuredtext", "NOTES.rst", 1, 2, "Notes", "section"),
    Chunk("bare", "no file at all", "", "", 0, 0),
)
ALL = [chunk.id for chunk in CHUNKS]


def found(snapshot, **filters):
    mask = filter_mask(snapshot, Query("1", "x", **filters))
    numbers = range(snapshot.size) if mask is None else mask.nonzero()[0]
    return [snapshot.chunk(int(number)).id for number in numbers]


TABLE = [
    ({}, ALL),
    ({"mode": "code"}, ["run", "App", "route", "top", "bare"]),
    ({"mode": "docs"}, ["guide", "notes"]),
    ({"languages": ("python",)}, ["run", "App", "top"]),
    ({"languages": ("python", "markdown")}, ["run", "App", "top", "guide"]),
    ({"languages": ("cobol",)}, []),
    ({"kinds": ("function",)}, ["run", "route"]),
    ({"kinds": ("class", "section")}, ["App", "guide", "notes"]),
    ({"paths": ("src",)}, ["run", "App", "route"]),
    ({"paths": ("!src",)}, ["top", "guide", "notes", "bare"]),
    ({"paths": ("src/", "!*.js")}, ["run", "App"]),
    ({"paths": ("!*.py", "!docs")}, ["route", "notes", "bare"]),
    ({"mode": "code", "kinds": ("function",), "languages": ("python",), "paths": ("app",)}, ["run"]),
    ({"mode": "docs", "languages": ("python",)}, []),
    ({"languages": ("!python", "!javascript")}, ["guide", "notes", "bare"]),
    ({"kinds": ("!section", "!")}, ["run", "App", "route", "top"]),
    ({"symbols": ("RUN",)}, ["run"]),
    ({"symbols": ("*o*",)}, ["route", "notes"]),
    ({"symbols": ("!*u*", "*")}, ["App", "top", "notes", "bare"]),
    ({"exact": ("def run",)}, ["run"]),
    ({"exact": ("class app",)}, ["App"]),
    ({"exact": ("Class App",)}, []),
    ({"patterns": ("^(def|function) r",)}, ["run", "route"]),
    ({"patterns": ("(?i)n.t", r"\w{5}$")}, ["route", "notes"]),
    ({"exact": ("o",), "kinds": ("section",)}, ["guide", "notes"]),
]


@pytest.mark.parametrize(("filters", "expected"), TABLE)
def test_a_filter_keeps_what_it_says(snapshot_of, filters, expected):
    assert found(snapshot_of(CHUNKS), **filters) == expected


@pytest.mark.parametrize(("filters", "expected"), TABLE)
def test_the_dead_are_left_out_whatever_the_segment(snapshot_of, filters, expected):
    snapshot = snapshot_of(CHUNKS[:3], [], CHUNKS[3:], dead={"run", "guide", "bare"})
    assert found(snapshot, **filters) == [each for each in expected if each not in ("run", "guide", "bare")]


def test_where_all_is_kept_no_mask_is_made(snapshot_of):
    assert filter_mask(snapshot_of(CHUNKS), Query("1", "x")) is None
    assert filter_mask(snapshot_of(CHUNKS, dead={"run"}), Query("1", "x")) is not None


def test_one_filter_does_not_answer_for_another(snapshot_of):
    snapshot = snapshot_of(CHUNKS)
    answers = [found(snapshot, **filters) for filters, _ in TABLE * 2]
    assert answers == [expected for _, expected in TABLE * 2]


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("run.py", "run.py", True),
        ("run.py", "src/run.py", True),
        ("run.py", "src/xrun.py", False),
        ("run.py", "run.py.txt", False),
        ("*.py", "a/b/c.py", True),
        ("*.py", "a/b/c.pyi", False),
        ("src", "src/run.py", True),
        ("src/", "lib/src/run.py", True),
        ("src", "srcs/run.py", False),
        ("src/*.py", "src/run.py", True),
        ("src/*.py", "lib/src/run.py", False),
        ("/src", "src/run.py", True),
        ("/src", "lib/src/run.py", False),
        ("/run.py", "run.py", True),
        ("./src/run.py", "src/run.py", True),
        ("./run.py", "lib/run.py", False),
        ("src/app", "src/app/deep/run.py", True),
        ("src/app", "src/apple.py", False),
        ("**/run.py", "run.py", True),
        ("**/run.py", "a/b/run.py", True),
        ("**/run.py", "a/xrun.py", False),
        ("src/**/run.py", "src/run.py", True),
        ("src/**/run.py", "src/a/b/run.py", True),
        ("src/**/run.py", "srcs/run.py", False),
        ("src/**", "src/a/b", True),
        ("test_?.py", "tests/test_a.py", True),
        ("test_?.py", "tests/test_ab.py", False),
        ("[ab].py", "b.py", True),
        ("a+b(1).py", "a+b(1).py", True),
        ("RUN.py", "run.py", False),
    ],
)
def test_a_glob_matches_as_it_would_be_read(glob, path, matches):
    assert bool(globs([glob]).match(path)) is matches


def test_globs_are_joined_by_or():
    pattern = globs(["*.py", "docs"])
    assert [bool(pattern.match(path)) for path in ("a.py", "docs/a.md", "a.md")] == [True, True, False]
    assert globs([]) is None


GLOBS = st.lists(st.sampled_from(["**/", "a/", "*/", "b*/", "?/", "a*b/"]), max_size=4)
LAST = st.sampled_from(["a", "*", "*b", "a*", "?", "*.a", "**"])
FOLDERS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "abb"]), min_size=1, max_size=5)


@settings(max_examples=500)
@given(GLOBS, LAST, FOLDERS)
def test_folders_of_any_depth_are_found_as_by_trying_every_one(folders: list[str], last: str, names: list[str]):
    glob, path = "".join(folders) + last, "/".join(names)
    tried = "(?:.*/)?".join(translate(piece).removesuffix(r"\Z") for piece in glob.split("**/")) + r"\Z"
    below = glob.rstrip("/") + "/*"
    tried_below = "(?:.*/)?".join(translate(piece).removesuffix(r"\Z") for piece in below.split("**/")) + r"\Z"
    found = any(re.match(one, path) for one in (tried, tried_below))
    anywhere = "/" not in glob.rstrip("/")
    assert anywhere or keeping([glob])(path) == found


@pytest.mark.parametrize(
    "glob", ["**/" * 40 + "x", "**/a/" * 40 + "x", "**/*/" * 40 + "x", "**/*a/" * 40 + "x", "*a" * 99 + "x"]
)
def test_no_glob_takes_long(glob: str, growth):
    def keep(depth: int) -> None:
        assert not keeping([glob])("a/" * depth + "file.py")

    assert growth(keep, 20) < 80  # a glob of n pieces may look at each folder n times, never at each choice of folders


def test_names_are_matched_from_any_of_the_enclosing_names(snapshot_of):
    chunks = [
        Chunk("a", "x", "python", "a.py", 1, 1, "retry", "method", "app.Task"),
        Chunk("b", "x", "python", "b.py", 1, 1, "retry, stop", "method", "Worker"),
        Chunk("c", "x", "python", "c.py", 1, 1, "retry_all", "function"),
    ]
    assert found(snapshot_of(chunks), symbols=("retry",)) == ["a", "b"]
    assert found(snapshot_of(chunks), symbols=("Task.retry",)) == ["a"]
    assert found(snapshot_of(chunks), symbols=("app.task.*",)) == ["a"]
    assert found(snapshot_of(chunks), symbols=("stop",)) == ["b"]
    assert found(snapshot_of(chunks), symbols=("sk.retry",)) == []
