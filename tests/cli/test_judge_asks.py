"""`assay judge run --judge asks:…`: recorded, continued, told again, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CODE = "def send_mail(server, message):\n    server.send(message)\n"
PAIRS = [
    {"query_id": "1", "query": "send a mail", "code_id": "a", "code": CODE},
    {"query_id": "2", "query": "wie sende ich eine mail", "code_id": "a", "code": CODE},
]


@pytest.mark.parametrize("kind", ["asks", "signals+asks"])
def test_a_campaign_is_recorded_goes_on_and_is_told_again(assay, refuses, tmp_path: Path, monkeypatch, kind: str):
    monkeypatch.chdir(tmp_path)
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    replies = [
        {"name": "pair", "contains": "wie", "value": {"Yes": 0.01, "No": 0.99, "mass": 0.9}, "tokens_in": 9},
        {"name": "pair", "value": {"Yes": 0.99, "No": 0.01, "mass": 0.9}, "tokens_in": 9},
    ]
    Path("replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in replies))
    spec = f"{kind}:scripted:replies.jsonl?scale=1.5"
    command = ("judge", "run", "pairs.jsonl", "--judge", spec, "--out", "r.jsonl", "--format", "json")
    ran = assay(*command)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["paths"] == {"asks": 2}
    records = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    judged = {each["query_id"]: each for each in records if each["kind"] == "verdict"}
    assert [judged[name]["grade"] for name in "12"] == [1, 0]
    assert judged["1"]["probability"] > 0.5
    assert judged["1"]["judge"] == spec
    assert json.loads(assay(*command).out)["before"] == 2
    Path("gold.csv").write_text("query_id,code_id,grade\n1,a,1\n2,a,0\n")
    assert assay("judge", "agreement", "r.jsonl", "--gold", "gold.csv").status == 0
    run = "judge run pairs.jsonl --out x.jsonl --judge"
    refuses([
        (f"{run} {kind}", "does not name a model" if kind == "asks" else "no judge 'signals+asks'"),
        (f"{run} {spec}&bias=300", "wanted -100 to 100"),
        (f"{run} {spec} --chat scripted:x", "--chat, --screener and --unclear are for agents"),
        (f"{run} {spec} --install", "installs nothing"),
        (f"{run} {kind}:opnai:m", "unknown chat 'opnai'; did you mean 'openai'"),
        (f"{run} askz:openai:m", "no judge 'askz:openai:m'; wanted agents, signals"),
    ])  # fmt: skip
    ran = assay("judge", "run", "pairs.jsonl", "--judge", spec.replace("scale=1.5", "scale=2"), "--out", "r.jsonl")
    assert (ran.status, "asks" in ran.err) == (2, True)
