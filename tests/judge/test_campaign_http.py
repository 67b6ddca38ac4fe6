"""The whole of algorithm 1 against a server of OpenAI's protocol, one question at a time or in batches, with real
sandboxes: faults of the line change no verdict, and what is recorded is paid once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from acting import GRADES, KINDS, answer, pair, row, without_reading
from wheels import wheel

from assay.judge.records import past, verdicts
from assay.runs.record import manifest_of
from endpoint_server import VARIABLES, EndpointServer, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

COUNT = 16
GRADES_OF = {f"c{number}": GRADES[KINDS[number % len(KINDS)]] for number in range(COUNT)}
BATCH = "batch:openai:actor"
_MEASURED = ("seconds", "cost", "tokens_in", "tokens_out", "asked_again", "judge")
"""What differs by the clock, by a fault of the line, and by the port of the server."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with pairs of every kind and what may be installed for them."""
    if not shutil.which("uv"):
        pytest.importorskip("pip")
    wheel(tmp_path / "index", "tinything", {"tinything.py": "x = 42\n"})
    (tmp_path / "allow.txt").write_text("tinything\n")
    rows = [row(pair(KINDS[number % len(KINDS)], number)) for number in range(COUNT)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(row(pair(KINDS[n % 2], n))) + "\n" for n in range(6)))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, str(tmp_path / "index"))
    for name in ("UV_NO_INDEX", "PIP_NO_INDEX", "UV_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("ASSAY_API_KEY", "sk-test")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("assay.llm.batch_chat._FIRST_S", 0.01)
    return tmp_path


@pytest.fixture
def judge(home: Path, assay, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Return what judges with all agents, in sandboxes, by a server."""

    def run(server: EndpointServer, out: str, chat: str = "openai:actor", status: int = 0) -> dict:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        ran = assay("judge", "run", home / "pairs.jsonl", "--install", "--allow", home / "allow.txt", "--no-cache",
                    "--out", home / out, "--format", "json", "--chat", f"{chat}?usd_in=1&usd_out=2",
                    "--workers", "8")  # fmt: skip
        if "no sandbox holds here" in ran.err:
            pytest.skip(ran.err)
        assert ran.status == status, ran.err
        return json.loads(ran.out)

    return run


@pytest.fixture
def few(home: Path, assay, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Return what judges six clear pairs with one agent."""

    def run(server: EndpointServer, *more: str, cache: bool = False):
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        return assay(*few_command(home), *(() if cache else ("--no-cache",)), *more)

    return run


def few_command(home: Path) -> tuple[str, ...]:
    command = ("judge", "run", home / "few.jsonl", "--config", "single", "--out", home / "r.jsonl", "--format", "json")
    return tuple(map(str, command))


def say(question: dict) -> Play:
    return Play(without_reading(answer("\n".join(message["content"] for message in question["messages"][:2]))))


def told(out: Path) -> list[dict]:
    """Return the verdicts without what differs by chance."""
    rows = sorted(verdicts(out), key=lambda record: record["code_id"])
    return [{name: value for name, value in record.items() if name not in _MEASURED} for record in rows]


def grades_in(out: Path) -> dict[str, int | None]:
    return {record["code_id"]: record["grade"] for record in verdicts(out)}


def half(whole: Path, part: Path) -> None:
    """Leave what a run that was killed in its middle leaves."""
    records = whole.read_bytes()
    part.write_bytes(records[: len(records) // 2])
    manifest_of(part).write_bytes(manifest_of(whole).read_bytes())


FAULTS = (
    Play(status=429, headers={"retry-after": "0"}),
    Play(status=500, headers={"retry-after": "0"}),
    Play(body=b'{"choices": [{"mess', headers={"retry-after": "0"}),
    Play({"Yes": 0.9}, cut=40),
    Play(text="I think it {is} a match."),
)
"""Too many requests, a broken server, a broken body, a cut one, and an answer that is no JSON."""


class Model:
    """Answers as the acting model does, and fails at every second prompt when it sees that for the first time."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self._faults: dict[str, Play | None] = {}
        self._lock = threading.Lock()

    def __call__(self, question: dict) -> Play:
        text = "\n".join(message["content"] for message in question["messages"][:2])
        with self._lock:
            number = len(self._faults)
            fault = FAULTS[number // 2 % len(FAULTS)] if number % 2 else None
            if self._faults.setdefault(text, fault):
                fault, self._faults[text] = self._faults[text], None
                return fault
            self.answered[text] += 1
        return say(question)


def test_pairs_that_were_judged_in_two_runs_through_every_fault_end_as_in_one(home: Path, judge, assay):
    model, other = Model(), Model()
    with serving(model) as server:
        assert judge(server, "whole.jsonl")["judged"] == COUNT
        half(home / "whole.jsonl", home / "cut.jsonl")
        kept = past(home / "cut.jsonl").calls
        server.say = other
        assert 0 < judge(server, "cut.jsonl")["before"] < COUNT
    assert grades_in(home / "whole.jsonl") == GRADES_OF
    assert set(model.answered.values()) == {1}
    assert set(other.answered.values()) == {1}
    assert other.answered.total() == model.answered.total() - kept, "a reply was paid for twice"
    assert told(home / "cut.jsonl") == told(home / "whole.jsonl")

    ran = assay("judge", "replay", home / "cut.jsonl", "-v")
    assert (ran.status, ran.out) == (0, f"{COUNT} verdicts are the same, 0 differ, 0 had failed and have no steps\n")
    figures = json.loads(assay("judge", "accounts", home / "cut.jsonl", "--format", "json").out)
    assert figures["cases_a_program"] == 3.0
    assert figures["executable_share"] == 0.8333
    assert figures["fixes"] == {"install": 2, "model": 4, "irreparable": 2}
    assert figures["plan"]["pairs"] == 412_080


def test_pairs_in_batches_pay_each_reply_once_at_half_the_price(home: Path, judge, assay):
    with serving(say) as server:
        server.batches.polls = 0
        said = judge(server, "whole.jsonl", BATCH)
        calls = server.batches.paid.total()
        assert (said["judged"], said["undecided"], said["before"]) == (COUNT, 0, 0)
        assert set(server.batches.paid.values()) == {1}
        assert not server.questions, "a batch that answers everything needs no direct call"
        assert grades_in(home / "whole.jsonl") == GRADES_OF
        half(home / "whole.jsonl", home / "cut.jsonl")
        shutil.copytree(home / "whole.jsonl.batches", home / "cut.jsonl.batches")
        assert judge(server, "cut.jsonl", BATCH)["judged"] > 0
        assert server.batches.paid.total() == calls, "a reply was paid for twice"
    assert told(home / "cut.jsonl") == told(home / "whole.jsonl")
    assert assay("judge", "replay", home / "cut.jsonl").out.startswith(f"{COUNT} verdicts are the same, 0 differ")
    records = [json.loads(line) for line in (home / "cut.jsonl").read_text().splitlines()]
    replies = [record for record in records if record["kind"] == "reply"]
    assert all(reply["batch"] for reply in replies)
    assert sum(reply["cost"] for reply in replies) == pytest.approx(len(replies) * (100 + 2 * 10) / 1e6 / 2)


def test_lines_that_fail_and_expire_end_as_if_they_had_not(home: Path, judge):
    with serving(say) as server:
        server.batches.polls, fates = 0, {1: "error", 2: "expired"}
        server.batches.lines = lambda body: fates.get(sum(body["messages"][1]["content"].encode()) % 4, "")
        judge(server, "out.jsonl", BATCH)
        direct = ["\n".join(each["content"] for each in question["messages"]) for question in server.questions]
        assert direct
        assert len(set(direct)) == len(direct), "a reply was paid for twice"
        assert set(server.batches.paid.values()) == {1}
    assert grades_in(home / "out.jsonl") == GRADES_OF


def test_what_takes_no_batches_is_refused(home: Path, assay):
    for chat, says in (
        ("batch:scripted:x", "names no endpoint; wanted batch:PROVIDER:MODEL"),
        ("batch:openai", "names no model"),
        ("batch:deepseek:deepseek-chat", "is not known to take batches"),
    ):
        ran = assay(*few_command(home), "--chat", chat)
        assert (ran.status, says in ran.err) == (2, True), ran.err


TIGHT = "?usd_in=1&usd_out=2&max_tokens=20"


def test_a_budget_ends_it_before_more_is_spent_and_the_same_one_pays_no_more(few):
    with serving(say) as server:
        for _ in range(2):
            ran = few(server, "--chat", BATCH + TIGHT, "--budget", "0.001usd")
            said = json.loads(ran.out)
            assert (ran.status, "the budget is spent" in said["stopped"]) == (1, True)
        assert 0 < said["before"] == server.batches.paid.total() < 6
        assert set(server.batches.paid.values()) == {1}
        assert not server.questions
        server.say = lambda question: replace(say(question), usage=(4000, 10))
        ran = few(server, "--chat", "openai:actor" + TIGHT, "--budget", "0.02usd", "--workers", "1", "--fresh")
        assert (ran.status, "the budget is spent" in json.loads(ran.out)["stopped"]) == (1, True)
        assert 0 < len(server.questions) < 6
        assert len(server.questions) * (4000 + 2 * 10) / 1e6 <= 0.02


@pytest.mark.timeout(60)
def test_a_judge_without_batches_does_not_wait_for_the_room_that_batches_hold(few):
    with serving(say) as server:
        ran = few(server, "--chat", "openai:other" + TIGHT, "--chat", BATCH + TIGHT, "--budget", "0.011usd")
        assert json.loads(ran.out)["judged"] == 6
        assert (len(server.questions), server.batches.paid.total()) == (6, 6)


def test_a_run_with_the_same_budget_takes_what_an_earlier_one_left_under_way(few):
    chat = ("--chat", BATCH + TIGHT, "--budget", "0.02usd")
    with serving(say) as server:
        server.batches.fault = lambda *about: (400, b"no") if about == ("GET", "/batches/batch_0") else None
        assert few(server, *chat).status == 1
        begun = server.batches.asked.count("POST /batches")
        server.batches.fault = lambda *_: None
        assert json.loads(few(server, *chat).out)["judged"] == 6
        assert begun == 1
        assert set(server.batches.paid.values()) == {1}


def test_a_campaign_that_begins_in_batches_goes_on_without(home: Path, few):
    with serving(say) as server:
        batch = few(server, "--chat", BATCH, "--sample", "3", cache=True)
        assert json.loads(batch.out)["judged"] == 3
        assert (server.batches.paid.total(), len(server.questions)) == (3, 0)
        again = few(server, "--chat", "openai:actor", "--sample", "3", cache=True)
        assert json.loads(again.out)["before"] == 3
        fresh = few(server, "--chat", "openai:actor", "--fresh", cache=True)
        assert json.loads(fresh.out)["judged"] == 6
        assert len(server.questions) == 3, "the cache has the others"
    assert (home / "r.jsonl.old.batches").is_dir()
    assert not (home / "r.jsonl.batches").exists()


def test_a_second_process_of_a_campaign_in_batches_is_refused(home: Path, few):
    """The other is at its batch, where it writes no records."""
    again = [sys.executable, "-m", "assay", *few_command(home), "--no-cache", "--chat", BATCH]
    seen: list[subprocess.CompletedProcess[str]] = []

    def second(method: str, path: str) -> None:
        if (method, path) == ("GET", "/batches/batch_0") and not seen:
            commands = (again, [*again, "--fresh"])
            seen.extend(
                [subprocess.run(each, capture_output=True, text=True, check=False, timeout=60) for each in commands]
            )

    with serving(say) as server:
        server.batches.fault = second
        assert json.loads(few(server, "--chat", BATCH).out)["judged"] == 6
        assert len(server.batches.batches) == 1
    for ran in seen:
        assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
        assert "r.jsonl.batches: wait for its end" in ran.stderr


def test_fresh_leaves_the_batches_of_another_model_aside(home: Path, few):
    with serving(say) as server:
        server.batches.fault = lambda method, _: (400, b"no") if method == "GET" else None
        assert few(server, "--chat", BATCH).status == 1
        (home / "r.jsonl").unlink(missing_ok=True)
        server.batches.fault = lambda *_: None
        other = few(server, "--chat", "batch:openai:other")
        assert (other.status, "holds batches of openai:actor" in other.err) == (2, True)
        assert json.loads(few(server, "--chat", "batch:openai:other", "--fresh").out)["judged"] == 6
