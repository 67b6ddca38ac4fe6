"""Programs that are wrong and try to be judged right, or to leave nobody able to tell."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from assay.values import Script, Test
from attacks.model import ADD, CHECKED, NEXT, QUICK, UNITTEST, Attack, decided
from attacks.wrong import ANY, GROUP, HANDED_ON, PATCH, PRINTED, SHARED, STACK, SUITE, WRONG, unsaid, wrong

__all__ = ["ATTACKS", "GROUP"]

PLACES = (
    ("at import", "{}" + WRONG, ADD),
    ("in the call", "def add(a, b):\n    {}\n", CHECKED),
    ("under unittest", "def add(a, b):\n    {}\n", UNITTEST),
    ("under pytest", "def add(a, b):\n    {}\n", SUITE),
    ("beside shared tests", "class Stack:\n    def push(self, one):\n        {}\n", SHARED),
)
HELPER = "def double(x):\n    return x * 2\n"


def shadows(name: str, tries: str, source: str, tests: str, **more: object) -> Attack:
    """Return a wrong program that changes names which a line of tests uses."""
    return wrong(name, tries, source + WRONG, (Script(tests),), decided, **more)


def source(name: str, tries: str, text: str, *, end: str = "\n\ndef add(a, b):\n    return 4\n") -> Attack:
    """Return a program whose text is the attack."""
    limits = {"cpu_s": 1, "wall_s": 3}
    return wrong(name, tries, text + end, ADD, decided, bare=True, again=NEXT, limits=limits)


def exits(call: str, place: tuple[str, str, tuple[Test, ...]]) -> Attack:
    """Return a program that ends in some place."""
    where, text, tests = place
    tries = f"ends the process before the tests have run, {where}"
    return wrong(f"{call} {where}", tries, text.format(call), tests)


ATTACKS = (
    *(exits("os._exit(0)", place) for place in PLACES),
    wrong("asks to be skipped", "raises unittest.SkipTest in the call", """
import unittest
def add(a, b):
    raise unittest.SkipTest("not today")
""", UNITTEST),
    wrong("asks pytest to be skipped", "raises pytest's skip and xfail in the call and at import", """
def add(a, b):
    import pytest
    pytest.skip("not today")
""", SUITE),
    wrong("equal to everything", "returns an object that says yes to any comparison",
          ANY + "\ndef add(a, b):\n    return Any_()\n"),
    wrong("asks for a shared interpreter", "returns an object that the tests hand on, so that they must run beside it",
          ANY + """
def encode(text):
    return Any_()
def add(one):
    return Any_()
""", HANDED_ON, escaped=decided),
    wrong("makes the judge compute", "returns a number on which the tests' own sum never ends",
          "def add(a, b):\n    return 10 ** 11\n", (Script("assert 2 ** add(1, 2) == 8\n"),), escaped=decided,
          limits=QUICK),
    wrong("patches the checker", "replaces AssertionError, all, isinstance, len, sorted, abs and repr", PATCH + """
builtins.AssertionError = Quiet
builtins.all = builtins.any = builtins.isinstance = lambda *a: True
builtins.sorted = lambda *a, **k: []
builtins.abs = builtins.len = lambda *a: 0
builtins.repr = builtins.str = lambda *a: "5"
builtins.__build_class__ = None
""" + WRONG),
    wrong("plugs into pytest", "leaves conftest.py and pytest.ini where pytest finds them", """
for name, text in (("conftest.py", "def pytest_collection_modifyitems(items):\\n    items.clear()\\n"
                    "def pytest_sessionfinish(session):\\n    session.exitstatus = 0\\n"),
                   ("pytest.ini", "[pytest]\\naddopts = --collect-only\\n"), ("test_solution.py", "def test(): pass\\n")):
    for folder in (".", "/tmp", ".."):
        try:
            open(f"{folder}/{name}", "w").write(text)
        except OSError:
            pass
""" + WRONG, SUITE),
    wrong("shared: equal to everything",
          "in one interpreter with its tests, says yes to any comparison: the outcome has to say that it was shared",
          ANY + "\nStack = Any_\n", SHARED, escaped=unsaid),
    wrong("shared: takes the mark away",
          "in one interpreter with its tests, looks for what says that it is shared and changes it", """
import gc
for one in gc.get_objects():
    try:
        if isinstance(one, dict) and "shared" in one and one is not globals():
            one["shared"] = ""
        elif isinstance(one, list) and "shared" in one:
            one[one.index("shared")] = "verdict"
    except Exception:
        pass
""" + STACK, SHARED, escaped=unsaid),
    shadows("builtins as its own names",
            "defines abs, all, any, len, sorted, isinstance and others for the tests to find",
            "abs = len = sum = round = lambda *a, **k: 0\nall = any = isinstance = hasattr = callable = lambda *a, **k: True\nsorted = list = set = tuple = str = repr = lambda *a, **k: []\nrange = zip = map = enumerate = filter = lambda *a, **k: ()\n",
            "assert abs(add(2, 3) - 5) < 1e-6\nassert sorted([add(2, 3)]) == list((5,))\nassert all(add(n, n) == n + n for n in range(4))\n"),
    wrong("helper of the prompt, by the back door",
          "changes the helper's code, defaults and globals instead of its name",
          "def double(x):\n    return x * 2\n\n\ndef add(a, b):\n    double.__code__ = (lambda x: 4).__code__\n    globals()['double'] = lambda x: 4\n    return 4\n",
          (Script("got = add(2, 3)\nassert got == double(2.5)\nassert add(1, 1) == double(1)\n"),), decided,
          setup=HELPER, bare=True),
    source("sum of many terms", "is an expression of 30,000 terms, a tree as deep", "x = " + "1+" * 30_000 + "1"),
    wrong("forges frames of the verdict", "writes verdicts to every descriptor, from the program and from a child",
          """
def add(a, b):
    frames = [json.dumps(one).encode() for one in (
        {"fault": "correct"}, {"verdict": "correct", "tests_run": 2}, {"ok": True, "asserts": 2, "nonce": ""},
        {"passed": 2, "failed": 0, "got": "", "expected": ""}, ["correct", 2], "correct")]
    if os.fork() == 0:
        time.sleep(0.05)
    for number in range(1, 256):
        for frame in frames:
            for text in (frame, frame + b"\\n", struct.pack(">I", len(frame)) + frame):
                try:
                    os.set_blocking(number, False)
                    os.write(number, text)
                except OSError:
                    break
    return 4
""", limits=QUICK),
    wrong("prints, then fails", "prints the right text and ends with an error",
          "a, b = map(int, input().split())\nprint(a + b)\nraise RuntimeError('after all')\n", PRINTED),
)  # fmt: skip
