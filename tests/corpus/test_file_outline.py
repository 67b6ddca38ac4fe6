"""What a file declares, before it is read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.file_outline import outline

PYTHON = '''import os

LIMIT = 3


class Queue:
    """Waits."""

    size = 1

    def put(self, item: str, *, wait: bool = True) -> None:
        retries = 3
        self.items.append(item)


@cached
def drain(queue):
    return queue.items
'''


def told(path: str, text: str) -> list[tuple[int, int, str]]:
    return [(entry.line, entry.depth, entry.signature) for entry in outline(path, text)]


def test_code_is_told_by_its_signatures():
    assert told("queue.py", PYTHON) == [
        (3, 0, "LIMIT = 3"),
        (6, 0, "class Queue"),
        (11, 1, "def put(self, item: str, *, wait: bool = True) -> None"),
        (16, 0, "def drain(queue)"),
    ]
    assert [(entry.kind, entry.name, entry.end_line) for entry in outline("queue.py", PYTHON)][1:3] == [
        ("class", "Queue", 13),
        ("method", "put", 13),
    ]


def test_members_of_small_types_are_told_in_every_language():
    rust = "struct Pair { a: u8 }\n\nimpl Pair {\n    fn sum(&self) -> u8 { self.a }\n}\n"
    assert told("a.rs", rust)[-1][2].endswith("fn sum(&self) -> u8")
    assert (2, 1) in {row[:2] for row in told("a.ts", "export class Box {\n  open(lid: Lid): void {}\n}\n")}


def test_prose_is_told_by_its_headings():
    text = "# Post\n\ntext\n\n## Send\n\n### Late\n\n## Read\n\n# End\n"
    assert told("a.md", text) == [(1, 0, "Post"), (5, 1, "Send"), (7, 2, "Late"), (9, 1, "Read"), (11, 0, "End")]
    assert [entry.end_line for entry in outline("a.md", text)] == [10, 8, 8, 10, 11]


def test_what_declares_nothing_has_no_outline():
    assert outline("data.csv", "a,b\n") == outline("a.py", "") == outline("a.py", "x" * 30_000) == []


@given(st.text(max_size=400), st.sampled_from(["a.py", "a.rs", "a.md", "a.rst", "a.tsx", "a.c"]))
def test_any_text_has_an_outline_within_its_lines(text: str, path: str):
    count = text.count("\n") + 1
    for entry in outline(path, text):
        assert 1 <= entry.line <= entry.end_line <= count
        assert entry.depth >= 0
