"""Tests of a model may ask the code under judgment: one that changes it, or does without, is no evidence."""

from __future__ import annotations

from acting import Actor

from assay.judge.pairs import Pair
from assay.judge.records import PairSession
from assay.judge.written_tests import CaseReport, Executor, Installs, TestProgram
from assay.programs.modules.imports import read_distributions
from assay.runs.local import SharedRunner
from assay.runs.record import NoSteps
from assay.values import Chunk, Query

WRONG = "OFFSET = 100\n\ndef square(x):\n    return x + OFFSET\n"
GOOD = "lambda x: x * x"
HONEST = "assert square(3) == 9\nassert square(-2) == 4"


def run(runner: SharedRunner, code: str, program: TestProgram) -> CaseReport:
    session = PairSession(Pair(Query("q", "the square"), Chunk("c", code)), Actor(), NoSteps())
    return Executor(runner.importing, Installs(read_distributions(), None))(session, program)


ASKING = "import solution, sys, operator, gc, types\nfrom solution import square\n_C = '__co' + 'de__'\n"
GIVEN = "_given = next(each for each in gc.get_referents(solution) if isinstance(each, dict) and '_bring' in each)"
WITH_TWO = "_with = (lambda a, b: lambda x: (a, b, x * x)[2])(1, 2)"
TRICKS = {
    "vars of the module": f"vars(sys.modules['solu' + 'tion'])['square'] = {GOOD}",
    "a method of the module": f"t = solution\nt.__setattr__('square', {GOOD})",
    "a method of all modules": f"types.ModuleType.__setattr__(solution, 'square', {GOOD})",
    "setitem on its names": f"operator.setitem(vars(solution), 'square', {GOOD})",
    "setitem on modules": f"operator.setitem(sys.modules, 'solu' + 'tion', types.SimpleNamespace(square={GOOD}))",
    "update of the names": f"vars(solution).update(square={GOOD})",
    "update of its own names": f"vars().update(square={GOOD})",
    "what the collector knows": f"{GIVEN}\n_given['square'] = {GOOD}",
    "what stands around it": "_old = square\nvars(solution)['square'] = lambda x: _old(x) - 100 - x + x * x",
    "its code": f"{WITH_TWO}\nobject.__setattr__(square, _C, _with.__getattribute__(_C))",
    "its class": f"type.__setattr__(type(solution), '__getattribute__', lambda self, name: {GOOD})",
}
AGAIN = "\nfrom solution import square as again\nassert solution.square(3) == again(3) == 9"
"""What a program does with what it changed."""
KEPT = "\nclass Kept:\n    value = 1\n"
SHARED = "from solution import Kept\nassert Kept().value == 1\n"


def test_a_code_that_is_changed_is_no_evidence(runner: SharedRunner):
    """Neither where the code runs apart from its tests, nor where they share objects with it."""
    for code, beside in ((WRONG, ""), (WRONG + KEPT, SHARED)):
        cases = tuple(f"{beside}{trick}{AGAIN}" for trick in TRICKS.values())
        report = run(runner, code, TestProgram("", "", ASKING, cases))
        assert [name for name, case in zip(TRICKS, report.cases, strict=True) if case.state != "error"] == []
        assert all("of the code under judgment" in case.detail for case in report.cases), report.text()
        assert not report.executable


BESIDE = {
    "a function": "vars(_main)['square'] = lambda x: x * x",
    "what it reads": "vars(_main)['OFFSET'] = 6",
    "a name that it finds before": "vars(_main)['round'] = lambda x: 9",
    "a method": "type.__setattr__(Kept, 'of', lambda self, x: x * x)",
    "only for a while": "with mock.patch.dict(vars(_main), OFFSET=6):\n    assert square(3) == 9",
}


def test_where_tests_stand_beside_the_code_it_is_looked_at_itself(runner: SharedRunner):
    code = f"{WRONG}\nclass Kept:\n    value = 1\n    def of(self, x):\n        return round(x)\n"
    helpers = (
        "import sys\nfrom unittest import mock\nfrom solution import Kept, square\n_main = sys.modules['__main__']"
    )
    cases = tuple(
        f"assert Kept().value == 1\n{trick}\nassert square(3) == 9 or Kept().of(3) == 9" for trick in BESIDE.values()
    )
    report = run(runner, code, TestProgram("", "", helpers, cases))
    assert all("of the code under judgment" in case.detail for case in report.cases), report.text()


def test_a_setup_that_changes_the_code_is_no_evidence(runner: SharedRunner):
    change = "vars(sys.modules['solution']).update({'squ' + 'are': lambda x: x * x})"
    setup = f"import sys\nsys.setprofile(lambda *_: {change})"
    report = run(runner, WRONG, TestProgram("", setup, "from solution import square", (HONEST,)))
    assert "a program that does nothing" in report.error


SAYING_NOTHING = (
    "square\nassert True",
    "assert callable(square)",
    "assert square",
    "try:\n    square(3)\nexcept Exception:\n    pass\nassert True",
    "class Any:\n    def __eq__(self, other): return True\nassert square(3) == Any()",
    "assert (square(3) == 9) in (True, False)",
    "import pytest\nwith pytest.raises(Exception):\n    square()\n    square('a', 2)",
)


def test_tests_that_say_nothing_are_an_error_that_can_be_repaired(runner: SharedRunner):
    for case in SAYING_NOTHING:
        report = run(runner, WRONG, TestProgram("", "", "from solution import square", (case,)))
        assert [one.state for one in report.cases] == ["error"], case
        assert "test what the code returns" in report.error


HONEST_CODE = """
import functools
calls = 0
class Shape:
    made = 0
    def __init__(self):
        Shape.made += 1
def counted(function):
    seen = 0
    @functools.wraps(function)
    def call(*args):
        nonlocal seen
        seen += 1
        return function(*args)
    return call
@counted
@functools.lru_cache
def square(x):
    global calls, late
    calls, late = calls + 1, x
    return x * x
"""


def test_a_code_that_keeps_what_it_needs_and_tests_with_stand_ins_are_right(runner: SharedRunner):
    helpers = "from unittest import mock\nimport solution\nfrom solution import Shape, square\nfake = mock.Mock()"
    apart = f"fake.return_value = 3\n{HONEST}\nassert square(fake()) == 9"
    beside = f"assert isinstance(Shape(), Shape)\n{HONEST}\nassert solution.square(5) == 25"
    part = "assert square(0) == 0"
    report = run(runner, HONEST_CODE, TestProgram("", "import math", helpers, (apart, beside, part)))
    assert [case.state for case in report.cases] == ["passed"] * 3, report.text()


KEEPING = """
log, calls = [], 0
def add(x):
    global calls
    calls += 1
    log.append(x)
    return x
"""


def test_what_a_code_keeps_is_read_as_it_is_at_that_moment(runner: SharedRunner):
    helpers = "import solution\nfrom solution import add, log"
    count = "before = solution.calls\nassert before == 0\nassert add(2) == 2\nassert solution.calls == before + 1"
    for kept, beside in (("", ""), (KEPT, SHARED)):
        cases = (f"{beside}assert add(2) == 2\nassert log == [2]", f"{beside}{count}")
        report = run(runner, KEEPING + kept, TestProgram("", "", helpers, cases))
        assert [case.state for case in report.cases] == ["passed"] * 2, report.text()
