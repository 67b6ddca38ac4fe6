"""Few threads for many requests: so many at once, so many in line, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import time
from threading import Event, Lock

import pytest

from assay.serve.http.work import AnswerThreads, Busy


def test_so_many_work_at_once_and_all_are_answered():
    running, most, lock = [0], [0], Lock()

    def work(number: int) -> int:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.005)
        with lock:
            running[0] -= 1
        return number

    async def ask() -> list[int]:
        workers = AnswerThreads(most=3)
        return await asyncio.gather(*(workers.do(lambda number=number: work(number)) for number in range(40)))

    assert asyncio.run(ask()) == list(range(40))
    assert most[0] == 3


def test_more_than_can_wait_are_sent_away_and_come_back_later():
    go = Event()

    async def ask() -> None:
        workers = AnswerThreads(most=1, waiting=2)
        held = [asyncio.create_task(workers.do(go.wait)) for _ in range(3)]
        await asyncio.sleep(0.05)
        with pytest.raises(Busy, match="2 requests are waiting already"):
            await workers.do(lambda: 1)
        go.set()
        assert await asyncio.gather(*held) == [True] * 3
        assert await workers.do(lambda: 1) == 1

    asyncio.run(ask())


def test_what_takes_too_long_is_not_waited_for_and_what_is_in_line_is_not_begun():
    go, begun = Event(), []

    async def ask() -> None:
        workers = AnswerThreads(most=1, waiting=1, deadline_s=0.05)
        late = asyncio.create_task(workers.do(go.wait))
        await asyncio.sleep(0.01)
        in_line = asyncio.create_task(workers.do(lambda: begun.append(1)))
        for task in (late, in_line):
            with pytest.raises(Busy, match=r"no answer within 0\.05 seconds"):
                await task
        go.set()
        await asyncio.sleep(0.05)
        assert await workers.do(lambda: 2) == 2

    asyncio.run(ask())
    assert not begun


def test_an_error_is_raised_where_it_was_asked():
    async def ask() -> None:
        with pytest.raises(ZeroDivisionError):
            await AnswerThreads(most=1).do(lambda: 1 / 0)

    asyncio.run(ask())
