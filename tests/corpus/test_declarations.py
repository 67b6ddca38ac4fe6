"""What a file's name, comments and declarations say: its language, its outline, its functions and what they call."""

# ruff: noqa: TID253  (the parser itself is asked)

from __future__ import annotations

from ast_grep_py import SgRoot
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.comments import docstring, opening, plain_comment
from assay.corpus.grammars import GRAMMARS, parse
from assay.corpus.languages import language_of
from assay.corpus.outline import declarations, functions, outline
from assay.truth.mine_units import calls
from assay.values import KINDS, Chunk

LANGUAGES = {
    "a/b.py": "python", "A.PY": "python", "Dockerfile.dev": "docker", "x/Makefile": "make", "README": "markdown",
    "README.rst": "restructuredtext", ".gitignore": "ini", "a.b.tsx": "tsx", "none": "", "": "", "a.": "",
    "x" * 300 + ".rs": "rust",
}  # fmt: skip


def test_a_name_leads_to_a_language_and_a_header_is_c_unless_it_shows_otherwise():
    assert {path: language_of(path) for path in LANGUAGES} == LANGUAGES
    assert language_of("a.h", "int f(void);\n") == "c"
    assert language_of("a.h", "namespace a {\n}\n") == "cpp"


def test_the_parser_has_every_grammar_and_every_node_kind_of_the_tables():
    for language, grammar in GRAMMARS.items():
        assert SgRoot("", grammar.id).root().kind(), language
        assert set(grammar.units.values()) <= set(KINDS), language
        root = parse("", language)
        for kind in {*grammar.calls, *grammar.typed, *grammar.imports, *grammar.closures, *grammar.inner}:
            root.find_all(kind=kind)  # the parser refuses a rule with a kind that its grammar lacks


COMMENTS = {
    "// a\n// b": "a\nb", "/// a": "a", "//! a": "a", "# a\n#   b": "a\n  b", "-- | a": "a", "/** a */": "a",
    "/**\n * a {@code b}\n * @return <p>c\n */": "a b\nc", "/// <summary>a</summary>": "a", "#!/bin/sh\n# a": "a",
}  # fmt: skip


def test_what_a_person_wrote_is_left_of_a_comment_and_a_licence_is_no_opening():
    assert {comment: plain_comment(comment) for comment in COMMENTS} == COMMENTS
    for literal in ('"""a\n    b"""', "r'''a\n    b'''", '"""a\n    b\n    """'):
        assert docstring(literal) == "a\nb"
    assert opening("// a\n// b\nx = 1\n") == "a\nb"
    for text in ("x = 1 // a\n", "// SPDX-License-Identifier: MIT\n", "#include <a>\n"):
        assert opening(text) == "", text


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


def outlined(path: str, text: str) -> list[tuple[int, int, str]]:
    return [(entry.line, entry.depth, entry.signature) for entry in outline(path, text)]


def test_an_outline_of_code_is_its_signatures_with_members_of_small_types():
    assert outlined("queue.py", PYTHON) == [
        (3, 0, "LIMIT = 3"),
        (6, 0, "class Queue"),
        (11, 1, "def put(self, item: str, *, wait: bool = True) -> None"),
        (16, 0, "def drain(queue)"),
    ]
    assert [(entry.kind, entry.name, entry.end_line) for entry in outline("queue.py", PYTHON)][1:3] == [
        ("class", "Queue", 13),
        ("method", "put", 13),
    ]
    rust = "struct Pair { a: u8 }\n\nimpl Pair {\n    fn sum(&self) -> u8 { self.a }\n}\n"
    assert outlined("a.rs", rust)[-1][2].endswith("fn sum(&self) -> u8")
    assert (2, 1) in {row[:2] for row in outlined("a.ts", "export class Box {\n  open(lid: Lid): void {}\n}\n")}
    assert outline("data.csv", "a,b\n") == outline("a.py", "") == outline("a.py", "x" * 30_000) == []


def test_an_outline_of_prose_is_its_headings():
    text = "# Post\n\ntext\n\n## Send\n\n### Late\n\n## Read\n\n# End\n"
    assert outlined("a.md", text) == [(1, 0, "Post"), (5, 1, "Send"), (7, 2, "Late"), (9, 1, "Read"), (11, 0, "End")]
    assert [entry.end_line for entry in outline("a.md", text)] == [10, 8, 8, 10, 11]


@given(st.text(max_size=400), st.sampled_from(["a.py", "a.rs", "a.md", "a.rst", "a.tsx", "a.c"]))
def test_any_text_has_an_outline_within_its_lines(text: str, path: str):
    for entry in outline(path, text):
        assert 1 <= entry.line <= entry.end_line <= text.count("\n") + 1
        assert entry.depth >= 0


def test_functions_are_members_too_each_in_one_piece_with_those_inside_it():
    assert functions("a.py", PYTHON) == [(11, 13, "Queue.put"), (16, 18, "drain")]
    assert (6, 13, "Queue") in list(declarations("a.py", PYTHON))
    body = "".join(f"    x{n} = {n}\n" for n in range(200))
    inner = "    def inner(a):\n" + "".join(f"        y{n} = a\n" for n in range(12))
    found = functions("a.py", f"def outer():\n{body}{inner}    return inner\n")
    assert found == [(1, 215, "outer"), (202, 214, "outer.inner")]


FUNCTIONS = {
    ("a.rs", "impl Queue {\n    fn push(&mut self) {}\n    fn pop(&mut self) {}\n}\n"): ["Queue.push", "Queue.pop"],
    ("a.go", "package a\n\nfunc (q *Queue) Push() {}\n\nfunc New() {}\n"): ["Queue.Push", "New"],
    ("A.java", "class A {\n  int b() { return 1; }\n}\n"): ["A.b"],
    ("a.ts", "export const f = (x: number) => {\n  return x;\n};\n"): ["f"], ("a.md", "# Heading\n"): [],
    ("a.py", ""): [], ("a.xyz", "def f(): pass\n"): [],
}  # fmt: skip


def test_functions_of_many_languages_are_named():
    assert {case: [name for _, _, name in functions(*case)] for case in FUNCTIONS} == FUNCTIONS


def test_calls_are_names_without_keywords_and_the_chunks_own():
    chunk = Chunk("x", "def f(a):\n    if (a): return g(h(a), b.c(1), f(2), g(3))\n", symbol="f")
    assert calls(chunk) == ("g", "h", "c")
