"""`assay judge run` as a user types them, with replies from a file or none at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.llm.wrappers import Pace
from assay.operations.open_chat import budget_of, rate_of

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
def judge(assay, tmp_path: Path):
    for name, rows in (("pairs.jsonl", PAIRS), ("replies.jsonl", REPLIES)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    chat = ("--chat", f"scripted:{tmp_path / 'replies.jsonl'}", "--config", "ps+fa")
    out = ("--out", tmp_path / "records.jsonl")

    def run(*more: str, pairs: str = "pairs.jsonl", model: tuple[str, ...] = chat):
        return assay("judge", "run", tmp_path / pairs, *out, *model, *more)

    return run


def test_pairs_are_labelled_and_told(judge):
    ran = judge()
    assert ran.status == 0, ran.err
    assert ran.out.startswith("1 match, 2 do not, 0 undecided\nby screen 2, arbiter 1\n$0.0050, ")
    ran = judge("--format", "json")
    told = json.loads(ran.out)
    assert (told["before"], told["judged"]) == (3, 0)


def test_what_cannot_be_judged_is_named_and_the_rest_is(judge, tmp_path: Path):
    rows = [*PAIRS, {**PAIRS[0], "code_id": "e", "code": ""}, {**PAIRS[0], "code_id": "old", "code": "print 'x'"}]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = judge(pairs="more.jsonl")
    assert ran.status == 0
    assert "more.jsonl:4: the code 'e' is empty" in ran.err
    assert "1, old: judged without being run: the code is not Python 3" in ran.err
    assert "1 cannot be judged" in ran.out


def test_undecided_pairs_are_retried_when_asked(judge, tmp_path: Path):
    good = (tmp_path / "replies.jsonl").read_text()
    bad = {"name": "arbitrate", "error": "I would rather not"}
    (tmp_path / "replies.jsonl").write_text(json.dumps(bad) + "\n" + good)
    ran = judge()
    assert (ran.status, "1 undecided" in ran.out, "--retry" in ran.out) == (0, True, True)
    (tmp_path / "replies.jsonl").write_text(good)
    assert judge().out.startswith("3 had a verdict before")
    assert judge("--retry").out.startswith("0 match, 1 do not, 0 undecided")


def test_votes_and_a_second_model(judge, tmp_path: Path):
    assert judge("--votes", "3").status == 0
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert {len(record["votes"]) for record in records if record["kind"] == "verdict"} == {2}
    ran = judge("--votes", "5")
    assert ran.status == 2
    assert "votes (3, now 5) differ; give another --out" in ran.err


def test_a_budget_that_is_too_small_ends_it(judge):
    ran = judge("--budget", "0.003usd", "--workers", "1")
    assert ran.status == 1
    assert "stopped: the budget is spent" in ran.out
    assert judge("--budget", "1usd").status == 0


def test_evidence_judges_without_a_model(judge, tmp_path: Path):
    ran = judge(model=())
    assert ran.status == 0, ran.err
    assert "by signals 3" in ran.out
    assert json.loads((tmp_path / "records.jsonl").read_text().splitlines()[0])["judge"] == "signals"


def test_examples_of_a_query_are_run_where_that_is_allowed(judge, tmp_path: Path):
    rows = [{**row, "query": "add two numbers, as add(2, 3) == 5"} for row in PAIRS[:2]]
    (tmp_path / "shown.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = ("--judge", "signals", "--allow-execution")
    ran = judge(pairs="shown.jsonl", model=model)
    if "no sandbox works here" in ran.err:
        pytest.skip(ran.err)
    assert ran.out.startswith("1 match, 1 do not, 0 undecided\nby tests 2\n"), ran.err
    settings = json.loads((tmp_path / "records.jsonl.manifest.json").read_text())["settings"]
    assert settings["sandbox"] in ran.err
    assert settings["limits"]["cpu_s"] == 5
    ran = judge(pairs="shown.jsonl", model=model[:2])
    assert ran.status == 2
    assert all(name in ran.err for name in ("importable", "limits", "sandbox (", "differ"))


def test_evidence_screens_and_saves_calls(judge, tmp_path: Path):
    assert judge("--screener", "signals").status == 0
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert {record["part"] for record in records if record["kind"] == "reply"} <= {"arbitrate"}


def test_what_makes_no_sense_is_refused(refuses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("x").touch()
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
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


def test_a_rate_holds_for_every_question(judge, monkeypatch: pytest.MonkeyPatch):
    waited: list[int] = []
    monkeypatch.setattr(Pace, "start", lambda _, tokens: waited.append(tokens))
    assert judge("--rate", "120req").status == 0
    assert len(waited) == 4  # three pairs are screened, one comes before the arbiter


def test_a_sample_is_judged_and_another_one_is_no_continuation_of_it(judge, tmp_path: Path):
    ran = judge("--sample", "1", "--seed", "1", "--format", "json")
    assert json.loads(ran.out)["judged"] in {1, 2}
    manifest = json.loads((tmp_path / "records.jsonl.manifest.json").read_text())
    assert manifest["settings"]["sample"] == "1 by query, seed 1"
    assert judge("--sample", "1", "--seed", "1").status == 0
    ran = judge("--sample", "1", "--seed", "2")
    assert ran.status == 2
    assert "verdicts of another run: sample (1 by query, seed 1, now 1 by query, seed 2) differ" in ran.err
