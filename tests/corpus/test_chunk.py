"""Whatever a file holds: its chunks never overlap, cover every line with text, and are the lines they name."""

# ruff: noqa: E501  (a table of pieces)

from __future__ import annotations

import json
import tracemalloc
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.blocks import Sizes
from assay.corpus.chunk import ParsedFile, parse
from assay.corpus.grammars import GRAMMARS
from assay.corpus.languages import BY_EXTENSION
from assay.corpus.long_lines import MAX_CUT_LINE_CHARS, fitted
from assay.corpus.outline import outline
from assay.corpus.unit import MAX_NAME_CHARS
from assay.values import KINDS

PATHS = {language: f"src/file.{ext}" for ext, language in reversed(BY_EXTENSION.items()) if language != "notebook"}
PIECES = [
    "def f(a):\n", "    return 1\n", "class A:\n", "fn f() {\n", "}\n", "}", "{", "impl A for B {\n", "// a comment\n",
    "# a comment\n", '"""', "'", '"unclosed\n', "/* unclosed\n", "*/", "/** doc */\n", "@decorator\n", "#[test]\n",
    "describe('x', () => {\n", "});\n", "const f = () => {\n", "export default {\n", "func (s *S) M() {\n", "<?php\n",
    "# Heading\n", "Title\n=====\n", "== Section\n", "```\n", "----\n", "---\n", "\r\n", "\r", "\f", "\v", "\u2028", "\x85",
    "\x00", "\ufeff", "\t", "  ", "\n", "\n\n", "é", "\U0001f600", "x = 1; y = 2\n", "import os\n", "interface I {\n",
    "if x:\n", "else:\n", "end\n", "module M\n", "begin\n", "#ifdef X\n", "#endif\n", "(", ")", "[", "]", "<", ">", ";",
    "\udc80", "class B { void f() {} void g() {} }", "a\n" * 130,
]  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.text(max_size=200))


def check(parsed: ParsedFile, text: str) -> None:
    lines = text.split("\n")
    ends = [line + "\n" for line in lines[:-1]] + [lines[-1]]
    ends = fitted(text, ends).lines if "are cut" in parsed.note else ends
    covered: set[int] = set()
    last = 0
    for chunk in parsed.chunks:
        assert last < chunk.start_line <= chunk.end_line <= len(lines)
        last = chunk.end_line
        assert chunk.text == "".join(ends[chunk.start_line - 1 : chunk.end_line])
        assert chunk.id == f"{chunk.path}:{chunk.start_line}-{chunk.end_line}"
        assert chunk.kind in KINDS
        assert "\n" not in chunk.symbol + chunk.signature
        assert len(chunk.signature) <= 300
        covered.update(range(chunk.start_line, chunk.end_line + 1))
    assert not [number for number, line in enumerate(lines, 1) if line.strip() and number not in covered]


@given(st.sampled_from(sorted(PATHS)), TEXTS, st.integers(1, 130))
@settings(max_examples=250)
def test_chunks_tile_a_hostile_file_and_are_no_longer_than_they_may_be(language, text, longest):
    parsed = parse(PATHS[language], text, Sizes(longest, longest))
    check(parsed, text)
    assert all(chunk.end_line - chunk.start_line < longest for chunk in parsed.chunks)
    check(parse(PATHS[language], text), text)


def test_deep_nesting_is_no_recursion_in_any_language():
    for opening, language in product(("(", "if (a) {", "class A { class B {", "*a"), GRAMMARS):
        text = opening * 2_500 + "\n" + "x\n" * 200
        check(parse(PATHS[language], text), text)


def test_what_nobody_wrote_is_never_given_to_a_parser(monkeypatch):
    monkeypatch.setattr("ast_grep_py.SgRoot", lambda *_: pytest.fail("a grammar was asked"))
    line = "x=1;" * 200_000
    for path in ("a.md", "a.txt", "a"):
        assert [chunk.text for chunk in parse(path, line).chunks] == [line], path
    for path in ("a.js", "a.json", "a.html", "a.py"):
        assert [chunk.text for chunk in parse(path, line).chunks] == [line[:MAX_CUT_LINE_CHARS] + "…"], path
        assert parse(path, line).note.startswith("lines over 20,000 characters are cut: 1"), path
    assert parse("a.py", line).note.endswith("no other line is left for the parser")
    for text in ("<a<b\n" * 10_000, "/* z\n" * 10_000):
        parsed = parse("a.cs", text)
        check(parsed, text)
        assert "open too often" in parsed.note
    monkeypatch.undo()
    assert parse("a.py", "x" * 19_999 + "\n").note == ""
    assert parse("a.py", "x" * 20_001 + "\n").note != ""


LONG = {
    "data.py": ('ICON = "', "iVBORw0KGgo" * 9000, '"\n'), "table.py": ("TABLE = [", "1, " * 9000, "2]\n"),
    "noise.py": ("x = (", "[{'" * 9000, "\n"), "data.js": ("const u = 'data:image/png;base64,", "Zm9v" * 9000, "';\n"),
    "library.js": ("!function(e){", "var t=e;" * 9000, "}(this);\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_units_around_a_long_line_stay_as_they_are(name):
    line, ending = "".join(LONG[name]), name.rpartition(".")[2]
    unit = {
        "py": "def resize_{n}(image):\n    return image.scale({n})\n",
        "js": "function resize_{n}(i) {{\n  return i;\n}}\n",
    }
    before, after = ("\n\n".join(unit[ending].format(n=n) for n in some) + "\n" for some in (range(9), range(9, 20)))
    whole = before + line + after
    parsed = parse(name, whole)
    check(parsed, whole)
    names = {each for chunk in parsed.chunks for each in chunk.symbol.split(", ")}
    assert {f"resize_{n}" for n in range(20)} <= names
    (cut,) = (chunk for chunk in parsed.chunks if "…" in chunk.text)
    assert len(cut.text) < 2 * MAX_CUT_LINE_CHARS
    assert parsed.note == "lines over 20,000 characters are cut: 1"
    lines = {entry.name: entry.line for entry in outline(name, whole)}
    assert lines["resize_19"] == whole[: whole.index("resize_19(")].count("\n") + 1


def test_what_cannot_be_parsed_falls_back_and_says_so():
    parsed = parse("a.go", "%%% not go at all ((( ]]] \n" * 90)
    assert "does not parse" in parsed.note
    assert {chunk.kind for chunk in parsed.chunks} == {"block"}
    assert "cannot be encoded" in parse("a.py", "x = '\udc80'\n").note
    for path in "a.py a.md a.rst a.adoc a.txt a.ts a.ipynb".split():
        assert parse(path, "").chunks == parse(path, "\n \n\t\n").chunks == (), path


def test_only_a_line_feed_ends_a_line():
    text = "a = 1\r\nb\u2028c = 2\r\x0cd = 3\n\ndef f():\r\n    return '\u2029'\r\n"
    parsed = parse("a.py", text)
    check(parsed, text)
    assert [(chunk.start_line, chunk.symbol) for chunk in parsed.chunks][-1] == (4, "f")


def test_a_long_function_is_cut_into_equal_pieces_at_statements():
    body = "".join(f"    if a{i}:\n        b{i}()\n" for i in range(120))
    parsed = parse("a.py", f"def long(a):\n{body}")
    sizes = [chunk.end_line - chunk.start_line + 1 for chunk in parsed.chunks]
    assert {chunk.symbol for chunk in parsed.chunks} == {"long"}
    assert max(sizes) <= 120
    assert max(sizes) - min(sizes) <= 4
    assert all(chunk.text.lstrip().startswith(("def", "if")) for chunk in parsed.chunks)


def test_a_class_is_cut_at_its_members_and_a_limit_moves_no_other_border():
    members = "".join(f"    def f{n}(self):\n" + "        x()\n" * 30 for n in range(3))
    for longest, wanted in ((31, 4), (100, 4), (16, 7)):
        assert len(parse("a.py", f"class A:\n    size = 1\n\n{members}", Sizes(code=longest)).chunks) == wanted


def test_a_function_inside_a_long_one_is_its_own_chunk_and_tiny_neighbours_share_one():
    inner = "    def inner():\n" + "        x()\n" * 20
    parsed = parse("a.py", "def outer():\n" + "    a()\n" * 40 + inner + "    return inner\n")
    assert [(c.symbol, c.parent) for c in parsed.chunks] == [("outer", ""), ("inner", "outer"), ("outer", "")]
    parsed = parse("a.py", "".join(f"NAME_{i} = {i}\n" for i in range(40)))
    assert [chunk.end_line - chunk.start_line + 1 for chunk in parsed.chunks] == [15, 15, 10]
    assert parsed.chunks[2].symbol.startswith("NAME_30, NAME_31")


DEEP = 2_000
HOSTILE = {
    "classes.java": "class A {\n" * 2 * DEEP + "}\n" * 2 * DEEP,
    "modules.rb": "module A\n" * DEEP + "end\n" * DEEP,
    "name.py": "class " + "a_b" * 5_000 + ":\n" + "    def f(self):\n        pass\n\n" * 1_000,
    "elifs.py": "if a == 0:\n    x = 0\n" + "elif a == 1:\n    x = 1\n" * DEEP,
}


def test_members_of_deep_containers_take_no_more_memory_than_their_names():
    """The worst of `benchmarks/hostile_files.py`, which measures how long they take."""
    for name, text in HOSTILE.items():
        tracemalloc.start()
        try:
            parsed = parse(name, text)
            held = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert held < 12_000_000, name
        assert parsed.chunks, name
        assert all(len(chunk.parent) <= MAX_NAME_CHARS for chunk in parsed.chunks), name


def test_what_is_deep_inside_is_named_by_the_innermost_around_it():
    text = "".join(f"class Outer{n:03} {{\n" for n in range(100)) + "void f() {\n}\n" + "int a;\n" * 20 + "}\n" * 100
    method = next(chunk for chunk in parse("a.java", text).chunks if chunk.symbol == "f")
    assert method.parent.endswith("Outer098.Outer099")
    assert method.parent.startswith("Outer0")
    assert 150 < len(method.parent) <= 200 == MAX_NAME_CHARS


TEXT = "one\ntwo\nthree\nfour\n"


def headings(path: str, text: str) -> list[tuple[str, str]]:
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
    assert headings(path, text) == [("", "Top"), ("Top", "Sub x"), ("Top > Sub x", "Deep"), ("Top", "Next")]
    assert {chunk.kind for chunk in parse(path, text).chunks} == {"section"}


def test_what_looks_like_a_heading_and_is_none():
    for path, text in (
        ("a.md", f"# Top\n{TEXT}```sh\n# no heading\n```\n~~~\n# no\n```\n# no\n~~~\n"),
        ("a.md", f"---\ntitle: x\n---\n# Top\n{TEXT}- item\n---\n\n    # no\n"),
        ("a.adoc", f"= Top\n{TEXT}----\n== no\n----\n"),
        ("a.rst", f"Top\n===\n\n{TEXT}\n::\n\n    no\n    ==\n\n====\n"),
    ):
        assert {symbol for _, symbol in headings(path, text)} == {"Top"}, text


def test_a_short_section_joins_what_follows_inside_it_or_its_kin_and_anchors_belong_below():
    text = f"# Top\n\n## Sub\n{TEXT}\n## Short\nx\n\n## Also\ny\n\n# Other\n{TEXT}"
    assert headings("a.md", text) == [("Top", "Sub, Short, Also"), ("", "Other")]
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
