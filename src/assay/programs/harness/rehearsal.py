"""A program of ours and its judge in one process, played a few times before the first fork.

A process that runs code for the first time writes into the pages where it lies: what the interpreter learns of it, and
which method a name means. Learned before the fork it is the same page in all children, and nothing to copy.
"""

from __future__ import annotations

import linecache
import socket
import sys
from typing import Any, Final

from assay.programs.harness.candidate import Candidate
from assay.programs.harness.codec import Channel
from assay.programs.harness.program import FILE, make_streams
from assay.programs.harness.script_plan import packed, packed_call, script_plan
from assay.programs.harness.test_process import TestProcess, plans_of

_TIMES: Final = 20
_SOURCE: Final = '''
from typing import List, Optional
import math

def solve(numbers: List[int], k: int = 3, name: Optional[str] = None) -> int:
    """Return the sum of the k greatest numbers."""
    total = 0
    for n in sorted(numbers, reverse=True)[:k]:
        if n > 0 and not name:
            total += n
    return [math.floor(total)] + [len(str(x)) for x in {}.items()]
'''
_TESTS: Final = """
def check(candidate):
    assert candidate([3, 1, 2], 2) == [5]
    assert candidate([], 3) == [0], "nothing"
    assert sum(candidate([1.5] * 9)) < 20
"""


def rehearse() -> None:
    """Play it, and leave no trace of it that a program could see."""
    before = dict(sys.modules)
    spec = {"entry": "solve", "loose": False, "survey": False, "tests": _tests()}
    plans = plans_of(spec)
    for _ in range(_TIMES):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            program = _Alone(ours, Candidate({"source": _SOURCE}, Channel(theirs), -1))
            fault = TestProcess(program, spec, plans).verdict()["fault"]
        if fault != "correct":
            raise RuntimeError(f"the rehearsal of the harness ended with {fault}: report this with your Python version")
    for name in sys.modules.keys() - before.keys():
        del sys.modules[name]
    sys.modules.update(before)
    linecache.cache.pop(FILE, None)
    make_streams()


def _tests() -> list[dict[str, Any]]:
    script = packed(script_plan(_TESTS, "solve"), _TESTS, "solve")
    return [script, packed_call([[1, 2]], [3], 0.0)]


class _Alone(Channel):
    """The judge's end, where the program answers whenever it is asked, for there is nobody else to."""

    def __init__(self, sock: socket.socket, candidate: Candidate) -> None:
        super().__init__(sock)
        self._candidate = candidate

    def post(self, text: str) -> None:
        super().post(text)
        self._candidate.answer_one()
