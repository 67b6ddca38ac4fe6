"""The default ranker and its parts as rankers: a gate, what it finds in one program, how central a program is."""

from __future__ import annotations

import ast
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.faults import Fault
from assay.protocols import Ranker
from assay.rank.canon import of_text
from assay.rank.consensus_ranker import ConsensusRanker, bags, finished_part, look_at, prices
from assay.rank.gate import Facts, facts, wants_of
from assay.rank.rankers import ranker_of, rankers_of
from assay.rank.syntax import MAX_PROGRAM_CHARS
from assay.values import Call, Program, Ranked, Task

TASK = Task("t", 'def add(a, b):\n    """Return the sum of two numbers.\n    >>> add(1, 2)\n    3\n    """\n', "add")
SOURCES = [
    "def add(a, b):\n    return a + b\n",
    "def add(x, y):\n    return x + y\n",
    "def add(a, b):\n    total = a + b\n    return total\n",
    "def add(a, b):\n    return sum([a, b])\n",
    "def add(a, b):\n    return a - b\n",
    "def add(a, b):\n    return str(a) + str(b)\n",
    "def add(a, b):\n    return a + c\n",
    "def add(a, b):\n    pass\n",
    "def add(a, b:\n",
]
RANKER = ConsensusRanker()


def ranked(sources: list[str], task: Task = TASK) -> list[Ranked]:
    return RANKER.rank(task, [Program(task.id, source, str(at)) for at, source in enumerate(sources)])


def scores(sources: list[str], task: Task = TASK) -> dict[str, float]:
    return {each.program.source: each.score for each in ranked(sources, task)}


def test_the_common_answer_leads_and_what_fails_comes_last_with_its_fault_and_line():
    assert isinstance(RANKER, Ranker)
    found = scores(SOURCES)
    order = sorted(SOURCES, key=lambda source: -found[source])
    assert order[0] in SOURCES[:3]
    assert set(order[-4:]) == set(SOURCES[5:])
    told = ranked(SOURCES)
    assert [each.fault for each in told[6:]] == [Fault.NAME_ERROR, Fault.NONE_ERROR, Fault.SYNTAX_ERROR]
    assert [told[6].line, told[8].line] == [2, 1]
    assert [each.fault for each in told[:5]] == [None] * 5, "a fault that the gate does not find is not guessed"


def test_what_comes_second_is_another_answer():
    found = scores(SOURCES[:5])
    order = sorted(SOURCES[:5], key=lambda source: -found[source])
    assert order[1] not in SOURCES[:2] or order[0] not in SOURCES[:2]
    held = bags([of_text(text) for text in ("a b c", "a b c", "x y z", "a b z")])
    off = prices(np.array([4.0, 3.9, 3.5, 1.0]), held, 1.0)
    assert off[0] == 0 < off[2] < 0.1, "the best pays nothing, and what is unlike it next to nothing"
    assert off[1] == pytest.approx(1.0), "a copy pays all of it"
    assert off[2] < off[3] < 1
    assert prices(np.array([4.0, 3.9, 3.5, 1.0]), held, 0.0).tolist() == [0.0] * 4


@settings(max_examples=20)
@given(st.permutations(range(len(SOURCES))))
def test_the_order_of_the_programs_is_nothing(order: list[int]):
    found = ranked([SOURCES[at] for at in order])
    assert [each.program.source for each in found] == [SOURCES[at] for at in order]
    assert {each.program.source: each.score for each in found} == scores(SOURCES)


def test_copies_are_samples_parts_add_up_and_one_candidate_has_a_score():
    counts = (3, 1, 2, 1, 4, 1, 1, 1, 1)
    listed = [Program("t", source) for source, n in zip(SOURCES, counts, strict=True) for _ in range(n)]
    counted = [Program("t", source, n=n) for source, n in zip(SOURCES, counts, strict=True)]
    one, other = ({each.program.source: each.score for each in RANKER.rank(TASK, each)} for each in (listed, counted))
    assert one == other
    for one in RANKER.rank(TASK, [Program("t", source, str(at)) for at, source in enumerate(SOURCES)]):
        assert set(one.why) == {"gate", "central", "unlike"}
        assert sum(one.why.values()) == pytest.approx(one.score)
        assert (one.why["gate"] > 0) == (one.program.source in SOURCES[:5])
    good, bad = ranked(SOURCES[:1], Task("t", ""))[0], ranked(SOURCES[6:7], Task("t", ""))[0]
    assert good.score > bad.score
    assert good.fault is None
    assert (bad.fault, bad.line) == (Fault.NAME_ERROR, 2)


def test_any_task_and_any_program_will_do():
    for prompt in ("", "Add two numbers.", TASK.prompt, "\0\ud800 >>> add(", "def add(a, b" * 2000):
        for entry in ("", "add"):
            found = scores(SOURCES, Task("t", prompt, entry))
            assert min(map(found.get, SOURCES[:3])) > max(found[SOURCES[6]], found[SOURCES[8]]), prompt
    for sources in (
        [],
        [""],
        ["def f(:"] * 5,
        ["int main() { return 0; }", "int main() { return 1; }", "fn main() {}"],
        ["\0", "\ud800", "(" * 50_000, "x" * 10_000_000, "-" * 30_000 + "1"],
    ):
        told = ranked(sources)
        assert [each.program.source for each in told] == sources
        assert all(each.score == each.score for each in told)
    java = ["int f(int a) { return a + 1; }", "int f(int b) { return b + 1; }", "puts 'hello world'"]
    found = scores(java, Task("t", ""))
    assert max(found, key=lambda source: found[source]).startswith("int")
    lots = random.Random(0)
    sources = [f"def add(a, b):\n    return a + b * {lots.random()}\n" for _ in range(1_000)]
    assert len(ranked([*sources, *SOURCES])) == 1_000 + len(SOURCES)


def test_gate_and_centrality_are_rankers_that_look_at_a_pool_once():
    sources = [SOURCES[0], SOURCES[1], SOURCES[6], SOURCES[0]]
    programs = [Program("t", source, str(at)) for at, source in enumerate(sources)]

    def of(spec: str) -> list[float]:
        return [each.score for each in ranker_of(spec).rank(TASK, programs)]

    assert of("gate") == [1, 1, 0, 1]
    central = of("centrality")
    assert central[0] == central[3] > central[2]
    assert ranker_of("gate").rank(TASK, []) == []
    seen = look_at(TASK, programs)
    for ranker in rankers_of(["gate", "centrality", "consensus"]):
        ranker.rank(TASK, programs)
    assert look_at(TASK, programs) is seen


SOURCE = """def solve(items, limit):
    total, seen = 0, []
    for place in range(len(items) - 1):
        item = items[place]
        if item not in seen and item <= limit:
            total += item * 2
            seen.append(item)
    return total > limit
"""
CUT = {
    "": "",
    "def f(x):": "",
    "def f(x):\n    return x": "def f(x):\n pass\n",
    "def f(x):\n    y = x\n    return y +": "def f(x):\n    y = x\n",
    "def f(x):\n    y = '''a\nb": "def f(x):\n pass\n",
    "try:\n\ta = 1\n\tb": "try:\n\ta = 1\nfinally:\n pass\n",
    "try:\n a = 1\nexcept E:\n b = 1\nc = (": "try:\n a = 1\nexcept E:\n b = 1\n",
    "if x:\n a = 1\nelse:\n b = (": "if x:\n a = 1\nelse:\n pass\n",
    "#" * 60_000 + "\n": "",
    "match x:\n": "",
    "@a\n": "",
    "x = 1\r\ny = 2\r\nz": "x = 1\r\ny = 2\r\n",
    "sign = '\u2028'\nother = (": "sign = '\u2028'\n",
}


@settings(max_examples=50)
@given(st.integers(0, len(SOURCE)))
def test_what_is_finished_of_a_program_is_python_wherever_it_is_cut(place: int):
    ast.parse(finished_part(SOURCE[:place]))
    assert {cut: finished_part(cut) for cut in CUT} == CUT
    assert finished_part(SOURCE) == SOURCE
    with pytest.raises(SyntaxError):
        ast.parse(finished_part("x = = 1\ny = 2\nz"))


def test_unfinished_programs_are_ordered_and_a_constant_never_leads():
    common = "def f(x):\n    total = 0\n    for i in range(x):\n        tot"
    sources = (common, common + "al", "def f(x):\n    return x[0]\n    pri", "def f(x):\n    y = z\n    ")
    ranker = ranker_of("consensus:?unfinished")
    found = ranker.rank(Task("t", "Write f(x).", "f"), [Program("t", source) for source in sources])
    first, second, third, last = (each.score for each in found)
    assert first == second > third > 15 > last
    assert [each.fault for each in found] == [None, None, None, Fault.NAME_ERROR]
    assert [each.program.source for each in found] == list(sources)
    task = Task("t", 'def gcd(a, b):\n    """Greatest common divisor.\n    >>> gcd(4, 6)\n    2\n    """\n', "gcd")
    constant, real = "def gcd(a, b):\n    return 2\n", "def gcd(a, b):\n    while b: a, b = b, a % b\n    return a\n"
    broken = "def gcd(a, b):\n    return c\n"
    found = scores([constant, real, broken, "def gcd(a, b):\n    return min(a, b)\n"], task)
    assert found[real] > found[constant] > found[broken]
    told = ranked([constant, "def gcd(a, b):\n    return 3\n", real], task)
    assert {each.why["gate"] for each in told} == {20.0}, "most do it: the task may want one answer to everything"
    task = Task("t", 'def even(xs):\n    """Even ones.\n    >>> even([1, 2])\n    [2]\n    """\n', "even")
    lazy = "def even(xs):\n    return filter(lambda x: x % 2 == 0, xs)\n"
    right = "def even(xs):\n    return [x for x in xs if x % 2 == 0]\n"
    assert {each.program.source: each.fault for each in ranked([lazy, right], task)}[lazy] is Fault.OUTPUT_TYPE_ERROR


TOTAL = Task(
    "t",
    'def total(items: list, start: int) -> int:\n    """Return 100 more.\n    >>> total([1], 2)\n    103\n    """\n',
    "total",
)
RIGHT = "def total(items, start):\n    return sum(items) + start + 100\n"


def of(source: str, task: Task = TOTAL) -> Facts:
    return facts(source, wants_of(task))


WRONG = (
    ("def total(items, start):\n    return sum(items\n", Fault.SYNTAX_ERROR, 2),
    ("x = 1\ndef total(items, start):\n    y = 2\n    return summ(items)\n", Fault.NAME_ERROR, 4),
    ("def total(items, start):\n    for i in items:\n        n += i\n    return n\n", Fault.NAME_ERROR, 3),
    ("def total(items: List[int], start):\n    return 1\n", Fault.NAME_ERROR, 1),
    ("def summed(items, start):\n    return 1\n", Fault.FUNCTION_NOT_FOUND, -1),
    ("\ndef total(items):\n    return sum(items)\n", Fault.TYPE_ERROR, 2),
    ("def total(items, start):\n    print(sum(items))\n", Fault.NONE_ERROR, -1),
    ("def total(items, start):\n    pass\n", Fault.NONE_ERROR, -1),
    ("def total(items, start):\n    return items.split()\n", Fault.EXECUTION_OTHER, 2),
    ("def total(items, start):\n    return str(sum(items))\n", Fault.OUTPUT_TYPE_ERROR, -1),
    ("x = '\ud800'\n", Fault.SYNTAX_ERROR, 1),
    ("x = 1\ny = '\0'\n", Fault.SYNTAX_ERROR, 2),
)
SOUND = (
    "import math as m\ndef total(items, start=0):\n    return m.floor(b(items))\ndef b(x):\n    return 1\n",
    "from os.path import *\ndef total(items, start):\n    return anything(items)\n",
    "class Solution:\n    def total(self, items, start):\n        return [a for a, _ in items][0]\n",
    "def total(*items):\n    if (n := len(items)) > 1:\n        return n\n",
    "def total(items, start):\n    try:\n        return 1\n    except ValueError as e:\n        return str(e)\n",
    "def total(items, n):\n    def add():\n        nonlocal n\n        n += 1\n    add()\n    return n\n",
    "def total(items, n):\n    match items:\n        case [a, *rest]:\n            return rest\n    return n\n",
    "def total(items, start):\n    yield from items\n",
    "total = lambda items, start: len(items)\n",
    "from math import gcd as total\n",
    "def total(items, start):\n    return 1\ndef other(items):\n    return undefined\n",
    "from collections import Counter\ndef total(items, start):\n    return Counter(items).most_common(1)[0][1]\n",
)


def test_what_surely_fails_is_found_sound_programs_are_not_blamed_and_hostile_text_is_survived():
    for source, fault, line in WRONG:
        found = of(source)
        assert (found.fault, found.line) == (fault, line), source
    assert [source for source in SOUND if of(source).fault] == []
    assert (of(RIGHT).fault, of(RIGHT).line, of(RIGHT).parses) == (None, -1, True)
    for source in ("(" * 100_000, "-" * 40_000 + "1", "a" + ".b" * 20_000, "[" * 90 + "]" * 90, ""):
        assert of(source, Task("t", "")).canon.labels
    found = of("x = 1\n" * MAX_PROGRAM_CHARS)
    assert (found.fault, found.parses) == (None, False)
    told = Task("t", "Add.", "total", tests=(Call(([1], 2), 3),), reference=RIGHT)
    assert wants_of(told) == wants_of(Task("t", "Add.", "total"))
