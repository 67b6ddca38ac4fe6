"""Whatever a file holds: its chunks never overlap, cover every line with text, and are the lines they name."""

# ruff: noqa: E501  (a table of pieces)

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.blocks import Sizes
from assay.corpus.chunk import ParsedFile, parse
from assay.corpus.grammars import GRAMMARS
from assay.corpus.languages import BY_EXTENSION
from assay.types import KINDS

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


def check(parsed: ParsedFile, text: str) -> None:
    lines = text.split("\n")
    ends = [line + "\n" for line in lines[:-1]] + [lines[-1]]
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
    missing = [number for number, line in enumerate(lines, 1) if line.strip() and number not in covered]
    assert not missing


@given(language=st.sampled_from(sorted(PATHS)), pieces=st.lists(st.sampled_from(PIECES), max_size=40))
@settings(max_examples=600, deadline=None)
def test_chunks_tile_a_hostile_file(language, pieces):
    text = "".join(pieces)
    check(parse(PATHS[language], text), text)


@given(language=st.sampled_from(sorted(PATHS)), text=st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_chunks_tile_any_text(language, text):
    check(parse(PATHS[language], text), text)


@pytest.mark.parametrize("language", sorted(GRAMMARS))
@pytest.mark.parametrize("opening", ["(", "{", "[", "if (a) {", "f(g(", "class A { class B {", "-", "'", "*a"])
def test_deep_nesting_is_no_recursion(language, opening):
    text = opening * 5_000 + "\n" + "x\n" * 200
    check(parse(PATHS[language], text), text)


@pytest.mark.parametrize("path", ["a.js", "a.json", "a.py", "a.md", "a.txt", "a"])
def test_one_enormous_line_is_one_chunk_and_cheap(path, spent):
    text = "x=1;" * 2_000_000
    parsed = parse(path, text)
    assert spent(lambda: parse(path, text)) < spent(lambda: text.split(";")), "its grammar was asked"
    assert len(parsed.chunks) == 1
    assert parsed.chunks[0].text == text


@pytest.mark.parametrize("path", ["a.py", "a.md", "a.rst", "a.adoc", "a.txt", "a.ts", "a.ipynb"])
def test_a_file_without_text_has_no_chunks(path):
    assert parse(path, "").chunks == ()
    assert parse(path, "\n \n\t\n").chunks == ()


def test_only_a_line_feed_ends_a_line():
    text = "a = 1\r\nb\u2028c = 2\r\x0cd = 3\n\ndef f():\r\n    return '\u2029'\r\n"
    parsed = parse("a.py", text)
    check(parsed, text)
    assert [(chunk.start_line, chunk.symbol) for chunk in parsed.chunks][-1] == (4, "f")


def test_a_file_that_does_not_parse_falls_back_and_says_so():
    parsed = parse("a.go", "%%% not go at all ((( ]]] \n" * 90)
    assert "does not parse" in parsed.note
    assert {chunk.kind for chunk in parsed.chunks} == {"block"}


@pytest.mark.parametrize("text", ["<a<b\n" * 10_000, "/* z\n" * 10_000])
@pytest.mark.parametrize("path", ["a.cs", "a.go", "a.ts"])
def test_what_would_exhaust_the_parser_is_never_given_to_it(path, text):
    parsed = parse(path, text)
    check(parsed, text)
    assert "open too often" in parsed.note


def test_lone_surrogates_fall_back_and_say_so():
    parsed = parse("a.py", "x = '\udc80'\n")
    assert "no text" in parsed.note


def test_a_long_function_is_cut_into_equal_pieces_at_statements():
    body = "".join(f"    if a{i}:\n        b{i}()\n" for i in range(120))
    parsed = parse("a.py", f"def long(a):\n{body}")
    sizes = [chunk.end_line - chunk.start_line + 1 for chunk in parsed.chunks]
    assert {chunk.symbol for chunk in parsed.chunks} == {"long"}
    assert max(sizes) <= 120
    assert max(sizes) - min(sizes) <= 4
    assert all(chunk.text.lstrip().startswith(("def", "if")) for chunk in parsed.chunks)


@given(
    language=st.sampled_from(sorted(PATHS)),
    pieces=st.lists(st.sampled_from(PIECES), max_size=40),
    longest=st.integers(1, 70),
    overlap=st.integers(0, 9),
)
@settings(max_examples=300, deadline=None)
def test_chunks_are_as_long_as_they_may_be_and_overlap_as_asked(language, pieces, longest, overlap):
    text = "".join(pieces)
    parsed = parse(PATHS[language], text, Sizes(longest, longest, overlap))
    lines = text.split("\n")
    ends = [chunk.end_line for chunk in parsed.chunks]
    assert ends == sorted(set(ends))
    for before, chunk in zip([0, *ends], parsed.chunks, strict=False):
        assert before - overlap < chunk.start_line <= chunk.end_line <= before + overlap + len(lines)
        assert chunk.end_line - chunk.start_line < longest + overlap
        assert chunk.text.rstrip("\n") == "\n".join(lines[chunk.start_line - 1 : chunk.end_line]).rstrip("\n")
    covered = {at for chunk in parsed.chunks for at in range(chunk.start_line, chunk.end_line + 1)}
    assert not [at for at, line in enumerate(lines, 1) if line.strip() and at not in covered]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def long(a):\n" + "    a()\n" * 99),
        ("a.md", "# Top\n" + "text\n" * 99),
        ("a.conf", "key = value\n" * 100),
    ],
)
def test_a_later_part_repeats_the_end_of_the_one_before(path, text):
    apart, over = (parse(path, text, Sizes(20, 20, overlap)).chunks for overlap in (0, 3))
    assert len(apart) == len(over) == 5
    assert [chunk.start_line for chunk in over] == [max(1, chunk.start_line - 3) for chunk in apart]
    assert [chunk.end_line for chunk in over] == [chunk.end_line for chunk in apart]


def test_a_class_is_cut_at_its_members_and_a_limit_moves_no_other_border():
    members = "".join(f"    def f{n}(self):\n" + "        x()\n" * 30 for n in range(3))
    for longest, wanted in ((31, 4), (100, 4), (16, 7)):
        chunks = parse("a.py", f"class A:\n    size = 1\n\n{members}", Sizes(code=longest)).chunks
        assert len(chunks) == wanted


def test_a_function_inside_a_long_one_is_its_own_chunk():
    inner = "    def inner():\n" + "        x()\n" * 20
    parsed = parse("a.py", "def outer():\n" + "    a()\n" * 40 + inner + "    return inner\n")
    assert [(c.symbol, c.parent) for c in parsed.chunks] == [("outer", ""), ("inner", "outer"), ("outer", "")]


def test_tiny_neighbours_share_a_chunk_of_at_most_fifteen_lines():
    parsed = parse("a.py", "".join(f"NAME_{i} = {i}\n" for i in range(40)))
    sizes = [chunk.end_line - chunk.start_line + 1 for chunk in parsed.chunks]
    assert sizes == [15, 15, 10]
    assert parsed.chunks[2].symbol.startswith("NAME_30, NAME_31")
