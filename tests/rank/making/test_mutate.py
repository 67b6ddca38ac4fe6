"""Mutants: each operator makes an edit, all of them parse, and nothing but the edit tells them from originals."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.rank.mutation.mutate import ORIGINAL, mutate, rewritten
from assay.rank.mutation.operators import OPERATORS
from assay.types import Program

SOURCE = '''import math
from os import path


def solve(items, limit):
    """Add up what is small."""
    # a comment
    total, best, seen = 0, None, []
    count = 0
    while count < 3 and limit > 0 or False:
        count += 1
    for place in range(len(items) - 1):
        item = items[place]
        if item not in seen and item <= limit:
            total += item * 2
            seen.append(item)
        else:
            continue
        if total == limit ** 2:
            break
    text = "a" if total else "b"
    part = items[1:limit]
    print(math.floor(total), max(items, key=abs), text.upper(), part)
    return total > limit
    return total
'''


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_makes_its_edit(operator: str):
    made = mutate(Program("t", SOURCE, "p"), 3, operators=[operator])
    if operator == "early-return":
        source = "def f(x):\n    for y in x:\n        z = y\n    return z\n"
        made = mutate(Program("t", source, "p"), 3, operators=[operator])
    assert made is not None
    assert made.mutants, f"{operator} found nothing to edit"
    for each in made.mutants:
        assert each.source != made.original.source
        assert each.tags == {"model": "mutator", "config": operator}
        ast.parse(each.source)


def test_originals_and_mutants_are_laid_out_alike():
    made = mutate(Program("t", SOURCE, "p"), 30, seed=5)
    assert made is not None
    assert "#" not in made.original.source
    assert made.original.tags["config"] == ORIGINAL
    for each in (made.original, *made.mutants):
        assert each.source == ast.unparse(ast.parse(each.source)) + "\n"
    assert len({each.source for each in made.mutants}) == len(made.mutants) == 30


def test_equal_seeds_give_equal_mutants_and_others_others():
    program = Program("t", SOURCE, "p")
    assert mutate(program, 10, seed=1) == mutate(program, 10, seed=1)
    assert mutate(program, 10, seed=1) != mutate(program, 10, seed=2)


def test_what_cannot_be_read_makes_nothing_and_small_programs_few():
    assert mutate(Program("t", "def f(:\n"), 5) is None
    assert mutate(Program("t", "\0"), 5) is None
    made = mutate(Program("t", "pass\n"), 5)
    assert made is not None
    assert made.mutants == ()
    with pytest.raises(InputError, match="did you mean 'bound'"):
        mutate(Program("t", SOURCE), 5, operators=["bounds"])


def test_documentation_is_no_constant_to_change():
    made = mutate(Program("t", SOURCE, "p"), 40, operators=["other-constant"])
    assert made is not None
    assert all("Add up what is small." in each.source for each in made.mutants)


@given(st.text("abx =()[]:\n+1", max_size=30))
def test_any_text_is_mutated_or_refused(source: str):
    made = mutate(Program("t", source), 2)
    assert (made is None) == (rewritten(source) is None)
