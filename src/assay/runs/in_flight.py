"""Items in, what came of each out as soon as it is there: some threads that wait for something else, one consumer.

For work that waits, such as for an endpoint; the consumer alone writes files. No more items are taken than may be under
way or waiting, and what was begun is finished and heard, also where the consumer wants no more or Ctrl-C ends the
wait: it may be paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Work = TypeVar("Work")
End = TypeVar("End")


def in_flight(
    do: Callable[[Work], End],
    items: Iterable[Work],
    threads: int,
    *,
    ahead: int = 1,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Generator[Future[End], None, None]:
    """Yield the end of each item, in the order in which they end; `ahead` items are taken for each thread.

    Once `is_stopped` says so, nothing more is begun. Close it where an exception may end its use.
    """
    pool = ThreadPoolExecutor(threads, "in-flight")
    running: set[Future[End]] = set()
    try:
        for item in items:
            running.add(pool.submit(do, item))
            if len(running) >= threads * ahead:
                yield from _ended(running)
            if is_stopped():
                break
        while running:
            if is_stopped():
                _cancel_waiting(running)
            yield from _ended(running)
    except KeyboardInterrupt:
        _cancel_waiting(running)
        while running:
            yield from _ended(running)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _ended(running: set[Future[End]]) -> Iterator[Future[End]]:
    """Wait for one that ends, if there is any, and take out all that did."""
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        running.remove(future)
        yield future


def _cancel_waiting(running: set[Future[End]]) -> None:
    """Take out what was not begun."""
    running -= {future for future in running if future.cancel()}
