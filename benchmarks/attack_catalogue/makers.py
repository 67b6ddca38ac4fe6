"""What the cases of the catalogue are made of, beside what the tests have: makers, tests, judges, limits, texts."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import ADD, NEXT, Attack, Ran, decided, not_correct, unwaited
from attacks.wrong import unsaid, wrong

from assay.values import Call, Script, Test

LYING = """
def lying(base):
    members = dict(__eq__=lambda s, o: True, __ne__=lambda s, o: False, __hash__=lambda s: 5, __repr__=lambda s: "5",
                   __lt__=lambda s, o: True, __gt__=lambda s, o: True, __sub__=lambda s, o: 0, __rsub__=lambda s, o: 0,
                   __reduce__=lambda s: (int, (5,)), __reduce_ex__=lambda s, n: (int, (5,)), __index__=lambda s: 5)
    return type(base.__name__, (base,), members)
"""
LISTED = (Script("assert add([3, 1, 2]) == [1, 2, 3]\nassert add([]) == []\n"),)
NEAR = (Script("assert abs(add(2, 3) - 5.5) < 1e-6\n"), Call((2, 3), 5.5, 1e-6))
RAISES = (Script("try:\n    add(1)\n    assert False, 'no error'\nexcept ValueError:\n    pass\nassert add(2) == 3\n"),)
MAPPED = (Script("assert all(map(lambda pair: add(*pair) == sum(pair), [(2, 3), (10, -4)]))\n"),)
SHARED_CHECK = (
    Script("class Sub(Stack):\n    pass\n\nassert Sub().push(2).items == [2]\nassert isinstance(Sub(), Stack)\n"),
)
HIDDEN = (Script("expected = 'never-to-be-seen-' + 'by-the-program-4711'\nassert guess() == expected\n"),)
NAN_KEYS = (Call((0, 0), {1.0: 5}), Call((1, 0), {1.0}), Call((2, 0), [1.0], 0.1), Call((3, 0), (1.0, 4), 0.1))
SMALL = {"memory_mb": 256, "wall_s": 8}
FAIL = "\n\ndef add(a, b):\n    attack()\n    return a + b\n"
START = (
    LYING
    + """
def every(kind):
    members = {name: (lambda value: lambda *a, **k: value)(value) for name, value in (("__eq__", True), ("__ne__", False), ("__lt__", True), ("__le__", True),
               ("__gt__", True), ("__ge__", True), ("__contains__", True), ("__hash__", 5), ("__sub__", 0), ("__rsub__", 0), ("__bool__", True))}
    return type(kind.__name__, (kind,), {**members, "__module__": kind.__module__, "__slots__": ()})
"""
)


def capped(ran: Ran) -> str:
    """Output has to end, and little of it is kept."""
    kept = len(ran.ended.stdout) + len(ran.ended.stderr)
    if kept > 300_000:
        return f"{kept} bytes of output are kept"
    return unwaited(ran) or not_correct(ran)


def is_long(ran: Ran) -> str:
    """More than two megabytes that come out are too much."""
    return "kept" if len(ran.said) > 2_000_000 else ""


def breaks(name: str, tries: str, source: str, tests: tuple[Test, ...] = ADD) -> Attack:
    """Return an attack on its own interpreter, by which nobody else may be harmed."""
    limits = {"cpu_s": 0.5, "wall_s": 1.0}
    return wrong(name, tries, source, tests, decided, again=NEXT if tests is ADD else (), limits=limits)


def lies(name: str, tries: str, values: str, wanted: str, **texts: str | tuple[str, ...]) -> Attack:
    """Return an attack that returns one lying value after the other; its texts: `classes`, `test_imports`, `modules`."""
    classes, test_imports = (texts.pop(name, "") for name in ("classes", "test_imports"))
    hits = f"hits = [n for n in range(len(({wanted}))) if str(add(n, 0) == ({wanted})[n]) == 'True']"
    tests = (Script(f"{test_imports}\n{hits}\nassert hits\n"),)
    source = f"{START}\n{classes}\nVALUES = ({values})\ndef add(a, b):\n    return VALUES[a]()\n"
    return wrong(name, f"returns {tries} that say yes to every comparison", source, tests, unsaid, **texts)
