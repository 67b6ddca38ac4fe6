"""Files of runs that an earlier version began, in its very form: they are continued."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from assay.cage.limits import Ended, Limits
from assay.judge.choose_candidates import Sources, candidates
from assay.programs.outcome_file import ExecuteSettings, execute_to_file
from assay.rank.sampling.model_answers import Completions, SamplingOptions
from assay.rank.sampling.sample import sample
from assay.search.dense import exhaustive
from assay.types import Call, Chunk, Program, Query, Task

MANIFEST = """{"settings": {"tasks": "a", "samples": "b", "form": "own", "stop": "none", "sandbox": "one",
 "limits": {"cpu_s": 5.0, "wall_s": 15.0, "memory_mb": 1024, "processes": 32, "file_mb": 16, "scratch_mb": 64,
 "inodes": 4096, "output_kb": 64}, "guarantees": ["g"], "installed": []}, "seed": 0, "corpus": "c", "versions": {}}"""
OUTCOME = """{"task_id": "t", "program_id": "t#0", "fault": "correct", "line": -1, "detail": "", "got": "",
 "expected": "", "stdout": "", "seconds": 0.1, "cpu_s": 0.1, "peak_mb": 9.0, "tests_run": 1, "shared": false,
 "missing": "", "sandbox": "one", "n": 1}"""
SAMPLE = """{"task_id": "t", "id": "t#0", "completion": "pass", "model": "m", "temperature": 0.8, "top_p": 0.95,
 "max_tokens": 512, "seed": 0, "usage": {"prompt_tokens": 1, "completion_tokens": 2}}"""
KEY = "5b0fffacdfad66c8f065f0c25ad5b162"


def line(text: str) -> str:
    return text.replace("\n", "") + "\n"


class Counted:
    """A sandbox in which everything ends, and which counts."""

    name, guarantees = "one", ("g",)

    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(self, jobs):
        for job in jobs:
            self.ran.append(job.id)
            yield Ended(job.id, ended="cpu")

    def close(self) -> None:
        """Nothing is open."""


def test_outcomes(tmp_path: Path):
    out, runner = tmp_path / "outcomes.jsonl", Counted()
    out.write_text(line(OUTCOME) + '{"task_id": "t", "pro')
    (tmp_path / "outcomes.jsonl.manifest.json").write_text(MANIFEST)
    settings = ExecuteSettings("a", "b", "own", "none", "one", Limits(), ("g",))
    programs = [Program("t", "one", "t#0"), Program("t", "two", "t#1")]
    rows = execute_to_file([Task("t", "", "f", (Call((), 1),))], programs, runner, out, settings=settings)
    assert (runner.ran, [str(row.outcome.fault) for row in rows]) == (["t#1"], ["correct", "timeout"])
    assert out.read_text().startswith(line(OUTCOME))


class Writing:
    """A model that writes the same, and counts."""

    name, whole, at_once = "m", False, 1
    asked = 0

    def sample(self, questions):
        self.asked += sum(each.options.n for each in questions)
        return [Completions(("pass",) * each.options.n) for each in questions]


def test_samples(tmp_path: Path):
    out, model = tmp_path / "samples.jsonl", Writing()
    out.write_text(line(SAMPLE))
    sample([Task("t", "def f():")], model, SamplingOptions(n=3), out)
    assert (model.asked, len(out.read_text().splitlines())) == (2, 3)
    assert out.read_text().startswith(line(SAMPLE))


class Letters:
    """An encoder of two letters."""

    name, dimension = "letters", 2

    def encode(self, texts, role):  # noqa: ARG002
        counts = np.array([[1 + text.count("a"), 1 + text.count("b")] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def test_candidates(tmp_path: Path):
    out, fresh = tmp_path / "candidates.jsonl", tmp_path / "fresh.jsonl"
    sources = Sources(
        [Query("1", "aa"), Query("2", "bb")], [Chunk("x", "aab"), Chunk("y", "abb")], {"l": Letters()}, 1, exhaustive, 1
    )
    assert sources.key == KEY
    candidates(sources, fresh)
    first, *_ = fresh.read_text().splitlines(keepends=True)
    out.write_text(first + "{")
    block = {"queries": 1, "pairs": 1, "bytes": len(first.encode()), "shared": {"l": 1}}
    head = {"key": KEY, "encoders": ["l"], "k": 1}
    (tmp_path / "candidates.jsonl.progress.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(block)}\n")
    assert candidates(sources, out).before == 1
    assert out.read_text() == fresh.read_text()
