"""Specs of rankers, and a ranker as a scorer of hits."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.protocols import Ranker
from assay.rank.specs import executes, parts_of, ranker_of


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
