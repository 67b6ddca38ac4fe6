from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from balloter import Balloter


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


class Voter(Balloter):
    """The command, and somebody who votes on its page."""

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(folder, "judge", "prefer", "A.jsonl", "B.jsonl", *options, "--votes", "votes.jsonl")

    def vote(self, letter: str) -> None:
        """Choose the code of a set, which only a test can know."""
        item = json.loads(self.ask("GET", "state"))["item"]
        side = "left" if f"def {letter}" in item["left"] else "right"
        self.ask("POST", "vote", {"item": item["id"], "side": side, "seconds": 3})


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
