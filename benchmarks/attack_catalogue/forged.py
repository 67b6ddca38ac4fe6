"""Answers that a program forges in the channel's own language: none may make it right, or leave it undecided."""

from __future__ import annotations

import time
from collections.abc import Iterator

from attacks.model import ADD, CALLED, CONTAINED, LOOSE, UNITTEST, Row
from attacks.running import Open

from assay.faults import Fault
from assay.programs.verdict import job_of, outcome_of
from assay.values import Program, Task

NAME = "forged answers"
SOURCE = """
import json, os, socket, struct, sys
sys.set_int_max_str_digits(0)
def add(a, b):
    frame = FRAME
    frame = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
    for number in range(3, 256):
        try:
            with socket.socket(fileno=os.dup(number)) as end:
                end.sendall(struct.pack(">I", len(frame)) + frame)
        except OSError:
            continue
    os._exit(0)
"""
"""Answers a question itself, past the harness, on whatever descriptor takes it."""
FRAMES = (
    """b'["returned",' + b"[" * 200_000 + b"]" * 200_000 + b',null,null]'""",
    """b'["returned",' + b'{"l":[' * 5_000 + b"]}" * 5_000 + b',null,null]'""",
    """b'["returned",' + b"9" * 1_000_000 + b',null,null]'""",
    """b'["returned","' + b"x" * (15 << 20) + b'",null,null]'""",
    """b'["returned",[' + b"0," * 5_000_000 + b'0],null,null]'""",
    """b'["returned",NaN,null,null]'""",
    """b'["returned",Infinity,-Infinity,"x"]'""",
    """["returned", 4, [5, 5], 0]""",
    """["returned", 4, {"zz": 1}, 0]""",
    """["returned", None, [[], []], 1]""",
    """["returned", None, None, 10**30]""",
    """["returned", 5]""",
    """["refused", 5, None, None]""",
    """["refused", {"x": 1}, [], {"zz": 2}]""",
    """["verdict", "correct"]""",
    """["shared", "", {"executed": 9, "finding": None}]""",
    """["names", {"add": {"is": "value", "value": 5}}]""",
    """["printed", "5", 0, None]""",
    """[]""",
    """{}""",
    """None""",
    """b"\\xff\\xfe" """,
    """b"" """,
    *(f"""["raised", {failure}, None]""" for failure in (
        """{"type": "x\\0y", "bases": ["ValueError"], "message": 5, "args": None}""",
        """{"type": 5, "bases": 5, "message": 5, "args": 5}""",
        """{"type": "SystemExit", "bases": ["SystemExit"], "message": "0", "args": [0]}""",
        """{"type": "KeyboardInterrupt", "bases": ["KeyboardInterrupt"], "message": "", "args": []}""",
        """{"type": "UnicodeDecodeError", "bases": ["UnicodeDecodeError"], "message": "", "args": []}""",
        """{"type": "ExceptionGroup", "bases": ["ExceptionGroup"], "message": "", "args": [1]}""",
        """{"type": "X" * 10**6, "bases": ["BaseException"], "message": "x" * 10**6, "args": [{"zz": 1}]}""",
        """{"type": "AssertionError", "bases": ["AssertionError"], "line": "x", "fault": "correct"}""",
        """{"type": "SkipTest", "bases": ["unittest.case.SkipTest", "Exception"], "line": -5}""",
        """{"type": "Failed", "bases": ["Failed"], "fault": "correct", "missing": "numpy"}""",
        """{"type": "ModuleNotFoundError", "bases": ["ModuleNotFoundError"], "missing": "numpy", "line": 2**80}""",
        """{"type": {}, "bases": [[]], "message": {}, "args": {}, "line": {}, "missing": []}""",
        """{}""",
        """[]""",
    )),
)  # fmt: skip
FORMS = (("assert", ADD), ("call", CALLED), ("unittest", UNITTEST))
TAGS = "abcdefghijklmnopqrstuvwxyz"
VALUES = ("5", "None", '"x"', "[1]", "[[1, 2], 3]", '{"y": 1}', "-1", '["int8", [-1], "AAAA"]', '["O", [10**12], ""]')


def forged(_kind: str, open_box: Open) -> Row:
    """Run a program for each forged answer under each form of tests."""
    began = time.monotonic()
    work = [
        (Task(f"forged {name}", "", "add", tests), one)
        for name, tests in FORMS
        for one in frames(all_tags=name == "assert")
    ]
    programs = [Program(task.id, SOURCE.replace("FRAME", frame), str(n)) for n, (task, frame) in enumerate(work)]
    with open_box() as box:
        jobs = (job_of(task, program) for (task, _), program in zip(work, programs, strict=True))
        ends = zip(work, programs, box.run(jobs), strict=True)
        outcomes = [(task, frame, outcome_of(task, program, ended)) for (task, frame), program, ended in ends]
    out = [
        f"{frame[:80]} ({task.id}) is called {found.fault or 'undecided'}: {found.detail}"
        for task, frame, found in outcomes
        if found.fault in (None, Fault.CORRECT)
    ]
    tries = f"answers the judge itself, in its own language, in {len(work)} broken or lying ways"
    note = f"{len(out)} of {len(work)}: {'; '.join(out[:4])}" if out else ""
    return Row(NAME, "verdict", tries, LOOSE if out else CONTAINED, note[:900], round(time.monotonic() - began, 2))


def frames(*, all_tags: bool) -> Iterator[str]:
    """Yield forged answers as Python text, with values under every tag or without."""
    yield from FRAMES
    for tag in () if not all_tags else (*TAGS, "nd", "np", "it"):
        for value in VALUES:
            yield f'["returned", {{"{tag}": {value}}}, None, None]'
