"""The table of agents, how the program is started by them, and where their settings lie."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.serve.agents import instructions
from assay.serve.agents.agents import (
    AGENTS,
    NAME,
    OTHER,
    Agent,
    SettingsPlaces,
    StartCommand,
    agent_named,
    by_path,
    entry_of,
    ours,
    start_command,
)
from assay.serve.agents.edits import entry_in, installing, undoing, write
from assay.serve.agents.instructions import (
    BEGIN,
    END,
    LINES,
    add_lines,
    has_lines,
    instructions_of,
    remove_lines,
)

HOW = StartCommand("/opt/assay bin/assay")
SERVING = Path(__file__).parents[3] / "docs" / "serving.md"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SettingsPlaces:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return SettingsPlaces("linux", tmp_path / "home", {})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    return folder


def others(agent: Agent, file: Path) -> str:
    """Return settings in which another server stands already, as people write them."""
    if file.suffix == ".toml":
        return f'# mine\nmodel = "x"\n\n[{agent.keys[0]}.other]\ncommand = "x" # why\n\n[z]\na = [1, 2]'
    inside = '{\n    // mine\n    "other": {"command": "x"}, // why\n  },\n  "z": [1, 2]\n}'
    return f'{{\n  "a": "é",\n  {json.dumps(agent.keys[0])}: {inside}'


def held(agent: Agent, file: Path) -> dict[str, Any]:
    """Return the servers of a file."""
    text = file.read_text(encoding="utf-8")
    return (tomllib.loads(text) if file.suffix == ".toml" else json.loads(text))[agent.keys[0]]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_settings_of_an_agent_are_made_changed_and_restored(agent: Agent, machine: SettingsPlaces, project: Path):
    pytest.importorskip("tomlkit")
    keys = [*agent.keys, NAME]
    for scope, place in agent.places().items():
        file = machine.file(place, project)
        assert file.is_relative_to(project if scope == "project" else machine.home)
        entry = entry_of(agent, place, HOW, project, fixed=False)
        change = installing(file, keys, entry)
        assert (change.before, change.real) == (None, True)
        write(change)
        assert held(agent, file) == {NAME: entry}
        assert not installing(file, keys, entry).real, "a second time changes nothing"
        write(undoing(file, keys))
        assert not [*project.rglob("*"), *machine.home.rglob("*")]
        for end in ("\n", "\r\n"):
            before = others(agent, file).replace("\n", end).encode()
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(before)
            write(installing(file, keys, entry_of(agent, place, HOW, project, fixed=True)))
            assert ours(entry_in(file, keys))
            after = file.read_bytes()
            assert all(line in after.splitlines() for line in before.splitlines() if b'"x"' in line or b"mine" in line)
            assert after.count(b"\n") == after.count(b"\r\n") or end == "\n"
            write(undoing(file, keys))
            assert file.read_bytes() == before
        file.unlink()
        for folder in sorted((each for each in [*project.rglob("*"), *machine.home.rglob("*")]), reverse=True):
            folder.rmdir()


def test_a_server_gets_its_project_unless_it_starts_there(project: Path):
    for agent, scope, place in ((one, *each) for one in AGENTS for each in one.places().items()):
        words = entry_of(agent, place, HOW, project, fixed=False)
        command = words["command"] if isinstance(words["command"], list) else [words["command"], *words["args"]]
        told = {"": [], "/": [str(project)]}.get(place.starts, [place.starts])
        assert command == [HOW.command, "mcp", *told], agent.name
        fixed = entry_of(agent, place, HOW, project, fixed=True)
        named = str(project) in json.dumps(fixed, ensure_ascii=False)
        assert named == (scope == "user" or told == [str(project)]), agent.name
    desktop = agent_named("claude-desktop")
    for everything in (Path.home(), Path("/")):
        with pytest.raises(InputError, match="would search all of"):
            entry_of(desktop, desktop.user, HOW, everything, fixed=False)


def test_names_and_files_of_agents_are_unique():
    names = [agent.name for agent in AGENTS]
    assert len(set(names)) == len(names) >= 15
    every = [file for agent in AGENTS for place in agent.places().values() for file in place.files]
    assert len(set(every)) == len(every)
    with pytest.raises(InputError, match="did you mean 'cursor'"):
        agent_named("curser")
    assert OTHER.shape("assay", ["mcp"]) == {"command": "assay", "args": ["mcp"]}
    assert set(names) <= set(re.findall(r"`([a-z-]+)`", SERVING.read_text(encoding="utf-8"))), "the docs"


PLATFORMS = (
    ("linux", "vscode", "/h/.config/Code/User/mcp.json"),
    ("darwin", "vscode", "/h/Library/Application Support/Code/User/mcp.json"),
    ("darwin", "zed", "/h/.config/zed/settings.json"),
    ("darwin", "claude-desktop", "/h/Library/Application Support/Claude/claude_desktop_config.json"),
    ("darwin", "opencode", "/h/.config/opencode/opencode.json"),
    ("linux", "codex", "/elsewhere/config.toml"),
)


def test_each_platform_has_its_places(tmp_path: Path):
    for platform, name, path in PLATFORMS:
        places = SettingsPlaces(platform, Path("/h"), {"CODEX_HOME": "/elsewhere"})
        assert places.file(agent_named(name).user, tmp_path) == Path(path)


def test_settings_and_agents_are_found_where_they_are(machine: SettingsPlaces, project: Path, tmp_path: Path):
    moved = SettingsPlaces("linux", tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "x"), "PATH": str(tmp_path / "bin")})
    assert moved.path("{config}/a") == moved.path("{app}/a") == tmp_path / "x" / "a"
    (project / "opencode.jsonc").write_text("{}")
    assert machine.file(agent_named("opencode").project, project).name == "opencode.jsonc", "the one that is there"
    assert not any(map(moved.has, AGENTS))
    (tmp_path / ".kiro").mkdir()
    program(tmp_path / "bin" / "codex")
    assert [agent.name for agent in AGENTS if moved.has(agent)] == ["codex", "kiro"]


OURS = (
    {"command": "assay", "args": ["mcp"]},
    {"command": "/opt/tools/assay", "args": ["mcp", "x"]},
    {"command": "/usr/bin/python3", "args": ["-m", "assay.cli.main", "mcp"]},
    {"command": ["/a/assay", "mcp"], "type": "local"},
)
OF_OTHERS = (
    {"command": "assay", "args": ["serve"]},
    {"command": "npx", "args": ["assay-metals", "mcp"]},
    {"url": "http://127.0.0.1"},
    {"command": None, "args": [None, 3]},
    "assay mcp",
)


def test_an_entry_of_ours_is_recognized():
    assert [each for each in OURS if not ours(each)] == [each for each in OF_OTHERS if ours(each)] == []


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return program(tmp_path / "tool" / "bin" / "assay")


def test_a_program_on_path_is_started_by_name_others_by_path(own: Path, tmp_path: Path):
    for called in (str(own), "/lib/assay/cli/main.py"):
        assert start_command(called, str(own.parent / "python"), str(own.parent)) == StartCommand("assay")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "assay").symlink_to(own)
    assert start_command(str(own), sys.executable, str(tmp_path / "bin")) == StartCommand("assay")
    assert start_command(str(tmp_path / "bin" / "assay"), sys.executable, "").command == str(tmp_path / "bin" / "assay")
    other = program(tmp_path / "other" / "assay")
    how = start_command(str(own), sys.executable, str(other.parent))
    assert (how.command, how.first, how.why) == (str(own), (), f"'assay' on PATH is another one, {other}")
    how = start_command(str(own), sys.executable, "")
    assert (how.command, how.why) == (str(own), "'assay' is not on PATH")
    how = start_command("/lib/assay/cli/main.py", str(tmp_path / "python"), "")
    assert (how.command, how.first) == (str(tmp_path / "python"), ("-P", "-m", "assay"))
    search = str(own.parent)
    assert by_path(agent_named("claude-desktop"), StartCommand("assay"), search).command == str(own)
    assert by_path(agent_named("cursor"), StartCommand("assay"), search) == StartCommand("assay")


def test_a_path_is_normalized_and_a_virtual_environment_named(own: Path, tmp_path: Path):
    (tmp_path / "tool" / "lib").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "tool" / "lib")
    for crooked in ("tool/lib/../bin", "link/../bin"):
        assert start_command(str(tmp_path / crooked / "assay"), sys.executable, "").command == str(own)
    (own.parent.parent / "pyvenv.cfg").touch()
    crooked = str(tmp_path / "tool/lib/../bin")
    assert start_command(str(own), sys.executable, crooked).command == str(own)
    assert by_path(agent_named("claude-desktop"), StartCommand("assay"), crooked).command == str(own)
    how = start_command(str(own), sys.executable, str(own.parent))
    assert (how.command, "virtual environment" in how.why) == (str(own), True)


@given(text=st.text(st.sampled_from("a#\n\r\ufeffé"), max_size=12).map(lambda text: text.encode()))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_in_a_file_of_instructions_stays(text: bytes, tmp_path: Path):
    file = tmp_path / "AGENTS.md"
    file.write_bytes(text)
    write(add_lines(file, "head\n"))
    assert file.read_bytes().startswith(text)
    assert not add_lines(file, "head\n").real, "a second time changes nothing"
    write(remove_lines(file, "head\n"))
    assert file.read_bytes() == text


def test_each_agent_has_its_file_of_instructions(machine: SettingsPlaces, project: Path):
    for agent, scope in ((each, scope) for each in AGENTS for scope in each.instructions):
        assert scope in agent.places()
        file, head = instructions_of(agent, scope, machine, project)
        assert file.is_relative_to(project if scope == "project" else machine.home)
        write(add_lines(file, head))
        assert file.read_text() == f"{head}{head and chr(10)}{BEGIN}\n" + "\n".join(LINES) + f"\n{END}\n"
        write(remove_lines(file, head))
        assert not [*project.iterdir(), *machine.home.rglob("*")]


def test_the_file_that_an_agent_reads_is_written(machine: SettingsPlaces, project: Path):
    def chosen(name: str) -> str:
        return str(instructions_of(agent_named(name), "project", machine, project)[0].relative_to(project))

    assert (chosen("claude-code"), chosen("zed"), chosen("warp")) == ("CLAUDE.md", "AGENTS.md", "AGENTS.md")
    (project / "AGENTS.md").write_text("# Ours\n")
    assert chosen("claude-code") == "AGENTS.md", "a new CLAUDE.md would hide it"
    (project / ".rules").touch()
    assert chosen("zed") == ".rules", "the first that exists is the one that is read"
    first = project / chosen("claude-code")
    first.write_text(add_lines(first, "").after)
    (project / "CLAUDE.md").write_text("# Later\n")
    assert chosen("claude-code") == "AGENTS.md", "lines are taken back from where they were written"
    first.write_text(remove_lines(first, "").after)
    assert chosen("claude-code") == "CLAUDE.md"


def test_instructions_are_updated_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "AGENTS.md"
    file.write_text("mine")
    write(add_lines(file, ""))
    monkeypatch.setattr(instructions, "LINES", ("- newer",))
    write(add_lines(file, ""))
    assert file.read_text() == f"mine\n\n{BEGIN}\n- newer\n{END}\n"
    write(remove_lines(file, ""))
    assert file.read_text() == "mine"
    file.write_text("mine\n")
    write(add_lines(file, ""))
    file.write_text("above\n\n" + file.read_text() + "below\n")
    change = remove_lines(file, "")
    write(change)
    assert (file.read_text(), has_lines(file)) == ("above\n\nmine\nbelow\n", False)
    assert "has other changes since" in change.notes[0]
    file.write_text(f"{BEGIN}\n")
    with pytest.raises(InputError, match="without the other"):
        add_lines(file, "")
