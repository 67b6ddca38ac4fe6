"""A model as ranker: how likely it calls the best programs right is added to the score of `consensus`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from assay.errors import InputError, NoAnswer
from assay.faults import Fault
from assay.llm.yes_no import LONGEST, YesNoOptions
from assay.rank.asks_ranker import AsksRanker, task_text
from assay.rank.rankers import asks, best_first, executes, parts_of, ranker_of
from assay.values import Program, Prompt, Ranked, Reply, Task

TASK = Task("t", "Write f.", "f")
SOURCES = [f"def f(x):\n    return x + {number}\n" for number in range(6)]
PROGRAMS = [Program("t", source, str(number)) for number, source in enumerate(SOURCES)]


class Descending:
    """Prefers what was given first."""

    name = "descending"

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        assert task
        return [Ranked(each, -float(place), Fault.TYPE_ERROR, 2) for place, each in enumerate(programs)]


class Model:
    """Says of each program how likely it is right, by its number, and keeps the questions."""

    name = "model"

    def __init__(self, **right: float | None) -> None:
        self.right, self.asked = right, list[Prompt]()

    def reply(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt)
        yes = next((each for name, each in self.right.items() if f"x + {name[1:]}\n" in prompt.text), 0.5)
        if yes is None:
            raise NoAnswer("declined")
        return Reply({"Yes": yes, "No": 1 - yes, "mass": 1.0}, "model")


def ranker(model: Model, **options: int) -> AsksRanker:
    return AsksRanker(model, Descending(), YesNoOptions(**options), in_flight=3)


def order(ranker: AsksRanker, programs: Sequence[Program] = PROGRAMS) -> str:
    return "".join(each.program.id for each in best_first(ranker.rank(TASK, programs)))


def test_a_sure_model_decides_and_a_doubtful_one_leaves_the_order():
    assert order(ranker(Model())) == "012345"
    assert order(ranker(Model(p4=0.97, p0=0.03))) == "412350"
    told = ranker(Model(p0=0.9)).rank(TASK, PROGRAMS)
    assert (told[0].fault, told[0].line) == (Fault.TYPE_ERROR, 2)
    assert told[0].why == {"first": 0.0, "log_odds": pytest.approx(math.log(9))}


def test_only_the_best_different_texts_are_asked_about_in_each_order_and_stay_ahead():
    model = Model(p5=0.99, p2=0.99, p0=0.01)
    assert order(ranker(model, top=3, orders=2), [*PROGRAMS, Program("t", SOURCES[0], "0")]) == "2100345"
    assert len({prompt.text for prompt in model.asked}) == len(model.asked) == 6
    assert all(f"x + {number}" not in prompt.text for prompt in model.asked for number in (3, 4, 5))


def test_programs_without_an_answer_count_as_the_mean_of_the_others():
    told = ranker(Model(p0=None, p1=0.9, p2=0.1)).rank(TASK, PROGRAMS[:3])
    assert [each.program.id for each in best_first(told)] == ["1", "0", "2"]
    assert told[0].why == {"first": 0.0}


def test_a_task_needs_a_text_and_its_function_is_named_unless_the_text_calls_or_defines_it():
    with pytest.raises(InputError, match="t: a model cannot judge programs for a task without its text; give --tasks"):
        ranker(Model()).rank(Task("t", " "), PROGRAMS)
    for text in ("Write a function to add two numbers.", "Readd(1) is not it."):
        assert task_text(Task("t", text, "add")) == f"{text}\n\nThe function that is called: add"
    for text in ("def  add(a, b):", "assert add(1, 2) == 3", "Call math.add(1)."):
        assert task_text(Task("t", text, "add")) == text


def test_odd_pools():
    model = Model()
    assert ranker(model).rank(TASK, []) == []
    assert ranker(model).rank(TASK, PROGRAMS[:1])[0].why["log_odds"] == 0.0
    long = Program("t", "#" * (LONGEST + 1), "long")
    assert order(ranker(model), [long, *PROGRAMS[:2]]) == "01long"


def test_a_spec_says_whether_a_model_is_asked():
    assert parts_of("examples+asks:openai:m?top=3") == ["examples", "asks:openai:m?top=3"]
    assert (asks("examples+asks:openai:m"), asks("examples+consensus")) == (True, False)
    assert (executes("examples+asks:openai:m"), executes("asks:openai:m")) == (True, False)
    with pytest.raises(InputError, match="here none can be asked"):
        ranker_of("asks:openai:m")
