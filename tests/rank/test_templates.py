"""Templates of prompts: what a model reads, which solved tasks are shown, and files that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.rank.requests import SamplingOptions
from assay.rank.sample import SamplingPlan, sample
from assay.rank.samplers import Completions, FewShots, load_template, render
from assay.values import Call, Stdin, Task

PROMPT = 'def add(a, b):\n    """Add two numbers {a} and {b}.\n\n    >>> add(1, 2)\n    3\n    """\n'
ADD = Task("add", PROMPT, "add", (Call((1, 2), 3),), tags={"starter_code": "def add(a, b):\n"})
READ = Task("read", "Print the sum.", "", (Stdin("1 2\n", "3\n"),))
SOLVED = [Task(f"s/{n}", f"Return {n}.", f"f{n}", reference=f"def f{n}():\n    return {n}\n") for n in range(5)]
SOLVED.append(Task("s/read", "Print one.", reference="print(1)"))


class Writer:
    """A model that says one thing, and keeps what it was asked."""

    name, whole = "m", False

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[Any] = []

    def sample(self, question):
        self.asked.append(question)
        return Completions((self.text,) * question.options.n)


def test_the_plain_one_is_the_task_itself_and_tells_a_chat_what_to_do():
    plain = load_template()
    assert render(plain, ADD) == PROMPT
    assert render(plain, ADD, chat=True).endswith(f"nothing else.\n\n{PROMPT}")
    unnamed = Task("add", "Add two numbers.", "add")
    assert render(plain, unnamed, chat=True).endswith("nothing else.\nName the function `add`.\n\nAdd two numbers.")
    assert plain.continues
    assert ">>>" not in render(plain, ADD, strip=True)


def test_apps_says_how_a_program_gets_its_input():
    apps = load_template("apps")
    assert render(apps, ADD) == (
        f"QUESTION:\n{PROMPT}\ndef add(a, b):\nUse call-based format: define `add`, which takes the inputs as "
        "arguments and returns the answer.\nANSWER:\n"
    )
    said = "Use standard input format: read the input from standard input and print the answer."
    assert render(apps, READ) == f"QUESTION:\nPrint the sum.\n{said}\nANSWER:\n"
    assert not apps.continues


def test_few_shots_show_solved_tasks_that_are_not_sampled():
    template = load_template("few-shot")
    shots = FewShots(SOLVED, 2, sampled=[SOLVED[0], Task("other", "Return   1.")])
    names = {each.id for task in (ADD, SOLVED[2], SOLVED[3]) for each in shots.of(task)}
    assert names <= {"s/2", "s/3", "s/4"}
    assert SOLVED[2] not in shots.of(SOLVED[2])
    assert shots.of(READ)[0].id == "s/read"
    text = render(template, ADD, shots=shots.text_of(ADD, template))
    assert (text.count("[TASK]"), text.count("[END]")) == (3, 2)
    assert text.endswith("[PROGRAM]\n")
    assert FewShots(SOLVED, 2, sampled=SOLVED).of(SOLVED[0])  # the file is the sampled one: all but the task itself
    with pytest.raises(InputError, match="6 tasks have a reference, and 7 are to be shown"):
        FewShots(SOLVED, 7)
    with pytest.raises(InputError, match="5 tasks are left to be shown before s/0"):
        FewShots(SOLVED, 6).of(SOLVED[0])


def test_what_a_template_ends_with_is_asked_for_and_cut_and_another_template_is_another_run(tmp_path: Path):
    plan = SamplingPlan(load_template("few-shot"), FewShots(SOLVED, 1))
    model = Writer("def add(a, b):\n    return a + b\n[END]\n[TASK]\nmore")
    sample([ADD], model, SamplingOptions(n=2), tmp_path / "s.jsonl", plan)
    assert model.asked[0].options.stop == ("[END]", "[TASK]")
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert [row["code"] for row in rows] == ["def add(a, b):\n    return a + b\n"] * 2
    out = tmp_path / "other.jsonl"
    sample([ADD], Writer("pass"), SamplingOptions(n=1), out)
    for plan, named in (
        (SamplingPlan(load_template("apps")), "stop, template"),
        (SamplingPlan(strip_examples=True), "strip_examples"),
    ):
        with pytest.raises(InputError, match=f"another run: {named} differ"):
            sample([ADD], Writer("pass"), SamplingOptions(n=2), out, plan)


def test_a_file_that_is_wrong_says_where_and_shots_and_templates_have_to_fit(tmp_path: Path):
    file = tmp_path / "mine.md"
    for text, said in (
        ("{promt}", r"has the field \{promt}; did you mean 'prompt'"),
        ("Solve it.", r"<!-- prompt --> has no field \{prompt}"),
        ("<!-- shots -->\n{prompt}\n", "unknown part <!-- shots -->; did you mean 'shot'"),
        ("words\n<!-- prompt -->\n{prompt}\n", "wanted <!-- prompt --> at its beginning"),
        ("{shots}{prompt}", "no <!-- shot --> says how one is shown"),
        ("<!-- prompt -->\n{prompt}\n<!-- shot -->\n{prompt}\n", r"<!-- shot --> has no field \{program}"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=said):
            load_template(str(file))
    with pytest.raises(InputError, match="give --shots FILE"):
        SamplingPlan(load_template("few-shot"))
    with pytest.raises(InputError, match=r"has no \{shots\}"):
        SamplingPlan(load_template(), FewShots(SOLVED, 1))


def test_a_file_of_ones_own(tmp_path: Path):
    file = tmp_path / "mine.md"
    file.write_text(
        "<!-- prompt -->\nTask: {prompt}\n{examples}\n{tests}\n# {entry_point} {x y}\n<!-- stop -->\n\\n#\n"
    )
    template = load_template(str(file))
    assert template.stop == ("\n#",)
    (tmp_path / "plain").write_text("{prompt}")
    assert str(load_template("plain")) == "plain"
    assert str(load_template(str(tmp_path / "plain"))).startswith("plain "), "its hash tells it from the built-in one"
    text = render(template, ADD)
    assert text.endswith("assert add(1, 2) == 3\nassert add(1, 2) == 3\n# add {x y}")
    assert render(template, READ).endswith("Input:\n1 2\nOutput:\n3\n#  {x y}")
    with pytest.raises(InputError, match="no such file, nor a template; did you mean 'few-shot'"):
        load_template("few-shots")


def test_options_that_would_change_nothing_are_refused(assay, tmp_path: Path):
    pytest.importorskip("httpx", reason="the api extra is not installed")
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps({"id": "t", "prompt": "def f():\n", "entry_point": "f", "tests": []}) + "\n")
    asked = ["rank", "sample", tasks, "--out", tmp_path / "s.jsonl", "--model"]
    for given, said in (
        (["vllm:m", "--complete", "--template", "apps", "--stop", "none"], "--stop none: no rule ends the answers of"),
        (["vllm:m", "--stop", "evalplus"], "--stop evalplus: no rule ends the answers of"),
        (["vllm:m", "--shot-count", "2"], "give --shots FILE, or leave it out"),
    ):
        ran = assay(*asked, *given)
        assert (ran.status, said in ran.err) == (2, True), ran.err
