"""Samples as other tools write them: each file gives the programs that its tool would run."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.programs.samples import read
from assay.programs.tasks.task_file import read_tasks
from assay.values import Task

TASKS = tuple(Task(f"HumanEval/{at}", f"def f{at}(x):\n", f"f{at}") for at in range(2))
BODY = "    return x\n"
WHOLE = [f"def f{at}(x):\n{BODY}" for at in range(2)]
CHAT = [f"Sure:\n```python\n{source}```\n" for source in WHOLE]
CHOICES = [{"choices": [{"message": {"content": text}}]} for text in CHAT]
SAMPLES = [{"id": f"HumanEval/{at}", "output": CHOICES[at]} for at in range(2)]
LOG = {"version": 2, "status": "success", "eval": {}, "samples": SAMPLES}


def dumped(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def evalplus(folder: Path) -> Path:
    for at, source in enumerate(WHOLE):
        (folder / f"HumanEval_{at}").mkdir()
        (folder / f"HumanEval_{at}" / "0.py").write_text(source)
    return folder


def archive(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "log.eval", "w") as file:
        for each in SAMPLES:
            file.writestr(f"samples/{each['id'].replace('/', '_')}_epoch_1.json", json.dumps(each))
        file.writestr("header.json", "{}")
    return folder / "log.eval"


MADE = {
    "EvalPlus": evalplus,
    "bigcode": lambda folder: dumped(folder / "generations.json", [[source] for source in WHOLE]),
    "lm-eval": lambda folder: dumped(
        folder / "samples_humaneval.jsonl",
        *({"doc_id": at, "doc": {"task_id": f"HumanEval/{at}"}, "resps": [[BODY]], "filtered_resps": [[WHOLE[at]]]}
          for at in range(2)),
    ),
    "batch": lambda folder: dumped(
        folder / "batch.jsonl",
        *({"custom_id": f"HumanEval/{at}", "response": {"body": CHOICES[at]}} for at in range(2)),
    ),
    "inspect": lambda folder: dumped(folder / "log.json", LOG),
    "inspect archive": archive,
    "generation": lambda folder: dumped(
        folder / "s.jsonl", *({"task_id": at, "generation": CHAT[at]} for at in range(2))
    ),
    "a list": lambda folder: dumped(folder / "s.jsonl", *({"task_id": at, "completion": [BODY]} for at in range(2))),
}  # fmt: skip


@pytest.mark.parametrize("tool", MADE)
def test_each_tool_s_samples_are_the_programs_that_it_would_run(tool: str, tmp_path: Path):
    found = read(MADE[tool](tmp_path), TASKS)
    assert not found.problems
    assert [each.task_id for each in found.programs] == ["HumanEval/0", "HumanEval/1"]
    for at, each in enumerate(found.programs):
        names: dict = {}
        exec(each.source, names)  # ours
        assert names[f"f{at}"](3) == 3


def test_what_is_no_such_file_is_said_in_a_line(tmp_path: Path):
    with pytest.raises(InputError, match=r"a folder without TASK/NUMBER\.py, as EvalPlus writes it"):
        read(tmp_path, TASKS)
    with pytest.raises(InputError, match="3 lists of programs for 2 tasks: give all tasks, in order"):
        read(dumped(tmp_path / "generations.json", [[], [], []]), TASKS)
    empty = [{"custom_id": "1", "response": each} for each in (None, [])] + [{"task_id": "1", "completion": []}]
    found = read(dumped(tmp_path / "s.jsonl", *empty, {"task_id": 0, "generation": BODY, "response": {}}), TASKS)
    what = "field 'completion' has no text"
    assert [str(each) for each in found.problems] == [f"s.jsonl:{row}: {what}" for row in range(1, 4)]
    assert len(found.programs) == 1
    odd = dumped(tmp_path / "log.json", {**LOG, "samples": [3, {"id": "HumanEval/0", "output": {"choices": [4]}}]})
    assert len(read(odd, TASKS).problems) == 2
    lines = dumped(tmp_path / "val.json", {"task_id": 0, "code": WHOLE[0]}, {"task_id": 1, "code": '"samples"'})
    assert len(read(lines, TASKS).programs) == 2, "rows that speak of samples are no log"
    (tmp_path / "log.eval").write_bytes(b"PK no")
    with pytest.raises(InputError, match=r"cannot read .*log\.eval as a log of inspect_ai"):
        read(tmp_path / "log.eval", TASKS)


def test_apps_is_read_as_its_authors_publish_it(tmp_path: Path):
    for number, made in enumerate(({"inputs": ["2\n"], "outputs": ["4\n"]}, None)):
        folder = tmp_path / "test" / f"000{number}"
        folder.mkdir(parents=True)
        (folder / "question.txt").write_text("Print the square.")
        if made:
            (folder / "input_output.json").write_text(json.dumps(made))
            (folder / "solutions.json").write_text(json.dumps(["n = int(input())\nprint(n * n)\n"]))
            (folder / "metadata.json").write_text(json.dumps({"difficulty": "interview"}))
    found = read_tasks(tmp_path)
    assert (found.form, [task.id for task in found.tasks]) == ("apps", ["APPS/0", "APPS/1"])
    assert (found.tasks[0].prompt, found.tasks[0].tags["difficulty"]) == ("Print the square.", "interview")
    assert found.tasks[0].reference.startswith("n = int")
    assert [str(problem).partition(":")[0] for problem in found.problems] == ["test/0001"]


def test_keys_that_were_numbers_are_numbers_again_and_numpy_is_there_where_it_is_said(tmp_path: Path):
    rows = {"id": 1, "question": "q", "input_output": json.dumps({"fn_name": "f", "inputs": [[{"1": 2}, {"3": 4}]],
            "outputs": [[{"1": 1, "-2": 1}]]})}  # fmt: skip
    (task,) = read_tasks(dumped(tmp_path / "t.jsonl", rows)).tasks
    assert (task.tests[0].args, task.tests[0].expected) == (({1: 2}, {"3": 4}), {1: 1, -2: 1})
    with_np, without = "def f(a, b):\n    return np.sum(a)\n", "def f(a, b):\n    return a\n"
    samples = ({"task_id": "APPS/1", "code": each} for each in (with_np, without))
    found = read(dumped(tmp_path / "s.jsonl", *samples), [task])
    assert [each.source.startswith("import numpy as np; ") for each in found.programs] == [True, False]
    assert all("from heapq import *\n" in each.source for each in found.programs)
