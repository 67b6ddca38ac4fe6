from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.bench.answer_runs import SystemAnswer
from assay.bench.ask_worker import MOST_RESTARTS, Contender, Worker, ask_in_turn
from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.system_worker import SystemTask
from assay.measure.line_spans import Span
from assay.types import Chunk, Query

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
        print("more chatter", file=sys.stderr)
        if text == "exit":
            print("out of licences", file=sys.stderr, flush=True)
            os._exit(7)
        if text == "segfault":
            os.kill(os.getpid(), 11)
        if text == "kill":
            os.kill(os.getpid(), 9)
        if text == "hang":
            if child:
                p = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
                Path(child).write_text(str(p.pid))
            time.sleep(60)
        if text == "raise":
            raise KeyError("no such model")
        if text == "interrupt":
            raise SystemExit("tired")
        if text == "slow":
            time.sleep(0.6)
        if text == "memory":
            block = b"x" * 200_000_000
        if text == "fork":
            from multiprocessing import get_context
            fork = get_context("fork").Process(target=time.sleep, args=(60,))
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
    time.sleep(60)

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
    def call(*texts: str, timeout_s: float = 0.5, **arguments: str) -> list[SystemAnswer]:
        options = {"arguments": {"log": str(log), **arguments}}
        call.prepared, answers = ask_all(f"{fickle}:make", options, postbox, queries(*texts), timeout_s=timeout_s)
        return answers

    return call


def queries(*texts: str) -> list[Query]:
    return [Query(str(number), text) for number, text in enumerate(texts, 1)]


def ended(pid: int) -> bool:
    for _ in range(250):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_system_is_prepared_once_and_asked_one_after_another(ask, log: Path, capfd: pytest.CaptureFixture[str]):
    first, second, many = ask("a", "b", "many")
    assert (first.query_id, first.spans, first.scores, first.error) == ("1", (Span("README.md", 1, 2),), (0.5,), "")
    assert (first.cold, second.cold) == (True, False)
    assert 0 < second.seconds < 0.5
    assert len(many.spans) == 5
    assert log.read_text().splitlines() == ["made", "a", "b", "many"]
    prepared = ask.prepared
    assert prepared.index_s > 0
    assert (prepared.error, prepared.restarts, prepared.threads, prepared.peak_of) == ("", 0, 1, "worker")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exit", "the worker ended with 7: out of licences"),
        ("segfault", "the worker was ended by SIGSEGV"),
        ("kill", "SIGKILL, out of memory perhaps"),
        ("hang", r"no answer within 0\.5 s"),
        ("interrupt", "tired"),
    ],
)
def test_what_ends_a_worker_costs_one_query(ask, log: Path, text: str, said: str):
    import re

    before, bad, after = ask("a", text, "b")
    assert re.search(said, bad.error)
    assert (bad.spans, bad.seconds) == ((), None)
    assert before.spans == after.spans == (Span("README.md", 1, 2),)
    assert after.cold
    assert ask.prepared.restarts == 1
    assert log.read_text().splitlines() == ["made", "a", text, "made", "b"]


def test_an_exception_costs_one_query_and_no_restart(ask):
    bad, after = ask("raise", "b")
    assert bad.error == "KeyError: 'no such model'"
    assert after.spans
    assert ask.prepared.restarts == 0


def test_a_system_that_keeps_dying_is_given_up(ask, log: Path):
    answers = ask(*["exit"] * 6, "a")
    assert [bool(each.error) for each in answers] == [True] * 7
    assert [each.error.split(" after")[0] for each in answers[MOST_RESTARTS + 1 :]] == ["system gave up"] * 3
    assert log.read_text().count("made") == MOST_RESTARTS + 1


def test_too_slow_is_too_slow_even_when_it_came(ask):
    slow, after = ask("slow", "a")
    assert (slow.error, slow.spans, slow.seconds) == ("no answer within 0.5 s", (), None)
    assert after.spans
    assert ask.prepared.restarts == 0


def test_a_system_may_have_its_own_limit(ask_all: Callable[..., Any], fickle: str, postbox: SystemCorpus, log: Path):
    options = {"arguments": {"log": str(log)}, "timeout_s": 5.0}
    _, answers = ask_all(f"{fickle}:make", options, postbox, queries("slow"), timeout_s=0.1)
    assert answers[0].spans


def test_a_hang_takes_its_children_along(ask, tmp_path: Path):
    assert ask("hang", child=str(tmp_path / "child"))[0].error
    assert ended(int((tmp_path / "child").read_text()))


def test_a_flood_of_chatter_stops_nothing(ask):
    assert [bool(each.spans) for each in ask("flood", "flood", "a")] == [True] * 3


def test_a_fork_that_is_told_to_end_takes_nobody_along(ask):
    assert [bool(each.spans) for each in ask("fork", "a", timeout_s=5)] == [True, True]
    assert ask.prepared.restarts == 0


def test_memory_is_the_most_that_was_held(ask):
    ask("a", timeout_s=5)
    little = ask.prepared.peak_mb
    ask("memory", "a", timeout_s=5)
    assert 150 < ask.prepared.peak_mb - little < 400
    assert ask.prepared.peak_of == "worker"


def test_memory_of_a_command_counts(ask_all: Callable[..., Any], postbox: SystemCorpus, tool: Callable[..., str]):
    command = tool('block = bytearray(300_000_000); print("README.md:1")')
    prepared, _ = ask_all(f"cmd:{command}", {}, postbox, queries("a"))
    assert prepared.peak_mb > 280
    assert prepared.peak_of == "child"


@pytest.mark.parametrize(
    ("maker", "said"),
    [
        ("never", "RuntimeError: no model on disk"),
        ("asleep", "not ready within 0.5 s"),
        ("dead", "the worker ended with 3"),
        ("missing", "no function 'missing'"),
    ],
)
def test_a_system_that_cannot_be_prepared_says_why_for_every_query(
    ask_all: Callable[..., Any], fickle: str, postbox: SystemCorpus, maker: str, said: str
):
    timeout_s = 0.5 if maker == "asleep" else 30
    prepared, answers = ask_all(f"{fickle}:{maker}", {}, postbox, queries("a", "b"), index_timeout_s=timeout_s)
    assert said in prepared.error
    assert [answer.error for answer in answers] == [prepared.error] * 2


def test_an_unknown_system_is_an_error_and_not_a_crash(ask_all: Callable[..., Any], postbox: SystemCorpus):
    prepared, _ = ask_all("asay", {}, postbox, [])
    assert "did you mean 'assay'" in prepared.error


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


def test_what_was_left_out_of_an_answer_is_told_beside_it(
    ask_all: Callable[..., Any], postbox: SystemCorpus, tool: Callable[..., str]
):
    command = tool('print("README.md:1"); print("/etc/passwd:1")')
    _, answers = ask_all(f"cmd:{command}", {}, postbox, queries("a"))
    assert answers[0].spans == (Span("README.md", 1, 1),)
    assert answers[0].error == "1 of 2 results name no file of the corpus: /etc/passwd"
    assert answers[0].seconds


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


def test_a_large_corpus_of_documents_reaches_the_worker(ask_all: Callable[..., Any], tmp_path: Path):
    texts = tuple(Chunk(str(n), f"word{n} text", path=f"{n}.txt") for n in range(20_000))
    corpus = SystemCorpus("c", tmp_path, texts)
    _, answers = ask_all("bow", {}, corpus, queries("word777"))
    assert answers[0].spans[0] == Span("777.txt")


def test_all_systems_get_the_same_threads(ask_all: Callable[..., Any], postbox: SystemCorpus, tool: Callable[..., str]):
    lines = 'assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "3"; print("README.md:1")'
    _, answers = ask_all(f"cmd:{tool(lines)}", {}, postbox, queries("a"), threads=3)
    assert answers[0].error == ""


PARENT = """
import sys
from pathlib import Path
from assay.bench.system_corpus import SystemCorpus
from assay.bench.ask_worker import Worker
from assay.bench.systems.system_worker import SystemTask
from assay.types import Query

spec, log, child, root = sys.argv[1:]
options = {"arguments": {"log": log, "child": child}, "timeout_s": 50.0}
with Worker(SystemTask(spec, options, SystemCorpus("c", Path(root)))) as worker:
    worker.prepare()
    worker.ask(Query("1", "hang"), 5)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_us_leaves_nothing_running(
    fickle: str, postbox: SystemCorpus, log: Path, tmp_path: Path, number: signal.Signals
):
    child = tmp_path / "child"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", PARENT, f"{fickle}:make", str(log), str(child), str(postbox.root)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as parent:
        for _ in range(500):
            if child.exists() and child.read_text():
                break
            time.sleep(0.02)
        workers = list(_children(parent.pid))
        parent.send_signal(number)
        parent.wait(10)
    assert workers
    assert all(map(ended, [*workers, int(child.read_text())]))


def test_a_worker_ends_when_its_parent_is_gone(fickle: str, postbox: SystemCorpus, log: Path):
    worker = Worker(SystemTask(f"{fickle}:make", {"arguments": {"log": str(log)}}, postbox))
    worker.prepare()
    running = worker._running
    assert running is not None
    running._asked.close()
    assert running._process.wait(5) == 0
    worker.close()


def _children(pid: int) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                yield int(folder.name)


def test_options_reach_the_system_as_they_are(postbox: SystemCorpus, fickle: str):
    task = SystemTask(f"{fickle}:make", {"argumnets": {}}, postbox)
    with Worker(task) as worker:
        assert "did you mean 'arguments'" in worker.prepare().error
    with Worker(replace(task, options={})) as worker:
        assert "FileNotFoundError" in worker.prepare().error
