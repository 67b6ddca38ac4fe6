"""Campaigns over HTTP: faults of the line and hostile endpoints change no verdict, and nothing is paid twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from acting import GRADES, KINDS, answer, pair, row, without_reading
from wheels import wheel

from assay.judge.records import past, verdicts
from assay.runs.record import manifest_of
from endpoint_server import VARIABLES, EndpointServer, Play, serving
from waiting import until

pytest.importorskip("httpx", reason="the api extra is not installed")

COUNT = 16
GRADES_OF = {f"c{number}": GRADES[kind] for number, kind in enumerate(KINDS)}
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
    for name, count in (("pairs", COUNT), ("kinds", len(KINDS))):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows[:count]))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, str(tmp_path / "index"))
    for name in ("UV_NO_INDEX", "PIP_NO_INDEX", "UV_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("ASSAY_API_KEY", "sk-test")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def judge(home: Path, assay, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Return what judges with all agents, in sandboxes, by a server."""

    def run(server: EndpointServer, out: str, chat: str = "openai:actor", status: int = 0) -> dict:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        ran = assay("judge", "run", home / "kinds.jsonl", "--install", "--allow", home / "allow.txt", "--no-cache",
                    "--out", home / out, "--format", "json", "--chat", f"{chat}?usd_in=1&usd_out=2",
                    "--workers", "8")  # fmt: skip
        if "no sandbox works here" in ran.err:
            pytest.skip(ran.err)
        assert ran.status == status, ran.err
        return json.loads(ran.out)

    return run


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
"""Too many requests, a broken server, a broken body, a cut one, and an answer that is not JSON."""


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
            faults = FAULTS[:-1] if question.get("logprobs") else FAULTS  # one token is JSON to nobody
            fault = faults[number // 2 % len(faults)] if number % 2 else None
            if self._faults.setdefault(text, fault):
                fault, self._faults[text] = self._faults[text], None
                return fault
            self.answered[text] += 1
        return say(question)


def test_pairs_that_were_judged_in_two_runs_through_every_fault_end_as_in_one(home: Path, judge, assay):
    model, other = Model(), Model()
    with serving(model) as server:
        assert judge(server, "whole.jsonl")["judged"] == len(KINDS)
        half(home / "whole.jsonl", home / "cut.jsonl")
        kept = past(home / "cut.jsonl").calls
        server.say = other
        assert 0 < judge(server, "cut.jsonl")["before"] < len(KINDS)
    assert grades_in(home / "whole.jsonl") == GRADES_OF
    assert set(model.answered.values()) == {1}
    assert set(other.answered.values()) == {1}
    assert other.answered.total() == model.answered.total() - kept, "a reply was paid for twice"
    assert told(home / "cut.jsonl") == told(home / "whole.jsonl")

    both = assay("judge", "agreement", home / "cut.jsonl", home / "whole.jsonl", "--format", "json")
    figures = json.loads(both.out)["costs"]["cut"]
    assert (figures["cases_a_program"], figures["executable_share"], figures["repaired"]) == (3.0, 0.8333, 2)


def leaning(question: dict) -> Play:
    """Answer as a model does that says yes to everything, to some with less conviction."""
    text = question["messages"][1]["content"]
    if question.get("logprobs"):
        likely = 0.9 + int(text.partition("def add")[2].partition("(")[0]) / 1000
        return Play({"Yes": likely, "No": 1 - likely, "mass": 1.0})
    if "or whether that cannot be told by reading" in question["messages"][0]["content"]:
        kind = text.partition("add two numbers, ")[2].split()[0]
        call = {"match": "match", "differs": "non-match"}.get(kind, "unclear")
        return Play({"justification": f"so says a reading of {kind}", "assessment": call})
    return say(question)


def screened(home: Path, server: EndpointServer, assay: Callable, out: str, *more: str):
    chat = f"openai:actor@{server.base}?usd_in=1&usd_out=2"
    options = ("--config", "ps+fa", "--chat", chat, "--no-cache", "--out", home / out, "--format", "json")
    return assay("judge", "run", home / "pairs.jsonl", *options, *more)


def test_bounds_leave_the_wanted_fraction_unclear_for_a_model_that_always_says_yes(home: Path, assay: Callable):
    with serving(leaning) as server:
        plain = json.loads(screened(home, server, assay, "plain.jsonl").out)
        assert plain["paths"] == {"screen": COUNT}, "the bounds of one model do not fit another"
        ran = screened(home, server, assay, "found.jsonl", "--unclear", "0.33", "--budget", "1usd")
        found, asked = json.loads(ran.out), len(server.questions)
        assert found["paths"] == {"screen": 12, "arbiter": 4}
        assert "screener of openai:actor" in ran.err
        assert past(home / "found.jsonl").calls == COUNT + 4, "no pair is screened twice"
        with (home / "pairs.jsonl").open("a") as pairs:
            pairs.write(json.dumps(row(pair("match", 17))) + "\n")
        more = screened(home, server, assay, "found.jsonl", "--unclear", "0.33")
        assert len(server.questions) == asked + 1, f"the bounds were found before: {more.err}"
        other = screened(home, server, assay, "found.jsonl", "--unclear", "0.5")
        assert (other.status, "screener" in other.err) == (2, True)


def test_a_model_without_log_probabilities_is_asked_in_words(home: Path, assay: Callable):
    def without(question: dict) -> Play:
        return Play(text="Yes") if question.get("logprobs") else leaning(question)

    with serving(without) as server:
        screened(home, server, assay, "asks.jsonl")
        assert "--screener three-way asks in words" in next(verdicts(home / "asks.jsonl"))["reason"]
        none = screened(home, server, assay, "none.jsonl", "--unclear", "0.3")
        assert (none.status, "gave 0 answers about 16 pairs" in none.err, "three-way" in none.err) == (2, True, True)
        found = json.loads(screened(home, server, assay, "words.jsonl", "--screener", "three-way").out)
    assert found["paths"] == {"screen": 4, "arbiter": 12}
    reasons = {each["reason"] for each in verdicts(home / "words.jsonl") if each["path"] == "screen"}
    assert reasons == {"so says a reading of match", "so says a reading of differs"}


def test_a_screener_that_makes_no_sense_is_refused(home: Path, assay: Callable):
    command = ("judge", "run", home / "pairs.jsonl", "--chat", "openai:actor@http://127.0.0.1:1/v1")
    for options, why in (
        ("--screener asks?match=0.3&non_match=0.6", "match is below non_match"),
        ("--screener asks?unclear=0.3&match=0.6", "leave one out"),
        ("--screener three-way --unclear 0.3", "--unclear is for the screener asks"),
        ("--screener asked", "did you mean 'asks'?"),
        ("--screener asks?macht=0.6", "did you mean 'match'?"),
        ("--config single --unclear 0.3", "has no screener"),
    ):
        ran = assay(*command, "--out", home / "out.jsonl", *options.split())
        assert (ran.status, why in ran.err) == (2, True), ran.err


PAIRS = 6
GOOD = Play({"reason": "it adds", "label": 1})
LOOPS = Play(text='{"reason": "and and and', finish="length", usage=(100, 4096))
SHORT = "timeout_s=0.3"

IN_THE_MIDDLE = {"a key that expires": Play(status=401), "half a stream": Play(cut=40), "loops": LOOPS}
"""What comes from the third question on, for all that follow."""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    rows = [
        {"query_id": f"q{number}", "query": f"add {number}", "code_id": f"c{number}", "code": f"def f(): {number}"}
        for number in range(PAIRS)
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def make(server: EndpointServer, *more: str, options: str = SHORT) -> list[str]:
        chat = f"openai:m@{server.base}?as=it&{options}"
        fixed = ["judge", "run", str(tmp_path / "pairs.jsonl"), "--config", "single", "--no-cache", "--workers", "2"]
        return [*fixed, "--out", str(tmp_path / "r.jsonl"), "--chat", chat, *more]

    return make


def test_an_endpoint_that_never_answers_ends_the_run_with_one_line(command, assay):
    with serving(lambda _: Play(body=b"<html>welcome</html>")) as server:
        ran = assay(*command(server))
    assert (ran.status, ran.out) == (2, "")
    assert "not JSON: '<html>welcome</html>'; check the address" in ran.err.splitlines()[-1]


@pytest.mark.parametrize("name", IN_THE_MIDDLE)
def test_what_was_paid_before_an_endpoint_fails_is_kept_and_the_same_command_goes_on(name, command, assay, tmp_path):
    with serving(lambda _: GOOD if len(server.questions) <= 2 else IN_THE_MIDDLE[name]) as server:
        first = assay(*command(server))
    assert first.status in {0, 1}, first.err
    assert len(past(tmp_path / "r.jsonl").decided) == 2
    with serving(lambda _: GOOD) as server:
        again = assay(*command(server, "--retry"))
        assert (again.status, len(server.questions)) == (0, PAIRS - 2), "another port, and nothing is paid twice"


def test_the_texts_of_answers_that_cannot_be_used_are_in_the_records(command, assay, tmp_path):
    with serving(lambda _: LOOPS) as server:
        assert assay(*command(server)).status == 1
        assert len(server.questions) == 2 * PAIRS
    failed = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    failed = [record for record in failed if record["kind"] == "failed"]
    assert [record["raw"] for record in failed] == [[LOOPS.text] * 2] * PAIRS
    assert {record["tokens_out"] for record in failed} == {2 * 4096}


def test_ctrl_c_drops_what_is_in_flight_says_so_and_the_same_command_goes_on(command, assay, tmp_path):
    with serving(lambda _: GOOD if len(server.questions) <= 2 else Play(delay_s=120)) as server:
        line = command(server, options="timeout_s=300")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(
            [sys.executable, "-m", "assay", *line], stderr=subprocess.PIPE, text=True, env=environment
        ) as ran:
            until(lambda: len(server.questions) == 4, "two requests are in flight")
            ran.send_signal(signal.SIGINT)
            said = ran.communicate()[1].splitlines()
        assert ran.returncode == 130
        assert said[-2].startswith("assay: stopping, dropping 2 requests in flight, up to 2 s; what is done is kept")
        assert said[-1] == "assay: interrupted"
    assert len(past(tmp_path / "r.jsonl").decided) == 2
    assert not past(tmp_path / "r.jsonl").undecided
    with serving(lambda _: GOOD) as server:
        assert assay(*command(server)).status == 0
        assert len(server.questions) == PAIRS - 2
