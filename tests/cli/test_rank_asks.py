"""`assay rank` with a model behind a server: asked within a budget, recorded, resumed and told again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.runs.record import sole_writer
from endpoint_server import VARIABLES, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

PROMPT = "Write f(x), which returns x plus 3."
TESTS = [{"args": [1], "expected": 4}]
TASKS = [{"id": name, "prompt": PROMPT, "entry_point": "f", "tests": TESTS} for name in ("a", "b")]
SPEC = "asks:openai:m?orders=1"


class Judge:
    """Knows which program is right, and breaks down after so many questions."""

    def __init__(self) -> None:
        self.answers = 10**9
        self.asked: list[str] = []
        self.usage = (100, 10)

    def __call__(self, question: dict) -> Play:
        text = question["messages"][1]["content"]
        if len(self.asked) >= self.answers:
            return Play(status=401, body=b'{"error": "no credit"}')
        self.asked.append(text)
        yes = 0.9 if "return x + 3\n" in text else 0.05
        return Play({"Yes": yes, "No": 1 - yes}, usage=self.usage)


@pytest.fixture
def judge(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    answer = Judge()
    with serving(answer) as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        monkeypatch.setenv("ASSAY_API_KEY", "sk-secret-of-mine")
        yield answer, server


@pytest.fixture
def samples(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = [
        {"task_id": name, "id": f"{name}{n}", "code": f"def f(x):\n    return x + {n}\n"}
        for name in "ab"
        for n in (1, 2, 3, 4, 5)
    ]
    fault = {"3": "correct"}
    outcomes = [
        {"task_id": row["task_id"], "program_id": row["id"], "n": 1, "line": -1}
        | {"fault": fault.get(row["id"][-1], "IntSmallError")}
        for row in rows
    ]
    for name, lines in (("s.jsonl", rows), ("t.jsonl", TASKS), ("o.jsonl", outcomes)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "s.jsonl"


def first_of(out: str) -> list[str]:
    return [row["id"] for row in map(json.loads, out.splitlines()) if row["rank"] == 1]


@pytest.mark.parametrize(("options", "asked"), [("orders=1", 5), ("orders=2", 10)])
def test_the_model_decides_and_a_replay_says_the_same_without_it(assay, judge, samples, options, asked):
    answer, server = judge
    said = (
        "rank",
        samples,
        "--tasks",
        "t.jsonl",
        "--ranker",
        f"asks:openai:m?{options}",
        "--format",
        "jsonl",
        "--k",
        "1",
    )
    ran = assay(*said)
    assert ran.status == 0, ran.err
    assert first_of(ran.out) == ["a3", "b3"]
    assert len(answer.asked) == asked  # both tasks have the same programs: nobody is asked the same twice
    assert "sk-secret-of-mine" not in ran.out + ran.err + Path("rank-records.jsonl").read_text()
    assert server.keys[0] == "Bearer sk-secret-of-mine"
    answer.answers = 0
    again = assay(*said)
    replayed = assay(*said, "--replay")
    assert ran.out == again.out == replayed.out
    assert f"{2 * asked} of these from the records; 0 tokens" in replayed.err


ORDER = "rank s.jsonl --tasks t.jsonl --format jsonl --no-cache --in-flight 1 --ranker"


@pytest.mark.usefixtures("samples")
def test_a_budget_ends_it_and_counts_what_was_spent_before(assay, judge):
    answer, _ = judge
    answer.usage = (4000, 10)
    spec, asked = f"{SPEC}&usd_in=1000&usd_out=1000", []
    for budget, status in (("9usd", 2), ("9usd", 2), ("80usd", 0)):
        ran = assay(*ORDER.split(), spec, "--budget", budget)
        assert (ran.status, "the budget is spent" in ran.err) == (status, bool(status)), ran.err
        asked.append(len(answer.asked))
    assert 0 < asked[0] == asked[1] < asked[2] == 5


def test_eval_and_compare_ask_what_order_did_not(assay, judge, samples, tmp_path):
    answer, _ = judge
    ran = assay("rank", "eval", samples, "o.jsonl", "--tasks", "t.jsonl", "--ranker", "consensus", "--ranker", SPEC)
    assert ran.status == 0, ran.err
    assert len(answer.asked) == 5
    row = next(line for line in ran.out.splitlines() if line.strip().startswith("asks:openai:m"))
    assert "1.000" in row
    (tmp_path / "m.toml").write_text(
        'k = [1]\n[sets.s]\nsamples = "s.jsonl"\noutcomes = "o.jsonl"\ntasks = "t.jsonl"\n'
        f'[rankers.model]\nspec = "{SPEC}"\n[rankers.twice]\nspec = "asks:openai:m?orders=2"\n'
    )
    ran = assay("rank", "compare", "m.toml", "--out", "out", "--fail-under", "model:pass@1=1")
    assert ran.status == 0, ran.err
    assert len(answer.asked) == 5 + 5
    again = assay("rank", "compare", "m.toml", "--out", "out")
    assert again.status == 0
    assert len(answer.asked) == 5 + 5


@pytest.mark.usefixtures("judge", "samples")
def test_python_asks_too():
    import assay

    programs = [f"def f(x):\n    return x + {n}\n" for n in (1, 2, 3)]
    best = assay.rank(PROMPT, programs, ranker=SPEC)[0]
    assert best.program.source == programs[2]
    with pytest.raises(assay.InputError, match="a budget is for rankers that ask a model"):
        assay.rank(PROMPT, programs, budget="5usd")


@pytest.mark.usefixtures("judge", "samples")
def test_what_cannot_be_done_is_said_in_a_line(refuses):
    refuses([
        (f"rank s.jsonl --tasks t.jsonl {options}", why)
        for options, why in (
            ("--budget 5usd", "--budget is for rankers that ask a model: --ranker asks:PROVIDER:MODEL"),
            ("--replay", "--replay is for rankers that ask a model"),
            ("--records mine.jsonl", "--records is for rankers that ask a model"),
            ("--in-flight 8", "--in-flight is for rankers that ask a model"),
            (f"--ranker {SPEC} --replay", "no such file: 'rank-records.jsonl'; the same command without --replay"),
            (f"--ranker {SPEC} --replay --budget 1usd", "--replay asks no model: leave --budget"),
            ("--ranker asks:opnai:m", "unknown chat 'opnai'; did you mean 'openai'"),
            (f"--ranker {SPEC}&top=x", "is 'x'; wanted a number"),
        )
    ])  # fmt: skip
    refuses([
        (f"rank s.jsonl --ranker {SPEC}", "a: a model cannot judge programs for a task without its text; give --tasks")
    ], lines=2)  # fmt: skip
    with sole_writer(Path("rank-records.jsonl")):
        refuses([(f"{ORDER} {SPEC}", "another run writes to rank-records.jsonl")], lines=2)
