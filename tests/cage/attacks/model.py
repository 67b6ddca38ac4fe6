"""What an attack is, and how a run of it is judged: values only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.faults import Fault
from assay.values import Call, Outcome, Script, Test

ESCAPED = "ESCAPED:"
HOLDS = "HOLDS:"
ASK = (Script("attack()\nassert True\n"),)
HONEST = "def attack():\n    return None\n"

CONTAINED, LOOSE, FAILS, BROKEN, ABSENT = "contained", "NOT CONTAINED", "does not work", "broken", "not applicable"


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a program, as seen from outside."""

    outcome: Outcome
    ended: Any
    seconds: float

    @property
    def said(self) -> str:
        """Everything that came out of the cage."""
        parts = (self.ended.stdout, self.ended.stderr, self.ended.verdict, self.ended.reports)
        return "\n".join([*(part.decode(errors="replace") for part in parts), self.outcome.got, self.outcome.detail])


Judge = Callable[[Ran], str]
"""What got out, or nothing."""


def nothing(_ran: Ran) -> str:
    """Leave it to what is checked after every attack."""
    return ""


def not_correct(ran: Ran) -> str:
    """A wrong program must never be called right."""
    return "a wrong program is called correct" if ran.outcome.fault is Fault.CORRECT else ""


def decided(ran: Ran) -> str:
    """A wrong program must be called wrong, not left undecided."""
    return "a wrong program is left undecided" if ran.outcome.fault is None else not_correct(ran)


def unhidden(ran: Ran) -> str:
    """Who holds more memory than it may, and says so, must be ended for it."""
    held = next((line for line in ran.said.splitlines() if line.startswith(HOLDS)), "")
    return f"{held}, and was {ran.ended.ended} {ran.ended.detail}" if held and ran.ended.ended != "memory" else ""


def is_correct(ran: Ran) -> str:
    """An honest program must be called right."""
    outcome = ran.outcome
    return "" if outcome.fault is Fault.CORRECT else f"{outcome.fault}: {outcome.detail} {ran.said[-300:]}"


def timed_out(ran: Ran) -> str:
    """It has to end and be called a time-out."""
    return "" if ran.outcome.fault is Fault.TIMEOUT else f"called {ran.outcome.fault}, not a time-out"


def unwaited(ran: Ran) -> str:
    """Nobody may wait for what a program leaves behind until the limit of wall time."""
    return "was waited for" if ran.ended.ended == "wall" else ""


@dataclass(frozen=True, slots=True)
class Attack:
    """A program, what it tries, and how success would show."""

    name: str
    group: str
    tries: str
    source: str
    tests: tuple[Test, ...] = ASK
    entry_point: str = "attack"
    escaped: Judge = nothing
    then: str = HONEST
    """What runs next in the same sandbox, and has to be correct."""
    again: tuple[tuple[str, bool], ...] = ()
    """Programs that the same tests meet next, in the process that tested this one, and whether they are right."""
    setup: str = ""
    """The prompt's functions that the tests use."""
    beside: str = ""
    """What runs at the same time in a sandbox of its own."""
    limits: Mapping[str, float] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    """What has to be importable for it."""
    bare: bool = False
    """It runs without the prelude."""
    crashes: bool = False
    """It may end in any exception: what it does is break."""


ADD = (Script("assert add(2, 3) == 5\nassert add(10, -4) == 6\n"),)
CHECKED = (
    Script("def check(candidate):\n    assert candidate(2, 3) == 5\n    assert candidate(10, -4) == 6\n\ncheck(add)\n"),
)
UNITTEST = (
    Script(
        "import unittest\n\nclass TestAdd(unittest.TestCase):\n    def test_add(self):\n"
        "        self.assertEqual(add(2, 3), 5)\n\n    def test_negative(self):\n"
        "        self.assertEqual(add(10, -4), 6)\n"
    ),
)
CALLED = (Call((2, 3), 5), Call((10, -4), 6))
QUICK = {"cpu_s": 0.5, "wall_s": 1.5}
LITTLE = {"cpu_s": 1.5, "wall_s": 3, "memory_mb": 128}
RIGHT, FOUR = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return 4\n"
NEXT = ((FOUR, False), (RIGHT, True))
"""A wrong and a right program that come after one that attacks the tests' process."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one attack came to in one sandbox."""

    attack: str
    group: str
    tries: str
    result: str
    note: str = ""
    seconds: float = 0.0
