"""What the programs that cheat are made of."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from assay.values import Pytest, Script, Stdin, Test
from attacks.model import ADD, Attack, Judge, Ran, not_correct

GROUP = "verdict"
WRONG = "\n\ndef add(a, b):\n    return 4\n"


def wrong(
    name: str, tries: str, source: str, tests: tuple[Test, ...] = ADD, escaped: Judge = not_correct, **more: object
) -> Attack:
    """Return an attack that has to be called anything but correct."""
    return Attack(name, GROUP, tries, source, tests, "add", escaped, crashes=True, **more)


def unsaid(ran: Ran) -> str:
    """A program that may have lied to tests beside it must at least be known as such."""
    return "" if ran.outcome.shared else not_correct(ran)


ANY = """
class Any_:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __contains__ = __lt__
    def __sub__(self, other): return 0
    def __abs__(self): return 0
    def __bool__(self): return True
    def __hash__(self): return 5
    def __instancecheck__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __iter__(self): return iter(())
    def __len__(self): return 0
    __rsub__ = __float__ = __int__ = __index__ = __abs__
"""
PATCH = """
import builtins
class Quiet(Exception):
    def __init__(self, *a): pass
"""
SUITE = (Pytest("from solution import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"),)
PRINTED = (Stdin("2 3\n", "5\n"), Stdin("10 -4\n", "6\n"))
HANDED_ON = (Script("assert add(encode('abc')) == 'abc'\nassert add(encode('')) == ''\n"),)
SHARED = (Script("stack = Stack()\nstack.push(1)\nassert stack.items == [1]\nassert stack.pop() == 1\n"),)
STACK = "\n\nclass Stack:\n    items = ()\n    def push(self, one):\n        return self\n    def pop(self):\n        return 7\n"
