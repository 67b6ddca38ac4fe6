"""Limit the requests in flight to a service, and end all of them at Ctrl-C.

A service says nothing about how much it can do at once: a model on a laptop answers one question well and lets eight
time out, a provider takes hundreds. So a window starts with one request, grows by one for each round of answers that
came well within the deadline, and halves where a request was too late or one too many. Whoever has threads bounds it.

The first Ctrl-C drops what is under way and lets nothing begin; what was done before is written as ever. The second
one ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from assay.errors import Interrupted, counted, printable

LOOK_S = 0.2
"""How often whoever waits looks whether the work was interrupted."""
_DROP_S = 2
_stop = threading.Event()
_running = 0
"""Requests under way in this process."""
_lock = threading.Lock()


def is_interrupted() -> bool:
    """Say whether Ctrl-C has ended the work of this process."""
    return _stop.is_set()


def go_on() -> None:
    """Raise `Interrupted` if Ctrl-C has ended the work of this process."""
    pause(0)


def pause(seconds: float) -> None:
    """Sleep for some seconds; Ctrl-C ends it with `Interrupted`."""
    if _stop.wait(seconds):
        raise Interrupted("interrupted: what is done is kept, and the same command goes on")


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first Ctrl-C end the work in the block, which then raises KeyboardInterrupt; the second ends the process.

    Only the main thread hears of it, and only where nobody else does.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        was_interrupted = _stop.is_set()
        _stop.clear()
        if was_interrupted:
            raise KeyboardInterrupt


def say_at_once(message: str) -> None:
    """Write one line to standard error without its buffers, so that signal handlers may call it."""
    with suppress(OSError):
        os.write(2, f"assay: {printable(message)}\n".encode("utf-8", "backslashreplace"))


def _on_interrupt(*_: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _stop.set()
    drops = f"dropping {counted(_running, 'request')} in flight" if _running else "after the step under way"
    say_at_once(
        f"stopping, {drops}, up to {_DROP_S} s; what is done is kept, and the same command goes on; "
        "press again to stop now"
    )


class Window:
    """The limit on requests in flight of one client, which adapts to overload; threads share it."""

    def __init__(
        self, slow_s: float, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = pause
    ) -> None:
        self.limit = 1
        """Requests that may be under way."""
        self._slow_s, self._now, self._sleep = slow_s, now, sleep
        self._changed = threading.Condition()
        self._running = self._in_time = 0
        self._is_wanted = False
        """Whether the window was full since it last changed: else nothing shows that it is too small."""
        self._from = self._slowed_at = float("-inf")

    @contextmanager
    def request(self) -> Iterator[float]:
        """Wait until a request may start, and count it during the block; yield its start time."""
        started = self._start()
        try:
            yield started
        finally:
            self._count(-1)

    def on_answer(self, started: float) -> None:
        """Count an answer: a full round of answers in time raises the limit by one."""
        with self._changed:
            is_in_time = self._now() - started <= self._slow_s
            self._in_time, self._is_wanted = (self._in_time + 1, self._is_wanted) if is_in_time else (0, False)
            if self._is_wanted and self._in_time >= self.limit:
                self.limit, self._in_time, self._is_wanted = self.limit + 1, 0, False
                self._changed.notify()

    def on_overload(self, started: float, wait_s: float = 0.0) -> None:
        """Lower the limit after a late or refused request, once for those of one moment; all requests wait `wait_s`."""
        with self._changed:
            now = self._now()
            self._from = max(self._from, now + wait_s)
            if started >= self._slowed_at:
                self.limit, self._in_time, self._slowed_at = max(1, self.limit // 2), 0, now
                self._is_wanted = False

    def _start(self) -> float:
        self._sleep(0)  # after Ctrl-C nothing more is asked
        while True:
            with self._changed:
                now = self._now()
                if now >= self._from and self._running < self.limit:
                    self._count(1)
                    self._is_wanted |= self._running >= self.limit
                    return now
                wait_s = self._from - now
                if wait_s <= 0:
                    self._changed.wait(LOOK_S)
            self._sleep(max(wait_s, 0.0))

    def _count(self, change: int) -> None:
        global _running  # noqa: PLW0603  Ctrl-C is about the whole process
        with self._changed, _lock:
            self._running += change
            _running += change
            self._changed.notify()
