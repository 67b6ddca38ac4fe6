"""What is seen in one program, without running it."""

from __future__ import annotations

from assay.faults import Fault
from assay.rank.gate import Facts, facts, wants_of
from assay.rank.syntax import MAX_PROGRAM_CHARS
from assay.values import Call, Task

TASK = Task(
    "t",
    'def total(items: list, start: int) -> int:\n    """Return 100 more.\n    >>> total([1], 2)\n    103\n    """\n',
    "total",
)
RIGHT = "def total(items, start):\n    return sum(items) + start + 100\n"


def of(source: str, task: Task = TASK) -> Facts:
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


def test_what_surely_fails_is_found_with_its_line_and_sound_programs_are_not_blamed():
    for source, fault, line in WRONG:
        found = of(source)
        assert (found.fault, found.line) == (fault, line), source
    assert [source for source in SOUND if of(source).fault] == []
    assert (of(RIGHT).fault, of(RIGHT).line, of(RIGHT).parses) == (None, -1, True)


def test_hostile_or_too_long_text_is_survived_and_the_tests_of_a_task_are_not_looked_at():
    for source in ("(" * 100_000, "-" * 40_000 + "1", "a" + ".b" * 20_000, "[" * 90 + "]" * 90, ""):
        assert of(source, Task("t", "")).canon.labels
    found = of("x = 1\n" * MAX_PROGRAM_CHARS)
    assert (found.fault, found.parses) == (None, False)
    told = Task("t", "Add.", "total", tests=(Call(([1], 2), 3),), reference=RIGHT)
    assert wants_of(told) == wants_of(Task("t", "Add.", "total"))
