from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.programs.answers import is_askable
from assay.rank.running_rankers import changed, edges, made_inputs
from assay.values import Call, Stdin, Task

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)
TASK = Task("t", "", "f")


@settings(max_examples=40)
@given(st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=3), st.integers(0, 3))
def test_inputs_are_distinct_repeatable_and_of_the_same_width(seeds: list[tuple[object, ...]], seed: int) -> None:
    examples = [Call(args, None) for args in seeds]
    made = made_inputs(TASK, examples, most=20, seed=seed)
    assert made == made_inputs(TASK, examples, most=20, seed=seed)
    assert len(set(map(repr, made))) == len(made) <= 20
    assert set(map(repr, seeds)) <= set(map(repr, made))
    assert all(isinstance(args, tuple) and len(args) == 2 and is_askable(args) for args in made)


@given(PLAIN, st.integers())
def test_a_change_keeps_the_type(value: object, seed: int) -> None:
    assert type(changed(value, random.Random(seed))) is type(value)
    assert all(type(edge) is type(value) for edge in edges(value))
    assert edges(1.5) == (0.0, 1.0, 2.0, -1.5)


def test_the_seed_and_the_task_decide() -> None:
    examples = [Call(([3, 1, 2], "word"), None)]
    first = made_inputs(TASK, examples, most=30)
    assert first != made_inputs(TASK, examples, most=30, seed=1)
    assert first != made_inputs(Task("u", "", "f"), examples, most=30)


def test_small_inputs_come_first_and_those_of_another_sign_last() -> None:
    made = [args[0] for args in made_inputs(TASK, [Call((12,), None), Call((5,), None)], most=30)]
    usual = [value for value in made if value > 0]
    assert made[: len(usual)] == sorted(usual)
    assert all(value <= 0 for value in made[len(usual) :])
    assert {0, -1} <= set(made)


def test_texts_keep_their_lines() -> None:
    made = made_inputs(Task("t", ""), [Stdin("3\n10 20 30\nabc\n", "x")], most=15)
    assert "3\n10 20 30\nabc\n" in made
    assert len(made) == 15
    assert all(isinstance(text, str) and len(text.splitlines()) == 3 for text in made)
    assert made_inputs(Task("t", ""), [], most=15) == made_inputs(TASK, [], most=15) == ()
