"""Programs that reach the tests which the next programs of their task meet: by their process, or by using them up."""

from __future__ import annotations

from assay.values import Script, Test
from attacks.model import ADD, NEXT, QUICK, RIGHT, Attack, Judge, decided, is_correct

GROUP = "poison"
CHANNEL = """
def frame(value):
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return struct.pack(">I", len(body)) + body

def ends():
    for number in range(3, 256):
        try:
            yield socket.socket(fileno=os.dup(number))
        except OSError:
            continue

def say(*texts):
    for end in ends():
        for text in texts:
            try:
                end.send(text, socket.MSG_DONTWAIT)
            except OSError:
                break
ANSWERS = [frame(["returned", value, None]) for value in (4, *(5, 6) * 20)]
"""
BUSY = (Script("assert sum(range(add(2, 3))) == 10\n"),)
FAT = (Script("assert add(2, 3) == 5\n"),)
SLOW = "def add(a, b):\n    return 6 * 10**6\n"


def poison(
    name: str,
    tries: str,
    source: str,
    tests: tuple[Test, ...] = ADD,
    *,
    escaped: Judge = decided,
    again: tuple[tuple[str, bool], ...] = NEXT,
    **more: object,
) -> Attack:
    """Return an attack that has to be judged wrong, with what the same tests meet next."""
    limits = {"limits": QUICK, **more}
    return Attack(name, GROUP, tries, CHANNEL + source, tests, "add", escaped, again=again, crashes=True, **limits)


def used_up(
    name: str, tries: str, tests: str, first: str = RIGHT, again: tuple[tuple[str, bool], ...] = NEXT
) -> Attack:
    """Return a right program that changes what its tests hold, and a wrong and a right one that come next."""
    return Attack(name, GROUP, tries, first, (Script(tests),), "add", is_correct, again=again, bare=True)


SORTS, KEEPS = "def add(items):\n    items.sort()\n", "def add(items):\n    pass\n"
IN_PLACE = ((KEEPS, False), (SORTS, True))


ATTACKS = (
    used_up("iterator of the tests", "its tests take what they expect from an iterator",
            "left = iter([5, 4])\nassert add(2, 3) == next(left)\n"),
    used_up("list that is sorted in place",
            "sorts a list of its tests, so that it is sorted already when the next one comes",
            "data = [3, 1, 2]\nadd(data)\nassert data == [1, 2, 3]\n", SORTS, IN_PLACE),
    poison("answers for the next program", "leaves right answers in the channel for a program that is wrong",
           "def add(a, b):\n    say(*ANSWERS)\n    os._exit(0)\n"),
    poison("child that answers later", "leaves a child that answers for whoever comes next", """
def add(a, b):
    if os.fork() == 0:
        os.setsid()
        while True:
            say(*ANSWERS)
            time.sleep(0.001)
    os._exit(0)
"""),
    poison("judge that ends", "kills every process of its cage but itself, then answers right", """
def add(a, b):
    if not outsider_in_reach():
        for pid in pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        return 4
"""),
    poison("judge that is tired",
           "has the tests compute on what it returns, again and again, until the judge has no time left for the next",
           SLOW, BUSY, again=(*((SLOW, False),) * 4, (RIGHT, True))),
    poison("answer that sinks the judge",
           "returns lists, tuples and dictionaries 100,000 deep, and the same object in itself", """
def add(a, b):
    top = 5
    for n in range(100_000):
        top = ([top], (top,), {0: top})[n % 3]
    return top
"""),
    poison("code for the judge to unpack",
           "returns objects that, unpickled or copied, would run code where the tests are", """
import copyreg
class Code:
    def __reduce_ex__(self, protocol):
        return exec, ("import builtins, os; builtins.add = lambda a, b: a + b; os._exit(0)",)
    __deepcopy__ = __copy__ = __getstate__ = lambda self, *a: 5
    __class__ = property(lambda self: int)
def add(a, b):
    copyreg.pickle(int, lambda one: (exec, ("import os; os._exit(0)",)))
    return Code() if a == 2 else [Code(), {"x": Code()}]
""", escaped=decided),
)  # fmt: skip
