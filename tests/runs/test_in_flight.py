"""Work that waits: so much under way, ends as they come, and what was begun is heard when nobody wants more."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import Any

import pytest

from assay.runs import local as in_flight_module
from assay.runs.local import in_flight


def test_no_more_is_under_way_than_there_are_threads_and_all_ends_are_heard():
    meeting, lock, most, now = threading.Barrier(3, timeout=30), threading.Lock(), 0, 0

    def work(number: int) -> int:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        meeting.wait()
        with lock:
            now -= 1
        return number * number

    assert sorted(future.result() for future in in_flight(work, range(9), 3)) == [n * n for n in range(9)]
    assert most == 3


def test_items_are_taken_as_they_are_needed():
    taken: list[int] = []
    with closing(in_flight(str, (taken.append(n) or n for n in range(100)), 2, ahead=2)) as ends:
        next(ends)
        assert len(taken) <= 5


def test_what_was_begun_is_heard_after_a_stop():
    stopped, begun = threading.Event(), threading.Barrier(2, timeout=30)

    def work(number: int) -> int:
        begun.wait()
        return number

    heard = []
    for future in in_flight(work, range(10), 2, is_stopped=stopped.is_set):
        heard.append(future.result())
        stopped.set()
    assert len(heard) in {2, 4}  # a free thread may have begun the next before the stop was heard


def test_an_exception_is_the_end_of_its_item_alone():
    ends = [future.exception() for future in in_flight(lambda n: 1 // n, range(3), 1)]
    assert [type(end) for end in ends] == [ZeroDivisionError, type(None), type(None)]
    with pytest.raises(ZeroDivisionError), closing(in_flight(lambda n: 1 // n, [0], 1)) as broken:
        next(broken).result()


def test_what_was_begun_is_heard_after_ctrl_c(monkeypatch: pytest.MonkeyPatch):
    begun, waits, wait = threading.Barrier(3, timeout=30), iter([True]), in_flight_module.wait

    def interrupted(*given: Any, **named: Any) -> Any:
        if next(waits, False):
            begun.wait()
            raise KeyboardInterrupt
        return wait(*given, **named)

    def work(number: int) -> int:
        begun.wait()
        return number

    monkeypatch.setattr(in_flight_module, "wait", interrupted)
    heard: list[int] = []

    def hear_all() -> None:
        with closing(in_flight(work, range(10), 2)) as ends:
            for future in ends:
                heard.append(future.result())  # noqa: PERF401  a list that is cut off is none

    with pytest.raises(KeyboardInterrupt):
        hear_all()
    assert sorted(heard) == [0, 1]
