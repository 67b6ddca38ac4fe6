from __future__ import annotations

import pytest

from assay.corpus.functions import declarations, functions

PYTHON = '''class Address:
    """A name."""

    def __init__(self, name):
        self.name = name

    def is_valid(self):
        return "@" in self.name


LIMIT = 3


def send(message):
    return message
'''


def test_members_of_a_small_class_are_functions_of_their_own():
    assert functions("a.py", PYTHON) == [(4, 5, "Address.__init__"), (7, 8, "Address.is_valid"), (14, 15, "send")]
    assert (1, 8, "Address", "class") in list(declarations("a.py", PYTHON))


def test_a_function_is_in_one_piece_and_holds_those_inside_it():
    body = "".join(f"    x{n} = {n}\n" for n in range(200))
    inner = "    def inner(a):\n" + "".join(f"        y{n} = a\n" for n in range(12))
    found = functions("a.py", f"def outer():\n{body}{inner}    return inner\n")
    assert found == [(1, 215, "outer"), (202, 214, "outer.inner")]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.rs", "impl Queue {\n    fn push(&mut self) {}\n    fn pop(&mut self) {}\n}\n", ["Queue.push", "Queue.pop"]),
        ("a.go", "package a\n\nfunc (q *Queue) Push() {}\n\nfunc New() {}\n", ["Queue.Push", "New"]),
        ("A.java", "class A {\n  int b() { return 1; }\n}\n", ["A.b"]),
        ("a.ts", "export const f = (x: number) => {\n  return x;\n};\n", ["f"]),
        ("a.md", "# Heading\n", []),
        ("a.py", "", []),
        ("a.xyz", "def f(): pass\n", []),
    ],
)
def test_languages(path: str, text: str, names: list[str]):
    assert [name for _, _, name in functions(path, text)] == names
