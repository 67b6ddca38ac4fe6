"""What each language calls its units: one snippet a language, and the kind, parent and name of every chunk in it."""

# ruff: noqa: E501  (a snippet reads best on few lines)

from __future__ import annotations

from pathlib import Path

from assay.corpus.chunk import parse
from assay.corpus.grammars import GRAMMARS
from assay.corpus.languages import language_of

BODIES = {"py": "x = 1", "rb": "x = 1", "lua": "x = 1", "ex": "x = 1", "sh": "x=1", "hs": "", "nix": "", "css": "a: b;"}
CASES = {
    name: (source, wanted.splitlines())
    for each in ("\n" + (Path(__file__).parent / "units.txt").read_text("utf-8")).split("\n== ")[1:]
    for name, _, body in [each.partition("\n")]
    for source, _, wanted in [body.rpartition("--\n")]
}


def units_of(path: str, source: str) -> list[str]:
    """Return kind, parent and name of each chunk; `BODY` stands for a few statements."""
    statement = BODIES.get(path.rpartition(".")[2], "x = 1;")
    lines = [
        copy for line in source.split("\n") for copy in [line.replace("BODY", statement)] * (6 if "BODY" in line else 1)
    ]
    parsed = parse(path, "\n".join(lines))
    assert parsed.note == "", path
    return [f"{chunk.kind} {chunk.parent}.{chunk.symbol}" for chunk in parsed.chunks]


def test_units_of_every_language_that_has_a_grammar():
    found = {path: units_of(path, source) for path, (source, _) in CASES.items()}
    assert found == {path: wanted for path, (_, wanted) in CASES.items()}
    assert {language_of(path) for path in CASES} == set(GRAMMARS)


DOCUMENTED = [
    ("a.py", "@cached(3)\ndef f(\n    a: int,\n) -> int:\n    '''Read.\n\n    More.'''\n    return a\n", "f",
     "Read.\n\nMore.", "def f( a: int, ) -> int"),
    ("a.py", "# Above.\n# Two.\ndef f():\n    a()\n    b()\n    c()\n    d()\n", "f", "Above.\nTwo.", "def f()"),
    ("a.rs", "/// Adds `a`.\n///\n/// # Errors\n#[inline]\npub fn f<T>(a: T) -> T\nwhere\n    T: X,\n{\n    a\n}\n", "f",
     "Adds `a`.\n\n# Errors", "pub fn f<T>(a: T) -> T where T: X,"),
    ("A.java", "class A {\n  int x;\n" + "  int y;\n" * 14 + "  /**\n   * Gets {@link B the b}.\n   * @param a <b>one</b>\n"
     "   */\n  @Override\n  public int get(int a) {\n    return a;\n  }\n}\n", "get", "Gets B the b.\na one",
     "public int get(int a)"),
    ("a.ts", "/** Loads. */\nexport async function load<T>(a: T): Promise<T> {\n  x()\n  y()\n  return a\n}\n", "load",
     "Loads.", "export async function load<T>(a: T): Promise<T>"),
    ("a.go", "// Run runs\n// it.\nfunc Run(a int) error {\n\tx()\n\ty()\n\treturn nil\n}\n", "Run", "Run runs\nit.",
     "func Run(a int) error"),
    ("a.c", "/*\n * Adds.\n */\nint add(int a)\n{\n  x();\n  y();\n  return a;\n}\n", "add", "Adds.", "int add(int a)"),
    ("a.hs", "-- | Adds.\nadd :: Int -> Int\nadd x = x\n", "add", "Adds.", "add :: Int -> Int"),
    ("a.ex", 'defmodule A do\n  @doc """\n  Finds.\n  """\n  def find(a) do\n    a\n  end\n' + "  @a 1\n" * 15 + "end\n", "find", "Finds.",
     "def find(a)"),
]  # fmt: skip


def test_documentation_and_signature():
    for path, source, symbol, doc, signature in DOCUMENTED:
        chunk = next(chunk for chunk in parse(path, source).chunks if chunk.symbol == symbol)
        assert (chunk.doc, chunk.signature) == (doc, signature), path


def test_the_trait_of_an_implementation_is_in_the_signature_of_its_items():
    body = "        x();\n" * 8
    source = f"impl<T> Iterator for Rows<T> {{\n    fn next(&mut self) {{\n{body}    }}\n    fn skip() {{\n{body}    }}\n}}\n"
    chunks = parse("a.rs", source).chunks
    assert chunks[0].signature == "impl<T> Iterator for Rows<T> { fn next(&mut self)"
    assert [chunk.parent for chunk in chunks] == ["Rows", "Rows"]


def test_a_comment_at_the_end_of_a_line_and_a_legal_header_document_nothing_but_a_module_docstring_does():
    source = "int a = 1; // of a\nint f(void) {\n  x();\n  x();\n  x();\n  x();\n}\n"
    assert parse("a.c", source).chunks[-1].doc == ""
    assert parse("a.py", "# Copyright me\n\nimport os\n").chunks[0].doc == ""
    assert parse("a.py", '"""What it is."""\n\nimport os\n').chunks[0].doc == "What it is."
    assert parse("a.rs", "//! What it is.\n//! More.\n\nuse a::b;\n").chunks[0].doc == "What it is.\nMore."


def test_overloads_and_clauses_of_one_name_are_one_chunk():
    source = "export function f(a: string): void\nexport function f(a: number): void\nexport function f(a: any) {\n  x()\n  y()\n}\n"
    assert [(c.symbol, c.start_line, c.end_line) for c in parse("a.ts", source).chunks] == [("f", 1, 6)]
