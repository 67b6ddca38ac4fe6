"""What runs in a worker: one system is prepared, then asked, until the other end of the pipe is closed.

Requests come pickled from the parent, which is ours. Replies go back as JSON, so that nothing a tool under test made
is ever unpickled. What the system prints goes where the parent put standard output.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

from assay import plugins
from assay.bench.system import System, SystemCorpus
from assay.errors import AssayError
from assay.protocols import Searcher
from assay.values import Query

_BYTES = 1 if sys.platform == "darwin" else 1024
"""What the system counts memory in."""
_ENDING_S = 2.0
_MAX_ERROR_CHARS = 500
"""Characters of an error that are kept: results, reports and terminals show it."""


@dataclass(frozen=True, slots=True)
class SystemTask:
    """One system over one corpus."""

    spec: str
    options: Mapping[str, Any]
    corpus: SystemCorpus


def main(requests: int, replies: int, lifeline: int) -> None:
    """Serve the parent over open pipes; when the lifeline closes it is gone, whatever is going on here."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # else an old line comes after the traceback
    Thread(target=_follow, args=(lifeline,), daemon=True).start()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked, answered = Connection(requests, writable=False), Connection(replies, readable=False)
    task: SystemTask = asked.recv()
    system: System | None = None
    stopped = False
    try:
        system, searcher, told = _prepared(task)
        _reply(answered, told)
        with suppress(EOFError):  # the parent asks no more
            while searcher is not None:
                _reply(answered, _answer(searcher, *asked.recv()))
    except BrokenPipeError:
        pass  # the parent is gone
    except _Stopped:
        stopped = True
    finally:
        getattr(system, "close", lambda: None)()
        if stopped:
            os.killpg(0, signal.SIGKILL)  # what the system started, and this


def _prepared(task: SystemTask) -> tuple[System | None, Searcher | None, dict[str, Any]]:
    started = time.perf_counter()

    def prepare() -> tuple[System, Searcher]:
        system: System = plugins.make("system", task.spec)
        return system, system.prepare(task.corpus, task.options)

    made, error = _tried(prepare)
    if made is None:
        return None, None, {"error": error}
    system, searcher = made
    seconds = getattr(system, "built_s", None) or time.perf_counter() - started
    size, problems = getattr(system, "index_bytes", lambda: None)(), list(getattr(system, "problems", ()))
    return system, searcher, {"index_s": seconds, "index_bytes": size, "problems": problems}


def _answer(searcher: Searcher, query: Query, k: int) -> dict[str, Any]:
    started = time.perf_counter()
    found, error = _tried(lambda: searcher.search([query], k)[0])
    seconds = time.perf_counter() - started
    if found is None:
        return {"error": error, "seconds": seconds}
    hits = [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line, float(hit.score)) for hit in found[:k]]
    return {"found": hits, "seconds": seconds, "error": getattr(searcher, "note", "")}


def _tried(work: Callable[[], Any]) -> tuple[Any, str]:
    """Return what some work gives, or why it gave nothing: a fault of the system is data here."""
    try:
        return work(), ""
    except AssayError as error:
        return None, (str(error) or type(error).__name__)[:_MAX_ERROR_CHARS]
    except Exception as error:  # noqa: BLE001  whatever a tool under test raises
        traceback.print_exc()
        return None, f"{type(error).__name__}: {error}"[:_MAX_ERROR_CHARS]


def _reply(pipe: Connection, sent: dict[str, Any]) -> None:
    own = _own_bytes()
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _BYTES
    text = json.dumps({**sent, "own_bytes": own, "child_bytes": largest})
    pipe.send_bytes(text.encode("utf-8", "backslashreplace"))


def _own_bytes() -> int:
    """Return the most memory that this process held; what `getrusage` tells counts whoever started it, too."""
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _BYTES


def _follow(lifeline: int) -> None:
    """Wait until the parent is gone, then end, at first by way of every `finally`."""
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_ENDING_S)
    os.killpg(0, signal.SIGKILL)


class _Stopped(BaseException):
    """The parent wants no more of this, or is gone."""


def _stop(number: int, frame: object) -> NoReturn:  # noqa: ARG001  what a handler is called with
    """End by way of every `finally`, so that commands end as well; a fork of the worker just ends."""
    leads = os.getpid() == os.getsid(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if leads else signal.SIG_DFL)
    if not leads:
        os.kill(os.getpid(), signal.SIGTERM)
    raise _Stopped
