"""All of algorithm 1 in batches, with real sandboxes: killed again and again, each reply is paid once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from acting import GRADES, KINDS, answer, pair, row, without_reading
from campaign_process import prepare, started, told

from assay.judge.past_records import verdicts
from endpoint_server import VARIABLES, EndpointServer, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

COUNT = int(os.environ.get("ASSAY_TEST_PAIRS", "104"))
"""Five hundred take a minute or two."""
CHAT = "batch:openai:actor"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return prepare(tmp_path, COUNT)


def say(question: dict) -> Play:
    return Play(without_reading(answer("\n".join(message["content"] for message in question["messages"][:2]))))


class Killer:
    """Says when a process is at a request about files or batches, before or after it is done; it gets no answer."""

    def __init__(self, server: EndpointServer) -> None:
        self.at: tuple[str, str] | None = None
        self.gate = threading.Event()
        self.met = threading.Event()
        server.batches.fault = lambda *about: self._dies(about, "before")
        server.batches.lost = lambda *about: self._dies(about, "after")

    def wait_for(self, request: str, when: str) -> None:
        self.met.clear()
        self.gate.clear()
        self.at = (request, when)

    def _dies(self, about: tuple[str, str], when: str):
        if self.at is None or when != self.at[1] or not re.fullmatch(self.at[0], " ".join(about)):
            return None
        self.at = None
        self.met.set()
        self.gate.wait(60)
        return 500, b"gone"


MOMENTS = (
    ("POST /files", "before"),
    ("POST /files", "after"),
    ("POST /batches", "before"),
    ("POST /batches", "after"),
    ("GET /batches/batch_1", "after"),
    (r"GET /files/.*/content", "before"),
)
"""When the process is killed, one after the other."""


def test_pairs_in_batches_killed_six_times_pay_each_reply_once(home: Path, assay):
    with serving(say) as server:
        server.batches.polls = 0
        whole = started(home, server.base, "whole.jsonl", chat=CHAT)
        out, err = whole.communicate(timeout=600)
        assert whole.returncode == 0, err
        calls = server.batches.paid
    said = json.loads(out)
    assert (said["judged"], said["undecided"], said["before"]) == (COUNT, 0, 0)
    assert set(calls.values()) == {1}
    grades = {f"c{number}": GRADES[KINDS[number % len(KINDS)]] for number in range(COUNT)}
    assert {record["code_id"]: record["grade"] for record in verdicts(home / "whole.jsonl")} == grades
    assert not server.questions, "a batch that answers everything needs no direct call"

    with serving(say) as server:
        server.batches.polls = 0
        killer = Killer(server)
        for moment in MOMENTS:
            killer.wait_for(*moment)
            run = started(home, server.base, "cut.jsonl", chat=CHAT)
            assert killer.met.wait(300), moment
            run.send_signal(signal.SIGKILL)
            run.communicate()
            killer.gate.set()
        last = started(home, server.base, "cut.jsonl", chat=CHAT)
        _, err = last.communicate(timeout=600)
        assert last.returncode == 0, err
        assert set(server.batches.paid.values()) == {1}, "a reply was paid for twice"
        assert server.batches.paid.total() == calls.total()
    assert told(home / "cut.jsonl") == told(home / "whole.jsonl")

    ran = assay("judge", "replay", home / "cut.jsonl")
    assert (ran.status, ran.out) == (0, f"{COUNT:,} verdicts are the same, 0 differ, 0 had failed and have no steps\n")
    steps = [json.loads(line) for line in (home / "cut.jsonl").read_text().splitlines()]
    replies = [step for step in steps if step["kind"] == "reply"]
    assert all(step["batch"] for step in replies)
    assert sum(step["cost"] for step in replies) == pytest.approx(len(replies) * (100 + 2 * 10) / 1e6 / 2)


def test_lines_that_fail_and_expire_end_as_if_they_had_not(home: Path):
    with serving(say) as server:
        fates = {1: "error", 2: "expired"}
        server.batches.lines = lambda body: fates.get(sum(body["messages"][1]["content"].encode()) % 16, "")
        run = started(home, server.base, "out.jsonl", chat=CHAT)
        _, err = run.communicate(timeout=600)
        assert run.returncode == 0, err
        assert server.questions
        direct = ["\n".join(each["content"] for each in question["messages"]) for question in server.questions]
        assert len(set(direct)) == len(direct), "a reply was paid for twice"
        assert set(server.batches.paid.values()) == {1}
    grades = {f"c{number}": GRADES[KINDS[number % len(KINDS)]] for number in range(COUNT)}
    assert {record["code_id"]: record["grade"] for record in verdicts(home / "out.jsonl")} == grades


@pytest.mark.parametrize(
    ("chat", "says"),
    [
        ("batch:scripted:x", "names no endpoint; wanted batch:PROVIDER:MODEL"),
        ("batch:openai", "names no model"),
        ("batch:deepseek:deepseek-chat", "is not known to take batches"),
    ],
)
def test_what_takes_no_batches_is_refused(tmp_path: Path, assay, monkeypatch, chat: str, says: str):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row(pair("match", 1))) + "\n")
    ran = assay("judge", "run", tmp_path / "pairs.jsonl", "--chat", chat, "--out", tmp_path / "r.jsonl")
    assert ran.status == 2
    assert says in ran.err


@pytest.fixture
def few(tmp_path: Path, monkeypatch) -> tuple:
    """Return a command that judges six pairs with one agent."""
    pairs = [row(pair(KINDS[number % 2], number)) for number in range(6)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in pairs))
    monkeypatch.setenv("ASSAY_API_KEY", "sk-test")
    monkeypatch.setattr("assay.llm.batch_chat._FIRST_S", 0.01)
    command = ("judge", "run", tmp_path / "pairs.jsonl", "--config", "single", "--out", tmp_path / "r.jsonl")
    return (*command, "--no-cache", "--format", "json")


TIGHT = "?usd_in=1&usd_out=2&max_tokens=20"


def test_a_budget_that_is_spent_ends_the_waves_and_says_so(few: tuple, assay, monkeypatch):
    with serving(say) as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        for _ in range(2):
            ran = assay(*few, "--chat", CHAT + TIGHT, "--budget", "0.001usd")
            said = json.loads(ran.out)
            assert "the budget is spent" in said["stopped"]
        assert 0 < said["before"] == server.batches.paid.total() < 6
        assert set(server.batches.paid.values()) == {1}


@pytest.mark.timeout(60)
def test_a_judge_without_batches_does_not_wait_for_the_room_that_batches_hold(few: tuple, assay, monkeypatch):
    with serving(say) as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        ran = assay(*few, "--chat", "openai:other" + TIGHT, "--chat", CHAT + TIGHT, "--budget", "0.011usd")
        assert json.loads(ran.out)["judged"] == 6
        assert (len(server.questions), server.batches.paid.total()) == (6, 6)


def test_a_run_with_the_same_budget_takes_what_an_earlier_one_left_under_way(few: tuple, assay, monkeypatch):
    command = (*few, "--chat", CHAT + TIGHT, "--budget", "0.02usd")
    with serving(say) as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        server.batches.fault = lambda method, path: (
            (400, b"no") if (method, path) == ("GET", "/batches/batch_0") else None
        )
        assert assay(*command).status == 1
        begun = server.batches.asked.count("POST /batches")
        server.batches.fault = lambda *_: None
        assert json.loads(assay(*command).out)["judged"] == 6
        assert begun == 1
        assert set(server.batches.paid.values()) == {1}


def test_a_campaign_that_begins_in_batches_goes_on_without(tmp_path: Path, assay, monkeypatch):
    pairs = [row(pair(KINDS[number % 2], number)) for number in range(6)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in pairs))
    with serving(say) as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        monkeypatch.setenv("ASSAY_API_KEY", "sk-test")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setattr("assay.llm.batch_chat._FIRST_S", 0.01)
        command = ("judge", "run", tmp_path / "pairs.jsonl", "--config", "single", "--out", tmp_path / "r.jsonl")
        batch = assay(*command, "--chat", CHAT, "--sample", "3", "--format", "json")
        assert json.loads(batch.out)["judged"] == 3
        assert (server.batches.paid.total(), len(server.questions)) == (3, 0)
        again = assay(*command, "--chat", "openai:actor", "--sample", "3", "--format", "json")
        assert json.loads(again.out)["before"] == 3
        fresh = assay(*command, "--chat", "openai:actor", "--fresh", "--format", "json")
        assert json.loads(fresh.out)["judged"] == 6
        assert len(server.questions) == 3, "the cache has the others"
    assert (tmp_path / "r.jsonl.old.batches").is_dir()
    assert not (tmp_path / "r.jsonl.batches").exists()


@pytest.mark.parametrize("more", [(), ("--fresh",)])
def test_a_second_process_of_a_campaign_in_batches_is_refused(few: tuple, assay, monkeypatch, more: tuple):
    """The other is at its batch, where it writes no records."""
    seen = []

    def second(method: str, path: str) -> None:
        if (method, path) == ("GET", "/batches/batch_0") and not seen:
            seen.append(subprocess.run(again, capture_output=True, text=True, check=False, timeout=60))

    with serving(say) as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        command = (*few, "--chat", CHAT)
        again = [sys.executable, "-m", "assay", *map(str, command), *more]
        server.batches.fault = second
        assert json.loads(assay(*command).out)["judged"] == 6
        assert len(server.batches.batches) == 1
    assert seen[0].returncode == 2
    assert len(seen[0].stderr.splitlines()) == 1
    assert "r.jsonl.batches: wait for its end" in seen[0].stderr


def test_fresh_leaves_the_batches_of_another_model_aside(few: tuple, assay, monkeypatch):
    with serving(say) as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        server.batches.fault = lambda method, _: (400, b"no") if method == "GET" else None
        assert assay(*few, "--chat", CHAT).status == 1
        (few[few.index("--out") + 1]).unlink(missing_ok=True)
        server.batches.fault = lambda *_: None
        other = assay(*few, "--chat", "batch:openai:other")
        assert (other.status, "holds batches of openai:actor" in other.err) == (2, True)
        assert json.loads(assay(*few, "--chat", "batch:openai:other", "--fresh").out)["judged"] == 6
