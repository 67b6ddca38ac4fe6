"""A hostile endpoint costs one line: what was paid for is kept, and the same command goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.judge.records import past
from endpoint_server import VARIABLES, EndpointServer, Play, serving
from waiting import until

pytest.importorskip("httpx", reason="the api extra is not installed")

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
