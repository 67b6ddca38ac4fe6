"""What each language calls its units: one snippet a language, and the kind, parent and name of every chunk in it."""

# ruff: noqa: E501, ISC004  (a snippet reads best on few lines)

from __future__ import annotations

from assay.corpus.chunk import parse
from assay.corpus.languages import GRAMMARS, language_of

BODIES = {"py": "x = 1", "rb": "x = 1", "lua": "x = 1", "ex": "x = 1", "sh": "x=1", "hs": "", "nix": "", "css": "a: b;"}
CASES = {
    "a.py": (
        "import os\n\nLIMIT = 3\n\n@cached\ndef load(path: str) -> int:\n    '''Read it.'''\n    BODY\n"
        "class Store(Base):\n    '''Keep it.'''\n    size = 1\n    BODY\n    def __init__(self):\n        BODY\n"
        "    async def get(self):\n        BODY\n\ndef test_get():\n    BODY\n",
        ["constant .LIMIT", "function .load", "class .Store", "constructor Store.__init__", "method Store.get",
         "test .test_get"],
    ),
    "a.rs": (
        "use a::b;\n\n/// A point.\n#[derive(Debug)]\npub struct Point {\n    x: i32,\n}\n"
        "impl fmt::Display for Point<T> {\n    fn fmt(&self) {\n        BODY\n    }\n    fn two() {\n        BODY\n    }\n}\n"
        "pub trait Draw {\n    fn draw(&self) {\n        BODY\n    }\n    fn more() {\n        BODY\n    }\n}\n"
        "enum Kind {\n    A,\n    B,\n}\nmacro_rules! say {\n    () => { BODY };\n}\n"
        "#[cfg(test)]\nmod tests {\n    #[tokio::test]\n    async fn draws() {\n        BODY\n    }\n"
        "    fn helper() {\n        BODY\n    }\n}\n",
        ["block .", "struct .Point", "method Point.fmt", "method Point.two", "trait .Draw", "method Draw.draw",
         "method Draw.more", "enum .Kind", "macro .say", "test tests.draws", "function tests.helper"],
    ),
    "a.go": (
        "package a\n\n// Run runs.\nfunc (s *Server[T]) Run() error {\n\tBODY\n}\n\nfunc New() {\n\tBODY\n}\n\n"
        "type Server[T any] struct {\n\ta int\n\tb int\n}\n\ntype (\n\tA struct {\n\t\ta int\n\t}\n\tB interface {\n\t\tM()\n\t}\n)\n\n"
        "const (\n\tX = 1\n\tY = 2\n)\n\nfunc TestNew(t *testing.T) {\n\tBODY\n}\n",
        ["block .", "method Server.Run", "function .New", "struct .Server", "struct .A", "interface .B",
         "constant .X, Y", "test .TestNew"],
    ),
    "A.java": (
        "package a;\n\n/** Keeps. */\n@Component\npublic class Store<T> extends Base {\n    int size;\n"
        "    public Store(int a) {\n        BODY\n    }\n    @Override\n    public int get() {\n        BODY\n    }\n"
        "    @Test\n    void gets() {\n        BODY\n    }\n    interface Inner {\n        /** Doc. */\n        void run();\n"
        "    }\n}\nenum Kind {\n  A, B;\n  int f() {\n BODY\n }\n int g() {\n BODY\n }\n}\nrecord Pair(int a) {}\n",
        ["block .", "class .Store", "constructor Store.Store", "method Store.get", "test Store.gets",
         "interface Store.Inner", "enum .Kind", "method Kind.f", "method Kind.g", "class .Pair"],
    ),
    "a.ts": (
        "import a from 'a'\n\nexport const load = async (path: string) => {\n  BODY\n}\nconst table = {\n  get() {\n  BODY\n"
        "  },\n  put: function () {\n  BODY\n  },\n}\nexport abstract class Store extends Base {\n  size = 1\n"
        "  constructor(a: number) {\n  BODY\n  }\n  get = () => {\n  BODY\n  }\n  static async put<T>(a: T) {\n  BODY\n  }\n}\n"
        "interface Shape {\n  a: string\n  b: string\n}\ntype Alias = {\n  a: string\n  b: string\n  c: string\n  d: string\n}\n"
        "namespace Space {\n  export function inside() {\n  BODY\n  }\n  export function other() {\n  BODY\n  }\n}\n"
        "Store.prototype.late = function () {\n  BODY\n}\nexport default () => {\n  BODY\n}\n"
        "describe('store', () => {\n  beforeEach(setUp)\n  it.each([1])('works', () => {\n  BODY\n  })\n"
        "  test('too', () => {\n  BODY\n  })\n})\n",
        ["block .", "function .load", "constant .table", "method table.get", "method table.put", "class .Store",
         "constructor Store.constructor", "method Store.get", "method Store.put", "interface .Shape", "type .Alias",
         "function Space.inside", "function Space.other", "method Store.late", "function .default",
         "test store.works", "test store.too"],
    ),
    "a.tsx": ("export function App() {\n  BODY\n  return <p>hello</p>\n}\n", ["function .App"]),
    "a.js": (
        "module.exports.load = function () {\n  BODY\n}\nclass A {\n  #p = 1\n  get y() {\n  BODY\n  }\n  z() {\n  BODY\n  }\n}\n",
        ["function .load", "class .A", "method A.y", "method A.z"],
    ),
    "a.c": (
        "#include <x.h>\n\n/* Adds. */\nstatic int *add(int a) {\n  BODY\n}\ntypedef struct point {\n  int x;\n  int y;\n} point_t;\n"
        "#ifdef X\nint inside(void) {\n  BODY\n}\n#endif\n#define MAX(a, b) \\\n  a \\\n  b \\\n  c \\\n  d \\\n  e\n",
        ["block .", "function .add", "struct .point_t", "function .inside", "macro .MAX"],
    ),
    "a.cpp": (
        "namespace a::b {\ntemplate <typename T>\nclass V : public B {\n public:\n  V(int x) {\n  BODY\n  }\n"
        "  int get() const {\n  BODY\n  }\n};\nint &V::put(int a) {\n  BODY\n}\nV::V() {\n  BODY\n}\n"
        "TEST_F(Suite, Name) {\n  BODY\n}\nenum class E {\n  A,\n  B,\n};\n}\n",
        ["class a::b.V", "constructor a::b.V.V", "method a::b.V.get", "method a::b.V.put", "constructor a::b.V.V",
         "test a::b.Suite.Name", "enum a::b.E"],
    ),
    "a.cs": (
        "using System;\nnamespace A.B {\n  [Attr]\n  public class Foo : Bar {\n    private int x;\n    public Foo(int a) {\n"
        "    BODY\n    }\n    [Fact]\n    public void Works() {\n    BODY\n    }\n    public T Get<T>() {\n    BODY\n    }\n  }\n"
        "  interface IShape {\n    void M();\n  }\n  struct S {\n    int a;\n  }\n}\n",
        ["block .", "class A.B.Foo", "constructor A.B.Foo.Foo", "test A.B.Foo.Works", "method A.B.Foo.Get",
         "interface A.B.IShape", "struct A.B.S"],
    ),
    "a.rb": (
        "require 'x'\n\nmodule A\n  class B < C\n    X = 1\n    # Finds.\n    def find(a)\n      BODY\n    end\n    def self.make\n"
        "      BODY\n    end\n    private def hidden\n      BODY\n    end\n  end\nend\n"
        "RSpec.describe 'b' do\n  it 'finds' do\n    BODY\n  end\n  it 'makes' do\n    BODY\n  end\nend\n",
        ["block .", "class A.B", "method A.B.find", "method A.B.make", "method A.B.hidden", "test b.finds", "test b.makes"],
    ),
    "a.php": (
        "<?php\nuse X;\n/** Doc. */\nabstract class Foo extends Bar {\n    private $a;\n    public function __construct(int $a) {\n"
        "    BODY\n    }\n    public function get(): int {\n    BODY\n    }\n    public function testIt() {\n    BODY\n    }\n}\n"
        "trait T {\n    public $a;\n}\nfunction free() {\n    BODY\n}\n",
        ["block .", "class .Foo", "constructor Foo.__construct", "method Foo.get", "test Foo.testIt", "trait .T",
         "function .free"],
    ),
    "a.kt": (
        "package a\n\n/** Doc. */\ndata class P(val x: Int) : B() {\n  val y = 1\n  constructor(a: String) : this(1) {\n  BODY\n"
        "  }\n  @Test\n  fun works() {\n  BODY\n  }\n  companion object {\n    fun make() {\n    BODY\n    }\n  }\n}\n"
        "object O {\n  val a = 1\n  val b = 1\n}\ninterface I {\n  val a: Int\n}\nfun String.ext() {\n  BODY\n}\n",
        ["block .", "class .P", "constructor P.constructor", "test P.works", "class P.Companion", "class .O",
         "interface .I", "function .ext"],
    ),
    "a.swift": (
        "import X\n\n/// Doc.\npublic class A: B {\n  var x = 1\n  init(a: Int) {\n  BODY\n  }\n  func get() -> Int {\n  BODY\n  }\n}\n"
        "struct S {\n  var a = 1\n}\nenum E {\n  case a\n  case b\n}\nprotocol P {\n  func q()\n  func r()\n}\n"
        "extension A: P {\n  func q() {\n  BODY\n  }\n  func r() {\n  BODY\n  }\n}\n",
        ["block .", "class .A", "constructor A.init", "method A.get", "struct .S", "enum .E", "interface .P", "method A.q",
         "method A.r"],
    ),
    "a.scala": (
        "package a\n\n/** Doc. */\nclass A(x: Int) extends B {\n  val y = 1\n  def get(a: Int): Int = {\n  BODY\n  }\n"
        "  def put() = {\n  BODY\n  }\n}\nobject O {\n  val a = 1\n}\ntrait T {\n  val a = 1\n}\n"
        "class S extends Suite {\n  test('x') {\n  BODY\n  }\n  test('y') {\n  BODY\n  }\n}\n".replace("'", '"'),
        ["block .", "class .A", "method A.get", "method A.put", "class .O", "trait .T", "class .S", "test S.x", "test S.y"],
    ),
    "a.lua": (
        "local M = {}\n-- Doc.\nfunction M.load(a)\n  BODY\nend\nlocal function bar()\n  BODY\nend\nfunction M:put()\n  BODY\nend\n"
        "M.late = function()\n  BODY\nend\nreturn M\n",
        ["constant .M", "method M.load", "function .bar", "method M.put", "method M.late", "block ."],
    ),
    "a.ex": (
        'defmodule A.B do\n  use X\n  @doc """\n  Finds.\n  """\n  def find(a) when a > 1 do\n    BODY\n  end\n'
        '  defp hidden(b) do\n    BODY\n  end\n  defmacro m(x) do\n    BODY\n  end\n  test "works" do\n    BODY\n  end\nend\n',
        ["function A.B.find", "function A.B.hidden", "macro A.B.m", "test A.B.works"],
    ),
    "a.sh": (
        "#!/bin/bash\nset -e\n\n# Doc.\nfoo() {\n  BODY\n}\nfunction bar {\n  BODY\n}\n",
        ["block .", "function .foo", "function .bar"],
    ),
    "a.hs": (
        "module A where\nimport B\n\n-- | Adds.\nadd :: Int -> Int\nadd 0 = 1\nadd x = x\n\ndata D = A | B\n\nclass C a where\n  m :: a\n"
        "  n :: a\n",
        ["block .", "function .add", "type .D", "trait .C"],
    ),
    "a.dart": (
        "import 'a';\n\n/// Doc.\nclass A extends B {\n  int x = 1;\n  int get(int a) {\n  BODY\n  }\n  void put() {\n  BODY\n  }\n}\n"
        "void free() {\n  BODY\n}\nenum E {\n  a,\n  b,\n  c,\n  d,\n}\nmixin M {\n  int a = 1;\n}\n",
        ["block .", "class .A", "method A.get", "method A.put", "function .free", "enum .E", "trait .M"],
    ),
    "a.sol": (
        "pragma solidity ^0.8.0;\n\n/// Doc.\ncontract A is B {\n  uint x;\n  constructor() {\n  BODY\n  }\n"
        "  function get(uint a) public returns (uint) {\n  BODY\n  }\n  modifier only() {\n  BODY\n  }\n}\nlibrary L {\n  uint y;\n}\n",
        ["block .", "class .A", "constructor A.constructor", "method A.get", "method A.only", "class .L"],
    ),
    "a.zig": (
        'const std = @import("std");\n\n/// Doc.\npub fn foo(a: i32) i32 {\n    BODY\n}\ntest "works" {\n    BODY\n}\n',
        ["constant .std", "function .foo", "test .works"],
    ),
    "a.tf": (
        'resource "aws_x" "y" {\n  a = 1\n  b = 1\n  c = 1\n  d = 1\n}\nvariable "v" {\n  a = 1\n  b = 1\n  c = 1\n  d = 1\n}\n',
        ["block .resource.aws_x.y", "block .variable.v"],
    ),
    "a.css": (".a, .b {\n BODY\n}\n@media (x) {\n BODY\n}\n", ["block ..a, .b", "block ."]),
    "a.nix": ("{ pkgs, ... }:\n{\n  foo = 1;\n  services.bar = {\n    enable = true;\n  };\n}\n",
              ["constant .foo, services.bar"]),
}  # fmt: skip


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


def test_a_comment_at_the_end_of_a_line_documents_nothing():
    source = "int a = 1; // of a\nint f(void) {\n  x();\n  x();\n  x();\n  x();\n}\n"
    assert parse("a.c", source).chunks[-1].doc == ""


def test_a_legal_header_documents_nothing_but_a_module_docstring_does():
    assert parse("a.py", "# Copyright me\n\nimport os\n").chunks[0].doc == ""
    assert parse("a.py", '"""What it is."""\n\nimport os\n').chunks[0].doc == "What it is."
    assert parse("a.rs", "//! What it is.\n//! More.\n\nuse a::b;\n").chunks[0].doc == "What it is.\nMore."


def test_overloads_and_clauses_of_one_name_are_one_chunk():
    source = "export function f(a: string): void\nexport function f(a: number): void\nexport function f(a: any) {\n  x()\n  y()\n}\n"
    assert [(c.symbol, c.start_line, c.end_line) for c in parse("a.ts", source).chunks] == [("f", 1, 6)]
