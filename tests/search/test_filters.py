"""What a query keeps: modes, languages, kinds, paths, names, texts and expressions, alone, negated and combined."""

from __future__ import annotations

import re
from fnmatch import translate

import click
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.cli import main
from assay.errors import InputError
from assay.operations.requests import SearchFilter
from assay.parameters import parameters_of
from assay.search.expressions import exact, pattern
from assay.search.filters import filter_mask
from assay.search.path_filters import globs, keeping, reading_order
from assay.search.query_filters import FILTERS, queries_of, query_words
from assay.search.text_matches import TextMatch, lines_matching, matching_chunks, text_matches
from assay.store.snapshot import Snapshot
from assay.values import FILTER_FIELDS, Chunk, Query

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
    ({}, ALL), ({"mode": "code"}, ["run", "App", "route", "top", "bare"]), ({"mode": "docs"}, ["guide", "notes"]),
    ({"languages": ("python",)}, ["run", "App", "top"]),
    ({"languages": ("python", "markdown")}, ["run", "App", "top", "guide"]), ({"languages": ("cobol",)}, []),
    ({"kinds": ("function",)}, ["run", "route"]), ({"kinds": ("class", "section")}, ["App", "guide", "notes"]),
    ({"paths": ("src",)}, ["run", "App", "route"]), ({"paths": ("!src",)}, ["top", "guide", "notes", "bare"]),
    ({"paths": ("src/", "!*.js")}, ["run", "App"]), ({"paths": ("!*.py", "!docs")}, ["route", "notes", "bare"]),
    ({"mode": "code", "kinds": ("function",), "languages": ("python",), "paths": ("app",)}, ["run"]),
    ({"mode": "docs", "languages": ("python",)}, []),
    ({"languages": ("!python", "!javascript")}, ["guide", "notes", "bare"]),
    ({"kinds": ("!section", "!")}, ["run", "App", "route", "top"]), ({"symbols": ("RUN",)}, ["run"]),
    ({"symbols": ("*o*",)}, ["route", "notes"]), ({"symbols": ("!*u*", "*")}, ["App", "top", "notes", "bare"]),
    ({"exact": ("def run",)}, ["run"]), ({"exact": ("class app",)}, ["App"]), ({"exact": ("Class App",)}, []),
    ({"patterns": ("^(def|function) r",)}, ["run", "route"]),
    ({"patterns": ("(?i)n.t", r"\w{5}$")}, ["route", "notes"]),
    ({"exact": ("o",), "kinds": ("section",)}, ["guide", "notes"]),
    ({"exact": ("o", "u")}, ["route"]), ({"exact": ("def",), "patterns": ("App",)}, []),
]  # fmt: skip


def test_a_filter_keeps_what_it_says_whatever_was_asked_before_and_however_the_chunks_are_kept(snapshot_of):
    whole, gone = snapshot_of(CHUNKS), {"run", "guide", "bare"}
    parts = snapshot_of(CHUNKS[:3], [], CHUNKS[3:], dead=gone)
    for filters, expected in TABLE * 2:
        assert found(whole, **filters) == expected, filters
        assert found(parts, **filters) == [each for each in expected if each not in gone], filters
    assert filter_mask(whole, Query("1", "x")) is None, "where all is kept no mask is made"


def test_each_filter_is_a_word_an_option_and_a_field_and_has_masks_of_its_own(snapshot_of):
    snapshot, options = snapshot_of(CHUNKS), {each.name for each in parameters_of(SearchFilter)}
    assert {each.option for each in FILTERS} == options - {"mode"}
    assert {*FILTER_FIELDS} == {each.field for each in FILTERS if each.field} | {"exact", "patterns"}
    command = main.assay.get_command(click.Context(main.assay), "search")
    for each in FILTERS:
        assert f"--{each.option}" in {name for option in command.params for name in option.opts}
        assert f"{each.option}:" in command.help
        values = ("python", "!go") if each.names == "languages" else ("class", "!function")
        words = query_words(f"what {each.option}:{values[0]} -{each.option}:{values[1][1:]}")
        assert (words.text, words.of(each.option)) == ("what", values)
        if each.field:
            (typed,) = queries_of([f"what {each.option}:{values[0]}"])
            (kept,) = queries_of(["what"], {each.option: values[:1]})
            assert getattr(typed, each.field) == getattr(kept, each.field) == values[:1]
    alone = [Query("1", "x", **{name: ("a",)}) for name in FILTER_FIELDS]
    assert len({(query.mode, *query.filters) for query in alone}) == len(FILTER_FIELDS)
    assert len({id(filter_mask(snapshot, query)) for query in alone}) == len(FILTER_FIELDS) == len(snapshot.masks)


GLOBS = {
    "run.py": ("run.py src/xrun.py run.py.txt", "run/py"), "*.py": ("a/b/c.py", "a/b/c.pyi"),
    "src": ("src/run.py srcs/run.py a/osrc.c", "sr/c.py"), "src/": ("lib/src/run.py", "src.py"),
    "src/*.py": ("src/run.py", "lib/src/run.py"), "/src": ("src/run.py", "lib/src/run.py"),
    "/run.py": ("run.py", "src/run.py"), "./src/run.py": ("src/run.py", "lib/src/run.py"),
    "./run.py": ("run.py", "lib/run.py"), "src/app": ("src/app/deep/run.py lib/src/apple.py", "src/a/app.py"),
    "**/run.py": ("run.py a/b/run.py", "a/xrun.py"), "src/**/run.py": ("src/run.py src/a/b/run.py", "srcs/run.py"),
    "src/**": ("src/a/b", "srcs/a"), "test_?.py": ("tests/test_a.py", "tests/test_ab.py"), "[ab].py": ("b.py", "c.py"),
    "a+b(1).py": ("a+b(1).py", "aab1.py"), "RUN.py": ("RUN.py", "run.py"),
}  # fmt: skip


def test_a_glob_matches_as_it_would_be_read_and_several_are_joined_by_or():
    for glob, (kept, left_out) in GLOBS.items():
        assert [path for path in kept.split() if not globs([glob]).match(path)] == [], glob
        assert [path for path in left_out.split() if globs([glob]).match(path)] == [], glob
    both = globs(["*.py", "docs"])
    assert [bool(both.match(path)) for path in ("a.py", "docs/a.md", "a.md")] == [True, True, False]
    assert globs([]) is None


FOLDER_GLOBS = st.lists(st.sampled_from(["**/", "a/", "*/", "b*/", "?/", "a*b/"]), max_size=4)
LAST = st.sampled_from(["a", "*", "*b", "a*", "?", "*.a", "**"])
FOLDERS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "abb"]), min_size=1, max_size=5)


@settings(max_examples=300)
@given(FOLDER_GLOBS, LAST, FOLDERS)
def test_folders_of_any_depth_are_found_as_by_trying_every_one(folders: list[str], last: str, names: list[str]):
    glob, path = "".join(folders) + last, "/".join(names)
    tried = "(?:.*/)?".join(translate(piece).removesuffix(r"\Z") for piece in glob.split("**/")) + r"\Z"
    below = glob.rstrip("/") + "/*"
    tried_below = "(?:.*/)?".join(translate(piece).removesuffix(r"\Z") for piece in below.split("**/")) + r"\Z"
    anywhere, is_part = "/" not in glob.rstrip("/"), not re.search(r"[*?]", glob)
    assert is_part or anywhere or keeping([glob])(path) == any(re.match(one, path) for one in (tried, tried_below))


def test_no_glob_looks_at_each_choice_of_folders():
    """With all of them tried, any of these would take longer than the universe is old."""
    for glob in ("**/" * 40 + "x", "**/a/" * 40 + "x", "**/*/" * 40 + "x", "**/*a/" * 40 + "x", "*a" * 99 + "x"):
        assert not keeping([glob])("a/" * 150 + "file.py"), glob


def test_names_are_matched_from_any_of_the_enclosing_names(snapshot_of):
    chunks = [
        Chunk("a", "x", "python", "a.py", 1, 1, "retry", "method", "app.Task"),
        Chunk("b", "x", "python", "b.py", 1, 1, "retry, stop", "method", "Worker"),
        Chunk("c", "x", "python", "c.py", 1, 1, "retry_all", "function"),
    ]
    kept = {"retry": ["a", "b"], "Task.retry": ["a"], "app.task.*": ["a"], "stop": ["b"], "sk.retry": []}
    assert {name: found(snapshot_of(chunks), symbols=(name,)) for name in kept} == kept
    assert found(snapshot_of(chunks), symbols=("!Task.retry", "retry*")) == ["b", "c"]


LOADED = (
    Chunk("1", "def load(path):\n    return Load(path, LOAD)\n", "python", "a.py", 3, 4, "load", "function"),
    Chunk("2", "load it; then load again", "markdown", "b.md", 1, 1, "", "section"),
    Chunk("3", "a.*b", "text", "c.txt", 7, 7, "", "block"),
)


def kept(*chunks: Chunk) -> Snapshot:
    return Snapshot.of(chunks, np.zeros((len(chunks), 4), dtype=np.float32))


def places(*exact: str, chunks=LOADED, **filters) -> list[tuple[str, int, int]]:
    snapshot, query = kept(*chunks), Query("q", "", **{"exact": exact, **filters})
    found = text_matches(snapshot, query, filter_mask(snapshot, query))
    return [(place.path, place.line, place.column) for place in found]


def test_every_place_is_found_letter_by_letter_and_filters_mean_what_they_mean_for_the_ranked_list():
    assert places("load") == [("a.py", 3, 5), ("a.py", 4, 12), ("a.py", 4, 23), ("b.md", 1, 1), ("b.md", 1, 15)]
    assert places("Load") == [("a.py", 4, 12)]
    assert places("load it") == [("b.md", 1, 1)]
    assert places("a.*b") == [("c.txt", 7, 1)]
    assert places(":\n    return") == [("a.py", 3, 15)]
    assert places("nowhere") == []
    assert {path for path, *_ in places("load", mode="docs")} == {"b.md"}
    assert {path for path, *_ in places("load", paths=("!*.md",))} == {"a.py"}
    shared = (LOADED[0], Chunk("4", "def load(path):", "python", "a.py", 3, 3))
    assert len(places("load", chunks=shared)) == 3, "what two chunks share counts once"


def test_expressions_match_within_lines_wherever_those_end():
    assert places(patterns=(r"^\s*return .*LOAD",)) == [("a.py", 4, 1)]
    assert places(patterns=(r"path\):\s+return",)) == []
    windows = Chunk("1", "return foo\r\nreturn bar\r\n", "text", "a.txt", 1, 2)
    assert places(patterns=("foo$",), chunks=[windows]) == [("a.txt", 1, 8)]
    assert places(patterns=(r"\C",), chunks=[Chunk("1", "é", "text", "a.txt", 1, 1)])  # single bytes of a letter
    assert lines_matching(LOADED[0], Query("q", "", exact=("load",), patterns=("def",))) == [3, 4]


def test_the_program_comes_before_its_tests_and_documentation():
    paths = ["CHANGES.md", "docs/use.md", "src/a.py", "tests/test_a.py", "src/b.py"]
    ordered = sorted((TextMatch(path, line, 1) for path in paths for line in (9, 3)), key=reading_order)
    first = ["src/a.py", "src/b.py", "tests/test_a.py", "docs/use.md", "CHANGES.md"]
    assert [(place.path, place.line) for place in ordered] == [(path, line) for path in first for line in (3, 9)]


def test_what_cannot_be_searched_is_named():
    for expression in ("(", "[a", "(?=a)", r"(a)\1", "*", "a{1000}{1000}", "a" * 1001):
        with pytest.raises(InputError, match=r"expression"):
            places(patterns=(expression,))
    for filters in ({"exact": ("\udcff",)}, {"patterns": ("\udcff+",)}):
        with pytest.raises(InputError, match="not UTF-8"):
            places(**filters)
    segments = [segment for segment, _ in kept(*LOADED).parts]
    with pytest.raises(InputError, match=r"keep fewer files, as with file:src"):  # whose time is up at once
        matching_chunks(segments, [np.ones(len(LOADED), dtype=bool)], [pattern("never")], -1.0)


def test_expressions_and_texts_are_searched_by_an_engine_of_linear_time_and_counted_up_to_a_limit():
    """A long line full of matches is read once, and an expression that backtracks takes no longer than any other."""
    for one in (pattern("(a|aa)+$x|(.*)*b"), exact("a" * 99)):
        assert type(one).__module__.startswith("re2")
    slow = Chunk("1", "a" * 100_000, "text", "a.txt", 1, 1)
    assert places(patterns=("(a|aa)+$x|(.*)*b",), chunks=[slow]) == []
    full = places(exact=("ab",), chunks=[Chunk("1", "ab " * 20_000, "text", "a.txt", 1, 1)])
    assert (full[:2], len(full)) == ([("a.txt", 1, 1), ("a.txt", 1, 4)], 20_000)
    assert len(text_matches(kept(*LOADED), Query("q", "", patterns=("[a-z]",)), None, 7)) == 7
