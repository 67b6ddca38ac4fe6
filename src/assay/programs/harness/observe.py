"""What a program answers to each of some inputs, written down one by one: nothing is expected of it.

Each answer is one line of JSON: `[kind, text, fault, line]`. What a program returned or printed crosses as plain data
and is written as a canonical text here, in the process that it cannot reach; it can only be what it is. A program that
takes too long for one input has its earlier answers written already.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Final

from assay.faults import Fault
from assay.programs.harness.canonical import canonical, canonical_lines
from assay.programs.harness.codec import Channel
from assay.programs.harness.crossing import Gone, NotPlainData, Opaque
from assay.programs.harness.recorder import FAILURE, found_in
from assay.programs.harness.remote import LoadFailed, Remote

RETURNED: Final = "returned"
NONE: Final = "none"
RAISED: Final = "raised"
OPAQUE: Final = "opaque"
FAILED: Final = "failed"
"""It did not load, or has no such function: there is no answer but this one."""

Answer = tuple[str, str, str, int]


def observe(channel: Channel, spec: dict[str, Any], answers_fd: int) -> None:
    """Ask the program at the other end of the channel each input of `spec`."""
    remote = Remote(channel, lambda _: None)
    try:
        failed = _loading(remote, spec["entry"])
        if failed:
            write_line(answers_fd, failed)
            return
        for given in spec["inputs"]:
            write_line(
                answers_fd, _printed(remote, given["stdin"]) if "stdin" in given else _called(remote, spec, given)
            )
    except Gone:
        return


def _loading(remote: Remote, entry: str) -> Answer | None:
    """Return why a function cannot be asked, None where it can or a whole program is."""
    if not entry:
        return None
    try:
        remote.learn([entry])
    except LoadFailed as error:
        return _failure(FAILED, error.failure)
    if remote.kind_of(entry) in {"function", "class"}:
        return None
    return FAILED, "", str(Fault.FUNCTION_NOT_FOUND), -1


def _called(remote: Remote, spec: dict[str, Any], given: dict[str, Any]) -> Answer:
    """Call and write down what came; an iterator of the program may raise while it is drawn."""
    try:
        return _written(remote.answer(remote.call_packed(spec["entry"], given["args"])))
    except Gone:
        raise
    except BaseException as error:
        failure = getattr(error, FAILURE, None)
        if failure is None:
            raise Gone("no answer") from error
        return _failure(RAISED, failure)


def _written(value: Any) -> Answer:
    if isinstance(value, Opaque) and not isinstance(value, Iterator):
        return OPAQUE, canonical(value), "", -1
    return NONE if value is None else RETURNED, canonical(value), "", -1


def _printed(remote: Remote, text: str) -> Answer:
    try:
        _, printed, status, failure = remote.ask(["run", text], {"printed"})
    except NotPlainData as error:
        raise Gone(str(error)) from error
    if isinstance(failure, dict):
        return _failure(RAISED, failure)
    if status != 0 or not isinstance(printed, str):
        return RAISED, f"status {status}"[:80], str(Fault.EXECUTION_OTHER), -1
    return RETURNED if printed.strip() else NONE, canonical_lines(printed), "", -1


def _failure(kind: str, failure: dict[str, Any]) -> Answer:
    found = found_in(failure)
    return kind, str(failure.get("type", ""))[:80], str(found.fault or ""), found.line


def write_line(file: int, answer: object) -> None:
    """Write what JSON can say as one line, all of it."""
    line = json.dumps(answer).encode() + b"\n"
    while line:
        line = line[os.write(file, line) :]
