"""The ranker `types`, with the real checker."""

from __future__ import annotations

import pytest

pytest.importorskip("pyrefly")

from assay.errors import InputError, MissingExtra
from assay.faults import Fault
from assay.rank.specs import ranker_of
from assay.rank.static_types import type_checker
from assay.rank.static_types.type_checker import check_types
from assay.rank.static_types.types_ranker import TypesRanker
from assay.types import Program, Task

TASK = Task(
    "t", 'def pick(names, at):\n    """Return a name.\n    >>> pick(["a", "b"], 1)\n    \'b\'\n    """\n', "pick"
)
RIGHT = "def pick(names, at):\n    return names[at]\n"
OTHER_KIND = "def pick(names, at):\n    return [name for name in names if name]\n"
BREAKS = "def pick(names, at):\n    return names[at] + at\n"
HELPED = "def pick(names, at):\n    def get(i):\n        return names[i]\n    return get(at)\n"
NO_PYTHON = "def pick(names, at:\n"
MAY_BE_NONE = (
    "def pick(names, at):\n    best = None\n    for name in names:\n        best = name\n    return best + 'x'\n"
)
ELSEWHERE = "def other():\n    return 1\n"
REVEALS = "reveal_type(1)\ndef pick(names, at):\n    return names[at]\n"


def ranked(sources: list[str], task: Task = TASK) -> list[tuple[float, Fault | None]]:
    found = TypesRanker().rank(task, [Program("t", source, str(at)) for at, source in enumerate(sources)])
    assert [each.program.source for each in found] == sources
    return [(each.score, each.fault) for each in found]


def test_programs_whose_types_cannot_be_right_come_last():
    found = ranked([RIGHT, OTHER_KIND, BREAKS, HELPED, NO_PYTHON, ELSEWHERE, REVEALS, RIGHT])
    assert found[0] == found[3] == found[6] == found[7] == (1.0, None)
    assert found[1] == (0.0, Fault.OUTPUT_TYPE_ERROR)
    assert found[2] == (0.0, Fault.TYPE_ERROR)
    assert found[4] == found[5] == (1.0, None)  # for the next ranker to say


def test_what_may_be_none_is_not_held_against_a_program():
    assert ranked([MAY_BE_NONE]) == [(1.0, None)]


def test_a_checker_that_does_not_work_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type_checker, "checker", lambda: "/bin/false")
    with pytest.raises(InputError, match="does not work"):
        check_types(["x = 1\n", "y = 2\n"])


def test_without_examples_nothing_is_held_against_a_program():
    assert ranked([RIGHT, OTHER_KIND], Task("t", "Return a name.", "pick")) == [(1.0, None)] * 2
    assert ranked([], TASK) == []


def test_the_next_ranker_decides_among_programs_that_fit():
    made = ranker_of("types+consensus")
    orders = made.rank(TASK, [Program("t", source) for source in (OTHER_KIND, OTHER_KIND + "\n", RIGHT)])
    assert max(orders, key=lambda each: each.score).program.source == RIGHT


def test_hostile_sources_cost_their_own_answer_only():
    deep = "x = " + "(" * 5_000 + ")" * 5_000
    found = check_types(["reveal_type(1)\n", deep, "\0", "reveal_type('a')\n"])
    assert found[0] is not None
    assert found[3] is not None
    assert "int" in found[0].revealed or "Literal[1]" in found[0].revealed
    assert "str" in found[3].revealed or "'a'" in found[3].revealed


def test_the_checker_that_is_missing_names_its_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type_checker, "_CHECKER", "no-such-checker")
    with pytest.raises(MissingExtra, match="types"):
        TypesRanker()
