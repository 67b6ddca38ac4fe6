"""A chunk of a notebook is the source of a cell, on the lines of the file that hold it."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.chunk import parse

CELL = st.fixed_dictionaries(
    {
        "cell_type": st.sampled_from(["code", "markdown"]),
        "source": st.one_of(st.text(max_size=30), st.lists(st.text(max_size=20), max_size=4)),
        "outputs": st.just([{"text": ['{"source": ["no"]}\n']}]),
    }
)


def notebook(*cells: tuple[str, str], **fields) -> str:
    made = [{"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)} for kind, source in cells]
    return json.dumps({"metadata": {"language_info": {"name": "julia"}}, "cells": made, **fields}, indent=1)


def test_cells_with_their_lines_and_headings():
    text = notebook(
        ("markdown", "# Load\nSome words."), ("code", "x = 1\ny = 2\n"), ("markdown", "## More"), ("code", "")
    )
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
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=indent)
    parsed = parse("a.ipynb", text)
    assert parsed.note == ""
    sources = ["".join(cell["source"]) for cell in cells]
    wanted = [source for source in sources if source.strip()]
    assert "\n\n".join(chunk.text for chunk in parsed.chunks) == "\n\n".join(wanted)
    ranges = [(chunk.start_line, chunk.end_line) for chunk in parsed.chunks]
    assert all(before[1] < after[0] for before, after in pairwise(ranges))


@pytest.mark.parametrize("text", ["{}", "[1]", "not json", '{"cells": 3}', '{"cells": [', "[" * 5000])
def test_what_is_no_notebook_falls_back_and_says_so(text):
    parsed = parse("a.ipynb", text)
    assert "not read as a notebook" in parsed.note
    assert [chunk.kind for chunk in parsed.chunks] == ["block"]
