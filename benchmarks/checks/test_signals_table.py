"""The table of signals by its command, on a few tasks and two models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {
    "def f{0}(a, b):\n    return a + b + {0}\n": "correct",
    "def f{0}(a, b):\n    return b + a + {0}\n": "correct",
    "def f{0}(a, b):\n    return str(a + b)\n": "OutputTypeError",
    "def f{0}(a, b):\n    return a - b\n": "IntSmallError",
    "def f{0}(a, b):\n    return c\n": "NameError",
}


def rows(path: Path, found: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in found))
    return path


def test_every_signal_is_measured_on_tasks_and_models_that_were_not_learned_from(tmp_path: Path):
    pytest.importorskip("lightgbm")
    tasks, samples, outcomes = [], [], []
    for at in range(6):
        shown = [{"args": [1, 2], "expected": 3 + at}]
        tasks.append({"id": f"t{at}", "prompt": "Add.", "entry_point": f"f{at}", "tests": shown})
        for model in ("m0", "m1", "m2"):
            for number, (source, fault) in enumerate(SOURCES.items()):
                name = f"t{at}/{model}/{number}"
                samples.append({"task_id": f"t{at}", "id": name, "code": source.format(at), "model": model})
                outcomes.append({"task_id": f"t{at}", "program_id": name, "fault": fault, "line": -1, "n": 1})
    files = [rows(tmp_path / f"{name}.jsonl", each) for name, each in (("t", tasks), ("s", samples), ("o", outcomes))]
    script = ROOT / "benchmarks/coderanker/signals.py"
    command = [sys.executable, script, "--set", "few", *files, "--out", tmp_path / "out"]
    chosen = ["--ranker", "gate", "--ranker", "consensus:WEIGHTS", "--ranker", "gate+consensus:WEIGHTS"]
    ended = subprocess.run([*command, *chosen], capture_output=True, text=True, check=False, env=os.environ)
    assert ended.returncode == 0, ended.stderr
    titles = [line for line in ended.stdout.splitlines() if line.startswith("few, ")]
    assert [title.partition(":")[0] for title in titles][:2] == ["few, all models", "few, one model"]
    lines = [line.split() for line in ended.stdout.splitlines() if line.startswith("  ")]
    best = {line[0]: float(line[2]) for line in lines[:4]}
    assert best["unranked"] == pytest.approx(0.4)
    assert best["gate"] == pytest.approx(2 / 3, abs=1e-3)  # the text and the name are told from the shown value
    assert best["gate+consensus"] >= best["gate"] - 1e-9
    assert len(list((tmp_path / "out").glob("*.json"))) == 6
