"""Work that waits: so much under way, ends as they come, and what was begun is heard when nobody wants more."""

from __future__ import annotations

import signal
import threading
from contextlib import closing

import pytest

from assay.io.flow import is_interrupted, pause
from assay.runs.local import in_flight
from waiting import until


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


def test_items_are_taken_as_needed_and_an_exception_ends_its_item_alone():
    taken: list[int] = []
    with closing(in_flight(str, (taken.append(n) or n for n in range(100)), 2, ahead=2)) as ends:
        next(ends)
        assert len(taken) <= 5
    ends = [future.exception() for future in in_flight(lambda n: 1 // n, range(3), 1)]
    assert [type(end) for end in ends] == [ZeroDivisionError, type(None), type(None)]
    with pytest.raises(ZeroDivisionError), closing(in_flight(lambda n: 1 // n, [0], 1)) as broken:
        next(broken).result()


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


def test_ctrl_c_ends_steps_that_wait_begins_none_and_is_said(capfd: pytest.CaptureFixture[str]):
    """One step is past waiting and ends as ever; one that waits is interrupted."""
    begun, heard = threading.Barrier(2, timeout=30), list[object]()

    def work(number: int) -> int:
        begun.wait()
        if number == 0:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            until(is_interrupted, "the signal is heard")
            return number
        pause(300)
        return number

    def hear_all() -> None:
        with closing(in_flight(work, range(10), 2)) as ends:
            heard.extend(future.exception() or future.result() for future in ends)

    with pytest.raises(KeyboardInterrupt):
        hear_all()
    assert sorted(str(type(each).__name__) for each in heard) == ["Interrupted", "int"]
    assert "stopping, after the step under way" in capfd.readouterr().err
    assert not is_interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
