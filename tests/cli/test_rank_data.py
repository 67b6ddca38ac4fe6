"""`assay rank data`, `mix` and `eval` on small files of our own, in the sandbox that this machine gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from json_lines import read_lines, write_lines

RIGHT = "def f(x):\n    return x + {0}\n"
WRONG = "def f(x):\n    return x - {0}\n"
FAILS = "def f(x):\n    return y\n"


def task(number: int, reference: str) -> dict:
    prompt = f'def f(x):\n    """Add {number}.\n\n    >>> f(1)\n    {1 + number}\n    """\n'
    tests = [{"args": [5], "expected": 5 + number}, {"args": [-1], "expected": number - 1}]
    return {"id": f"t/{number}", "prompt": prompt, "entry_point": "f", "tests": tests, "reference": reference}


TASKS = [task(n, RIGHT.format(n)) for n in range(1, 9)] + [task(9, WRONG.format(9))]
SAMPLES = [
    {"task_id": f"t/{n}", "id": f"{n}.{at}", "code": code.format(n), "n": times, "model": "m", "temperature": 0.8}
    for n in range(1, 10)
    for at, (code, times) in enumerate(((FAILS, 2), (WRONG, 1), (RIGHT, 3)))
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("rank")
    for name, rows in (("tasks.jsonl", TASKS), ("samples.jsonl", SAMPLES)):
        write_lines(root / name, rows)
    return root


@pytest.fixture
def made(folder: Path, assay) -> Path:
    """Return a data set; it is made once."""
    out = folder / "set.jsonl"
    if not out.exists():
        ran = assay(
            *("rank", "data", folder / "tasks.jsonl", folder / "samples.jsonl"),
            *("--out", out, "--valid", "0.4", "--format", "json"),
        )
        assert ran.status == 0, ran.err
        assert "t/9 is dropped: its own reference fails" in ran.err
        sides = json.loads(ran.out)["splits"]
        assert sum(side["samples"] for side in sides) == 8 * 6
        assert all(side["correct"] == 3 * side["tasks"] == side["execution"] * 3 / 2 for side in sides)
    return out


def test_a_data_set_has_each_program_with_its_fault_and_is_continued(assay, made: Path, folder: Path):
    rows = read_lines(made)
    assert len(rows) == 8 * 3
    failing = next(row for row in rows if row["program_id"] == "1.0")
    assert (failing["fault"], failing["line"], failing["n"], failing["binary"]) == ("NameError", 2, 2, "wrong")
    assert (failing["model"], failing["config"]) == ("m", "temperature 0.8")
    assert len({(row["task_id"], row["split"]) for row in rows}) == 8
    assert {row["split"] for row in rows} == {"train", "valid"}
    before = made.read_text()
    outcomes = folder / "set.jsonl.outcomes.jsonl"
    write_lines(outcomes, read_lines(outcomes)[:5])
    arguments = (folder / "tasks.jsonl", folder / "samples.jsonl", "--out", made, "--valid", "0.4")
    assert assay("rank", "data", *arguments).status == 0
    assert made.read_text() == before


@pytest.mark.usefixtures("made")
def test_given_outcomes_are_used_and_examples_can_be_removed(assay, folder: Path, tmp_path: Path):
    ran = assay(
        *("rank", "data", folder / "tasks.jsonl", folder / "samples.jsonl", "--out", tmp_path / "s.jsonl"),
        *("--outcomes", folder / "set.jsonl.outcomes.jsonl", "--keep-failing", "--strip-examples"),
    )
    assert ran.status == 0, ran.err
    rows = read_lines(tmp_path / "s.jsonl")
    assert len(rows) == 9 * 3
    assert not any(">>>" in row["prompt"] for row in rows)
    assert "Add 1." in rows[0]["prompt"]


def test_options_of_exec_apply(assay, folder: Path, tmp_path: Path):
    ran = assay(
        *("rank", "data", folder / "tasks.jsonl", folder / "samples.jsonl", "--out", tmp_path / "s.jsonl"),
        *("--first-failure", "--workers", "1", "--timeout", "auto", "--limit-tasks", "2", "--format", "json"),
    )
    assert ran.status == 0, ran.err
    assert "t/3" not in ran.err
    assert {row["task_id"] for row in read_lines(tmp_path / "s.jsonl")} == {"t/1", "t/2"}
    settings = json.loads((tmp_path / "s.jsonl.outcomes.jsonl.manifest.json").read_text())["settings"]
    assert (settings["every_test"], len(settings["timeouts"])) == (False, 2)


def test_a_mix_keeps_splits_and_takes_a_part(made: Path, assay, tmp_path: Path):
    assert assay("rank", "mix", made, "--out", tmp_path / "folder").status == 2
    write_lines(tmp_path / "same.jsonl", read_lines(made))
    small = assay("rank", "mix", made, tmp_path / "same.jsonl", "--size", "small", "--out", tmp_path / "small.jsonl")
    assert (small.status, len(read_lines(tmp_path / "small.jsonl"))) == (0, 24), small.err
    write_lines(tmp_path / "other.jsonl", ({**row, "split": "test"} for row in read_lines(made)))
    leaking = assay("rank", "mix", made, tmp_path / "other.jsonl", "--out", tmp_path / "x.jsonl")
    assert (leaking.status, "8 tasks would be in two splits" in leaking.err) == (2, True)
    rows = [{**row, "model": "ab"[n % 2]} for n, row in enumerate(read_lines(made))]
    command = ("rank", "mix", write_lines(tmp_path / "two.jsonl", rows), "--out", tmp_path / "out.jsonl")
    assert assay(*command, "--model", "a", "--train", "0.5", "--strip-examples").status == 0
    kept = read_lines(tmp_path / "out.jsonl")
    assert {row["model"] for row in kept} == {"a"}
    assert not any(">>>" in row["prompt"] for row in kept)
    trained, every = ({row["task_id"] for row in each if row["split"] == "train"} for each in (kept, rows))
    assert 0 < len(trained) < len(every)
    unknown = assay(*command, "--model", "c")
    assert (unknown.status, "no program of the model 'c'; known: a, b" in unknown.err) == (2, True)
    assert assay(*command, "--train", "0").status == 2


def test_a_mistake_is_refused_in_one_line(assay, refuses, folder: Path, tmp_path: Path):
    (tmp_path / "none.jsonl").write_text(json.dumps({"task_id": "t/99", "code": "x"}) + "\n")
    (tmp_path / "empty.jsonl").write_text("")
    data = ("rank", "data", folder / "tasks.jsonl", tmp_path / "none.jsonl", "--out", tmp_path / "s.jsonl")
    ran = assay(*data)
    assert (ran.status, "no program to learn from: none.jsonl:1" in ran.err) == (2, True)
    measure = ("rank", "eval", folder / "samples.jsonl", tmp_path / "empty.jsonl")
    refuses([
        ((*data, "--valid", "0.9", "--test", "0.2"), "fractions 0.9 and 0.2"),
        ((*measure[:3], tmp_path / "gone.jsonl"), "make it with assay exec"),
        (measure, "has an outcome"),
        ((*measure, "--ranker", "consensus", "--ranker", "consensus"), "named twice"),
    ])  # fmt: skip


@pytest.mark.usefixtures("made")
def test_an_evaluation_is_shown_beside_the_unranked(assay, folder: Path):
    arguments = (folder / "samples.jsonl", folder / "set.jsonl.outcomes.jsonl", "--tasks", folder / "tasks.jsonl")
    rankers = ("--ranker", "consensus", "--ranker", "examples", "--allow-execution")
    ran = assay("rank", "eval", *arguments, *rankers, "--k", "1,2", "--pool", "3", "--format", "json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    cells = {cell["ranker"]: cell for cell in found["rankers"]}
    assert list(cells) == ["unranked", "consensus", "examples"]
    assert cells["examples"]["values"]["pass@1"]["value"] > cells["unranked"]["values"]["pass@1"]["value"]
    for cell in cells.values():
        assert all(name.replace("exec", "pass") in cell["values"] for name in cell["values"])
    assert found["differences"][0]["a"] == "consensus"
    text = assay("rank", "eval", *arguments)
    assert "unranked" in text.out
    assert "gain" in text.out
    assert "0.500" in text.out
