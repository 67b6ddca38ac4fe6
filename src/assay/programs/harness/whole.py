"""A whole program and one text on standard input to what it printed: run in a process of its own, as if started anew.

Standard input and output are files, so that `open(0)`, `os.read` and `os.fstat` work and no pipe can fill up. Threads
that are no daemons are waited for and `atexit` is honoured, for programs print in both.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, Any, Final, NoReturn

from assay.programs.harness.program import LoadedProgram, failure_of, flush, fresh_streams

MOST_PRINTED: Final = 8 << 20


def run(source: str, text: str) -> list[Any]:
    """Return what the judge is answered: what was printed, how the process ended, what failed."""
    with TemporaryFile() as given, TemporaryFile() as printed, TemporaryFile() as report:
        given.write(text.encode("utf-8", "surrogateescape"))
        given.seek(0)
        pid = os.fork()
        if pid == 0:
            _be(source, given, printed, report)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        shown = _read(printed, MOST_PRINTED + 1).decode("utf-8", "replace")
        return ["printed", shown, code, _failure(_read(report, 1 << 16), code, len(shown))]


def _be(source: str, given: IO[bytes], printed: IO[bytes], report: IO[bytes]) -> NoReturn:
    """Be the program."""
    os.dup2(given.fileno(), 0)
    os.dup2(printed.fileno(), 1)
    os.set_inheritable(report.fileno(), False)
    fresh_streams()
    failures: list[dict[str, Any]] = []

    def in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            failures.append(failure_of(args.exc_value))

    threading.excepthook = in_thread
    code = 1
    try:
        program = LoadedProgram(source, "__main__")
        code = _exit_code(program.failure)
        if program.failure is not None and code:
            failures.append(program.failure)
        threading._shutdown()  # type: ignore[attr-defined] # noqa: SLF001 - what the interpreter does at its end
        atexit._run_exitfuncs()  # noqa: SLF001 - the same
    finally:
        flush()
        with suppress(BaseException):
            if failures:
                code = 1
                os.write(report.fileno(), json.dumps(failures[0]).encode())
        os._exit(code)


def _exit_code(failure: dict[str, Any] | None) -> int:
    """Return the exit status for what a program ended with; `sys.exit()` and `sys.exit(0)` are no failure."""
    if failure is None:
        return 0
    if failure["type"] != "SystemExit":
        return 1
    return 0 if failure.get("args") in ([], [None], [0], [False]) else 1


def _read(file: IO[bytes], most: int) -> bytes:
    return os.pread(file.fileno(), most, 0)


def _failure(report: bytes, code: int, length: int) -> dict[str, Any] | None:
    if length > MOST_PRINTED:
        return {"type": "OutputLimit", "bases": [], "message": f"printed more than {MOST_PRINTED} bytes", "line": -1}
    if code == 0:
        return None
    try:
        told = json.loads(report)
        if isinstance(told, dict):
            return told
    except ValueError:
        sys.exc_info()
    how = f"ended by signal {-code}" if code < 0 else f"ended with status {code}"
    return {"type": "Exit", "bases": [], "message": how, "line": -1}
