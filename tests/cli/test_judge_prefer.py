from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with two sets of codes for three queries, and one query that both answer alike."""
    for name in "AB":
        rows = [
            {"query_id": f"q{at}", "query": f"how to {at}", "code_id": f"{name}{at}", "code": f"def {name}{at}(): ..."}
            for at in range(3)
        ]
        rows.append({"query_id": "q9", "query": "same", "code_id": f"{name}9", "code": "pass"})
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


class Voter:
    """The command, and somebody who votes on its page."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "assay", "judge", "prefer", "A.jsonl", "B.jsonl", *options]
        self.process = subprocess.Popen(
            [*command, "--votes", "votes.jsonl"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""
        while not (found := re.search(r"open (\S+)\n", self.said)):
            line = self.process.stderr.readline()
            assert line, self.said
            self.said += line
        self.address = urlsplit(found[1])
        page = self.ask("GET", "")
        self.token = re.search(rb'name="assay-token" content="([^"]+)"', page)[1].decode()

    def ask(self, method: str, path: str, given: object = None) -> bytes:
        connection = HTTPConnection(self.address.netloc, timeout=20)
        body = None if given is None else json.dumps(given)
        headers = {} if given is None else {"X-Assay-Token": self.token}
        connection.request(method, self.address.path + path, body, headers)
        return connection.getresponse().read()

    def vote(self, letter: str) -> None:
        """Choose the code of a set, which only a test can know."""
        item = json.loads(self.ask("GET", "state"))["item"]
        side = "left" if f"def {letter}" in item["left"] else "right"
        self.ask("POST", "vote", {"item": item["id"], "side": side, "seconds": 3})

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, self.said + err


def test_a_study_that_is_stopped_goes_on_and_is_summed_up(assay, files: Path):
    first = Voter(files)
    first.vote("A")
    first.process.send_signal(signal.SIGINT)
    status, out, err = first.end()
    assert (status, "3 of 3 to vote on" in err, "1 with the same code in both" in err) == (0, True, True)
    assert "1 votes of 1 voter on 1 of 3 queries" in out
    second = Voter(files)
    assert "2 of 3 to vote on" in second.said
    second.vote("A")
    second.vote("B")
    second.ask("POST", "finish", {})
    status, out, _ = second.end()
    assert status == 0
    assert "A  A.jsonl  wins 2\nB  B.jsonl  wins 1\nneither  0\nshare of A 0.667 [0.21-0.94], sign test p 1\n" in out
    args = (files / "A.jsonl", files / "B.jsonl", "--votes", files / "votes.jsonl", "--summary", "--format", "json")
    told = json.loads(assay("judge", "prefer", *args).out)
    assert (told["a"], told["b"], told["asked"], told["alpha"]) == (2, 1, 3, None)


def test_no_votes_yet(assay, files: Path):
    ran = assay("judge", "prefer", files / "A.jsonl", files / "B.jsonl", "--votes", files / "v.jsonl", "--summary")
    assert ran.status == 1
    assert "no vote in" in ran.err
    assert "0 votes" in ran.out


def test_files_that_share_nothing_and_votes_of_another_study_are_errors(assay, files: Path):
    (files / "far.jsonl").write_text('{"query_id": "x", "query": "x", "code_id": "c", "code": "pass"}\n')
    ran = assay("judge", "prefer", files / "A.jsonl", files / "far.jsonl", "--votes", files / "v.jsonl", "--summary")
    assert ran.status == 2
    assert "nothing to choose between" in ran.err
    (files / "v.jsonl").write_text('{"kind": "study", "format": 1, "seed": 0, "items": 3, "hash": "x"}\n')
    ran = assay("judge", "prefer", files / "A.jsonl", files / "B.jsonl", "--votes", files / "v.jsonl", "--summary")
    assert ran.status == 2
    assert "the codes differ; give another --votes, or --fresh" in ran.err
