"""What an order is worth: perfect, adverse and indifferent rankers on pools whose values are known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.errors import InputError
from assay.faults import Fault
from assay.measure.passk import RankMeasure
from assay.rank.datasets import Example
from assay.rank.evaluate_rankers import UNRANKED, EvaluationOptions, draw_pool, evaluate
from assay.values import Program, Ranked, Task

FAULTS = (Fault.CORRECT, Fault.INT_SMALL_ERROR, Fault.NAME_ERROR, Fault.NAME_ERROR)
TASKS = [Task(f"t{n}", "") for n in range(6)]
EXAMPLES = [
    Example(task.id, f"{task.id}#{n}", "", f"{n}", fault, 1 if fault.is_execution else -1, n=1 + n)
    for task in TASKS
    for n, fault in enumerate(FAULTS)
]


class ByText:
    """A ranker that scores the text of a program, and says how it fails."""

    def __init__(self, name: str, scores: dict[str, float], faults: dict[str, Fault] | None = None) -> None:
        self.name, self._scores, self._faults = name, scores, faults or {}
        self.seen: list[int] = []

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        assert task in TASKS
        self.seen.append(sum(program.n for program in programs))
        return [
            Ranked(
                each, self._scores.get(each.source, 0.0), self._faults.get(each.source), 1 if each.source > "1" else -1
            )
            for each in programs
        ]


GOOD = ByText("good", {"0": 3, "1": 2}, {"0": Fault.CORRECT, "2": Fault.NAME_ERROR, "3": Fault.KEY_ERROR})
BAD = ByText("bad", {"3": 1})
NONE = ByText("none", {})


def test_orders_are_worth_what_they_put_first():
    found = evaluate(TASKS, EXAMPLES, [GOOD, BAD, NONE], EvaluationOptions((1, 2)))
    cells = {cell.ranker: cell for cell in found.cells}
    one, runs, two = RankMeasure(1), RankMeasure(1, "exec"), RankMeasure(2)
    assert cells[UNRANKED].values[one].value == pytest.approx(1 / 10)
    assert cells["none"].values[one].value == pytest.approx(1 / 10)
    assert (cells["good"].values[one].value, cells["bad"].values[one].value) == (1.0, 0.0)
    assert cells["good"].values[two].value == 1.0
    assert cells["bad"].values[runs].value == 0.0
    assert cells["good"].gains[one].value == pytest.approx(0.9)
    assert cells["none"].gains[one].value == 0.0
    assert not cells[UNRANKED].gains
    assert (found.tasks, found.samples) == (6, 60)
    pairs = {(each.a, each.b): each.gains[one].value for each in found.differences}
    assert pairs == {("good", "bad"): 1.0, ("good", "none"): pytest.approx(0.9), ("bad", "none"): pytest.approx(-0.1)}


def test_only_rankers_that_say_how_programs_fail_are_judged_for_it():
    found = evaluate(TASKS, EXAMPLES, [GOOD, NONE], EvaluationOptions())
    (good,) = found.predicted
    assert (good.ranker, good.opinions, good.samples) == ("good", 48, 60)
    assert good.labels["binary"].accuracy == 1.0
    assert good.labels["execution"].accuracy == pytest.approx((1 + 3) / 8)
    assert good.lines.found == 1.0


def test_smaller_pools_are_the_same_for_all_rankers_and_every_time():
    good, other = ByText("good", {"0": 1}), ByText("other", {"0": 1})
    plan = EvaluationOptions((1,), sizes=(3, 50), draws=4, seed=7)
    found = evaluate(TASKS, EXAMPLES, [good, other], plan)
    cells = [cell for cell in found.cells if cell.size == 3]
    assert cells[1].values == cells[2].values
    assert set(good.seen) == {3}
    assert len(good.seen) == 4 * 6
    assert evaluate(TASKS, EXAMPLES, [good], plan).cells[1].values == cells[1].values
    large = [cell for cell in found.cells if cell.size == 50]
    assert all(cell.few == 6 for cell in large)
    assert all(value.tasks == 0 for cell in large for value in cell.values.values())


def test_a_drawn_pool_is_a_part_of_the_samples():
    group = EXAMPLES[:4]
    for draw in range(20):
        pool = draw_pool(group, 5, draw, seed=0)
        assert sum(each.n for each in pool) == 5
        assert all(each.n <= group[int(each.source)].n for each in pool)
        assert pool == draw_pool(group, 5, draw, seed=0)
    assert draw_pool(group, 0, 3, seed=1) == group


def test_a_ranker_that_loses_programs_is_an_error_and_so_is_nothing_to_measure():
    class Short(ByText):
        def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
            return super().rank(task, programs)[1:]

    with pytest.raises(InputError, match="3 scores for 4 programs"):
        evaluate(TASKS, EXAMPLES, [Short("short", {})], EvaluationOptions())
    with pytest.raises(InputError, match="there is nothing to measure"):
        evaluate(TASKS, [], [GOOD], EvaluationOptions())
