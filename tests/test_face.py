"""The public face: what `import assay` gives, what it costs, and that its examples are true."""

from __future__ import annotations

import ast
import doctest
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import assay

FACE = Path(assay.__file__)
COMMAND = [sys.executable, "-c"]


def python(source: str, **environment: str) -> str:
    kept = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([*COMMAND, source], capture_output=True, text=True, check=True, env={**kept, **environment})
    return done.stdout.strip()


def test_what_a_checker_sees_is_what_there_is():
    """Compare the names that are imported for type checkers with those that are loaded by name."""
    tree = ast.parse(FACE.read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    declared = {alias.name: node.module for node in checked.body for alias in node.names}
    assert sorted(declared) == assay.__all__ == sorted(assay.__all__)
    for name, module in declared.items():
        assert getattr(assay, name) is getattr(import_module(module), name)
    assert set(assay.__all__) <= set(dir(assay))
    with pytest.raises(AttributeError, match="module 'assay' has no attribute 'serch'"):
        assay.serch  # noqa: B018


def test_the_face_loads_what_is_asked_for_and_no_room_takes_the_place_of_a_function():
    asked = "import sys; from assay import Query, Hit, InputError; print(*sys.modules)"
    rooms = "import assay.search.retrievers, assay.rank.rankers, assay.judge.pairs, assay"
    called = "print([callable(each) for each in (assay.search, assay.rank, assay.judge)], assay.search.__name__)"
    loaded, callables = python(f"{asked}; {rooms}; {called}").splitlines()
    names = loaded.split()
    assert {each.split(".")[1] for each in names if each.startswith("assay.")} <= {"values", "errors", "faults"}
    assert ("numpy" in names, callables) == (False, "[True, True, True] search")
    assert python("import assay; assay.search; import assay.search.retrievers; print(callable(assay.search))") == "True"


def test_numpy_uses_one_thread_unless_the_user_says_otherwise():
    source = "import os, assay; print(os.environ['OPENBLAS_NUM_THREADS'])"
    assert python(source, OPENBLAS_NUM_THREADS="3") == "3"
    threads = "assay.search('send mail', '.'); print(len(os.listdir('/proc/self/task')))"
    if sys.platform == "linux":
        assert python(f"{source}; os.chdir({str(FACE.parent / 'io')!r}); {threads}").split() == ["1", "1"]


ERRORS = [name for name in assay.__all__ if getattr(assay, name).__module__ == "assay.errors"]
EXAMPLES = ["AssayError", *(name for name in assay.__all__ if name not in ERRORS)]


def test_each_name_has_an_example_that_is_true(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    wrong = []
    for name in ["", *EXAMPLES]:
        value = getattr(assay, name) if name else assay
        names = vars(import_module(value.__module__)) if name else {}
        found = doctest.DocTestFinder(recurse=isinstance(value, type)).find(value, name or "assay", globs=names)
        wrong += [] if any(each.examples for each in found) else [f"{name} has no example"]
        for each in found:
            doctest.DocTestRunner(verbose=False).run(each, out=wrong.append)
    assert not wrong, "".join(wrong)


def test_texts_stand_for_values_and_errors_are_the_packages_own(project: Path):
    query = assay.Query("mine", "where is mail sent", "code")
    assert assay.search(query, project) == assay.search("where is mail sent", project)
    assert len(assay.search(["send_mail", "matchRoute"], project, limit=2)) == 2
    both = assay.search("send_mail", [project / "mail", project / "web"], limit=3)
    assert (both[0].root, both[0].path) == (f"{project}/mail", "send.py")
    for wrong in (lambda: assay.search("?", project), lambda: assay.search("mail", project / "nowhere")):
        with pytest.raises(assay.InputError):
            wrong()
    for said, refused in (
        (r"did you mean 'search\.limit'", lambda: assay.search("mail", project, settings={"limit": 3})),
        ("is a program of one task", lambda: assay.execute([assay.Task("1", "a"), assay.Task("2", "b")], "x = 1")),
        ("which is not among the tasks", lambda: assay.rank("Add.", [assay.Program("other", "x = 1")])),
        ("unknown measure", lambda: assay.evaluate({}, {"1": ["a.py"]}, ["Hits@5"])),
        ("nothing was judged", lambda: assay.evaluate({}, {})),
    ):
        with pytest.raises(assay.InputError, match=said):
            refused()


def test_an_open_index_sees_a_change_when_it_is_refreshed(project: Path):
    index = assay.Index(project)
    (project / "late.py").write_text("def parse_header(line):\n    return line\n")
    assert "late.py" not in {hit.path for hit in index.search("parse_header")}
    assert index.refresh().changed.added == ("late.py",)
    assert index.search("parse_header")[0].path == "late.py"
    assert index.related(project / "mail/send.py", 6)


def test_examples_of_a_prompt_are_its_tests():
    task = assay.Task("add", "Add two numbers.\n>>> add(1, 2)\n3\n", "add")
    faults = [outcome.fault for outcome in assay.execute(task, ["def add(a, b): return a + b", "def add(a): return a"])]
    assert faults[0] == assay.Fault.CORRECT
    assert faults[1] != assay.Fault.CORRECT
    (answer,) = assay.execute(task, "Sure:\n```python\ndef add(a, b):\n    return a + b\n```\n")
    assert answer.fault == assay.Fault.CORRECT, "an answer of a chat is the program in it"


def test_a_run_is_measured_as_the_bench_does():
    judgments = [assay.Judgment("1", "a.py:3-9", 1), assay.Judgment("2", "b.py:1-2", 0), assay.Judgment("2", "c.py", 2)]
    figures = assay.evaluate({"1": ["a.py:9-12"], "2": ["b.py:1", "c.py:4"]}, judgments, ["Hit@1", "MRR"])
    assert {name: each.value for name, each in figures.items()} == {"Hit@1": 0.5, "MRR": 0.75}
    assert set(assay.evaluate({}, judgments)) == {"Hit@5", "MRR", "nDCG@10"}
