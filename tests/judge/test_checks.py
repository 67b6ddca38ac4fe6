"""What a test program may do to the code under judgment: nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.judge.written_tests import TestProgram, code_in, defined, refused, source_of

CODE = """import os

def find(path):
    return os.path.exists(path)

class Finder:
    def all(self):
        return []
"""
GOOD = TestProgram("r", "import os", "from solution import find", ("assert find('/')",))


def program(setup: str = "", helpers: str = "from solution import find", case: str = "assert find('/')") -> TestProgram:
    return TestProgram("r", setup, helpers, (case,))


BINDING = (
    "def find(path): return True",
    "find = lambda path: True",
    "from os.path import exists as find",
    "import re as find",
    "for find in [print]: pass",
    "with open('x') as find: pass",
    "import solution\nsolution.find = print",
    "import solution as s\ns.find = print",
    "from solution import Finder as find",
    "from unittest import mock\nmock.patch('solution.find')",
    "import sys\nsys.modules['solution'] = print",
    "exec('def find(path): return True')",
    "globals()['find'] = print",
    "setattr(object, 'find', print)",
    "import solution\nsolution.find.__code__ = print.__code__",
    "def test(find): assert find",
    "if (find := print): pass",
    "import solution\nfrom unittest import mock\nwith mock.patch.object(solution, 'find'): pass",
    "from solution import Finder\nFinder.all = print",
    "one = print\none.all = print",
)


def test_a_program_that_binds_a_name_of_the_code_is_refused_wherever_it_does():
    for text in BINDING:
        for parts in ({"setup": text}, {"helpers": text}, {"case": f"{text}\nassert True"}):
            assert refused(program(**parts), CODE), parts


FREE = {
    "from solution import find\nassert find('/')": "class Fake:\n    def find(self, path): return True",
    "from solution import find\nassert re.compile('x') and find('/')": "import re",
    "assert found('/')": "from solution import find\nfound = find",
    "assert solution.find('/')": "import solution",
    "from solution import find\nwith pytest.raises(TypeError):\n    find()": "import pytest",
}


def test_what_stands_beside_the_code_is_free():
    assert defined(CODE) == {"find", "Finder"}
    assert refused(GOOD, CODE) == ""
    for case, helpers in FREE.items():
        assert refused(program(helpers=helpers, case=case), CODE) == "", case


def test_a_program_that_can_show_nothing_is_refused():
    for made, why in (
        (TestProgram("r", "", "", ()), "no cases"),
        (program(case="find('/')"), "no assert"),
        (program(helpers="", case="assert 1"), "no case uses"),
        (program(case="assert find('/'"), "cannot be read"),
        (program(helpers="from solution import *"), "imports *"),
        (TestProgram("r", "", "", ("assert find(1)",) * 21), "too long"),
    ):
        assert why in refused(made, CODE)


@given(st.text(), st.text())
def test_the_code_goes_in_byte_by_byte(setup: str, code: str):
    assert code_in(source_of(setup, code)) == code


def test_no_setup_swallows_the_code():
    for setup in ("'''", "if False:", "x = (", "# \\", "\0"):
        assert code_in(source_of(setup, CODE)) == CODE, setup


def test_texts_of_any_depth_are_read_or_refused():
    for text in (
        "x = " + "+".join("1" * 9000),
        "x = " + "-" * 40_000 + "1",
        "x = " + "[" * 150 + "]" * 150,
        "solution" + ".a" * 9000 + " = 1",
        "lambda: " * 2000 + "1",
        "x = 1 if 1 else " * 900 + "1",
    ):
        defined(text)
        for made in (program(setup=text), program(helpers=text), program(case=f"{text}\nassert find")):
            assert isinstance(refused(made, CODE), str)
        assert isinstance(refused(GOOD, text), str)
