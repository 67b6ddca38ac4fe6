"""What programs import: found in their text, brought by known distributions, part of what decides about a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from assay.bench.recorded_ranker import RecordedRanker
from assay.cage.limits import Limits
from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.programs.modules.imports import (
    Distributions,
    _otherwise_named,
    forkable,
    importable,
    imported,
    needs,
    plain,
    read_distributions,
)
from assay.programs.modules.install import install_missing_modules
from assay.programs.run_samples import ready_tasks, run_samples
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.runs.record import stamp_of, version_changes
from assay.values import Call, Program, Ranked, Script, Task

TASK = Task("t", "", "f", tests=(Call((), 42),))
SAMPLES = Samples((Program("t", "import tinything\ndef f(): return tinything.x", "t#0"),))


def test_imports_are_found_wherever_a_statement_may_stand():
    for text, names in (
        ("import numpy", {"numpy"}), ("import a.b as c, d ,e", {"a", "d", "e"}),
        ("x = 1; import a\nfrom b.c import (d,\n e)\nimport f", {"a", "b", "f"}),
        ("try: import a\nexcept ImportError: import b", {"a", "b"}), ("def f():\n\tfrom a import *\n", {"a"}),
        ("__import__('a'), importlib.import_module( \"b\" )", {"a", "b"}),
        ("from . import a\nfrom .b import c\nfrom a", set()),
        ("import os, re\nfrom collections import deque\nfrom solution import f", set()),
        ("x = 'we import data from files'", set()), ("import 9a\nimport", set()),
        ("import a\r\nimport b # why\r\n", {"a", "b"}),
    ):  # fmt: skip
        assert imported(text) == names, text
    for piece in ("import ", "from a.", "\n ", "import a,", "; from a "):
        assert len(imported(piece * 200_000)) <= 2, "and a hostile text comes to an end"


def test_a_module_is_brought_by_what_is_known_to_bring_it_and_what_is_not_on_the_list_is_not_allowed():
    names = read_distributions()
    for module, distribution in (
        *(("cv2", "opencv-python-headless"), ("sklearn", "scikit-learn"), ("PIL", "pillow"), ("yaml", "pyyaml")),
        *(("numpy", "numpy"), ("more_itertools", "more-itertools"), ("torch", "torch")),
        *(("fastjsonx", ""), ("requets", "")),
    ):
        assert names.distribution_of(module) == distribution
    assert names.allows("NumPy")
    assert not names.allows("torch"), "known, and too large"
    assert not names.allows("fastjsonx")
    assert plain("Ruamel.YAML__x") == "ruamel-yaml-x", "as the index compares them"
    assert all(plain(name) == name for name in (*names.allowed, *_otherwise_named().values()))


def test_a_file_adds_names_and_modules_and_a_line_that_is_no_name_is_told_with_its_place(tmp_path: Path):
    file = tmp_path / "allow.txt"
    file.write_text("# ours\nOur.Tools\n\nthing = the_thing  # named otherwise\ntorch\n")
    names = read_distributions(file)
    assert (names.distribution_of("our_tools"), names.distribution_of("thing")) == ("our-tools", "the-thing")
    assert all(map(names.allows, ("our-tools", "the-thing", "torch", "numpy")))
    for line in ("-r other.txt", "thing @ file:///thing", "--index-url x", "a==1", "a b", "= b"):
        file.write_text(f"fine\n{line}\n")
        with pytest.raises(InputError, match=r"allow.txt:2: .* is not a name; write DISTRIBUTION"):
            read_distributions(file)
    with pytest.raises(InputError, match="no such file or folder"):
        read_distributions(tmp_path / "none.txt")


def test_a_sandbox_says_what_it_has_and_what_it_has_not(tmp_path: Path):
    tmp_path.chmod(0o755)  # programs are nobody here, and have to read it
    threads = "import threading, time\nthreading.Thread(target=time.sleep, args=(9,)).start()\n"
    for name, text in (("yaml", "x = 1\n"), ("threads", threads), ("fails", "1 / 0\n")):
        (tmp_path / f"{name}.py").write_text(text)
    for name in ("Some_Thing-1.0.dist-info", "old-2.1-py3.11.egg-info", "bare.egg-info", "nothing.txt"):
        (tmp_path / name).mkdir()
    (tmp_path / "after" / "some_thing-9.0.dist-info").mkdir(parents=True)
    tasks = (Task("t", "", "f", tests=(Script("import oddthing\nimport madeupthing\nassert f()"),)),)
    sources = ("import yaml, one", "import fastjsonx", *["import two"] * 40)
    names = Distributions(frozenset({"one", "yaml"}), {"two": "the-two", "oddthing": "odd"})
    with open_sandbox(workers=1, paths=[tmp_path, tmp_path / "after"]) as sandbox:
        found = needs(TaskFile(tasks), [Program("t", source) for source in sources], sandbox, names)
        usable = forkable(["yaml", "threads", "fails", "nothing"], sandbox)
        there = importable(sandbox)
    assert found.missing == {"oddthing": "odd", "one": "one", "two": "the-two"}
    assert (found.unknown, found.common, usable) == (("fastjsonx",), ("two",), ("yaml",))
    assert {"some-thing==1.0", "old==2.1", "bare=="} <= set(there)
    assert any(each.startswith("cpython==3.") for each in there)


def installed(folder: Path, name: str, version: str) -> None:
    """Put a distribution where pip would."""
    folder.mkdir(mode=0o755, exist_ok=True)
    (folder / f"{name}.py").write_text("x = 42\n")
    (folder / f"{name}-{version}.dist-info").mkdir()


def ran(place: Path, out: Path) -> list[str]:
    """Run the samples where programs import from a folder; return how each fared."""
    reading = TaskFile((TASK,))
    opened = partial(open_sandbox, workers=1, paths=[place])
    with install_missing_modules(opened, reading, SAMPLES, print) as room:
        rows = run_samples(reading, ready_tasks(reading, room), SAMPLES, room, out, Limits())
    return [str(row.outcome.fault) for row in rows]


def test_a_run_is_not_continued_where_modules_came_went_or_changed_and_these_are_named(tmp_path: Path):
    before, now = ("a==1", "b==1", "c==1"), ("b==1", "c==2", "d==3")
    assert version_changes(before, now) == "c 1 is now 2, d 3 was not there, a 1 is gone"
    assert version_changes((), [f"x{number}==1" for number in range(9)]).endswith("x4 1 was not there, and 4 more")
    tmp_path.chmod(0o755)
    out, place = tmp_path / "outcomes.jsonl", tmp_path / "site"
    installed(place, "other", "1.0")
    for _ in range(2):
        assert ran(place, out) == ["other execution error"]
    installed(place, "tinything", "2.0")
    with pytest.raises(InputError, match=r"importable \(tinything 2\.0 was not there\) differ; give another --out"):
        ran(place, out)
    assert ran(place, tmp_path / "other.jsonl") == ["correct"]


class Counting:
    """A ranker that runs programs, as far as its name says."""

    name, asked = "examples", 0

    def rank(self, task, programs):  # noqa: ARG002
        self.asked += 1
        return [Ranked(program, 1.0) for program in programs]


def orders_asked(ranker: Counting, file: Path, before: Sequence[Callable[[], tuple[str, ...]]]) -> int:
    """Rank after each change; return how often the ranker was asked and not the file."""
    ranker.asked = 0
    for change in before:
        with RecordedRanker(ranker, file, change()) as recorded:
            recorded.rank(TASK, SAMPLES.programs)
    return ranker.asked


def test_an_order_is_made_again_where_modules_or_a_file_that_any_part_of_its_spec_names_changed(tmp_path: Path):
    ranker = Counting()
    modules = [("a==1",), ("a==1",), ("a==2",)]
    assert orders_asked(ranker, tmp_path / "orders.jsonl", [lambda each=each: each for each in modules]) == 2
    specs = ["neural:{}", "neural:{}?dtype=bf16", "neural:{}+consensus", "consensus+neural:{}?device=cpu"]
    specs += ["logprob+neural:{}", "logprob:hf:{}"]
    for number, spec in enumerate(specs):
        weights = tmp_path / str(number) / "weights"
        weights.parent.mkdir()
        ranker.name = spec.format(weights.parent)

        def write(text: str, weights: Path = weights) -> tuple[str, ...]:
            if not weights.exists() or weights.read_text() != text:
                weights.write_text(text)
            return ()

        changes = [partial(write, text) for text in ("1", "1", "12")]
        assert orders_asked(ranker, tmp_path / f"{number}.jsonl", changes) == 2, spec


def test_weights_and_prompts_of_the_package_are_part_of_its_stamp(tmp_path: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "weights.json").write_text("1")
    before = stamp_of(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("2")
    assert stamp_of(tmp_path) == before
    (tmp_path / "data" / "prompt.md").write_text("3")
    assert stamp_of(tmp_path) != before
