"""Documents are cut at their headings in every markup, notebooks at their cells, on the lines of the file."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.chunk import parse

TEXT = "one\ntwo\nthree\nfour\n"


def outline(path: str, text: str) -> list[tuple[str, str]]:
    return [(chunk.parent, chunk.symbol) for chunk in parse(path, text).chunks]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", f"# Top #\n{TEXT}\n## Sub `x`\n{TEXT}\n### Deep\n{TEXT}\n## [Next](u)\n{TEXT}"),
        ("a.md", f"Top\n===\n{TEXT}\nSub x\n---\n{TEXT}\n### Deep\n{TEXT}\nNext\n-----\n{TEXT}"),
        ("a.md", f"<h1 align=c>Top</h1>\n{TEXT}\n## Sub x\n{TEXT}\n### **Deep**\n{TEXT}\n## Next {{#id}}\n{TEXT}"),
        ("a.rst", f"===\nTop\n===\n\n{TEXT}\nSub x\n=====\n\n{TEXT}\nDeep\n----\n\n{TEXT}\nNext\n====\n\n{TEXT}"),
        ("a.adoc", f"= Top\n{TEXT}\n[[id]]\n== Sub x\n{TEXT}\n=== Deep\n{TEXT}\n== Next\n{TEXT}"),
    ],
)
def test_headings_and_their_parents(path, text):
    assert outline(path, text) == [("", "Top"), ("Top", "Sub x"), ("Top > Sub x", "Deep"), ("Top", "Next")]
    assert {chunk.kind for chunk in parse(path, text).chunks} == {"section"}


def test_what_looks_like_a_heading_and_is_none():
    for path, text in (
        ("a.md", f"# Top\n{TEXT}```sh\n# no heading\n```\n~~~\n# no\n```\n# no\n~~~\n"),
        ("a.md", f"---\ntitle: x\n---\n# Top\n{TEXT}- item\n---\n\n    # no\n"),
        ("a.adoc", f"= Top\n{TEXT}----\n== no\n----\n"),
        ("a.rst", f"Top\n===\n\n{TEXT}\n::\n\n    no\n    ==\n\n====\n"),
    ):
        assert {symbol for _, symbol in outline(path, text)} == {"Top"}, text


def test_a_short_section_joins_what_follows_inside_it_or_its_kin_and_anchors_belong_below():
    text = f"# Top\n\n## Sub\n{TEXT}\n## Short\nx\n\n## Also\ny\n\n# Other\n{TEXT}"
    assert outline("a.md", text) == [("Top", "Sub, Short, Also"), ("", "Other")]
    assert parse("a.md", f"# Top\n{TEXT}\n(label)=\n\n## Sub\n{TEXT}").chunks[1].text.startswith("(label)=")


def test_a_long_section_is_cut_between_paragraphs():
    chunks = parse("a.md", "# Top\n" + "".join(f"a {i}\nb\nc\n\n" for i in range(60))).chunks
    assert {chunk.symbol for chunk in chunks} == {"Top"}
    assert all(len(chunk.text.split("\n")) <= 81 for chunk in chunks)
    assert all(chunk.text.startswith(("# Top", "a ")) for chunk in chunks)


CELL = st.fixed_dictionaries(
    {
        "cell_type": st.sampled_from(["code", "markdown"]),
        "source": st.one_of(st.text(max_size=30), st.lists(st.text(max_size=20), max_size=4)),
        "outputs": st.just([{"text": ['{"source": ["no"]}\n']}]),
    }
)


def test_cells_have_their_lines_language_and_headings():
    cells = [("markdown", "# Load\nSome words."), ("code", "x = 1\ny = 2\n"), ("markdown", "## More"), ("code", "")]
    made = [{"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)} for kind, text in cells]
    text = json.dumps({"metadata": {"language_info": {"name": "julia"}}, "cells": made}, indent=1)
    chunks = parse("a.ipynb", text).chunks
    assert [(c.kind, c.language, c.parent, c.symbol) for c in chunks] == [
        ("cell", "markdown", "", "Load"),
        ("cell", "julia", "Load", ""),
        ("cell", "markdown", "Load", "More"),
    ]
    assert chunks[1].text == "x = 1\ny = 2\n"
    lines = text.split("\n")[chunks[1].start_line - 1 : chunks[1].end_line]
    assert json.loads("{" + "".join(lines) + "}") == {"source": ["x = 1\n", "y = 2\n"]}


@given(st.lists(CELL, max_size=5), st.sampled_from([None, 1]))
def test_every_source_is_in_one_chunk(cells, indent):
    parsed = parse("a.ipynb", json.dumps({"cells": cells, "nbformat": 4}, indent=indent))
    assert parsed.note == ""
    wanted = [source for cell in cells if (source := "".join(cell["source"])).strip()]
    assert "\n\n".join(chunk.text for chunk in parsed.chunks) == "\n\n".join(wanted)
    ranges = [(chunk.start_line, chunk.end_line) for chunk in parsed.chunks]
    assert all(before[1] < after[0] for before, after in pairwise(ranges))


def test_what_is_no_notebook_falls_back_and_says_so():
    for text in ("{}", "[1]", "not json", '{"cells": 3}', '{"cells": [', "[" * 5000):
        parsed = parse("a.ipynb", text)
        assert "not read as a notebook" in parsed.note, text
        assert [chunk.kind for chunk in parsed.chunks] == ["block"], text
