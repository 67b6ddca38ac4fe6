"""Imports, calls and outlines are what a reader would list."""

from __future__ import annotations

import pytest

from assay.corpus.chunk import parse
from assay.corpus.symbols import calls, imports, outline
from assay.types import Chunk


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("python", "import os, sys\nfrom a.b import c\nfrom . import d\n", ("os", "sys", "a.b", ".")),
        ("go", 'import (\n\t"fmt"\n\tx "a/b"\n)\nimport "c"\n', ("fmt", "a/b", "c")),
        ("typescript", "import {a} from 'x'\nimport 'y'\nconst b = require(\"z\")\n", ("x", "y", "z")),
        ("rust", "pub use a::b::{c};\nmod d;\n", ("a::b", "d")),
        ("java", "import static a.B.c;\nimport d.*;\n", ("a.B.c", "d.*")),
        ("c", '#include <a.h>\n#include "b.h"\n', ("a.h", "b.h")),
        ("text", "import os\n", ()),
    ],
)
def test_imports(language, text, wanted):
    assert imports(text, language) == wanted


def test_calls_are_names_without_keywords_and_the_chunks_own():
    chunk = Chunk("x", "def f(a):\n    if (a): return g(h(a), b.c(1), f(2), g(3))\n", symbol="f")
    assert calls(chunk) == ("g", "h", "c")


def test_an_outline_counts_the_parents_that_are_listed():
    body = "        x()\n" * 9
    chunks = parse("a.py", f"class A:\n    def f(self):\n{body}    def g(self):\n{body}\ndef h():\n{body}").chunks
    assert [(depth, chunk.symbol) for depth, chunk in outline(chunks)] == [(0, "A"), (1, "f"), (1, "g"), (0, "h")]
