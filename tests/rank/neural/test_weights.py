from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("torch", reason="the hf extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.neural.settings import CLASSES, NeuralSettings, class_of, classes_of, fault_of, has_own_message
from assay.train.neural import micro_batches, order, weights

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


def test_an_epoch_is_all_of_it_in_an_order_of_its_own() -> None:
    tasks = np.repeat(np.arange(10), 20)
    first, again, second = (order(tasks, epoch, NeuralSettings()) for epoch in (0, 0, 1))
    assert sorted(first) == list(range(200))
    assert list(first) == list(again) != list(second)


def test_a_ranking_loss_keeps_programs_of_a_task_together() -> None:
    tasks = np.repeat(np.arange(10), 20)
    settings = NeuralSettings(ranking="pairwise", group=5, micro=10)
    shuffled = order(tasks, 0, settings)
    assert sorted(shuffled) == list(range(200))
    assert all(len(set(tasks[shuffled[at : at + 5]])) == 1 for at in range(0, 200, 5))
    assert len({tuple(tasks[shuffled[at : at + 5]]) for at in range(0, 50, 5)}) > 1
    (first, *_) = micro_batches(shuffled.tolist(), np.ones(200, dtype=np.int64), settings)
    assert max(Counter(tasks[first]).values()) >= 5


def test_a_batch_is_cut_into_parts_of_like_length() -> None:
    lengths = np.array([9, 1, 8, 2])
    assert micro_batches([0, 1, 2, 3], lengths, NeuralSettings(micro=2)) == [[1, 3], [2, 0]]


def test_classes_are_those_of_the_paper() -> None:
    sizes = {"B": 2, "T": 3, "I": 11, "E": 12, "E+L": 12, "M": 12}
    assert {task: len(classes) for task, classes in CLASSES.items()} == sizes
    assert {classes[0] for classes in CLASSES.values()} == {"correct"}
    assert class_of("T", Fault.KEY_ERROR) == CLASSES["T"].index("execution error")
    assert (fault_of("KeyError"), fault_of("wrong"), fault_of("intent error")) == (Fault.KEY_ERROR, None, None)


def test_frequent_messages_are_classes_after_those_of_their_errors() -> None:
    shapes = {"NameError: name '…' is not defined": 30, "IndexError: list index out of range": 40, "KeyError: N": 2}
    classes = classes_of("M", shapes, least=3, most=9)
    assert classes[:12] == CLASSES["E"]
    assert classes[12:] == ("IndexError: list index out of range", "NameError: name '…' is not defined")
    assert classes_of("M", shapes, least=1, most=1)[12:] == ("IndexError: list index out of range",)
    assert classes_of("E", shapes, least=1, most=9) == CLASSES["E"]
    assert class_of("M", Fault.INDEX_ERROR, "IndexError: list index out of range", classes) == 12
    assert class_of("M", Fault.KEY_ERROR, "KeyError: N", classes) == CLASSES["E"].index("KeyError")
    assert [fault_of(name) for name in classes[12:]] == [Fault.INDEX_ERROR, Fault.NAME_ERROR]


def test_a_message_counts_where_it_is_of_the_fault() -> None:
    for fault, shape, own in (
        (Fault.SYNTAX_ERROR, "IndentationError: unexpected indent", True),
        (Fault.EXECUTION_OTHER, "AssertionError", True),
        (Fault.EXECUTION_OTHER, "TooManyCards: N", True),
        (Fault.EXECUTION_OTHER, "no module nltk: nltk brings it", False),
        (Fault.FUNCTION_NOT_FOUND, "NameError: name '…' is not defined", False),
        (Fault.TIMEOUT, "stopped: took more processor time than it may", False),
        (Fault.INT_SMALL_ERROR, "TypeError: x", False),
    ):
        assert has_own_message(fault, shape) == own, shape


def test_settings_that_cannot_be_run_are_refused() -> None:
    for change, said in (
        ({"task": "X"}, "wanted one of B, T, I, E"),
        ({"ranking": "best"}, "wanted one of none, pairwise"),
        ({"batch": 0}, "'batch' is 0; wanted 1 or more"),
        ({"patience": -1}, "'patience' is -1; wanted 0 or more"),
        ({"rate": 0.0}, "'rate' is 0.0; wanted more than 0"),
        ({"line_head": "none"}, "'line_head' is 'none'; wanted one of mapped, vector"),
    ):
        with pytest.raises(InputError, match=said):
            NeuralSettings(**change)
