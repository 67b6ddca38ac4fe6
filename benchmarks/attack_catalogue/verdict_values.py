"""Programs whose answers lie, or are too much for whoever compares them."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import CALLED, CHECKED, UNITTEST, decided
from attacks.wrong import ANY, GROUP, SUITE, wrong

from assay.values import Script
from attack_catalogue.wrong_parts import LISTED, LYING, NEAR

__all__ = ["ATTACKS", "GROUP"]


ATTACKS = (
    wrong(
        "equal to everything, check(candidate)",
        "the same under HumanEval's check",
        ANY + "\ndef add(a, b):\n    return Any_()\n",
        CHECKED,
    ),
    wrong(
        "equal to everything, unittest",
        "the same under assertEqual",
        ANY + "\ndef add(a, b):\n    return Any_()\n",
        UNITTEST,
    ),
    wrong("equal to everything, pytest", "the same under pytest", ANY + "\ndef add(a, b):\n    return Any_()\n", SUITE),
    wrong(
        "equal to everything, by call",
        "the same where the harness compares",
        ANY + "\ndef add(a, b):\n    return Any_()\n",
        CALLED,
    ),
    wrong(
        "the function itself is equal to everything",
        "is no function but an object that answers any question",
        ANY + "\nadd = Any_()\n",
    ),
    wrong(
        "integer that lies",
        "returns 4 of a subclass of int that equals everything",
        LYING + "\ndef add(a, b):\n    return lying(int)(4)\n",
    ),
    wrong(
        "integer that lies, by call",
        "the same where the harness compares",
        LYING + "\ndef add(a, b):\n    return lying(int)(4)\n",
        CALLED,
    ),
    wrong(
        "list that lies",
        "returns a list whose ==, len and iteration lie",
        LYING + "\ndef add(items):\n    return lying(list)([9])\n",
        LISTED,
    ),
    wrong(
        "string that lies",
        "returns a string that equals everything",
        LYING + "\ndef add(a, b):\n    return lying(str)('5')\n",
    ),
    wrong(
        "float that lies",
        "returns nan, infinity and a float whose difference is 0",
        LYING + "\ndef add(a, b):\n    return lying(float)('nan')\n",
        NEAR,
    ),
    wrong(
        "not a number",
        "returns nan, which no comparison finds far away",
        "def add(a, b):\n    return float('nan')\n",
        NEAR,
    ),
    wrong(
        "value with a lying class",
        "returns an object whose __class__ says int",
        """
class Odd:
    __class__ = int
    def __eq__(self, other): return True
    def __int__(self): return 5
    __index__ = __int__
def add(a, b):
    return Odd()
""",
    ),
    wrong(
        "tags of the channel",
        "returns dictionaries that look like values on their way",
        """
TAGS = ("tuple", "set", "int", "float", "t", "d", "$", "__type__", "kind", "value", "i", "n", "r", "e", "b")
def add(a, b):
    return [{tag: body} for tag in TAGS for body in (5, "5", [5], [[5, 5]], {"value": 5})]
""",
    ),
    wrong(
        "makes the judge fill memory",
        "returns a number of which the tests make a list",
        "def add(a, b):\n    return 10 ** 11\n",
        (Script("assert list(range(add(1, 2))) == [0, 1, 2]\n"),),
        escaped=decided,
        limits={"wall_s": 6, "memory_mb": 256},
    ),
    wrong(
        "right at first",
        "answers right once, and never again",
        """
calls = []
def add(a, b):
    calls.append(1)
    return 5 if len(calls) == 1 else 4
""",
    ),
    wrong(
        "answers in a fork",
        "lets two processes answer one question",
        """
def add(a, b):
    os.fork()
    return 4
""",
    ),
    wrong(
        "deep answer",
        "returns a list 100,000 deep, and one that holds itself",
        """
def add(a, b):
    top = []
    for _ in range(100_000):
        top = [top]
    if a == 10:
        top.append(top)
    return top
""",
    ),
    wrong(
        "huge answer",
        "returns 64 MB of text, an integer of a million digits, an endless iterator",
        """
import itertools
turn = itertools.count()
def add(a, b):
    return ("x" * (64 << 20), 10 ** 1_000_000, itertools.count(), {n: n for n in range(10**6)})[next(turn) % 4]
""",
        (
            Script(
                "for n in range(4):\n    try:\n        assert add(2, 3) != 5\n    except AssertionError:\n        raise\nassert add(2, 3) == 5\n"
            ),
        ),
    ),
    wrong(
        "answer that never ends",
        "returns an iterator without an end to a test that compares lists",
        "import itertools\ndef add(items):\n    return itertools.cycle([1, 2, 3])\n",
        (Script("assert list(add([3, 1, 2])) == [1, 2, 3]\n"),),
        limits={"cpu_s": 2, "wall_s": 5},
    ),
)
