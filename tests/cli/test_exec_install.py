"""`assay exec --install` with wheels in a folder: no network."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "programs"))

from wheels import wheel

pytestmark = pytest.mark.skipif(
    not shutil.which("uv") and not any(map(importlib.util.find_spec, ("uv", "pip"))), reason="no installer here"
)
TASK = {"id": "t", "entry_point": "f", "tests": [{"args": [], "expected": 42}]}
SOURCES = (
    "import tinything\ndef f(): return tinything.x",
    "import nosuchthing\ndef f(): return 42",
    "def f(): return 42",
)


@pytest.fixture
def execute(assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    wheel(tmp_path / "index", "tiny_distribution", {"tinything.py": "x = 42\n"})
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, str(tmp_path / "index"))
    for name in ("UV_OFFLINE", "PIP_NO_INDEX"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "allow.txt").write_text("tinything = tiny.distribution\n")
    (tmp_path / "tasks.jsonl").write_text(json.dumps(TASK))
    rows = [json.dumps({"task_id": "t", "code": source}) for source in SOURCES]
    (tmp_path / "samples.jsonl").write_text("\n".join(rows))
    files = (tmp_path / "tasks.jsonl", tmp_path / "samples.jsonl")
    return lambda *more: assay("exec", *files, "--workers", "1", "--out", tmp_path / "out.jsonl", "--k", "1", *more)


def faults(tmp_path: Path) -> list:
    return [json.loads(line)["fault"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]


def test_what_is_allowed_is_installed_and_named_and_the_rest_is_told(execute, tmp_path: Path):
    ran = execute("--install", "--allow", tmp_path / "allow.txt")
    assert ran.status == 0, ran.err
    assert faults(tmp_path) == ["correct", "other execution error", "correct"]
    assert "1 module of no known distribution, not installed: nosuchthing" in ran.err
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert manifest["settings"]["installed"] == ["tiny-distribution==1.0"]
    before = (tmp_path / "out.jsonl").read_bytes()
    shutil.rmtree(tmp_path / "index")
    assert execute("--install", "--allow", tmp_path / "allow.txt").status == 0
    assert (tmp_path / "out.jsonl").read_bytes() == before
    ran = execute()
    assert ran.status == 2
    assert "installed differ; give another --out" in ran.err


def test_91_a_name_that_is_not_on_the_list_is_never_installed(execute, tmp_path: Path):
    ran = execute("--install")
    assert faults(tmp_path) == ["other execution error", "other execution error", "correct"]
    assert "2 modules of no known distribution, not installed: nosuchthing, tinything; --allow FILE" in ran.err
    assert not (tmp_path / "cache" / "assay" / "overlays").exists()


def test_without_install_a_known_module_is_named_with_what_brings_it(execute, tmp_path: Path):
    sources = ("import wx\ndef f(): return 42", "def f(): raise ModuleNotFoundError('x', name='wx')")
    rows = [json.dumps({"task_id": "t", "code": source}) for source in sources]
    (tmp_path / "samples.jsonl").write_text("\n".join(rows))
    ran = execute()
    assert faults(tmp_path) == ["other execution error", "other execution error"]
    assert "no module wx: wxpython brings it, and --install installs what is allowed (1 program)" in ran.out
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["missing"] == "wx"


def test_what_cannot_be_installed_is_one_line_and_leaves_with_2(execute, tmp_path: Path):
    shutil.rmtree(tmp_path / "index")
    ran = execute("--install", "--allow", tmp_path / "allow.txt")
    assert ran.status == 2
    assert "tiny-distribution cannot be installed: " in ran.err
    assert not (tmp_path / "out.jsonl").exists()
    ran = execute("--allow", tmp_path / "allow.txt")
    assert ran.status == 2
    assert "give both" in ran.err


def test_what_cannot_be_had_is_left_out_and_the_rest_is_installed(execute, tmp_path: Path):
    (tmp_path / "allow.txt").write_text("tinything = tiny.distribution\nnosuchthing\n")
    ran = execute("--install", "--allow", tmp_path / "allow.txt")
    assert ran.status == 0, ran.err
    assert faults(tmp_path) == ["correct", "other execution error", "correct"]
    assert "nosuchthing: nosuchthing cannot be installed: " in ran.err
    assert "no module nosuchthing: nosuchthing brings it" in ran.out
