"""Limits that follow from what references take: the same when a run goes on, and never less than a reference needs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from assay.cage.limits import Limits
from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.programs.execute import execute
from assay.programs.modules.install_missing import EquippedRunner, install_missing_modules
from assay.programs.reference_limits import ReferenceTimes, limited, measured
from assay.programs.run_samples import run_samples, with_limits
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.types import Call, Program, Task

QUICK = Task("quick", "", "f", (Call((1,), 1),), reference="def f(x): return x")
WRONG = Task("wrong", "", "f", (Call((1,), 1),), reference="def f(x): return 0")
SILENT = Task("silent", "", "f", (Call((1,), 1),))
OWN = Task("own", "", "f", (Call((1,), 1),), reference="def f(x): return x", timeout_s=7.0)
LOOP = "def f(x):\n    while True: pass\n"


@pytest.mark.parametrize(
    ("took_s", "limit_s"), [(0.006, 2.0), (0.2, 2.0), (0.31, 3.1), (0.6, 5.0), (1.2, 5.0), (1.5, 6.0), (4.4, 17.6)]
)
def test_a_limit_is_a_multiple_within_bounds_and_never_close_to_the_reference(took_s: float, limit_s: float):
    assert ReferenceTimes().limit(took_s) == limit_s


def test_only_tasks_whose_reference_passes_have_a_limit_of_it():
    tasks = (QUICK, WRONG, SILENT, OWN)
    with open_sandbox(workers=1) as sandbox:
        timeouts = measured(tasks, sandbox, ReferenceTimes(least_s=0.3))
        (outcome,) = execute(limited(tasks, timeouts), [Program("quick", LOOP)], sandbox)
    assert timeouts == (("quick", 0.3),)
    assert [task.timeout_s for task in limited(tasks, timeouts)] == [0.3, 0.0, 0.0, 7.0]
    assert str(outcome.fault) == "timeout"
    assert outcome.cpu_s < 2


def test_a_run_that_goes_on_has_the_limits_that_it_began_with(tmp_path: Path):
    reading, out = TaskFile((QUICK, SILENT)), tmp_path / "outcomes.jsonl"
    samples = Samples((Program("quick", QUICK.reference, "quick#0"),))

    def ran(room: EquippedRunner, timeouts: tuple[tuple[str, float], ...]) -> int:
        return len(run_samples(reading, reading, samples, room, out, Limits(), timeouts=timeouts))

    with install_missing_modules(partial(open_sandbox, workers=1), reading, samples, print) as room:
        assert with_limits(reading, room, out)[1] == (("quick", 2.0),)
        assert ran(room, (("quick", 3.3),)) == 1
        ready, timeouts = with_limits(reading, room, out)
        assert timeouts == (("quick", 3.3),)
        assert [task.timeout_s for task in ready.tasks] == [3.3, 0.0]
        assert ran(room, timeouts) == 1
        with pytest.raises(InputError, match="timeouts differ"):
            ran(room, ())
