"""Calls are what a reader would list."""

from __future__ import annotations

from assay.corpus.symbols import calls
from assay.types import Chunk


def test_calls_are_names_without_keywords_and_the_chunks_own():
    chunk = Chunk("x", "def f(a):\n    if (a): return g(h(a), b.c(1), f(2), g(3))\n", symbol="f")
    assert calls(chunk) == ("g", "h", "c")
