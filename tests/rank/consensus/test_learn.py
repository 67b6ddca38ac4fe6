"""Weights from labelled programs, end to end on a few."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.faults import Fault
from assay.rank.consensus.consensus_ranker import ConsensusRanker
from assay.rank.consensus.pool_facts import FEATURES
from assay.rank.consensus.training_pools import lessons, ways_to_tell
from assay.rank.dataset import dataset_formats
from assay.rank.dataset.examples import Example
from assay.types import Call, Program, Task

RIGHT = "def f(a, b):\n    return a + b\n"
WRONG = ["def f(a, b):\n    return a - b\n", "def f(a, b):\n    return c\n", "def f(a, b:\n"]
FAULTS = [Fault.INT_SMALL_ERROR, Fault.NAME_ERROR, Fault.SYNTAX_ERROR]


def examples(tasks: int) -> list[Example]:
    return [
        Example(
            f"t{task}", f"{task}-{at}", "Add.", source, fault, n=2 if at == 0 else 1, model=f"m{at % 2}", split="train"
        )
        for task in range(tasks)
        for at, (source, fault) in enumerate(zip([RIGHT, *WRONG], [Fault.CORRECT, *FAULTS], strict=True))
    ]


def test_a_task_is_told_in_several_ways_but_never_by_its_solution():
    task = Task("t", "Add.", "f", tests=(Call((1, 2), 3),), reference=RIGHT)
    prompts = {each.prompt for each in ways_to_tell(task)}
    assert {"Add.", "", "Add.\nassert f(1, 2) == 3"} <= prompts
    assert any(prompt.startswith("def f(a, b):") and ">>> f(1, 2)\n    3" in prompt for prompt in prompts)
    assert not any("return" in prompt for prompt in prompts)


def test_each_task_counts_the_same_and_pools_are_the_same_each_time():
    one, other = (list(lessons({}, examples(3), seed=4)) for _ in range(2))
    assert [lesson.faults for lesson in one] == [lesson.faults for lesson in other]
    assert all(lesson.rows.shape == (len(lesson.faults), len(FEATURES)) for lesson in one)
    shares = {
        task: sum(lesson.weights.sum() for lesson in one if lesson.task_id == task) for task in ("t0", "t1", "t2")
    }
    assert max(shares.values()) <= 1.0 + 1e-9


def test_what_is_learned_ranks(tmp_path: Path):
    pytest.importorskip("lightgbm")
    from assay.rank.consensus.train_consensus import main

    dataset_formats.write(tmp_path / "set.jsonl", examples(60))
    main([str(tmp_path / "weights.json"), str(tmp_path / "set.jsonl")])
    assert json.loads((tmp_path / "weights.json").read_text())["faults"].keys() >= {"correct", "NameError"}
    ranker = ConsensusRanker(str(tmp_path / "weights.json"))
    found = ranker.rank(Task("new", "Add."), [Program("new", source) for source in [*WRONG, RIGHT]])
    assert max(found, key=lambda each: each.score).program.source in {RIGHT, WRONG[0]}
    assert found[2].fault is Fault.SYNTAX_ERROR
