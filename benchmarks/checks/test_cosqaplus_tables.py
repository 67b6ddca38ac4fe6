"""Every table of CoSQA+ by its command, on little data: a scripted model on loopback, real sandboxes, real pages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from acting import GRADES, answer, pair, row, without_reading

from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from endpoint_server import Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")
pytest.importorskip("matplotlib", reason="the bench extra is not installed")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "cosqaplus" / "tables.py"
KINDS = ("match", "differs", "passes", "fails", "breaks")
COUNT = 15


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder with pairs, what is true of them, and what a person says."""
    try:
        open_sandbox(workers=1).close()
    except InputError as error:
        pytest.skip(str(error))
    pairs = [(KINDS[number % len(KINDS)], pair(KINDS[number % len(KINDS)], number)) for number in range(COUNT)]
    ids = [{"query_id": each.query.id, "code_id": each.code.id, "label": GRADES[kind]} for kind, each in pairs]
    files = {
        "pairs.jsonl": [row(each) for _, each in pairs],
        "gold.jsonl": ids,
        "ann.jsonl": [{**each, "label": 1} for each in ids],
    }
    for name, rows in files.items():
        (tmp_path / name).write_text("".join(json.dumps(each) + "\n" for each in rows))
    return tmp_path


class Model:
    """The acting model behind HTTP, which counts what it is asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, question: dict) -> Play:
        text = "\n".join(message["content"] for message in question["messages"])
        self.asked[text] += 1
        return Play(without_reading(answer(text)))


def ran(home: Path, *words: str, base: str = "http://127.0.0.1:9", status: int = 0) -> str:
    """Return what a table's command prints."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        cwd=home,
        env={**os.environ, "ASSAY_API_BASE": base, "ASSAY_API_KEY": "sk-test", "XDG_CACHE_HOME": str(home / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def accuracies(out: str) -> dict[str, float]:
    """Return the accuracy of each annotator, of the table against the truth."""
    table = out.rpartition("\nagainst ")[2].split("\n\n")[0].splitlines()[2:]
    rows = [re.split(r"\s{2,}", line.strip()) for line in table]
    return {name: float(accuracy.split()[0]) for name, _, accuracy, *_ in rows}


def test_table_six_shares_the_replies_of_six_configurations(home: Path):
    model = Model()
    words = ("table6", "pairs.jsonl", "--gold", "gold.jsonl", "--chat", "openai:m?usd_in=1&usd_out=2")
    with serving(model) as server:
        out = ran(home, *words, base=server.base)
        assert "15 had a verdict before" in ran(home, *words, base=server.base)
    assert max(model.asked.values()) == 1
    assert "PS + TPG + Simulated Executor + FA" in out
    assert "What a pair took" in out
    found = accuracies(out.partition("\nEach configuration")[0])
    assert len(found) == 7  # and their majority
    alone = [re.split(r"\s{2,}", line) for line in out.partition("\nEach configuration")[2].splitlines()[2:]]
    assert len(alone) == 6
    assert all(float(dollars) > 0 and without == "0" for *_, dollars, without in alone), alone
    assert found["PS + TPG + TE + BF + FA"] == 1.0


def test_table_four_puts_people_and_single_models_beside_the_agents(home: Path):
    words = ("--chat", "openai:m", "--single", "openai:n", "--people", "ann=ann.jsonl", "--", "--workers", "4")
    with serving(Model()) as server:
        out = ran(home, "table4", "pairs.jsonl", "--gold", "gold.jsonl", *words, base=server.base)
    found = accuracies(out)
    assert set(found) == {"agents", "openai:n", "ann", "majority"}
    assert found["agents"] == 1.0
    assert found["ann"] == pytest.approx(sum(GRADES[kind] for kind in KINDS) / len(KINDS), abs=0.001)
    assert "alpha of all" in out


def test_candidates_depth_and_statistics(home: Path):
    encoders = ("--encoder", "hash", "--encoder", "hash:64", "--all-code")
    (home / "truth.json").write_text(
        json.dumps(
            [
                {"idx": f"q{number}", "doc": made.query.text, "code": made.code.text, "label": GRADES[kind]}
                for number, kind in enumerate(KINDS)
                for made in [pair(kind, number)]
            ]
        )
    )
    assert "hash:64" in ran(home, "table1", "truth.json", "truth.json", *encoders, "-k", "2")
    with serving(Model()) as server:
        words = ("figure4", "truth.json", "truth.json", *encoders, "-k", "3", "--sample", "4", "--chat", "openai:m")
        out = ran(home, *words, base=server.base)
    assert re.search(r"^ *3 .* 1\.000$", out, re.MULTILINE)
    out = ran(home, "table2", "cosqaplus/figure4.records.jsonl")
    assert "| # of pairs | # of code |" in out
    assert "Queries by matching codes: " in out
    out = ran(home, "table5", "truth.json", "--only", "bow", "--only", "bm25", "--", "--measure", "MRR")
    assert "bow" in out


def test_needs_and_a_dry_run_run_nothing(home: Path):
    assert "$255" in ran(home, "needs")
    out = ran(home, "table6", "pairs.jsonl", "--gold", "gold.jsonl", "--chat", "openai:m", "--dry-run")
    assert out.count("$ assay judge run") == 6
    assert not (home / "cosqaplus" / "all.jsonl").exists()
