"""Systems in processes of their own: what they do to themselves costs one query, and nothing of them stays."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.bench import ask_worker
from assay.bench.answer_runs import SystemAnswer
from assay.bench.ask_worker import MAX_RESTARTS, Contender, ask_in_turn
from assay.bench.system import SystemCorpus
from assay.cage.processes import below, processes
from assay.errors import InputError
from assay.io import leash
from assay.measure.line_spans import Span
from assay.values import Query
from waiting import is_gone, until

FICKLE = """
import os, subprocess, sys, time
from pathlib import Path

def make(root, log="", child=""):
    with open(log, "a") as file:
        file.write("made\\n")
    def answer(text, k):
        with open(log, "a") as file:
            file.write(text + "\\n")
        print("chatter", text)
        print("out of licences", file=sys.stderr, flush=True)
        if text == "exit":
            os._exit(7)
        if text in ("segfault", "kill"):
            os.kill(os.getpid(), {"segfault": 11, "kill": 9}[text])
        if text == "hang":
            if child:
                p = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                Path(child).write_text(str(p.pid))
            time.sleep(600)
        if text == "raise":
            raise KeyError("no such model")
        if text == "interrupt":
            raise SystemExit("tired")
        if text == "slow":
            time.sleep(0.3)
        if text == "memory":
            block = b"x" * 200_000_000
        if text == "fork":
            from multiprocessing import get_context
            fork = get_context("fork").Process(target=time.sleep, args=(600,))
            fork.start()
            time.sleep(0.1)
            fork.terminate()
            fork.join()
        if text == "flood":
            print("x" * 2_000_000)
        if text == "many":
            return [("README.md", n, n) for n in range(1, 1000)]
        return [("README.md", 1, 2, 0.5)]
    return answer

def never(root):
    raise RuntimeError("no model on disk")

def asleep(root):
    time.sleep(600)

def dead(root):
    os._exit(3)
"""


@pytest.fixture
def fickle(tmp_path: Path) -> str:
    (tmp_path / "fickle.py").write_text(FICKLE)
    return f"py:{tmp_path / 'fickle.py'}"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def ask(
    fickle: str, postbox: SystemCorpus, log: Path, ask_all: Callable[..., Any]
) -> Callable[..., list[SystemAnswer]]:
    def call(*texts: str, timeout_s: float = 30, **arguments: str) -> list[SystemAnswer]:
        options = {"arguments": {"log": str(log), **arguments}}
        call.prepared, answers = ask_all(f"{fickle}:make", options, postbox, queries(*texts), timeout_s=timeout_s)
        return answers

    return call


def queries(*texts: str) -> list[Query]:
    return [Query(str(number), text) for number, text in enumerate(texts, 1)]


def wait_for_end(*pids: int) -> None:
    for pid in pids:
        until(lambda pid=pid: is_gone(pid), "a process ended")


def test_a_system_is_prepared_once_and_asked_one_after_another(ask, log: Path, capfd: pytest.CaptureFixture[str]):
    first, second, many = ask("a", "b", "many")
    assert (first.query_id, first.spans, first.scores, first.error) == ("1", (Span("README.md", 1, 2),), (0.5,), "")
    assert (first.cold, second.cold, second.seconds > 0, len(many.spans)) == (True, False, True, 5)
    assert log.read_text().splitlines() == ["made", "a", "b", "many"]
    prepared = ask.prepared
    assert (prepared.index_s > 0, prepared.error, prepared.restarts, prepared.threads) == (True, "", 0, 1)
    assert capfd.readouterr() == ("", "")


def test_what_ends_a_worker_costs_one_query(ask, log: Path):
    texts = ["a", "exit", "b", "segfault", "c", "interrupt", "d", "raise"]
    answers = ask(*texts)
    said = {each.query_id: each.error for each in answers if each.error}
    assert (list(said), said["2"]) == (["2", "4", "6", "8"], "the worker ended with 7: out of licences")
    assert said["4"].startswith("the worker was ended by SIGSEGV")
    assert "tired" in said["6"]
    assert said["8"] == "KeyError: 'no such model'"
    assert all((each.spans, each.seconds) == ((), None) for each in answers if each.error and each.query_id != "8")
    assert all(each.spans == (Span("README.md", 1, 2),) for each in answers if not each.error)
    assert [each.cold for each in answers] == [True, False] * 4
    assert log.read_text().splitlines() == ["made", "a", "exit", "made", "b", "segfault", "made", "c", "interrupt",
                                            "made", "d", "raise"]  # fmt: skip
    assert ask.prepared.restarts == 3


def test_what_hangs_or_is_killed_is_stopped_with_its_children(ask, tmp_path: Path):
    bad, killed, after = ask("hang", "kill", "b", timeout_s=2, child=str(tmp_path / "child"))
    assert bad.error == "no answer within 2 s"
    assert re.search("SIGKILL, out of memory perhaps", killed.error)
    assert after.spans
    wait_for_end(int((tmp_path / "child").read_text()))


def test_a_system_that_keeps_dying_is_given_up(ask, log: Path):
    answers = ask(*["exit"] * 6, "a")
    assert [bool(each.error) for each in answers] == [True] * 7
    assert [each.error.split(" after")[0] for each in answers[MAX_RESTARTS + 1 :]] == ["system gave up"] * 3
    assert log.read_text().count("made") == MAX_RESTARTS + 1


def test_too_slow_is_too_slow_even_when_it_came_unless_a_system_has_its_own_limit(  # noqa: PLR0917  fixtures
    ask, ask_all: Callable[..., Any], fickle: str, postbox: SystemCorpus, log: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ask_worker, "_GRACE_S", 60.0)
    (slow,) = ask("slow", timeout_s=0.1)
    assert (slow.error, slow.spans) == ("no answer within 0.1 s", ())
    assert ask.prepared.restarts == 0
    options = {"arguments": {"log": str(log)}, "timeout_s": 30.0}
    _, answers = ask_all(f"{fickle}:make", options, postbox, queries("slow"), timeout_s=0.1)
    assert answers[0].spans
    for limit in ("x", float("nan"), float("inf"), -1, 0, True):
        with pytest.raises(InputError, match="timeout_s of 'bm25'"):
            ask_all("bm25", {"timeout_s": limit}, postbox, [])


def test_floods_and_forks_stop_nothing_and_memory_is_the_most_that_the_worker_or_a_child_held(
    ask, ask_all: Callable[..., Any], postbox: SystemCorpus, tool: Callable[..., str]
):
    assert [bool(each.spans) for each in ask("flood", "flood", "fork", "a")] == [True] * 4
    assert ask.prepared.restarts == 0
    little = ask.prepared.peak_mb
    ask("memory", "a")
    assert 150 < ask.prepared.peak_mb - little < 400
    assert ask.prepared.peak_of == "worker"
    command = tool('block = bytearray(300_000_000); print("README.md:1")')
    prepared, _ = ask_all(f"cmd:{command}", {}, postbox, queries("a"))
    assert (prepared.peak_mb > 280, prepared.peak_of) == (True, "child")


def test_a_system_that_cannot_be_prepared_says_why_for_every_query(
    ask_all: Callable[..., Any], fickle: str, postbox: SystemCorpus
):
    for spec, options, limit_s, said in (
        (f"{fickle}:never", {}, 60, "RuntimeError: no model on disk"),
        (f"{fickle}:asleep", {}, 0.5, "not ready within 0.5 s"),
        (f"{fickle}:dead", {}, 60, "the worker ended with 3"),
        (f"{fickle}:make", {"argumnets": {}}, 60, "did you mean 'arguments'"),
        ("asay", {}, 60, "did you mean 'assay'"),
    ):
        prepared, answers = ask_all(spec, options, postbox, queries("a", "b"), index_timeout_s=limit_s)
        assert said in prepared.error
        assert [answer.error for answer in answers] == [prepared.error] * 2


def test_a_restart_does_not_make_the_index_again(
    ask_all: Callable[..., Any], postbox: SystemCorpus, tool: Callable[..., str], tmp_path: Path
):
    """The worker dies with its command when the command kills its parent."""
    index = tool(f'open({str(tmp_path / "made")!r}, "a").write("i")', "")
    search = tool('os.kill(os.getppid(), 9) if sys.argv[1] == "die" else print("README.md:1")')
    prepared, answers = ask_all(f"cmd:{search}", {"index": index}, postbox, queries("die", "a"))
    assert [bool(each.spans) for each in answers] == [False, True]
    assert prepared.restarts == 1
    assert (tmp_path / "made").read_text() == "i"


def test_threads_and_what_was_left_out_of_an_answer_are_those_of_the_command(
    ask_all: Callable[..., Any], postbox: SystemCorpus, tool: Callable[..., str]
):
    lines = 'assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "3"\n'
    command = tool(f'{lines}print("README.md:1"); print("/etc/passwd:1")')
    _, (answer,) = ask_all(f"cmd:{command}", {}, postbox, queries("a"), threads=3)
    assert answer.spans == (Span("README.md", 1, 1),)
    assert answer.error == "1 of 2 results name no file of the corpus: /etc/passwd"
    assert answer.seconds


def test_systems_are_asked_in_turn(fickle: str, postbox: SystemCorpus, log: Path):
    def contender(name: str, *texts: str) -> Contender:
        return Contender(name, f"{fickle}:make", {"arguments": {"log": str(log)}}, postbox, queries(*texts))

    asked: list[tuple[str, str]] = []
    told = ask_in_turn(
        [contender("x", "a", "exit", "c"), contender("y", "a", "b"), contender("z")],
        5,
        on_answer=lambda name, answer: asked.append((name, answer.query_id)),
    )
    assert asked == [("x", "1"), ("y", "1"), ("y", "2"), ("x", "2"), ("x", "3")]
    assert [told[name].restarts for name in "xyz"] == [1, 0, 0]


PARENT = """
import sys
from pathlib import Path
from assay.bench.system import SystemCorpus
from assay.bench.ask_worker import Worker
from assay.bench.systems.system_worker import SystemTask
from assay.values import Query

spec, log, child, root = sys.argv[1:]
options = {"arguments": {"log": log, "child": child}, "timeout_s": 500.0}
with Worker(SystemTask(spec, options, SystemCorpus("c", Path(root)))) as worker:
    worker.prepare()
    worker.ask(Query("1", "hang"), 5)
"""


def test_whatever_ends_us_leaves_nothing_running(fickle: str, postbox: SystemCorpus, log: Path, tmp_path: Path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    parents = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        child = tmp_path / number.name
        command = [sys.executable, "-c", PARENT, f"{fickle}:make", str(log), str(child), str(postbox.root)]
        parents[number] = child, subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    for number, (child, parent) in parents.items():
        with parent:
            until(lambda child=child: child.exists() and child.read_text(), "the system hangs")
            workers = [process.pid for process in below(parent.pid, processes())]
            parent.send_signal(number)
        assert workers
        wait_for_end(*workers, int(child.read_text()))


def test_a_server_on_a_leash_ends_with_whoever_started_it(tmp_path: Path):
    note = tmp_path / "pid"
    server = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    command = [sys.executable, "-I", "-S", leash.__file__, sys.executable, "-c", server]
    starter = f"import subprocess, time; subprocess.Popen({command!r}, start_new_session=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", starter]) as parent:
        pid = int(until(lambda: note.exists() and note.read_text(), "the server runs"))
        assert not is_gone(pid)
        parent.kill()
    wait_for_end(pid)
