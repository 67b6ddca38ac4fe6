"""Places in traces and outputs of tools: every form, their order, and the files of an index that they mean."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.search.looked_up import MAX_UNITS, LookedUp, united, with_looked_up
from assay.search.named_places import NamedPlace, lines_named, named_files, places_of
from assay.search.pattern_table import pattern_table
from assay.values import Chunk, Hit, Query

EXAMPLES = {
    f"{form.name}: {tool}": example
    for form in pattern_table("place_forms", re.MULTILINE)
    for tool, example in form.examples.items()
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_form_names_its_path_and_line_and_nothing_else(name: str):
    text, path, line = EXAMPLES[name]
    assert list(places_of(text)) == [NamedPlace(path, line)]


NO_PLACES = (
    *("", "where is mail sent", "version 1.2.3 of 2024-05-05", "got 1, want 2", "localhost:8080", "a.b.c"),
    *("chapter 12", "key: 12", "error 404", "10:20:30", "x = y[3]", "ratio 16:9", "http://localhost:3000"),
    "in box.py or e.g. post.box.put, version 1.2.3, a/b.unknown, .py",
)


def test_what_is_no_file_is_no_place_and_each_place_counts_once():
    assert {text: places_of(text) for text in NO_PLACES if places_of(text)} == {}
    assert places_of("a/b.py " * 50) == (NamedPlace("a/b.py"),)
    assert len(places_of(" ".join(f"a/b{n}.py" for n in range(499)))) == 400


def python(*names: str) -> str:
    return "Traceback (most recent call last):\n" + "".join(f'  File "{name}", line 1, in f\n' for name in names)


HANDLING = "\nDuring handling of the above exception, another exception occurred:\n\n"
DIRECT = "\nThe above exception was the direct cause of the following exception:\n\n"
JAVA = "p.E: x\n\tat p.A.f(A.java:1)\n\tat p.B.g(B.java:2)\nCaused by: p.C: y\n\tat p.C.h(C.java:3)\n\t... 2 more\n"
INCLUDED = "In file included from a.c:1,\n                 from b.c:2:\nc.h:3:4: error: x\na.c:9:1: note: here\n"
ORDERS = {
    python("a.py", "b.py") + "KeyError": "b.py a.py",
    python("a.py") + "KeyError\n" + HANDLING + python("b.py", "c.py"): "c.py b.py a.py",
    python("a.py") + "KeyError\n" + DIRECT + python("b.py"): "a.py b.py",
    python("a.py", "b.py") + "KeyError\n" + python("c.py"): "b.py a.py c.py",
    JAVA: "p/C.java p/A.java p/B.java",
    "a.py:1: in test_f\n    g()\nb.py:2: in g\n    h()\nc.py:3: KeyError\n": "c.py b.py a.py",
    INCLUDED: "c.h a.c b.c a.c",
    "a.py:1: error: x\nb.py:2: error: y\n": "a.py b.py",
    "main.f(...)\n\t/x/a.go:1 +0x1d\nmain.main()\n\t/x/b.go:2 +0x20\n": "/x/a.go /x/b.go",
}


def test_the_innermost_frame_of_the_first_cause_comes_first():
    assert {text: " ".join(place.path for place in places_of(text)) for text in ORDERS} == ORDERS


@pytest.mark.parametrize(
    "unit", ["1.", "a ", "a/b.c:1 ", "[a.b:1", 'File "', "at a.b(", "+++ a\n@@ -1 +1 @@\n", "\\", "in a:", "//" * 9]
)
def test_a_text_of_one_thing_over_and_over_is_read(unit: str):
    assert len(places_of((unit * 20_000)[:20_000])) <= 400


@given(st.text(alphabet=st.sampled_from("ab1.:/-*#`_<>!\n\t \\[](){}=v'\"@|,+Line"), max_size=400))
def test_any_text_has_places_or_none(text: str):
    assert all(place.path and place.line >= 0 for place in places_of(text))


PATHS = ("src/post/box.py", "src/post/send.py", "lib/one/index.ts", "lib/two/index.ts", "main.py")


def _chunks() -> list[Chunk]:
    body = "".join(f"    line {number}\n" for number in range(2, 11))
    starts = [(path, start) for path in (*PATHS, *(f"m{n}/x/util.rs" for n in range(9))) for start in (1, 11)]
    return [
        Chunk(f"{path}:{at}", f"def unit_{at}():\n{body}", "python", path, at, at + 9, f"unit_{at}", "function")
        for path, at in starts
    ]


NAMED = {
    "src/post/box.py:14": "src/post/box.py:14", "/app/post/box.py:3": "src/post/box.py:3",
    "box.py:3": "src/post/box.py:3", "/usr/lib/python3/site-packages/post/box.py:3": "src/post/box.py:3",
    "/usr/lib/python3/site-packages/other/post/box.py:3": "", "/usr/lib/python3.11/box.py:3": "",
    "/srv/main.py:3": "main.py:3", "node_modules/thing/one/index.ts:3": "lib/one/index.ts:3",  # of that package
    "node_modules/thing/deep/one/index.ts:3": "", "index.ts:3": "lib/one/index.ts:3 lib/two/index.ts:3",
    "two/index.ts:3": "lib/two/index.ts:3", "util.rs:3": "m0/x/util.rs:3 m1/x/util.rs:3 m2/x/util.rs:3",
}  # fmt: skip


def test_a_place_is_the_unit_around_its_line_in_the_file_whose_path_ends_so(snapshot_of):
    snapshot = snapshot_of(_chunks())
    found = {text: lines_named(snapshot, Query("1", text)) for text in NAMED}
    assert {text: " ".join(f"{hit.chunk.path}:{hit.line}" for hit in one.hits) for text, one in found.items()} == NAMED
    assert found["src/post/box.py:14"].hits[0].chunk.start_line == 11
    assert found["util.rs:3"].notes == ("9 files end in 'util.rs', of which these are some; give more of the path",)
    assert found["/usr/lib/python3.11/box.py:3"].passed == {"/usr/lib/python3.11/box.py:3"}


FILES = (
    *(
        "src/post/box.py",
        "src/post/send.py",
        "src/post/__init__.py",
        "src/other/__init__.py",
        "setup.py",
        "docs/send.md",
    ),
    *("src/main/java/com/post/Box.java", "one/api/base_parser.go", "two/api/base_parser.go"),
    *("a/x/util.rs", "b/x/util.rs", "c/x/util.rs", "d/x/util.rs"),
)
TRACE = python("/home/me/run.py", "/usr/lib/python3/site-packages/post/send.py", "/usr/lib/site-packages/post/box.py")
FILES_NAMED = {
    "post/box.py": "src/post/box.py", "elsewhere/box.py": "", "box.py:3": "src/post/box.py", "post/box.rb": "",
    "api/base_parser.go": "one/api/base_parser.go two/api/base_parser.go", "x/util.rs": "", "./x/setup.py": "setup.py",
    "two/api/base_parser.go": "two/api/base_parser.go", "post/__init__.py": "", "docs/send.md": "docs/send.md",
    "src/post/__init__.py": "src/post/__init__.py", TRACE: "src/post/box.py src/post/send.py",
    f"{TRACE}see https://example.org/me/post/blob/abc123/src/main/java/com/post/Box.java#L10-L20":
        "src/main/java/com/post/Box.java src/post/box.py src/post/send.py",  # before it what is named on purpose
}  # fmt: skip


def test_a_file_that_is_named_without_a_line_is_one_whose_path_ends_so(snapshot_of):
    snapshot = snapshot_of([Chunk(path, "text", "python", path, 1, 2) for path in FILES])
    assert {text: " ".join(named_files(snapshot, places_of(text))) for text in FILES_NAMED} == FILES_NAMED


def test_lines_beyond_the_end_filters_and_many_frames(snapshot_of):
    snapshot = snapshot_of(_chunks())
    beyond = lines_named(snapshot, Query("1", "src/post/box.py:999"))
    assert (beyond.hits[0].chunk.start_line, beyond.hits[0].line) == (11, 20)
    assert beyond.notes == ("'src/post/box.py' has 20 lines: 999 is beyond its end",)
    assert not lines_named(snapshot, Query("1", "src/post/box.py:3", paths=("!src",))).hits
    deep = "".join(f"\tat f (/app/m{n % 9}/x/util.rs:{n % 20 + 1}:5)\n" for n in range(5000))
    assert len(lines_named(snapshot, Query("1", deep)).hits) == MAX_UNITS


def test_of_equal_files_the_one_whose_unit_is_named_beside_the_place_is_meant(snapshot_of):
    names = {"a/box.py": "put", "b/box.py": "take"}
    chunks = [
        Chunk(path, f"def {name}(): ...\n", "python", path, 1, 2, name, "function") for path, name in names.items()
    ]
    found = lines_named(snapshot_of(chunks), Query("1", 'File "box.py", line 2, in take'))
    assert [hit.chunk.path for hit in found.hits] == ["b/box.py"]


def test_named_lines_come_first_and_alone_where_nothing_else_is_asked(snapshot_of):
    snapshot = snapshot_of(_chunks())
    other = Hit(snapshot.chunk(6), 0.5)
    for text, is_all in (("src/post/box.py:3", True), ("KeyError at src/post/box.py:3", False)):
        found = united([lines_named(snapshot, Query("1", text)), lines_named(snapshot, Query("2", "no place"))])
        hits = with_looked_up(found, [other, *found.hits])
        assert [hit.line for hit in hits] == ([3] if is_all else [3, 0])
    note = "3 places in files that are not indexed: a.py:1, b.py:2 and 1 more"
    assert LookedUp(passed=frozenset(("a.py:1", "b.py:2", "c.py:3"))).every_note == [note]
