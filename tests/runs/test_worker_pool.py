"""The rules of a pool, over workers that do what a script says, and of work in threads here."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay.errors import InputError, WorkersLost
from assay.io.requests_in_flight import is_interrupted, pause
from assay.operations.cluster import Repository, repository_work
from assay.runs.local import MAX_WAITING, in_flight
from assay.runs.worker_pool import Finished, PoolRunner, Refused, WorkerPool
from assay.search.folder_index import IndexReport
from assay.settings import IndexSettings, Settings
from scripted_pool import SQUARES, HiredHere, ScriptedPlace, once
from waiting import until


def pool_of(place: ScriptedPlace, expected: dict[str, str] | None = None, **more) -> WorkerPool[int, str]:
    return WorkerPool(place, SQUARES, expected, clock=place.clock, **more)


def runner_of(place: ScriptedPlace, expected: dict[str, str] | None = None, **more) -> PoolRunner[int, str]:
    return PoolRunner("scripted", pool_of(place, expected, **more))


def squares(most: int) -> list[str]:
    return [str(number * number) for number in range(most)]


def test_ends_come_in_the_order_of_the_items_and_a_batch_takes_a_quarter_of_a_second():
    with runner_of(ScriptedPlace()) as runner:
        assert (list(runner.run(range(1000))), list(runner.run(range(7)))) == (squares(1000), squares(7))
    assert list(runner_of(ScriptedPlace(workers=())).run([])) == []  # nothing to do needs nobody
    for item_s, longest in ((0.01, 25), (0.0001, 64), (3.0, 1)):
        place = ScriptedPlace(item_s=item_s)
        list(runner_of(place).run(range(2000 if item_s < 1 else 50)))
        assert max(len(items) for _, _, items in place.given) == longest
        lengths = [len(items) for _, _, items in place.given]
        assert lengths[:2] == [1, 1]  # nothing is known yet
        assert all(length <= 2 * max(lengths[:at]) for at, length in enumerate(lengths) if at)


def test_no_more_is_taken_than_may_wait():
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100_000):
            taken.append(number)
            yield number

    ends = runner_of(ScriptedPlace()).run(numbers())
    for read in range(1, 2000):
        next(ends)
        assert len(taken) <= read + 2 * MAX_WAITING


def test_a_batch_of_a_dead_worker_goes_to_the_next_and_six_deaths_break_an_item():
    place = ScriptedPlace(dies=once(40))
    assert list(runner_of(place).run(range(300))) == squares(300)
    first = next(at for at, (_, _, items) in enumerate(place.given) if 40 in items)
    again = next(at for at, (_, _, items) in enumerate(place.given) if 40 in items and at > first)
    assert place.given[again][2] == place.given[first][2]
    assert place.given[again][0] != place.given[first][0]
    newer = [items for _, _, items in place.given[first + 3 : again] if min(items) > 40]
    assert len(newer) <= 3  # what had been given out before the death
    place = ScriptedPlace(dies=lambda _, items, __: 99 in items, item_s=0.01)
    ends = list(runner_of(place).run(range(200)))
    assert ends.pop(99) == "99 broken: its machine died 3 times"
    assert ends == squares(99) + [str(number * number) for number in range(100, 200)]
    with_it = [len(items) for _, _, items in place.given if 99 in items]
    assert with_it[:3] == [with_it[0]] * 3
    assert with_it[0] > 1
    assert with_it[3:] == [1, 1, 1]


def test_a_pool_that_shrinks_goes_on_and_late_results_are_dropped():
    place = ScriptedPlace(workers=("a", "b", "c"), replaced=False, item_s=0.05)
    place.dies = lambda worker, _, turn: turn > {"a": 3, "b": 8, "c": 10**9}[worker]
    assert list(runner_of(place).run(range(600))) == squares(600)
    assert set(place.held) == {"c"}
    place = ScriptedPlace(dies=once(10))
    ends = runner_of(place).run(range(200))
    got = [next(ends) for _ in range(11)]
    dead = next(worker for worker, _, items in place.given if 10 in items)
    lost = [(number, items) for worker, number, items in place.given if worker == dead]
    assert any(10 in items for _, items in lost)
    for number, items in lost:
        for worker in ("a", "b", "a'", "b'"):
            place.say(Finished(worker, number, [-1] * len(items), 0.1))
    assert got + list(ends) == squares(200)


def test_without_workers_a_run_waits_and_ends_with_what_was_done():
    place = ScriptedPlace(replaced=False, dies=lambda _, __, turn: turn > 5)
    got: list[str] = []
    with pytest.raises(WorkersLost, match=r"for 120 s \(--patience\): what was done is written"):
        got.extend(runner_of(place, patience_s=120.0).run(range(10_000)))
    assert got == squares(len(got)) != []
    assert place.now >= 120
    place, said = ScriptedPlace(workers=()), []
    with pytest.raises(WorkersLost):
        list(runner_of(place, patience_s=600.0, say=said.append).run([1]))
    assert 600 <= place.now < 660
    assert said == ["no machine of the cluster works yet or any more: waiting up to 600 s (--patience)"]


def test_a_worker_gets_nothing_before_it_answered_and_nothing_if_it_is_another():
    said: list[str] = []
    place = ScriptedPlace(
        workers=("odd", "a", "odd2", "ill"),
        about=lambda worker: {"error": "no sandbox works here"} if worker == "ill" else {"kind": worker[:3]},
    )
    runner = runner_of(place, {"kind": "a"}, say=said.append)
    assert list(runner.run(range(100))) == squares(100)
    assert {worker for worker, _, _ in place.given} == {"a"}
    assert place.dropped == ["odd!", "odd2!", "ill!"]
    assert said[:3] == [
        "not used: machine machine of odd: kind odd, wanted a",
        "not used: machine machine of odd2: kind odd, wanted a",
        "not used: machine machine of ill: no sandbox works here",
    ]
    place = ScriptedPlace(workers=("a", "b", "c"), about=lambda worker: {"kind": worker.replace("c", "a")})
    assert list(runner_of(place).run(range(50))) == squares(50)
    assert place.dropped == ["b!"]


def test_a_cluster_of_which_no_machine_can_be_used_is_said_at_once():
    place = ScriptedPlace(about=lambda _: {"kind": "landlock"})
    with pytest.raises(
        InputError, match="no machine of the cluster can be used: machine of a: kind landlock, wanted x"
    ):
        list(runner_of(place, {"kind": "x"}).run(range(5)))
    place = ScriptedPlace(workers=())
    place.say(Refused("m", "3 workers died before they answered: no module assay"))
    with pytest.raises(InputError, match="m: 3 workers died before they answered"):
        list(runner_of(place).run(range(5)))


def test_it_says_who_works_and_who_stops_reading_leaves_nothing_for_the_next_run():
    said: list[str] = []
    place = ScriptedPlace(dies=once(40), item_s=0.1)
    with runner_of(place, say=said.append) as runner:
        list(runner.run(range(300)))
    assert said[0] == "2 machines, 2 workers, 0 lost"
    lost = re.fullmatch(r"lost a worker on machine machine of [ab], (\d+) of its items run again", said[1])
    assert lost
    assert int(lost[1]) > 1
    assert said[-1] == f"2 machines, 2 workers, 1 lost; {lost[1]} items ran again"
    place = ScriptedPlace()
    runner = runner_of(place)
    ends = runner.run(range(1000))
    assert next(ends) == "0"
    ends.close()
    assert list(runner.run(range(100))) == squares(100)
    runner.close()
    assert place.closed


def test_repositories_are_indexed_where_their_settings_say(project: Path, tmp_path: Path):
    settings = Settings(index=IndexSettings(location=str(tmp_path / "index")))
    jobs = [Repository(str(project), settings), Repository(str(tmp_path / "nowhere"), settings)]
    work = repository_work()
    with PoolRunner("here", WorkerPool(HiredHere(work), work)) as runner:
        whole, missing = runner.run(jobs)
    assert isinstance(whole, IndexReport)
    assert (whole.files, (tmp_path / "index").is_dir()) == (4, True)
    assert str(missing).startswith("no such folder: ")


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
