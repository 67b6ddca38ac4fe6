"""`assay judge run` as a user types them, with replies from a file or none at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.llm.wrappers import Pace
from assay.operations.open_chat import budget_of, rate_of
from json_lines import read_lines, write_lines

CODE = "def add(a, b):\n    return a + b\n"
PAIRS = [
    {"query_id": "1", "query": "add two numbers", "code_id": "a", "code": CODE},
    {"query_id": "1", "query": "add two numbers", "code_id": "b", "code": "def mul(a, b):\n    return a * b\n"},
    {"query_id": "2", "query": "open a file", "code_id": "a", "code": CODE},
]
REPLIES = [
    {"name": "pair", "contains": "mul", "value": {"Yes": 0.01, "No": 0.99, "mass": 1}},
    {"name": "pair", "contains": "open", "value": {"Yes": 0.76, "No": 0.24, "mass": 1}},
    {"name": "pair", "value": {"Yes": 0.99, "No": 0.01, "mass": 1}, "cost": 0.001, "seconds": 1.5},
    {"name": "arbitrate", "value": {"reason": "nothing is opened", "label": 0}, "cost": 0.004, "tokens_in": 50},
]


@pytest.fixture
def judge(assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write_lines("pairs.jsonl", PAIRS)
    write_lines("replies.jsonl", REPLIES)

    def run(*more: str, pairs: str = "pairs.jsonl", model: str = "--chat scripted:replies.jsonl --config ps+fa"):
        return assay("judge", "run", pairs, "--out", "records.jsonl", *model.split(), *more)

    return run


def records(kind: str) -> list[dict]:
    return [each for each in read_lines("records.jsonl") if each["kind"] == kind]


def test_pairs_are_labelled_and_undecided_ones_are_asked_again_on_request(judge):
    write_lines("replies.jsonl", [{"name": "arbitrate", "error": "I would rather not"}, *REPLIES])
    ran = judge()
    assert (ran.status, "1 undecided" in ran.out, "--retry" in ran.out) == (0, True, True)
    write_lines("replies.jsonl", REPLIES)
    assert judge().out.startswith("3 had a verdict before")
    assert judge("--retry").out.startswith("0 match, 1 do not, 0 undecided")
    Path("records.jsonl").unlink()
    ran = judge("--no-cache")
    assert ran.out.startswith("1 match, 2 do not, 0 undecided\nby screen 2, arbiter 1\n$0.0050, ")
    told = json.loads(judge("--format", "json").out)
    assert (told["before"], told["judged"]) == (3, 0)


def test_a_pair_that_cannot_be_judged_is_named(judge):
    write_lines(
        "more.jsonl",
        [*PAIRS, {**PAIRS[0], "code_id": "e", "code": ""}, {**PAIRS[0], "code_id": "old", "code": "print 'x'"}],
    )
    ran = judge(pairs="more.jsonl")
    assert ran.status == 0
    assert "more.jsonl:4: the code 'e' is empty" in ran.err
    assert "1, old: judged without being run: the code is not Python 3" in ran.err
    assert "1 cannot be judged" in ran.out


def test_votes_are_kept_and_another_number_of_them_is_no_continuation(judge):
    assert judge("--votes", "3").status == 0
    assert {len(each["votes"]) for each in records("verdict")} == {2}
    ran = judge("--votes", "5")
    assert (ran.status, "votes (3, now 5) differ; give another --out" in ran.err) == (2, True)


def test_a_sample_is_judged_and_another_one_refused(judge):
    for _ in range(2):
        ran = judge("--sample", "1", "--seed", "1", "--format", "json")
    told = json.loads(ran.out)
    assert (told["before"] in {1, 2}, told["judged"]) == (True, 0)
    ran = judge("--sample", "1", "--seed", "2")
    assert ran.status == 2
    assert "verdicts of another run: sample (1 by query, seed 1, now 1 by query, seed 2) differ" in ran.err


def test_a_spent_budget_ends_it_and_a_rate_holds_for_every_question(judge, monkeypatch: pytest.MonkeyPatch):
    ran = judge("--budget", "0.003usd", "--workers", "1")
    assert (ran.status, "stopped: the budget is spent" in ran.out) == (1, True)
    assert judge("--budget", "1usd").status == 0
    waited: list[int] = []
    monkeypatch.setattr(Pace, "start", lambda _, tokens: waited.append(tokens))
    Path("records.jsonl").unlink()
    assert judge("--rate", "120req", "--no-cache").status == 0
    assert len(waited) == 4  # three pairs are screened, one comes before the arbiter


def test_evidence_judges_alone_and_screens_for_a_model(judge):
    ran = judge(model="")
    assert (ran.status, "by signals 3" in ran.out) == (0, True), ran.err
    assert {each["judge"] for each in records("verdict")} == {"signals"}
    Path("records.jsonl").unlink()
    Path("records.jsonl.manifest.json").unlink()
    assert judge("--screener", "signals").status == 0
    assert {each["part"] for each in records("reply")} <= {"arbitrate"}


def test_examples_of_a_query_are_run_where_that_is_allowed(judge):
    write_lines("shown.jsonl", [{**row, "query": "add two numbers, as add(2, 3) == 5"} for row in PAIRS[:2]])
    ran = judge(pairs="shown.jsonl", model="--judge signals --allow-execution")
    if "no sandbox works here" in ran.err:
        pytest.skip(ran.err)
    assert ran.out.startswith("1 match, 1 do not, 0 undecided\nby tests 2\n"), ran.err
    settings = json.loads(Path("records.jsonl.manifest.json").read_text())["settings"]
    assert settings["sandbox"] in ran.err
    assert settings["limits"]["cpu_s"] == 5
    ran = judge(pairs="shown.jsonl", model="--judge signals")
    assert ran.status == 2
    assert all(name in ran.err for name in ("importable", "limits", "sandbox (", "differ"))


@pytest.mark.usefixtures("judge")
def test_options_that_contradict_one_another_are_refused(refuses):
    Path("x").touch()
    refuses([
        (f"judge run pairs.jsonl --out records.jsonl {options}", said)
        for options, said in (
            ("--judge agents", "agents need a model"),
            ("--config all --votes 3", "--votes is for agents: give them a model with --chat"),
            ("--screener signals", "--chat, --screener and --unclear are for agents"),
            ("--judge signals --chat scripted:x", "are for agents"),
            ("--judge signals --budget 5usd", "signals asks no model"),
            ("--chat scripted:none.jsonl", "cannot read the replies"),
            ("--chat skripted:x", "unknown chat 'skripted'; did you mean 'scripted'?"),
            ("--chat scripted:x --config sinlge", "did you mean 'single'?"),
            ("--chat scripted:x --allow f", "give both"),
            ("--judge signals --install", "signals installs nothing"),
            ("--chat scripted:x --allow-execution", "--allow-execution is for --judge signals"),
            ("--judge signals --queries nowhere", "no such file or folder: 'nowhere'"),
            ("--chat scripted:x --config single --screener signals", "'single' has no screener: leave"),
            ("--chat scripted:x --budget 5", "invalid budget '5'"),
            ("--chat scripted:x --rate 5usd", "invalid rate '5usd'"),
            ("--judge signals --sample 4", "--sample 4: there are only 2 queries; leave --sample out to take all"),
        )
    ])  # fmt: skip
    refuses([("judge run none --judge signals", "no such file")])


def test_a_budget_is_money_or_tokens_and_a_rate_requests_or_tokens():
    never = float("inf")
    budgets = {
        "": (never, never),
        "5usd": (5.0, never),
        "2Mtok": (never, 2e6),
        "0.5USD, 200ktok": (0.5, 2e5),
        "1_000tok": (never, 1000.0),
    }
    assert {text: (budget_of(text).usd, budget_of(text).tokens) for text in budgets} == budgets
    for text in ("5", "usd", "-1usd", "5kusd", "5 eur", "5req"):
        with pytest.raises(InputError, match="invalid budget"):
            budget_of(text)
    assert rate_of("500req,200ktok") == (500.0, 2e5)
    with pytest.raises(InputError, match="invalid rate '5usd'"):
        rate_of("5usd")
