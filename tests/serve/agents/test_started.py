from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.serve.agents.agents_table import agent_named
from assay.serve.agents.started import StartCommand, by_path, started


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return program(tmp_path / "tool" / "bin" / "assay")


def test_what_everybody_finds_is_started_by_its_name(own: Path, tmp_path: Path):
    for called in (str(own), "/lib/assay/cli/main.py"):
        assert started(called, str(own.parent / "python"), str(own.parent)) == StartCommand("assay")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "assay").symlink_to(own)
    assert started(str(own), sys.executable, str(tmp_path / "bin")) == StartCommand("assay")


def test_another_one_on_the_path_is_said(own: Path, tmp_path: Path):
    other = program(tmp_path / "other" / "assay")
    how = started(str(own), sys.executable, str(other.parent))
    assert (how.command, how.first) == (str(own), ())
    assert how.why == f"'assay' on PATH is another one, {other}"


def test_a_virtual_environment_is_not_always_active(own: Path):
    (own.parent.parent / "pyvenv.cfg").touch()
    how = started(str(own), sys.executable, str(own.parent))
    assert how.command == str(own)
    assert "virtual environment" in how.why


def test_without_a_path_the_program_is_named_whole(own: Path):
    how = started(str(own), sys.executable, "")
    assert (how.command, how.why) == (str(own), "'assay' is not on PATH")


def test_a_path_has_no_way_back_in_it(own: Path, tmp_path: Path):
    (tmp_path / "tool" / "lib").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "tool" / "lib")
    for crooked in ("tool/lib/../bin", "link/../bin"):
        assert started(str(tmp_path / crooked / "assay"), sys.executable, "").command == str(own)
    (own.parent.parent / "pyvenv.cfg").touch()
    assert started(str(own), sys.executable, str(tmp_path / "tool/lib/../bin")).command == str(own)
    desktop = by_path(agent_named("claude-desktop"), StartCommand("assay"), str(tmp_path / "tool/lib/../bin"))
    assert desktop.command == str(own)


def test_the_last_link_is_kept(own: Path, tmp_path: Path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "assay").symlink_to(own)
    assert started(str(tmp_path / "bin" / "assay"), sys.executable, "").command == str(tmp_path / "bin" / "assay")


def test_what_is_no_program_is_started_as_a_module(tmp_path: Path):
    how = started("/lib/assay/cli/main.py", str(tmp_path / "python"), "")
    assert (how.command, how.first) == (str(tmp_path / "python"), ("-P", "-m", "assay"))


def test_a_desktop_application_gets_a_path(own: Path):
    search = str(own.parent)
    assert by_path(agent_named("claude-desktop"), StartCommand("assay"), search).command == str(own)
    assert by_path(agent_named("cursor"), StartCommand("assay"), search) == StartCommand("assay")
