"""Programs in one sandbox: what they answer to inputs, what they see of it, and limits that follow from references."""

from __future__ import annotations

import linecache
import math
import random
import sys
from collections import OrderedDict
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.cage.cage import CagePool
from assay.cage.job import Ended
from assay.cage.limits import Limits
from assay.errors import InputError
from assay.faults import Fault
from assay.programs.answers import Input, ProgramAnswer, answers, answers_of, is_askable
from assay.programs.execute import execute
from assay.programs.harness.comparison import MAX_SHOWN_CHARS, canonical, canonical_lines
from assay.programs.harness.judge_process import rehearse
from assay.programs.modules.install import EquippedRunner, install_missing_modules
from assay.programs.run_samples import limit_of, limited, measured, run_samples, with_limits
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.programs.verdict import job_of, outcome_of
from assay.values import Call, Program, Task


def asked(sandbox: CagePool, source: str, *inputs: Input, entry: str = "f") -> tuple[ProgramAnswer, ...]:
    limits = Limits(cpu_s=1, wall_s=5)
    (row,) = answers(entry, [Program("t", source)], inputs, sandbox, limits)
    return row


def test_answers_come_in_the_order_of_the_inputs(sandbox: CagePool) -> None:
    source = "def f(x):\n    return None if x == 0 else [1.0 / x]\n"
    assert asked(sandbox, source, (2,), (0,), ("a",)) == (
        ProgramAnswer("[0.5]"),
        ProgramAnswer("None", says=False),
        ProgramAnswer("raised TypeError", Fault.TYPE_ERROR, 2, says=False),
    )


def test_a_program_that_does_not_load_answers_nothing(sandbox: CagePool) -> None:
    told = asked(sandbox, "def f(x)\n    return x\n", (1,), (2,))
    assert told == (ProgramAnswer("failed SyntaxError", Fault.SYNTAX_ERROR, 1, says=False),) * 2
    assert {each.fault for each in asked(sandbox, "g = 1", (1,))} == {Fault.FUNCTION_NOT_FOUND}


def test_what_was_answered_before_the_end_counts(sandbox: CagePool) -> None:
    slow = asked(sandbox, "def f(x):\n    while x:\n        pass\n    return 7\n", (0,), (1,), (2,))
    assert [(each.text, each.fault) for each in slow] == [("7", None), ("", Fault.TIMEOUT), ("", Fault.TIMEOUT)]
    gone = asked(sandbox, "import os\ndef f(x):\n    return x or os._exit(0)\n", (1,), (0,))
    assert [(each.text, each.fault) for each in gone] == [("1", None), ("", Fault.EXECUTION_OTHER)]


def test_neither_an_object_nor_a_generator_that_raises_spoils_a_later_answer(sandbox: CagePool) -> None:
    told = asked(sandbox, "class A:\n    pass\ndef f(x):\n    return A()\n", (1,))
    assert told == (ProgramAnswer("<A>", says=False),)
    source = "def f(x):\n    yield 1 / x\n    raise KeyError(x) if x > 1 else SystemExit\n"
    assert asked(sandbox, source, (2,), (1,), (0,)) == (
        ProgramAnswer("raised KeyError", Fault.KEY_ERROR, 3, says=False),
        ProgramAnswer("raised SystemExit", Fault.EXECUTION_OTHER, 3, says=False),
        ProgramAnswer("raised ZeroDivisionError", Fault.EXECUTION_OTHER, 2, says=False),
    )


def test_whole_programs_answer_by_what_they_print(sandbox: CagePool) -> None:
    source = "x = int(input())\nif x:\n    print(' ', x / 3)\n"
    assert asked(sandbox, source, "1\n", "0\n", "a\n", entry="") == (
        ProgramAnswer("0.333333333"),
        ProgramAnswer("", says=False),
        ProgramAnswer("raised ValueError", Fault.VALUE_ERROR, 1, says=False),
    )


def test_a_verdict_that_is_none_is_no_answer_and_what_the_sandbox_broke_on_is_nobodys_fault() -> None:
    for verdict in (b"", b"null\n", b"[]\n", b"{}\n", b'["returned"]\n', b"\xff\n", b'"abcd"\n'):
        (answer,) = answers_of(Ended("j", verdict), 1)
        assert answer.fault is Fault.EXECUTION_OTHER, verdict
    assert answers_of(Ended("j", ended="broken"), 2) == (ProgramAnswer("", says=False),) * 2
    assert (is_askable((1, [{"a": {2}}])), is_askable((object(),))) == (True, False), "only plain data can be asked"


def test_equal_values_have_one_text_and_unequal_ones_two() -> None:
    ordered = OrderedDict(b=[2], a=1)
    equal = [(1, 1.0), (True, 1), (0.1 + 0.2, 0.3), ({1, 2, 3}, {3, 2, 1}), ({"a": 1, "b": [2.0]}, ordered), (-0.0, 0)]
    assert [pair for pair in [*equal, ([(1, 2)], [(1.0, 2)])] if canonical(pair[0]) != canonical(pair[1])] == []
    unequal = [
        *(([1], (1,)), (1, "1"), ("a", b"a"), (None, "None"), (1, 2), (0.1, 0.1001), ([], ()), (math.inf, math.nan)),
    ]
    assert [pair for pair in unequal if canonical(pair[0]) == canonical(pair[1])] == []
    assert canonical_lines(" 1  2.50\n\nyes \n") == canonical_lines("1 2.5\nyes")
    assert canonical_lines("1 2") != canonical_lines("1\n2")


@settings(max_examples=50)
@given(st.lists(st.integers() | st.floats() | st.text(), max_size=60))
def test_texts_are_short_and_differ_with_the_values(values: list[object]) -> None:
    assert len(canonical(values)) <= MAX_SHOWN_CHARS
    assert canonical(values) != canonical([*values, 0])


LOOKS = """
import linecache, sys
def seen():
    traces = [name for name in ("tests", "pytest") if name in sys.modules]
    return traces + list(linecache.cache) + [__name__]
"""
DRAWS = """
import os, random, threading
def drawn():
    here = random.random()
    ours, theirs = os.pipe()
    if os.fork() == 0:
        alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
        os.write(theirs, repr((random.random(), alone)).encode())
        os._exit(0)
    os.wait()
    there, alone = eval(os.read(ours, 100))
    return [here, there != random.random(), alone]
"""


def test_a_rehearsal_leaves_the_modules_as_they_were():
    before = dict(sys.modules)
    rehearse()
    assert sys.modules == before
    assert "solution.py" not in linecache.cache


def test_a_program_sees_nothing_of_it_and_chance_is_the_same_but_in_what_it_forks(sandbox: CagePool):
    drawn = [random.Random(0).random(), True, True]
    for source, entry, expected in ((LOOKS, "seen", ["solution.py", "solution"]), *[(DRAWS, "drawn", drawn)] * 2):
        task, program = Task("t", "", entry, (Call((), expected),)), Program("t", source, "p")
        (ended,) = sandbox.run([job_of(task, program)])
        found = outcome_of(task, program, ended)
        assert found.fault is Fault.CORRECT, found


QUICK = Task("quick", "", "f", (Call((1,), 1),), reference="def f(x): return x")
WRONG = Task("wrong", "", "f", (Call((1,), 1),), reference="def f(x): return 0")
SILENT = Task("silent", "", "f", (Call((1,), 1),))
OWN = Task("own", "", "f", (Call((1,), 1),), reference="def f(x): return x", timeout_s=7.0)
LOOP = "def f(x):\n    while True: pass\n"


def test_only_tasks_whose_reference_passes_have_a_limit_that_is_a_multiple_of_its_time(sandbox: CagePool):
    taken = [(0.006, 2.0), (0.2, 2.0), (0.31, 3.1), (0.6, 5.0), (1.2, 5.0), (1.5, 6.0), (4.4, 17.6)]
    assert [(took_s, limit_of(took_s)) for took_s, _ in taken] == taken
    tasks = (QUICK, WRONG, SILENT, OWN)
    timeouts = measured(tasks, sandbox, partial(limit_of, least_s=0.3, most_s=0.3, slack=0))
    (outcome,) = execute(limited(tasks, timeouts), [Program("quick", LOOP)], sandbox)
    assert timeouts == (("quick", 0.3),)
    assert [task.timeout_s for task in limited(tasks, timeouts)] == [0.3, 0.0, 0.0, 7.0]
    assert str(outcome.fault) == "timeout"


def test_a_run_that_goes_on_has_the_limits_that_it_began_with(sandbox: CagePool, tmp_path: Path):
    reading, out = TaskFile((QUICK, SILENT)), tmp_path / "outcomes.jsonl"
    samples = Samples((Program("quick", QUICK.reference, "quick#0"),))

    def ran(room: EquippedRunner, timeouts: tuple[tuple[str, float], ...]) -> int:
        return len(run_samples(reading, reading, samples, room, out, Limits(), timeouts=timeouts))

    with install_missing_modules(lambda **_: nullcontext(sandbox), reading, samples, print) as room:
        ((name, least_s),) = with_limits(reading, room, out)[1]
        assert (name, least_s >= 2.0) == ("quick", True)
        assert ran(room, (("quick", 3.3),)) == 1
        ready, timeouts = with_limits(reading, room, out)
        assert timeouts == (("quick", 3.3),)
        assert [task.timeout_s for task in ready.tasks] == [3.3, 0.0]
        assert ran(room, timeouts) == 1
        with pytest.raises(InputError, match="timeouts differ"):
            ran(room, ())
