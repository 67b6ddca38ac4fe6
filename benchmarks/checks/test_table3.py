"""Table III of CoSQA+ by its command, on little data and a model of random weights."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

for library in ("torch", "accelerate", "datasets", "peft"):
    pytest.importorskip(library, reason="the train extra is not installed")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "cosqaplus" / "tables.py"
WORDS = "where are retries handled send mail letter box price".split()


def write_truth(folder: Path, queries: list[str]) -> Path:
    """Write a test set that has its code along."""
    (folder / "qrels").mkdir(parents=True)
    rows = list(enumerate(queries))
    for name, texts in (("queries", rows), ("corpus", [(at, f"def f{at}(): {text}") for at, text in rows])):
        lines = (json.dumps({"_id": f"{name[0]}{at}", "text": text}) + "\n" for at, text in texts)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    judged = "".join(f"q{at}\tc{at}\t1\n" for at, _ in rows)
    (folder / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    return folder


def test_each_base_is_tuned_on_each_set_and_measured_on_each_other(tiny_bert: Path, tmp_path: Path) -> None:
    queries = [" ".join(words) for words in combinations(WORDS, 3)]
    tests = [write_truth(tmp_path / "one", queries[:8]), write_truth(tmp_path / "two", queries[8:16])]
    pairs = [
        {"query": query, "code": f"def g(): {query} {at}", "label": at % 3 > 0} for at, query in enumerate(queries)
    ]
    (tmp_path / "mine.jsonl").write_text(
        "".join(json.dumps({**pair, "label": int(pair["label"])}) + "\n" for pair in pairs)
    )
    names = ("--base", f"tiny=hf:{tiny_bert}?pooling=mean", "--train", f"Mine={tmp_path / 'mine.jsonl'}")
    sets = ("--test", f"Set One={tests[0]}", "--test", f"Two={tests[1]}", "--out", str(tmp_path / "out"))
    command = [sys.executable, str(SCRIPT), "table3", *names, *sets, "--", "--set", "epochs=1", "--set", "looks=1"]
    shown = subprocess.run([*command[:-5], "--dry-run"], capture_output=True, text=True, check=True).stdout
    assert [line.split()[2] for line in shown.splitlines()] == ["train", "bench"]
    assert not (tmp_path / "out/tiny-mine").exists()
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "assay: 16 pairs of 84 left out: --leave-out judges their texts\n" in ran.stderr
    page = (tmp_path / "out/table3.md").read_text()
    lines = page.splitlines()
    assert [line for line in lines if line.startswith("Test set")] == ["Test set: Set One", "Test set: Two"]
    assert lines[2] == "| Model | Metric | None | Mine |"
    cells = [line.split("|")[1:5] for line in lines if line.startswith("| tiny")]
    assert [cell[1].strip() for cell in cells] == ["MRR", "NDCG@10"] * 2
    assert all(0 < float(number) <= 1 for cell in cells for number in cell[2:])
    assert page in ran.stdout
