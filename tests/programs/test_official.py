"""Answers compared as the harnesses of APPS and LiveCodeBench do."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.faults import Fault
from assay.programs.harness.official import PRINTS, RETURNS
from assay.programs.run_samples import compared_officially
from assay.programs.tasks.task_file import TaskFile
from assay.values import Call, Stdin, Task

PRINTED = [
    ("1 2\n3\n", "1 2\n3\n", True, True), ("3\n2 1\n", "1 2\n3\n", True, False), ("", "1\n", False, False),
    ("1 2\n\n3\n", "1 2\n3\n", True, False), ("0.3333\n", "0.333333333\n", True, False),
    ("0.50\n", "0.5\n", True, True), ("1  2\n", "1 2\n", True, True), ("1 3\n", "1 2\n", False, False),
    ("yes\n", "no\n", False, False),
]  # fmt: skip
RETURNED = [
    ((1, 2), [1, 2], True, True), ([(1, 2)], [[1, 2]], True, False), ([1, (2, 3)], [1, [2, 3]], False, False),
    ([[3]], [3], True, False), (1, [1, 2, 3], False, False), (True, 1, True, True),
]  # fmt: skip


def test_what_is_printed_and_returned_counts_as_it_does_there():
    for compare, rows in ((PRINTS, PRINTED), (RETURNS, RETURNED)):
        for got, expected, apps, livecodebench in rows:
            said = [compare["apps"](got, expected), compare["livecodebench"](got, expected)]
            assert said == [apps, livecodebench], (got, expected)


def test_the_verdict_is_that_of_the_harness(outcome):
    printed, pairs = Stdin("", "1 2\n3\n"), Call((1,), [[1, 1]])
    for compare in ("apps", "livecodebench", ""):
        seen = outcome("print(3)\nprint(2, 1)", printed, tags={"compare": compare})
        assert (seen.fault is Fault.CORRECT) == (compare == "apps"), compare
    for compare in ("apps", "livecodebench"):
        seen = outcome("def f(x): return [(x, x)]", pairs, tags={"compare": compare, "values": "json"})
        assert (seen.fault is Fault.CORRECT) == (compare == "apps"), compare


def test_only_these_two_have_a_comparison_of_their_own():
    (task,) = compared_officially(TaskFile((Task("a", ""),), form="apps")).tasks
    assert task.tags["compare"] == "apps"
    with pytest.raises(InputError, match="is for APPS and LiveCodeBench"):
        compared_officially(TaskFile((), form="humaneval"))
