"""Hooks, skill and subagent: written beside what others wrote, taken back to the byte, quiet where they should be."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.serve.agents import edits, hooks
from assay.serve.agents.agents import StartCommand
from assay.store.index_location import default_location

EVENTS = {"SessionStart": "", "PreToolUse": "Grep|Bash"}
OTHERS = '{\n  "hooks": {\n    "PreToolUse": [\n      {"matcher": "Write", "hooks": []}, // theirs\n    ]\n  }\n}\n'


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("text", [None, "", "{}", OTHERS, '{"hooks": {"PreToolUse": [{"hooks": []}]}, "a": 1}'])
def test_hooks_are_added_once_and_taken_back_to_the_byte(tmp_path: Path, text: str | None):
    file = tmp_path / "settings.json"
    if text is not None:
        file.write_text(text)
    edits.write(hooks.add_hooks(file, EVENTS, hooks.hook_command(StartCommand("assay"))))
    assert "// theirs" in file.read_text() or text != OTHERS
    assert not hooks.add_hooks(file, EVENTS, hooks.hook_command(StartCommand("assay"))).real
    edits.write(hooks.add_hooks(file, EVENTS, hooks.hook_command(StartCommand("/opt/assay"))))
    assert file.read_text().count("/opt/assay hook") == len(EVENTS)
    edits.write(hooks.remove_hooks(file, [*EVENTS]))
    assert (file.read_text() if file.exists() else None) == text


def test_additions_of_others_stay(tmp_path: Path):
    file = tmp_path / "settings.json"
    edits.write(hooks.add_hooks(file, EVENTS, hooks.hook_command(StartCommand("assay"))))
    found = json.loads(file.read_text())
    found["hooks"]["PreToolUse"].append({"matcher": "Edit", "hooks": []})
    file.write_text(json.dumps(found))
    edits.write(hooks.remove_hooks(file, [*EVENTS]))
    assert json.loads(file.read_text()) == {"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": []}]}}


@pytest.mark.parametrize("text", ["{broken", '{"hooks": []}', '{"hooks": {"SessionStart": 1}}'])
def test_settings_that_hold_no_hooks_are_refused(tmp_path: Path, text: str):
    file = tmp_path / "settings.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"settings\.json"):
        hooks.add_hooks(file, EVENTS, "assay hook")
    assert not hooks.remove_hooks(file, [*EVENTS]).real


def test_a_skill_of_somebody_else_stays(tmp_path: Path):
    file = tmp_path / "skills" / "assay" / "SKILL.md"
    edits.write(hooks.add_guide(file, "skill"))
    file.write_text(file.read_text() + "more\n")
    assert not hooks.remove_guide(file).real
    other = tmp_path / "SKILL.md"
    other.write_text("theirs")
    change = hooks.add_guide(other, "skill")
    assert (change.real, change.notes) == (False, (f"{other} exists and was not written by `assay install`: it stays",))


def test_a_hook_without_the_program_is_quiet():
    ran = subprocess.run(hooks.hook_command(StartCommand("/no/assay")), shell=True, capture_output=True, check=True)
    assert (ran.stdout, ran.stderr) == (b"", b"")


def test_a_session_hears_once_and_only_where_there_is_an_index(tmp_path: Path):
    folder = tmp_path / "project" / "src"
    folder.mkdir(parents=True)
    start = {"hook_event_name": "SessionStart", "session_id": "1", "cwd": str(folder)}
    grep = {**start, "hook_event_name": "PreToolUse", "tool_name": "Grep", "tool_input": {"pattern": "x"}}
    assert hooks.hook_answer(start) == hooks.hook_answer(grep) == {}
    default_location(folder.parent).mkdir(parents=True)
    (default_location(folder.parent) / "manifest.json").touch()
    assert hooks.hook_answer(start)["hookSpecificOutput"]["additionalContext"] == hooks.START
    for command, is_search in (("make | grep error", False), ("cd src && rg -n retry", True)):
        shell = {**grep, "session_id": command, "tool_name": "Bash", "tool_input": {"command": command}}
        assert bool(hooks.hook_answer(shell)) is is_search
    assert [bool(hooks.hook_answer(grep)) for _ in range(2)] == [True, False]
    assert [hooks.hook_answer({**start, "cwd": cwd}) for cwd in (1, "/", "\0")] == [{}] * 3
