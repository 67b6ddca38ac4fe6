"""The whole of algorithm 1 against a server of the OpenAI protocol, with real sandboxes, killed and resumed."""

from __future__ import annotations

import json
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest
from acting import GRADES, KINDS, answer, without_reading
from campaign_process import prepare, quiet, started, told

from assay.judge.past_records import verdicts
from endpoint_server import Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

COUNT = 208


class Model:
    """Answers as the acting model does, and fails at times: the first time for some prompts, and for good for none."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.failed: Counter[int | str] = Counter()
        self.full = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self.stop_at = -1
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, question: dict) -> Play:
        text = "\n".join(message["content"] for message in question["messages"][:2])
        with self._lock:
            self._seen[text] += 1
            first = self._seen[text] == 1
            trouble = sum(text.encode()) % 16 if first else 99
            closed = self.stop_at >= 0 and self.answered.total() >= self.stop_at
        if trouble in _FAULTS:
            self.failed[trouble] += 1
            return _FAULTS[trouble]
        if closed:
            self.full.set()
            self.gate.wait(60)
            return Play(status=500, headers={"retry-after": "0"})
        with self._lock:
            self.answered[text] += 1
        return Play(without_reading(answer(text)), delay_s=0.005 * (trouble % 3))


_FAULTS = {
    0: Play(status=429, headers={"retry-after": "0"}),
    1: Play(status=500, headers={"retry-after": "0"}),
    2: Play(body=b'{"choices": [{"mess', headers={"retry-after": "0"}),
    3: Play({"justification": "cut"}, cut=40),
    4: Play(text="I think it {is} a match."),
}
"""Too many requests, a broken server, a broken body, a cut one, and an answer that is no JSON."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return prepare(tmp_path, COUNT)


def test_two_hundred_pairs_killed_in_the_middle_end_as_if_nothing_had_happened(home: Path, assay):
    model = Model()
    with serving(model) as server:
        whole = started(home, server.base, "whole.jsonl")
        out, err = whole.communicate(timeout=400)
        assert whole.returncode == 0, err
    assert json.loads(out)["judged"] == COUNT
    assert set(model.failed) == set(_FAULTS)
    assert set(model.answered.values()) == {1}
    grades = {f"c{number}": GRADES[KINDS[number % len(KINDS)]] for number in range(COUNT)}
    assert {record["code_id"]: record["grade"] for record in verdicts(home / "whole.jsonl")} == grades

    other = Model()
    other.stop_at = 250
    other.gate.clear()
    with serving(other) as server:
        first = started(home, server.base, "cut.jsonl")
        assert other.full.wait(300)
        quiet(home / "cut.jsonl")
        first.send_signal(signal.SIGKILL)
        first.communicate()
        other.stop_at = -1
        other.gate.set()
        second = started(home, server.base, "cut.jsonl")
        out, err = second.communicate(timeout=400)
        assert second.returncode == 0, err
    assert 0 < json.loads(out)["before"] < COUNT
    assert set(other.answered.values()) == {1}, "a reply was paid for twice"
    assert other.answered == model.answered
    assert told(home / "cut.jsonl") == told(home / "whole.jsonl")

    ran = assay("judge", "replay", home / "cut.jsonl", "-v")
    assert (ran.status, ran.out) == (0, f"{COUNT:,} verdicts are the same, 0 differ, 0 had failed and have no steps\n")
    ran = assay("judge", "accounts", home / "cut.jsonl", "--format", "json")
    figures = json.loads(ran.out)
    assert figures["cases_a_program"] == 3.0
    assert figures["executable_share"] == pytest.approx(5 / 6, abs=0.01)
    assert figures["fixes"] == {"install": 26, "model": 52, "irreparable": 26}
    assert figures["plan"]["pairs"] == 412_080


def test_a_budget_ends_it_before_more_is_spent(home: Path):
    model = Model()
    with serving(model) as server:
        ran = started(home, server.base, "out.jsonl", "--config", "single", "--budget", "0.02usd")
        out, err = ran.communicate(timeout=200)
    assert ran.returncode == 1, err
    assert "budget is spent" in json.loads(out)["stopped"]
    assert model.answered.total() * (100 + 2 * 10) / 1e6 <= 0.02
