"""A program may send its judge anything: no message makes it correct, and none leaves it undecided."""

from __future__ import annotations

import copy
import json
import random
import socket
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest

from assay.faults import Fault
from assay.programs.harness import judge_process
from assay.programs.harness.assert_plan import packed, packed_call, script_plan
from assay.programs.harness.codec import _UNPACKERS, Channel, pack
from assay.programs.harness.judge_process import plans_of
from assay.programs.harness.proxies import ABILITIES

RIGHT = 123454321
VALUES: list[Any] = [
    *(2**2500, "\ud800", b"b", bytearray(b"B"), 1j, (1, "t"), {1: "d"}, OrderedDict(O=1), Counter("C"), {"s"}),
    *(defaultdict(int, D=1), frozenset("f"), deque([1], 2), range(3), {}.keys(), {}.values(), {}.items()),
    *(Fraction(1, 2), int, datetime(2020, 1, 1, tzinfo=UTC), KeyError("m")),
]
FAILURE = {"type": "KeyError", "bases": ["KeyError"], "message": "'a'", "line": 3, "args": ["a"], "missing": "yaml"}
FINDING = {"fault": "KeyError", "detail": "", "got": "", "expected": "", "line": 1, "missing": "", "doubtful": False}
PACKED = pack([*VALUES, iter("ab")])
ABLE = sorted(ABILITIES - {"__hash__"})
ANSWERS: dict[str, list[list[Any]]] = {
    "names": [*[["names", {"f": {"is": "function"}, "g": {"is": "value", "value": 3}}]] * 9, ["failed", FAILURE]],
    "call": [
        ["returned", {"d": [["a"], [{"t": [1, {"s": [2]}]}]]}, [[1, [2]]]],
        ["returned", {"t": [PACKED, {"=": 0}]}, [PACKED]],
        ["returned", {"h": [0, "Node", ABLE]}, None],
        ["raised", FAILURE, [[1]]],
        ["raised", {**FAILURE, "type": "Mine", "object": {"h": [1, "Mine", ABLE]}}, None],
    ],
    "use": [
        ["returned", PACKED, None],
        ["returned", {"h": [2, "Items", ABLE]}, None],
        ["returned", {"t": [{"t": []}, {"t": [1, {"=": 0}]}, False, {"t": [{"t": [0, [2]]}]}]}, None],
        ["raised", FAILURE, None],
    ],
    "run": [["printed", "7\n", 0, None], ["printed", "", 1, FAILURE]],
    "guard": [["guard"]],
    "reload": [["reload"]],
    "shared": [["shared", "nonce", {"executed": 1, "passed": [], "finding": FINDING}]],
}
"""What may be answered to each kind of request, none of it right."""
DEEP: Any = []
for _ in range(900):
    DEEP = [DEEP]
TAGS = sorted(_UNPACKERS)
LEAVES = [
    *(None, True, 0, -1, 5, 2**70, 10**400, 1.5, float("nan"), float("inf")),
    *("", "a", "\ud800", "\0", "x" * 10_000, [], {}, [[]], [1, 2, 3, 4], ["a"], DEEP),
    *({"=": 0}, {"=": -1}, {"=": "a"}, {"i": "zz"}, {"u": "ff"}, {"b": 3}, {"c": [1]}, {"r": [0, 10**12]}),
    *({"h": 0}, {"h": [0]}, {"h": [0, "A", 5]}, {"h": [-1, "list", ABLE]}, {"h": [[], "A", ABLE]}),
    *({"h": ["0", "A", []]}, {"m": ["fractions.Fraction", [1, 0]]}, {"s": [{"s": []}]}, {"t": 5}, {"g": []}),
    *({"m": ["os.system", ["true"]]}, {"m": ["decimal.Decimal", ["sNaN"]]}, {"D": [5, [], []]}, {"D": [{"T": "int"}]}),
    *({"T": "print"}, {"T": "int"}),
    *({"d": [[[]], [1]]}, {"d": [[1], []]}, {"g": ["map", [1]]}, {"is": "value"}, {"is": ["function"]}),
    *({"is": "module", "name": "os.path"}, {"is": "module", "name": "nosuch"}, {"is": "object", "class": "X\0"}),
    *({"type": 5}, {"type": "StopIteration", "bases": ["StopIteration"]}, {"type": "X", "bases": [["a"]]}),
    *({"type": "X", "bases": ["KeyboardInterrupt"]}, {"type": "SyntaxError", "args": {"t": []}}),
    *({"type": "X\0", "args": [{"=": 1}]}, {"type": "AttributeError", "line": "x"}),
]
TESTS = {
    "call": packed_call([[1, [2]]], RIGHT, 0.0),
    "near": packed_call([[1, [2]]], [float(RIGHT)], 1e-6),
    "stdin": {"kind": "stdin", "text": "1", "expected": str(RIGHT)},
    "script": f"x = [1, [2]]\nassert f(x) == {RIGHT} + g",
    "objects": f"x = f(1)\nassert len(x) < {RIGHT} and [y for _, y in zip(range(9), x)] == {RIGHT} and x[0] == {RIGHT}",
    "attribute": f"assert f(1).item() == {RIGHT}",
    "with": f"import pytest\nwith pytest.raises(ZeroDivisionError): f([1])\nassert f(1) == {RIGHT}",
    "swallows": f"try:\n  f([1])\nexcept Exception: pass\nassert f(1) == {RIGHT}",
    "module": f"from solution import h\nassert h == {RIGHT}",
    "shared": f"async def main(): assert await f(1) == {RIGHT}",
}


class Forger(Channel):
    """The judge's end of a channel at whose other end somebody makes up answers."""

    def __init__(self, seed: int) -> None:
        ours, self._theirs = socket.socketpair()
        super().__init__(ours)
        self._lot = random.Random(seed)

    def post(self, text: str) -> None:
        kind, *rest = json.loads(text)
        answer = copy.deepcopy(self._lot.choice(ANSWERS[kind]))
        if kind == "shared":
            answer[1] = rest[1]
        for _ in range(self._lot.choice([0, 1, 1, 1, 2, 3]) if kind != "names" else self._lot.choice([0] * 9 + [1])):
            answer = self._spoiled(answer)
        raw = json.dumps(answer).encode()
        if self._lot.random() < 0.05:
            raw = raw[: self._lot.randrange(len(raw))] + bytes(self._lot.randrange(256) for _ in range(3))
        self._theirs.sendall(struct.pack(">I", len(raw)) + raw)

    def _spoiled(self, value: Any) -> Any:
        """Put something else in the place of a part."""
        if not isinstance(value, list | dict) or not value or self._lot.random() < 0.15:
            leaf = json.loads(json.dumps(self._lot.choice(LEAVES)))
            return {self._lot.choice(TAGS): leaf} if self._lot.random() < 0.3 else leaf
        if self._lot.random() < 0.1 and isinstance(value, list):
            return value[: self._lot.randrange(len(value))] + [1] * self._lot.randrange(3)
        key = self._lot.choice(list(value) if isinstance(value, dict) else range(len(value)))
        value[key] = self._spoiled(value[key])
        return value

    def close(self) -> None:
        for end in (self._sock, self._theirs):
            end.close()


SAID = [
    *([], [["returned"], 1, 2, 3], {"returned": 1}, ["printed", 1, 2, 3], ["refused", "value", "why", None]),
    *(["returned", {"=": 0}, None], ["returned", {"h": [0]}, None], ["returned", 5, {"t": 5}]),
    *(["returned", {"h": ["0", "A", []]}, None], ["returned", {"h": [0, "A", [5, {}]]}, None]),
    *(["returned", {"h": [0, 5, ["__eq__"]]}, None], ["returned", {"n": ["i4,i4", [1], [0]]}, None]),
    ["returned", {"h": [-1, "list", ["__eq__", "__iter__"]]}, None],
    ["returned", {"h": [0, "A", ["__exit__", "__enter__", "__class__"]]}, None],
    ["returned", {"m": ["builtins.BaseException", ["print", {"t": []}, None]]}, None],
    ["returned", {"m": ["numpy.ndarray", ["O8", {"t": [1]}, {"b": "0000000000000000"}]]}, None],
    *(["returned", {"T": "os.system"}, None], ["returned", {"T": "builtins.print"}, None]),
    *(["raised", 5, None], ["raised", {"type": ["a"]}, None], ["raised", {"cause": 5}, None]),
    ["raised", {"type": "KeyError", "line": "x"}, None],
    ["raised", {"type": "StopIteration", "bases": ["StopIteration"], "args": []}, None],
    ["raised", {"type": "ValueError", "whole": {"h": [0, "A", []]}}, None],
    ["raised", {"type": "X", "bases": [], "object": {"h": [0, "A", []]}, "cause": {}}, None],
]


def spec_of(kind: str, *, every_test: bool = False) -> dict[str, Any]:
    test = TESTS[kind]
    if isinstance(test, str):
        test = packed(script_plan(test, "f"), test, "f")
    return {"entry": "f", "loose": kind == "near", "tests": [test, test], "survey": False, "every_test": every_test}


@pytest.mark.parametrize("kind", TESTS)
def test_no_message_is_right_or_leaves_a_program_undecided(kind):
    seen = set()
    for every_test in (False, True):
        spec = spec_of(kind, every_test=every_test)
        plans = plans_of(spec)
        for seed in range(150):
            forger = Forger(seed)
            verdict = judge_process.JudgeProcess(forger, spec, plans).verdict()
            forger.close()
            json.dumps(verdict)
            seen.add(verdict["fault"])
            at = f"seed {seed}, {every_test}: {verdict}"
            assert not verdict["detail"].startswith("the judge failed"), at
            if verdict["doubtful"]:
                assert kind not in {"call", "near", "stdin"}, at
                assert "test code itself failed" in verdict["detail"] or kind == "shared", at
            if kind != "shared":
                assert Fault(verdict["fault"]) is not Fault.CORRECT, at
    assert len(seen) > 2


class Repeater(Forger):
    """A forger that says one thing, whatever it is asked but names."""

    def __init__(self, said: Any) -> None:
        super().__init__(0)
        self._said = said

    def post(self, text: str) -> None:
        raw = json.dumps(ANSWERS["names"][0] if json.loads(text)[0] == "names" else self._said).encode()
        self._theirs.sendall(struct.pack(">I", len(raw)) + raw)


def test_a_forged_frame_is_no_answer():
    for said in SAID:
        for kind in ("call", "script"):
            forger = Repeater(said)
            verdict = judge_process.JudgeProcess(forger, spec_of(kind), plans_of(spec_of(kind))).verdict()
            forger.close()
            at = (said, verdict)
            assert not verdict["doubtful"], at
            assert verdict["fault"] != "correct", at
            assert verdict["fault"] == "other execution error" or not verdict["gone"], at
