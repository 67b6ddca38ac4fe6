"""Rankers joined and named by specs, the order that their scores make, and what an order is worth."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.faults import Fault
from assay.measure.passk import RankMeasure
from assay.protocols import Ranker
from assay.rank.datasets import Example
from assay.rank.evaluate_rankers import UNRANKED, EvaluationOptions, draw_pool, evaluate
from assay.rank.rankers import CombinedRanker, SharedRanker, best_first, executes, parts_of, ranker_of, rankers_of
from assay.values import Program, Ranked, Task

TASK = Task("t", "")
PROGRAMS = [Program("t", source) for source in "abcd"]
SCORES = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from((0.0, 0.5, 1.0))), max_size=12)
RANKED = SCORES.map(lambda pairs: [Ranked(Program("t", source), score) for source, score in pairs])


@given(RANKED, st.randoms())
def test_higher_scores_come_first_and_the_order_of_the_input_decides_nothing(ranked: list[Ranked], chance) -> None:
    ordered = [(each.score, each.program.source) for each in best_first(ranked)]
    assert [score for score, _ in ordered] == sorted((each.score for each in ranked), reverse=True)
    assert sorted(ordered) == sorted((each.score, each.program.source) for each in ranked)
    shuffled = list(ranked)
    chance.shuffle(shuffled)
    assert ordered == [(each.score, each.program.source) for each in best_first(shuffled)]


class Scripted:
    """A ranker that thinks what it was told to, and counts how often it is asked."""

    def __init__(self, name: str, *scores: float, fault: Fault | None = None, line: int = -1) -> None:
        self.name, self.calls = name, 0
        self._scores, self._fault, self._line = scores, fault, line

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        assert task
        self.calls += 1
        pairs = zip(programs, self._scores, strict=False)
        return [Ranked(program, score, self._fault, self._line, {"part": score}) for program, score in pairs]


def test_the_first_ranker_decides_and_why_comes_from_all() -> None:
    joined = CombinedRanker([Scripted("x", 0.5, 1, 0.5, 1), Scripted("y", 100, 0, -3, 0), Scripted("z", 0, 2, 0, 1)])
    assert joined.name == "x+y+z"
    ranked = joined.rank(TASK, PROGRAMS)
    assert [each.program.source for each in sorted(ranked, key=lambda each: -each.score)] == ["b", "d", "a", "c"]
    assert [each.program for each in ranked] == PROGRAMS
    ranked = CombinedRanker([Scripted("x", 1, 1, 0, 0), Scripted("y", 2, 2, 2, 2)]).rank(TASK, PROGRAMS)
    assert ranked[0].score == ranked[1].score > ranked[2].score == ranked[3].score
    alone = CombinedRanker([Scripted("x", 0.1, 0.3, 0.2, 0.3)])
    assert [each.score for each in alone.rank(TASK, PROGRAMS)] == [0, 2, 1, 2]
    assert CombinedRanker([Scripted("x")]).rank(TASK, []) == []
    with pytest.raises(InputError, match="no ranker given"):
        CombinedRanker([])
    blind, sure = Scripted("x", 1, 1, 1, 1), Scripted("y", 4, 3, 2, 1, fault=Fault.KEY_ERROR, line=3)
    ranked = CombinedRanker([blind, sure, Scripted("z", 0, 0, 0, 0, fault=Fault.CORRECT)]).rank(TASK, PROGRAMS)[0]
    assert (ranked.fault, ranked.line) == (Fault.KEY_ERROR, 3)
    assert ranked.why == {"x": 1, "x.part": 1, "y": 4, "y.part": 4, "z": 0, "z.part": 0}


def test_a_shared_ranker_is_asked_once_a_pool() -> None:
    counting = Scripted("x", 1, 2, 3, 4)
    shared = SharedRanker(counting)
    first = shared.rank(TASK, PROGRAMS)
    assert shared.rank(TASK, list(PROGRAMS)) == first
    assert counting.calls == 1
    shared.rank(TASK, PROGRAMS[:2])
    assert shared.rank(TASK, PROGRAMS) == first
    assert counting.calls == 2
    shared.rank(Task("u", "", ""), PROGRAMS)
    assert counting.calls == 3
    alone, joined = rankers_of(["consensus", "gate+consensus"])
    assert isinstance(alone, SharedRanker)
    assert joined.name == "gate+consensus"
    assert not isinstance(rankers_of(["consensus", "gate"])[0], SharedRanker)


def test_specs_are_taken_apart_where_a_ranker_follows():
    assert parts_of("examples+agreement+consensus") == ["examples", "agreement", "consensus"]
    assert parts_of("neural:runs/a+b+consensus") == ["neural:runs/a+b", "consensus"]
    assert executes("consensus+examples")
    assert not executes("consensus+neural:x/examples")
    assert isinstance(ranker_of(), Ranker)
    assert (ranker_of().name, ranker_of("consensus+consensus").name) == ("consensus", "consensus+consensus")
    for spec, why in (
        ("consensu", "did you mean 'consensus'"),
        ("consensus:?with=gate", r"use consensus or consensus:.unfinished"),
        ("", "does not name a ranker"),
        ("examples+consensus", "allow it with --allow-execution"),
        ("agreement:tests.jsonl", "allow it with --allow-execution"),
    ):
        with pytest.raises(InputError, match=why):
            ranker_of(spec)


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
        found = ((each, self._scores.get(each.source, 0.0), self._faults.get(each.source)) for each in programs)
        return [Ranked(each, score, fault, 1 if each.source > "1" else -1) for each, score, fault in found]


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
    assert (cells["good"].values[two].value, cells["bad"].values[runs].value) == (1.0, 0.0)
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


def test_smaller_pools_are_parts_of_the_samples_and_the_same_for_all_rankers():
    good, other = ByText("good", {"0": 1}), ByText("other", {"0": 1})
    plan = EvaluationOptions((1,), sizes=(3, 50), draws=4, seed=7)
    found = evaluate(TASKS, EXAMPLES, [good, other], plan)
    cells = [cell for cell in found.cells if cell.size == 3]
    assert cells[1].values == cells[2].values
    assert (set(good.seen), len(good.seen)) == ({3}, 4 * 6)
    assert evaluate(TASKS, EXAMPLES, [good], plan).cells[1].values == cells[1].values
    large = [cell for cell in found.cells if cell.size == 50]
    assert all(cell.few == 6 for cell in large)
    assert all(value.tasks == 0 for cell in large for value in cell.values.values())
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
