"""`assay judge run --judge asks:…`: recorded, continued, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from json_lines import read_lines, write_lines

CODE = "def send_mail(server, message):\n    server.send(message)\n"
QUERIES = {"1": "send a mail", "2": "wie sende ich eine mail"}
PAIRS = [{"query_id": each, "query": query, "code_id": "a", "code": CODE} for each, query in QUERIES.items()]
NO, YES = ({"Yes": chance, "No": 1 - chance, "mass": 0.9} for chance in (0.01, 0.99))
REPLIES = [{"name": "pair", "contains": "wie", "value": NO}, {"name": "pair", "value": YES}]


@pytest.mark.parametrize("kind", ["asks", "signals+asks"])
def test_a_campaign_is_recorded_and_continued(assay, refuses, tmp_path: Path, monkeypatch, kind: str):
    monkeypatch.chdir(tmp_path)
    write_lines("pairs.jsonl", PAIRS)
    write_lines("replies.jsonl", REPLIES)
    spec = f"{kind}:scripted:replies.jsonl?scale=1.5"
    command = ("judge", "run", "pairs.jsonl", "--judge", spec, "--out", "r.jsonl", "--format", "json")
    ran = assay(*command)
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["paths"] == {"asks": 2}
    judged = {each["query_id"]: each for each in read_lines("r.jsonl") if each["kind"] == "verdict"}
    assert [judged[name]["grade"] for name in "12"] == [1, 0]
    assert (judged["1"]["probability"] > 0.5, judged["1"]["judge"]) == (True, spec)
    assert json.loads(assay(*command).out)["before"] == 2
    run = "judge run pairs.jsonl --out x.jsonl --judge"
    refuses([
        (f"{run} {kind}", "does not name a model" if kind == "asks" else "no judge 'signals+asks'"),
        (f"{run} {spec}&bias=300", "wanted -100 to 100"),
        (f"{run} {spec} --chat scripted:x", "--chat, --screener and --unclear are for agents"),
        (f"{run} {spec} --install", "installs nothing"),
        (f"{run} {kind}:opnai:m", "unknown chat 'opnai'; did you mean 'openai'"),
        (f"{run} askz:openai:m", "no judge 'askz:openai:m'; wanted agents, signals"),
        (f"judge run pairs.jsonl --out r.jsonl --judge {spec.replace('1.5', '2')}", "asks"),
    ])  # fmt: skip
