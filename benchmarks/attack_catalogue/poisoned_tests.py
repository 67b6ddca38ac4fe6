"""What one program of a task leaves in its tests for the next: right ones that use a test up, and wrong ones that follow.

The process that holds the tests may serve many programs. Each attack is a program that the tests find right or wrong,
then programs that meet the same tests: what came before must not help or harm them.
"""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.poison import GROUP, IN_PLACE, SORTS, used_up

__all__ = ["ATTACKS", "GROUP"]

ATTACKS = (
    used_up(
        "generator of the tests",
        "its tests take what they expect from a generator",
        "def wanted():\n    yield 5\n    yield 4\n\nleft = wanted()\nassert add(2, 3) == next(left)\n",
    ),
    used_up("list of the tests", "its tests pop what they expect", "left = [4, 5]\nassert add(2, 3) == left.pop()\n"),
    used_up(
        "file of the tests",
        "its tests read what they expect from a text",
        "import io\nleft = io.StringIO('5\\n4\\n')\nassert add(2, 3) == int(left.readline())\n",
    ),
    used_up(
        "default of the tests",
        "a helper of its tests keeps the first answer in a default argument",
        "def ask(a, b, seen={}):\n    return seen.setdefault((a, b), add(a, b))\n\nassert ask(2, 3) == 5\n",
    ),
    used_up(
        "cache of the tests",
        "a helper of its tests caches answers",
        "import functools\n\n@functools.lru_cache\ndef ask(a, b):\n    return add(a, b)\n\nassert ask(2, 3) == 5\n",
    ),
    used_up(
        "cached property of the tests",
        "an object of its tests computes once",
        "import functools\n\nclass Case:\n    @functools.cached_property\n    def answer(self):\n        return add(2, 3)\n\n"
        "case = Case()\n\ndef check(candidate):\n    assert case.answer == 5\n\ncheck(add)\n",
    ),
    used_up(
        "class of the tests",
        "its tests keep answers on a class",
        "class Seen:\n    answers = []\n\nSeen.answers.append(add(2, 3))\nassert Seen.answers[0] == 5\n",
    ),
    used_up(
        "module of the tests",
        "its tests keep the first answer in a module",
        "import math\n\nif not hasattr(math, 'first'):\n    math.first = add(2, 3)\nassert math.first == 5\n",
    ),
    used_up(
        "environment of the tests",
        "its tests keep the first answer in the environment",
        "import os\n\nos.environ.setdefault('FIRST', str(add(2, 3)))\nassert os.environ['FIRST'] == '5'\n",
    ),
    used_up(
        "files of the tests' folder",
        "its tests keep the first answer in a file",
        "import os\n\nif not os.path.exists('first'):\n    open('first', 'w').write(str(add(2, 3)))\nassert open('first').read() == '5'\n",
    ),
    used_up(
        "random numbers of the tests",
        "its tests ask for what the state of random says",
        "import random\n\nrandom.seed(7) if not hasattr(random, 'seeded') else None\nrandom.seeded = True\n"
        "assert random.random() == 0.32383276483316237 and add(2, 3) == 5\n",
    ),
    used_up(
        "context of the tests",
        "its tests raise the precision of decimals when they are read, and lower it when they ran",
        "import decimal\n\nassert decimal.getcontext().prec == 28\nwant = add(2, 3)\ndecimal.getcontext().prec = 1\nassert want == 5\n",
    ),
    used_up(
        "recursion of the tests",
        "its tests lower the recursion limit after the answer",
        "import sys\n\nassert sys.getrecursionlimit() > 900\nassert add(2, 3) == 5\nsys.setrecursionlimit(200)\n",
    ),
    used_up(
        "patch by the tests",
        "its tests replace a builtin that they use themselves",
        "import builtins\n\nassert add(2, 3) == len('12345')\nbuiltins.len = lambda _: 4\n",
    ),
    used_up(
        "warning of the tests",
        "its tests want a warning that is given once",
        "import warnings\n\nwith warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('once')\n"
        "    warnings.warn('x')\nassert len(seen) == 1 and add(2, 3) == 5\n",
    ),
    used_up(
        "list deep in the tests",
        "the same where the list lies in a tuple, in a function's default and in a constant table",
        "table = (('a', [3, 1, 2]),)\n\ndef check(candidate, rows=table):\n    for _, items in rows:\n        candidate(items)\n"
        "        assert items == [1, 2, 3]\n\ncheck(add)\n",
        SORTS,
        IN_PLACE,
    ),
)
