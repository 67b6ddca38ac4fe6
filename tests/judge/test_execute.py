"""Test programs in a real sandbox: what each case shows, what is installed, and that none changes the code it tests."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from acting import Actor, pair
from wheels import wheel

from assay.judge.agents import Agents, Fixer, configured
from assay.judge.pairs import Pair
from assay.judge.records import PairSession
from assay.judge.written_tests import CaseReport, Executor, Installs, TestProgram
from assay.programs.modules.imports import read_distributions
from assay.programs.modules.install import Uv, overlay
from assay.runs.local import SharedRunner
from assay.runs.record import NoSteps
from assay.values import Chunk, Query

CODE = "def mean(values):\n    return sum(values) / len(values)\n"


@pytest.fixture
def installs(tmp_path: Path) -> Installs:
    """What may be installed is one wheel in a folder, and one that is not there."""
    if not shutil.which("uv"):
        pytest.skip("no uv here")
    wheel(tmp_path / "index", "tinything", {"tinything.py": "x = 42\n"})
    tool = Uv(options=["--no-index", "--find-links", str(tmp_path / "index")])
    (tmp_path / "allow.txt").write_text("tinything\nabsentthing\n")
    return Installs(
        read_distributions(tmp_path / "allow.txt"), lambda names: overlay(names, tool=tool, place=tmp_path / "overlays")
    )


NOTHING = Installs(read_distributions(), None)


def run(runner: SharedRunner, code: str, *cases: str, setup: str = "", helpers: str = "") -> CaseReport:
    session = PairSession(Pair(Query("q", "?"), Chunk("c", code)), Actor(), NoSteps())
    return Executor(runner.importing, NOTHING)(session, TestProgram("", setup, helpers, cases))


def test_each_case_is_reported_by_itself(runner: SharedRunner):
    wanted = ("[1, 3]) == 2", "[1, 2]) == 1, 'half'", "[]) == 0", "nowhere) == 0")
    report = run(runner, CODE, *(f"assert mean({each}" for each in wanted), helpers="from solution import mean")
    assert [case.state for case in report.cases] == ["passed", "failed", "error", "error"]
    assert (report.cases[1].got, report.cases[1].expected, report.cases[1].asserts) == ("1.5", "1", 1)
    assert "ZeroDivisionError" in report.cases[2].detail
    assert report.cases[2].line == 2
    assert "nowhere" in report.cases[3].detail
    assert report.error.startswith("case 3")
    assert not report.executable
    assert "4 cases: 1 passed, 1 failed, 2 error" in report.text()


def test_the_setup_and_stand_ins_give_what_the_code_lacks_and_a_failing_assert_is_no_error(runner: SharedRunner):
    report = run(runner, CODE, "assert mean([1]) == 2", helpers="from solution import mean")
    assert (report.executable, report.count("failed")) == (True, 1)
    code = "def area(radius):\n    return round(math.pi * radius ** 2)\n"
    assert run(runner, code, "assert area(1) == 3", helpers="from solution import area", setup="import math").executable
    assert run(runner, code, "assert area(1) == 3").executable
    code = "    def name(self):\n        return self.first + self.last\n"
    helpers = "from solution import name\nclass Fake:\n    first, last = 'a', 'b'"
    assert run(runner, code, "assert name(Fake()) == 'ab'", helpers=helpers).executable


def test_modules_that_the_code_lacks_are_imported_and_a_name_that_the_test_lacks_is_not_held_against_it(
    runner: SharedRunner,
):
    code = "def words(text):\n    return OrderedDict(all=re.findall(r'\\w+', text), at=datetime.now())\n"
    assert run(runner, code, "assert words('a b')['all'] == ['a', 'b']").executable
    assert run(runner, code.replace("now()", "datetime.now()"), "assert words('a b')['all'] == ['a', 'b']").executable
    own = "def re(): return 1\n"
    assert run(runner, own + code, "assert words('a')").error.endswith("has no attribute 'findall'")
    report = run(runner, CODE, "assert mean([1, nowhere]) == 0", "assert mean([]) == 0", "assert mean([2]) == 2")
    assert report.cases[0].detail == "the test code itself failed: NameError: name 'nowhere' is not defined"
    assert [case.is_evidence for case in report.cases] == [False, True, True]
    assert "nowhere" not in report.evidence()
    lacks = run(runner, "def f():\n    return helper(1)\n", "assert f() == 1")
    assert (lacks.cases[0].line, lacks.cases[0].is_evidence, lacks.evidence()) == (2, False, "")


def test_a_copy_of_the_code_is_left_out_and_what_is_no_python_is_not_run(runner: SharedRunner):
    case, copy = "assert mean([1, 3]) == 2", "def mean(values):\n    return 9\n"
    for text in (copy, "from statistics import mean", f"import math\nfrom module import mean\n{copy}"):
        assert run(runner, CODE, case, helpers=text).count("passed") == 1
        assert run(runner, CODE, case, setup=text.replace("statistics", "random")).count("passed") == 1
        assert run(runner, CODE, f"{text}\n{case.replace('2', '9')}").count("failed") == 1
    report = run(runner, "print 'old'", "assert 1")
    assert (report.cases, report.final) == ((), True)
    session = PairSession(pair("match", 1), Actor(), NoSteps())
    assert Fixer(NOTHING)(session, TestProgram("", "", "", ()), report, ()).program is None


def test_programs_of_a_model_reach_no_key_no_file_and_no_network(runner: SharedRunner, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    code = "def f():\n    return 1\n"
    report = run(
        runner,
        code,
        "import os\nassert f() and os.environ.get('OPENAI_API_KEY') == 'sk-secret'",
        f"assert f() and open({str(secret)!r}).read()",
        "import socket\nassert f() and socket.create_connection(('1.1.1.1', 53), 2)",
        f"open({str(tmp_path / 'left')!r}, 'w').write('x')\nassert f()",
        f"import os, signal\nos.kill({os.getpid()}, signal.SIGKILL)\nassert f()",
        helpers="from solution import f",
    )
    assert report.count("passed") == 0
    assert not (tmp_path / "left").exists()


def test_tests_that_bring_a_code_of_their_own_are_not_run():
    def runs(*_):
        raise AssertionError

    session = PairSession(Pair(Query("q", "?"), Chunk("c", CODE)), Actor(), NoSteps())
    for made in (
        TestProgram("", "", "if mean := max:\n    pass", ("assert mean([1, 3]) == 2",)),
        TestProgram("", "mean = max", "from solution import mean", ("assert mean([1, 3]) == 3",)),
    ):
        report = Executor(runs, NOTHING)(session, made)
        assert "binds 'mean', which is the code under judgment" in report.error
        assert not report.executable


def judged(runner: SharedRunner, installs: Installs, kind: str):
    actor = Actor()
    parts = configured("all", Executor(runner.importing, installs), Fixer(installs))
    return Agents(actor, parts).judge(pair(kind, 7)), actor


def test_a_missing_module_is_installed_without_a_model_or_told_to_it(runner: SharedRunner, installs: Installs):
    verdict, actor = judged(runner, installs, "lacks")
    assert (verdict.grade, verdict.details["executable"], verdict.details["fixes"]) == (1, True, ["install"])
    assert verdict.details["distributions"] == ["tinything"]
    assert actor.asked["fix"] == 0
    why = installs.have(["absentthing"])
    assert "absentthing" in str(why)
    assert installs.have(["absentthing"]) == why, "what cannot be had is told"
    verdict, actor = judged(runner, NOTHING, "lacks")
    assert verdict.details["distributions"] == []
    assert "no known distribution brings the module tinything" in actor.prompts[-2].text


WRONG = "OFFSET = 100\n\ndef square(x):\n    return x + OFFSET\n"
GOOD = "lambda x: x * x"
HONEST = "assert square(3) == 9\nassert square(-2) == 4"


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
        report = run(runner, code, *cases, helpers=ASKING)
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
    report = run(runner, code, *cases, helpers=helpers)
    assert all("of the code under judgment" in case.detail for case in report.cases), report.text()


def test_a_setup_that_changes_the_code_and_tests_that_say_nothing_are_no_evidence(runner: SharedRunner):
    change = "vars(sys.modules['solution']).update({'squ' + 'are': lambda x: x * x})"
    setup = f"import sys\nsys.setprofile(lambda *_: {change})"
    report = run(runner, WRONG, HONEST, setup=setup, helpers="from solution import square")
    assert "a program that does nothing" in report.error
    for case in SAYING_NOTHING:
        report = run(runner, WRONG, case, helpers="from solution import square")
        assert [one.state for one in report.cases] == ["error"], case
        assert "test what the code returns" in report.error


SAYING_NOTHING = (
    "square\nassert True",
    "assert callable(square)",
    "assert square",
    "try:\n    square(3)\nexcept Exception:\n    pass\nassert True",
    "class Any:\n    def __eq__(self, other): return True\nassert square(3) == Any()",
    "assert (square(3) == 9) in (True, False)",
    "import pytest\nwith pytest.raises(Exception):\n    square()\n    square('a', 2)",
)


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


def test_a_code_may_keep_what_it_needs(runner: SharedRunner):
    helpers = "from unittest import mock\nimport solution\nfrom solution import Shape, square\nfake = mock.Mock()"
    apart = f"fake.return_value = 3\n{HONEST}\nassert square(fake()) == 9"
    beside = f"assert isinstance(Shape(), Shape)\n{HONEST}\nassert solution.square(5) == 25"
    part = "assert square(0) == 0"
    report = run(runner, HONEST_CODE, apart, beside, part, setup="import math", helpers=helpers)
    assert [case.state for case in report.cases] == ["passed"] * 3, report.text()
    helpers = "import solution\nfrom solution import add, log"
    count = "before = solution.calls\nassert before == 0\nassert add(2) == 2\nassert solution.calls == before + 1"
    for kept, beside in (("", ""), (KEPT, SHARED)):
        cases = (f"{beside}assert add(2) == 2\nassert log == [2]", f"{beside}{count}")
        report = run(runner, KEEPING + kept, *cases, helpers=helpers)
        assert [case.state for case in report.cases] == ["passed"] * 2, report.text()


KEEPING = """
log, calls = [], 0
def add(x):
    global calls
    calls += 1
    log.append(x)
    return x
"""
