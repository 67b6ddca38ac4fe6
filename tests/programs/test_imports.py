from __future__ import annotations

from pathlib import Path

import pytest

from assay.cage.open_cage import open_sandbox
from assay.programs.modules.distributions import Known
from assay.programs.modules.imports import forkable, imported, needs
from assay.programs.tasks.task_file import TaskFile
from assay.types import Program, Script, Task


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import numpy", {"numpy"}),
        ("import a.b as c, d ,e", {"a", "d", "e"}),
        ("x = 1; import a\nfrom b.c import (d,\n e)\nimport f", {"a", "b", "f"}),
        ("try: import a\nexcept ImportError: import b", {"a", "b"}),
        ("def f():\n\tfrom a import *\n", {"a"}),
        ("__import__('a'), importlib.import_module( \"b\" )", {"a", "b"}),
        ("from . import a\nfrom .b import c\nfrom a", set()),
        ("import os, re\nfrom collections import deque\nfrom solution import f", set()),
        ("x = 'we import data from files'", set()),
        ("import 9a\nimport", set()),
        ("import a\r\nimport b # why\r\n", {"a", "b"}),
    ],
)
def test_imports_are_found_wherever_a_statement_may_stand(text, names):
    assert imported(text) == names


def test_a_long_hostile_text_takes_no_time():
    for piece in ("import ", "from a.", "\n ", "import a,", "; from a "):
        assert len(imported(piece * 200_000)) <= 2


def test_a_sandbox_says_what_it_has_not(tmp_path: Path):
    tmp_path.chmod(0o755)  # programs are nobody here, and have to read it
    (tmp_path / "yaml.py").write_text("x = 1\n")
    (tmp_path / "threads.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(9,)).start()\n"
    )
    (tmp_path / "fails.py").write_text("1 / 0\n")
    tasks = (Task("t", "", "f", tests=(Script("import oddthing\nimport madeupthing\nassert f()"),)),)
    sources = ("import yaml, one", "import fastjsonx", *["import two"] * 40)
    programs = [Program("t", source) for source in sources]
    names = Known(frozenset({"one", "yaml"}), {"two": "the-two", "oddthing": "odd"})
    with open_sandbox(workers=1, paths=[tmp_path]) as sandbox:
        found = needs(TaskFile(tasks), programs, sandbox, names)
        usable = forkable(["yaml", "threads", "fails", "nothing"], sandbox)
    assert found.missing == {"oddthing": "odd", "one": "one", "two": "the-two"}
    assert found.unknown == ("fastjsonx",)
    assert found.common == ("two",)
    assert usable == ("yaml",)
