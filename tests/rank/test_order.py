"""Rankers joined, shared and named by specs, and the order that their scores make."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.faults import Fault
from assay.protocols import Ranker
from assay.rank.rankers import CombinedRanker, SharedRanker, best_first, executes, parts_of, ranker_of, rankers_of
from assay.values import Program, Ranked, Task

TASK = Task("t", "")
PROGRAMS = [Program("t", source) for source in "abcd"]
RANKED = st.lists(
    st.builds(
        lambda source, score: Ranked(Program("t", source), score),
        st.sampled_from("abcdef"),
        st.sampled_from((0.0, 0.5, 1.0)),
    ),
    max_size=12,
)


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


def test_the_first_ranker_decides_and_the_next_break_ties() -> None:
    joined = CombinedRanker([Scripted("x", 0.5, 1, 0.5, 1), Scripted("y", 100, 0, -3, 0), Scripted("z", 0, 2, 0, 1)])
    assert joined.name == "x+y+z"
    ranked = joined.rank(TASK, PROGRAMS)
    assert [each.program.source for each in sorted(ranked, key=lambda each: -each.score)] == ["b", "d", "a", "c"]
    assert [each.program for each in ranked] == PROGRAMS
    ranked = CombinedRanker([Scripted("x", 1, 1, 0, 0), Scripted("y", 2, 2, 2, 2)]).rank(TASK, PROGRAMS)
    assert ranked[0].score == ranked[1].score > ranked[2].score == ranked[3].score
    assert [each.score for each in CombinedRanker([Scripted("x", 0.1, 0.3, 0.2, 0.3)]).rank(TASK, PROGRAMS)] == [
        0, 2, 1, 2,
    ]  # fmt: skip
    assert CombinedRanker([Scripted("x")]).rank(TASK, []) == []
    with pytest.raises(InputError, match="no ranker given"):
        CombinedRanker([])


def test_why_comes_from_all_and_the_fault_from_the_first_with_an_opinion() -> None:
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
        ("", "does not name a ranker"),
        ("examples+consensus", "allow it with --allow-execution"),
        ("agreement:tests.jsonl", "allow it with --allow-execution"),
    ):
        with pytest.raises(InputError, match=why):
            ranker_of(spec)
