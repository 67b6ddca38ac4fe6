from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="the hf extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.neural_data import CLASSES, NeuralSettings, class_of, fault_of
from assay.train.neural import weights

TASKS = np.array([0] * 6 + [1] * 2)
RIGHT = np.array([0, 1, 1, 1, 1, 1, 0, 1])
ONCE = np.ones(8, dtype=np.int64)


def test_every_task_and_class_weighs_the_same_and_a_program_as_often_as_it_was_sampled() -> None:
    assert weights(RIGHT, TASKS, ONCE, NeuralSettings(balance=0)) == pytest.approx([2 / 3] * 6 + [2] * 2)
    made = weights(RIGHT, TASKS, ONCE, NeuralSettings(even_tasks=False))
    assert made[RIGHT == 0].sum() == pytest.approx(made[RIGHT == 1].sum())
    assert made.mean() == pytest.approx(1)
    made = weights(RIGHT, TASKS, np.array([3, 1, 1, 1, 1, 1, 1, 1]), NeuralSettings(balance=0, even_tasks=False))
    assert made[0] == pytest.approx(3 * made[1])


def test_classes_are_those_of_the_paper() -> None:
    sizes = {"B": 2, "T": 3, "I": 11, "E": 12, "E+L": 12}
    assert {task: len(classes) for task, classes in CLASSES.items()} == sizes
    assert {classes[0] for classes in CLASSES.values()} == {"correct"}
    assert class_of("T", Fault.KEY_ERROR) == CLASSES["T"].index("execution error")
    assert (fault_of("KeyError"), fault_of("wrong"), fault_of("intent error")) == (Fault.KEY_ERROR, None, None)


def test_settings_that_cannot_be_run_are_refused() -> None:
    for change, said in (
        ({"task": "X"}, "wanted one of B, T, I, E"),
        ({"batch": 0}, "'batch' is 0; wanted 1 or more"),
        ({"patience": -1}, "'patience' is -1; wanted 0 or more"),
        ({"rate": 0.0}, "'rate' is 0.0; wanted more than 0"),
        ({"line_head": "none"}, "'line_head' is 'none'; wanted one of mapped, vector"),
    ):
        with pytest.raises(InputError, match=said):
            NeuralSettings(**change)
