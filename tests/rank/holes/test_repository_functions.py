"""Functions of a file are found, and another stands in their place where they stood."""

from __future__ import annotations

import ast

from assay.rank.holes.repository_functions import called, context_of, filled, functions_in

TEXT = '''import os
from math import floor as down

LIMIT: int = 3


class Box:
    size = 2

    @property
    def area(self) -> int:  # the area
        """Return it."""
        return self.size ** 2

    async def wait(self, *, so_long=LIMIT): return so_long


def half(number):
    """Halve."""
    if number > LIMIT:
        return down(number / 2)

    return os.sep
'''


def test_functions_are_found_with_head_documentation_and_body():
    area, wait, half = functions_in("m.py", TEXT)
    assert [each.id for each in (area, wait, half)] == ["m.py::Box.area", "m.py::Box.wait", "m.py::half"]
    assert (area.first, area.last, area.column, area.entry_point) == (10, 13, 4, "area")
    assert area.prompt == '@property\ndef area(self) -> int:\n    """Return it."""\n'
    assert area.code == "@property\ndef area(self) -> int:\n    return self.size ** 2\n"
    assert wait.prompt == "async def wait(self, *, so_long=LIMIT):\n"
    assert [each.statements for each in (area, wait, half)] == [1, 1, 3]
    assert functions_in("m.py", "def f(:") == functions_in("m.py", "\0") == []
    assert functions_in("m.py", 'def f():\n    "doc"\n')[0].code == "def f():\n    pass\n"


def test_a_hole_is_filled_where_the_function_stood():
    for each in functions_in("m.py", TEXT):
        text = filled(TEXT, each, each.code)
        ast.parse(text)
        assert [other.code for other in functions_in("m.py", text)] == [
            other.code for other in functions_in("m.py", TEXT)
        ]
    area = functions_in("m.py", TEXT)[0]
    changed = functions_in("m.py", filled(TEXT, area, "def area(self):\n    return 0\n"))
    assert changed[0].code == "def area(self):\n    return 0\n"
    assert len(changed) == 3


def test_lines_are_those_that_python_counts_and_indentation_is_that_of_the_file():
    for odd in ("\x0c", "\x1c", "\x85", "\u2028"):
        text = f"SIGN = '{odd}'\r\n{TEXT}"
        for each in functions_in("m.py", text):
            assert [other.code for other in functions_in("m.py", filled(text, each, each.code))] == [
                other.code for other in functions_in("m.py", text)
            ]
    tabs = "class A:\n\tdef f(self):\n\t\treturn 1\n\n\tdef g(self):\n\t\treturn 2\n"
    for each in functions_in("m.py", tabs):
        assert functions_in("m.py", filled(tabs, each, each.code))[0].code == "def f(self):\n    return 1\n"


def test_a_name_that_a_file_has_twice_is_left_out():
    text = TEXT.replace(
        "    async def", "    @area.setter\n    def area(self, to):\n        self.size = to\n\n    async def"
    )
    assert [each.name for each in functions_in("m.py", text)] == ["Box.wait", "half"]


def test_another_function_takes_the_name_and_the_context_names_what_is_used():
    _, _, half = functions_in("m.py", TEXT)
    assert called(half, "f").startswith("def f(number):\n")
    assert context_of(TEXT, "p.m", [half.code], "half") == "from p.m import LIMIT, down, os\n\n\n"
    assert not context_of(TEXT, "p.m", ["def f():\n    return g()\n"], "f")
    text = "if x:\n    import a.b\ntry:\n    c = 1\nexcept E:\n    from d import e\nelse:\n    class F: pass\n"
    assert context_of(text, "m", ["a, c, e, F, nothing"], "") == "from m import F, a, c, e\n\n\n"
