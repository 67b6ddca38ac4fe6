from __future__ import annotations

from assay.judge.candidates import filter_testable, kind_of
from assay.values import Chunk

KINDS = {
    "def add(a, b):\n    return a + b": "testable",
    "async def get(url):\n    return await ask(url)": "testable",
    "class Box:\n    def put(self, what):\n        return what": "testable",
    "def f(*names):\n    return names": "testable",
    "def f(*, name):\n    return name": "testable",
    "if True:\n    def f(a):\n        return 1": "testable",
    "    def add(a, b):\n        return a + b": "testable",
    "def f():\n    return 1": "no parameter",
    "def area(self):\n    return self.a": "testable",
    "def made(cls, /):\n    return cls()": "testable",
    "def other(this):\n    return this.a": "testable",
    "def show(a):\n    print(a)": "no value returned",
    "def show(a):\n    return": "no value returned",
    "def show(a):\n    return None": "no value returned",
    "def outer(a):\n    def inner(b):\n        return b\n    inner(a)": "no value returned",
    "def outer(a):\n    key = lambda b: b\n    class C:\n        x = 1": "no value returned",
    "def f():\n    def inner(b):\n        return b": "no parameter",
    "def a():\n    return 1\ndef b(x):\n    return x": "testable",
    "x = 1": "no function",
    "": "no function",
    "def f(a):\n    print a\n    return a": "no Python 3",
    "x" * 100 + "(" * 5000: "no Python 3",
}


def test_a_function_with_input_that_returns_a_value_can_be_tested_and_the_others_are_counted():
    assert {code: kind_of(Chunk("1", code, "python")) for code in KINDS} == KINDS
    assert kind_of(Chunk("1", "def add(a):\n    return a", "ruby")) == "no Python 3"
    kept, kinds = filter_testable([Chunk(str(number), code) for number, code in enumerate(KINDS)])
    assert sum(kinds.values()) == len(KINDS)
    assert kinds["testable"] == len(kept) == 11
    assert [code.id for code in kept] == sorted((code.id for code in kept), key=int)
