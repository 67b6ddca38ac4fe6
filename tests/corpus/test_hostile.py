"""Files that were made to be slow or large are cut like others: the worst of `benchmarks/hostile_files.py`."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from assay.corpus.chunk import parse
from assay.corpus.units import LONGEST_NAME

DEEP = 6_000
HOSTILE = {
    "classes.java": "class A {\n" * DEEP + "}\n" * DEEP,
    "modules.rb": "module A\n" * DEEP + "end\n" * DEEP,
    "namespaces.cpp": "namespace a {\n" * DEEP + "}\n" * DEEP,
    "name.py": "class " + "a_b" * 5_000 + ":\n" + "    def f(self):\n        pass\n\n" * 2_000,
    "elifs.py": "if a == 0:\n    x = 0\n" + "elif a == 1:\n    x = 1\n" * 5_000,
    "headings.md": "# h\n" * 20_000,
    "decorators.py": "@d\n" * 20_000 + "def f(): pass\n",
    "errors.ts": "<<<<>>>>=>\n" * 60_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_takes_little_time_and_memory(name):
    started = time.process_time()
    parsed = parse(name, HOSTILE[name])
    assert time.process_time() - started < 5
    assert parsed.chunks
    assert all(len(chunk.parent) <= LONGEST_NAME for chunk in parsed.chunks)


def test_members_of_deep_containers_take_no_more_memory_than_their_names():
    tracemalloc.start()
    try:
        parse("classes.java", HOSTILE["classes.java"])
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < 30_000_000


def test_what_is_deep_inside_is_named_by_the_innermost_around_it():
    text = "".join(f"class Outer{n:03} {{\n" for n in range(100)) + "void f() {\n}\n" + "int a;\n" * 20 + "}\n" * 100
    method = next(chunk for chunk in parse("a.java", text).chunks if chunk.symbol == "f")
    assert method.parent.endswith("Outer098.Outer099")
    assert method.parent.startswith("Outer0")
    assert 150 < len(method.parent) <= LONGEST_NAME
