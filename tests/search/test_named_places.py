"""Paths, links and frames as people paste them, and the files of a corpus that they mean."""

from __future__ import annotations

import pytest

from assay.search.named_places import NamedPlace, named_files, places_of
from assay.types import Chunk

FILES = (
    "src/post/box.py",
    "src/post/send.py",
    "src/post/__init__.py",
    "src/other/__init__.py",
    "src/main/java/com/post/Box.java",
    "one/api/base_parser.go",
    "two/api/base_parser.go",
    "a/x/util.rs",
    "b/x/util.rs",
    "c/x/util.rs",
    "d/x/util.rs",
    "setup.py",
    "docs/send.md",
)

TRACE = """\
Traceback (most recent call last):
  File "/home/me/run.py", line 3, in <module>
  File "/usr/lib/python3/site-packages/post/send.py", line 41, in send
  File "/usr/lib/python3/site-packages/post/box.py", line 7, in put
KeyError: 'x'
"""


@pytest.fixture
def snapshot(snapshot_of):
    return snapshot_of([Chunk(path, "text", "python", path, 1, 2) for path in FILES])


def files(snapshot, text):
    return list(named_files(snapshot, places_of(text)))


def test_of_a_trace_the_innermost_frame_comes_first(snapshot):
    assert places_of(TRACE)[0] == NamedPlace("/usr/lib/python3/site-packages/post/box.py", 7)
    assert files(snapshot, TRACE) == ["src/post/box.py", "src/post/send.py"]


def test_what_is_named_on_purpose_comes_before_frames(snapshot):
    text = TRACE + "see https://example.org/me/post/blob/abc123/src/main/java/com/post/Box.java#L10-L20"
    assert files(snapshot, text) == ["src/main/java/com/post/Box.java", "src/post/box.py", "src/post/send.py"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("\tat com.post.Box$Lid.put(Box.java:915)", [NamedPlace("com/post/Box.java", 915)]),
        ("C:\\code\\post\\box.cs:3", [NamedPlace("/code/post/box.cs", 3)]),
        ("panicked at src/lib.rs:12:5", [NamedPlace("src/lib.rs", 12)]),
        ("/go/pkg/mod/x.org/post@v1.2.3/box.go:4 +0x1d", [NamedPlace("/go/pkg/mod/x.org/post@v1.2.3/box.go", 4)]),
        ("in box.py or e.g. post.box.put, version 1.2.3, a/b.unknown, .py", []),
    ],
)
def test_places_in_many_languages(text, places):
    assert list(places_of(text)) == places


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("post/box.py", ["src/post/box.py"]),
        ("elsewhere/box.py", []),
        ("box.py:3", ["src/post/box.py"]),
        ("post/box.rb", []),
        ("api/base_parser.go", ["one/api/base_parser.go", "two/api/base_parser.go"]),
        ("two/api/base_parser.go", ["two/api/base_parser.go"]),
        ("x/util.rs", []),
        ("./x/setup.py", ["setup.py"]),
        ("post/__init__.py", []),
        ("src/post/__init__.py", ["src/post/__init__.py"]),
        ("docs/send.md", ["docs/send.md"]),
    ],
)
def test_the_ends_of_paths_are_compared(snapshot, text, found):
    assert files(snapshot, text) == found


def test_a_place_is_looked_up_once_and_not_without_end():
    assert places_of("a/b.py " * 50) == (NamedPlace("a/b.py"),)
    assert len(places_of(" ".join(f"a/b{n}.py" for n in range(99)))) == 40
