from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.combined_ranker import CombinedRanker
from assay.types import Program, Ranked, Task

TASK = Task("t", "")
PROGRAMS = [Program("t", source) for source in "abcd"]


class Scripted:
    """A ranker that thinks what it was told to."""

    def __init__(self, name: str, *scores: float, fault: Fault | None = None, line: int = -1) -> None:
        self.name = name
        self._scores, self._fault, self._line = scores, fault, line

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        assert task is TASK
        pairs = zip(programs, self._scores, strict=True)
        return [Ranked(program, score, self._fault, self._line, {"part": score}) for program, score in pairs]


def test_the_first_decides_and_the_next_break_ties() -> None:
    joined = CombinedRanker([Scripted("x", 0.5, 1, 0.5, 1), Scripted("y", 100, 0, -3, 0), Scripted("z", 0, 2, 0, 1)])
    assert joined.name == "x+y+z"
    ranked = joined.rank(TASK, PROGRAMS)
    assert [each.program.source for each in sorted(ranked, key=lambda each: -each.score)] == ["b", "d", "a", "c"]
    assert [each.program for each in ranked] == PROGRAMS


def test_what_all_hold_equal_stays_equal() -> None:
    ranked = CombinedRanker([Scripted("x", 1, 1, 0, 0), Scripted("y", 2, 2, 2, 2)]).rank(TASK, PROGRAMS)
    assert ranked[0].score == ranked[1].score > ranked[2].score == ranked[3].score


def test_why_comes_from_all_and_the_fault_from_the_first_with_an_opinion() -> None:
    blind, sure = Scripted("x", 1, 1, 1, 1), Scripted("y", 4, 3, 2, 1, fault=Fault.KEY_ERROR, line=3)
    ranked = CombinedRanker([blind, sure, Scripted("z", 0, 0, 0, 0, fault=Fault.CORRECT)]).rank(TASK, PROGRAMS)[0]
    assert (ranked.fault, ranked.line) == (Fault.KEY_ERROR, 3)
    assert ranked.why == {"x": 1, "x.part": 1, "y": 4, "y.part": 4, "z": 0, "z.part": 0}


def test_one_ranker_keeps_its_order_and_none_is_an_error() -> None:
    ranked = CombinedRanker([Scripted("x", 0.1, 0.3, 0.2, 0.3)]).rank(TASK, PROGRAMS)
    assert [each.score for each in ranked] == [0, 2, 1, 2]
    assert CombinedRanker([Scripted("x")]).rank(TASK, []) == []
    with pytest.raises(InputError, match="no rankers"):
        CombinedRanker([])
