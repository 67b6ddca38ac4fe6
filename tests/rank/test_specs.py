"""Specs of rankers, and a ranker as a scorer of hits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay import plugins
from assay.errors import InputError
from assay.protocols import Ranker, Scorer
from assay.rank.scorer import RankerScorer
from assay.rank.specs import executes, parts_of, ranker_of
from assay.types import Chunk, Program, Query, Ranked, Task


def test_specs_are_taken_apart_where_a_ranker_follows():
    assert parts_of("examples+agreement+consensus") == ["examples", "agreement", "consensus"]
    assert parts_of("neural:runs/a+b+consensus") == ["neural:runs/a+b", "consensus"]
    assert parts_of("agreement:tests+more.jsonl") == ["agreement:tests+more.jsonl"]
    assert executes("consensus+examples")
    assert not executes("consensus+neural:x/examples")


@pytest.mark.parametrize(("spec", "why"), [("consensu", "did you mean 'consensus'"), ("", "names no ranker")])
def test_unknown_specs_are_errors(spec: str, why: str):
    with pytest.raises(InputError, match=why):
        ranker_of(spec)


def test_rankers_that_run_programs_are_not_made_without_a_sandbox():
    with pytest.raises(InputError, match="allow it with --allow-execution"):
        ranker_of("examples+consensus")


def test_the_default_is_a_ranker_and_can_be_joined_to_itself():
    made = ranker_of()
    assert isinstance(made, Ranker)
    assert made.name == "consensus"
    assert ranker_of("consensus+consensus").name == "consensus+consensus"


class Longest:
    name = "longest"

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        assert task.prompt == "add two numbers"
        return [Ranked(program, float(len(program.source))) for program in programs]


def test_a_ranker_scores_hits_as_candidates_of_the_query():
    scorer = RankerScorer(Longest())
    assert isinstance(scorer, Scorer)
    chunks = [Chunk("1", "    def f():\n        pass"), Chunk("2", "def f(a, b):\n    return a + b")]
    assert scorer.score(Query("q", "add two numbers"), chunks) == [float(len("def f():\n    pass")), 29.0]
    assert scorer.score(Query("q", "nothing"), []) == []
    assert scorer.name == "ranker:longest"


def test_a_search_can_name_a_ranker_that_only_reads():
    scorer = plugins.make("scorer", "ranker:consensus")
    good = Chunk("1", "def add(a, b):\n    return a + b\n")
    broken = Chunk("2", "def add(a, b:\n    return a + b\n")
    scores = scorer.score(Query("q", "add two numbers"), [broken, good])
    assert scores[1] > scores[0]
    with pytest.raises(InputError, match="would run what was found"):
        plugins.make("scorer", "ranker:examples")
