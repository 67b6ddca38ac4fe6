"""Samples with tasks and without to candidates, and what is said of pools that have no order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.rank.pools import notes, read
from assay.types import Program, Task


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def test_samples_without_tasks_are_grouped_by_what_they_name(tmp_path: Path):
    file = written(
        tmp_path / "s.jsonl",
        {"task_id": "a", "code": "x = 1", "n": 2, "model": "m"},
        {"task_id": "b", "completion": "    return 1\n\nprint(2)", "prompt": "def f():\n"},
        {"task_id": "a", "solution": "x = 2", "prompt": "Set x.", "entry_point": "x"},
    )
    pools = dict(iter(read(file)))
    a, b = pools
    assert (a.prompt, a.entry_point, b.prompt) == ("Set x.", "x", "def f():\n")
    assert [(each.source, each.n) for each in pools[a]] == [("x = 1", 2), ("x = 2", 1)]
    assert pools[b][0].source == "def f():\n    return 1\n"


def test_samples_that_name_no_task_are_one_tasks_candidates(tmp_path: Path):
    pools = read(written(tmp_path / "tries.jsonl", {"code": "x"}, {"code": "y"}))
    assert [(task.id, len(programs)) for task, programs in pools] == [("tries", 2)]
    assert [each.id for each in pools.programs] == ["tries#0", "tries#1"]


def test_a_folder_of_python_files_is_one_tasks_candidates(tmp_path: Path):
    (tmp_path / "b.py").write_bytes(b"x = 1\r\n")
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    (tmp_path / "notes.txt").write_text("no program")
    pools = read(tmp_path)
    assert [(each.id, each.source) for each in pools.programs] == [("a.py", "x = '�'\n"), ("b.py", "x = 1\n")]
    assert [problem.what for problem in pools.problems] == ["not UTF-8: what cannot be read of it is replaced"]
    assert len(read(tmp_path / "b.py").programs) == 1
    with pytest.raises(InputError, match="TASKS has 2"):
        read(tmp_path, [Task("a", ""), Task("b", "")])


def test_bad_rows_are_named_and_a_pool_of_nothing_is_an_error(tmp_path: Path):
    rows = ({"code": "x"}, "{", {"task_id": "b"}, {"completion": "x"}, {"code": 3}, {"code": "y", "n": 0})
    file = written(tmp_path / "s.jsonl", *rows)
    assert [problem.where for problem in read(file).problems] == [f"s.jsonl:{row}" for row in range(2, 7)]
    for empty, why in (("", "is empty"), ("[]", "holds no program"), ('{"task_id": "a"}', r"s.jsonl:1: no program")):
        with pytest.raises(InputError, match=why):
            read(written(tmp_path / "s.jsonl", empty))
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match=r"without a \.py file"):
        read(tmp_path / "none")
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "nowhere")


def test_with_tasks_samples_of_others_are_counted(tmp_path: Path):
    file = written(tmp_path / "s.jsonl", {"task_id": "t/1", "completion": "1"}, {"task_id": "u/2", "code": "x"})
    pools = read(file, [Task("t/1", "x = ")])
    assert [each.source for each in pools.programs] == ["x = 1"]
    assert str(pools.problems[-1]) == "s.jsonl: 1 samples are of tasks that are not in TASKS"


def test_pools_without_an_order_are_told():
    def said(*sources: str) -> list[str]:
        return [note.what for note in notes(Task("t", ""), [Program("t", source) for source in sources])]

    assert said("x = 1", "x = 2") == []
    assert said("x = 1") == ["one program: it is scored, there is nothing to order"]
    assert said("x = 1", "x = 1") == ["all 2 programs are the same text: any order is as good"]
    [unread] = said("x =", "int main() {", "\0")
    assert unread.startswith("none of 3 programs is Python that can be read: this order is of little worth; ")
    assert unread.endswith("take --ranker prefix")
    assert len(said("(", "(")) == 2
