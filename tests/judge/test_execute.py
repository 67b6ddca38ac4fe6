"""Test programs in a real sandbox: what each case shows, what is installed, and what a program cannot reach."""

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
    report = run(
        runner,
        CODE,
        "assert mean([1, 3]) == 2",
        "assert mean([1, 2]) == 1, 'half'",
        "assert mean([]) == 0",
        "assert mean(nowhere) == 0",
        helpers="from solution import mean",
    )
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


def test_a_copy_of_the_code_in_a_test_program_is_left_out_and_the_code_itself_is_tested(runner: SharedRunner):
    case, copy = "assert mean([1, 3]) == 2", "def mean(values):\n    return 9\n"
    for text in (copy, "from statistics import mean", f"import math\nfrom module import mean\n{copy}"):
        assert run(runner, CODE, case, helpers=text).count("passed") == 1
        assert run(runner, CODE, case, setup=text.replace("statistics", "random")).count("passed") == 1
        assert run(runner, CODE, f"{text}\n{case.replace('2', '9')}").count("failed") == 1


def test_code_that_is_no_python_is_not_run_and_not_repaired(runner: SharedRunner):
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


def test_a_missing_module_is_installed_without_a_model(runner: SharedRunner, installs: Installs):
    verdict, actor = judged(runner, installs, "lacks")
    assert (verdict.grade, verdict.details["executable"], verdict.details["fixes"]) == (1, True, ["install"])
    assert verdict.details["distributions"] == ["tinything"]
    assert actor.asked["fix"] == 0


def test_what_may_not_be_installed_is_told_to_the_model_and_nothing_else_is_done(runner: SharedRunner):
    verdict, actor = judged(runner, NOTHING, "lacks")
    assert verdict.details["distributions"] == []
    assert "no known distribution brings the module tinything" in actor.prompts[-2].text


def test_a_distribution_that_cannot_be_had_is_told(installs: Installs):
    why = installs.have(["absentthing"])
    assert isinstance(why, str)
    assert "absentthing" in why
    assert installs.have(["absentthing"]) == why
