"""The parts of `consensus` as rankers."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.rank.consensus.pool_facts import look_at
from assay.rank.shared_ranker import SharedRanker
from assay.rank.specs import ranker_of, rankers_of
from assay.types import Program, Ranked, Task

TASK = Task("t", "def add(a, b):\n", "add")
SOURCES = ["def add(a, b):\n    return a + b\n", "def add(x, y):\n    return x + y\n", "def add(a, b):\n    return c\n"]
PROGRAMS = [Program("t", source, str(at)) for at, source in enumerate([*SOURCES, SOURCES[0]])]


def scores(spec: str) -> list[float]:
    return [each.score for each in ranker_of(spec).rank(TASK, PROGRAMS)]


def test_gate_and_centrality_and_signals_are_rankers():
    assert scores("gate") == [1, 1, 0, 1]
    central = scores("centrality")
    assert central[0] == central[3] > central[2]
    assert scores("centrality:mass")[2] < scores("centrality:mass")[0]
    assert scores("signal:undefined") == [0, 0, -1, 0]
    assert scores("signal:returns") == [1, 1, 1, 1]
    assert ranker_of("gate").rank(TASK, []) == []


def test_a_part_can_be_left_out_of_consensus():
    whole, less = ranker_of("consensus"), ranker_of("consensus:?without=gate,unlike")
    assert less.name == "consensus:?without=gate,unlike"
    for one, other in zip(whole.rank(TASK, PROGRAMS), less.rank(TASK, PROGRAMS), strict=True):
        assert set(one.why) - set(other.why) == {"gate", "unlike"}
        assert sum(other.why.values()) == pytest.approx(other.score)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("centrality:word", "did you mean 'words'"),
        ("signal:kind_wrng", "did you mean 'kind_wrong'"),
        ("signal", "signal:words_covered"),
        ("consensus:?without=gat", "parts are gate, central"),
        ("consensus:?with=gate", "wanted ?without="),
    ],
)
def test_unknown_parts_are_named(spec: str, why: str):
    with pytest.raises(InputError) as found:
        ranker_of(spec)
    assert why in str(found.value)


def test_rankers_of_one_command_look_at_a_pool_once():
    seen = look_at(TASK, PROGRAMS)
    for ranker in rankers_of(["gate", "centrality", "consensus", "signal:mass"]):
        ranker.rank(TASK, PROGRAMS)
    assert look_at(TASK, PROGRAMS) is seen


class CountingRanker:
    name = "counting"
    calls = 0

    def rank(self, task: Task, programs: list[Program]) -> list[Ranked]:  # noqa: ARG002
        self.calls += 1
        return [Ranked(program, len(program.source)) for program in programs]


def test_a_shared_ranker_is_asked_once_a_pool():
    counting = CountingRanker()
    shared = SharedRanker(counting)
    first = shared.rank(TASK, PROGRAMS)
    assert shared.rank(TASK, list(PROGRAMS)) == first
    assert counting.calls == 1
    shared.rank(TASK, PROGRAMS[:2])
    assert shared.rank(TASK, PROGRAMS) == first
    assert counting.calls == 2
    shared.rank(Task("u", "", ""), PROGRAMS)
    assert counting.calls == 3


def test_specs_with_a_common_part_share_it():
    alone, joined = rankers_of(["consensus", "gate+consensus"])
    assert isinstance(alone, SharedRanker)
    assert joined.name == "gate+consensus"
    assert not isinstance(rankers_of(["consensus", "gate"])[0], SharedRanker)
