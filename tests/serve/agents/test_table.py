"""Each row of the table: a file of real settings, the entry in it, and the same file again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.serve.agents.agent import NAME, Agent, SettingsPlaces, ours
from assay.serve.agents.agents_table import AGENTS, OTHER, agent_named
from assay.serve.agents.configured import entry_in, installing, undoing, write
from assay.serve.agents.started import StartCommand, entry_of

HOW = StartCommand("/opt/assay bin/assay")
PLACES = [pytest.param(agent, scope, id=f"{agent.name}-{scope}") for agent in AGENTS for scope in agent.places()]
LINES = {"lf": "\n", "crlf": "\r\n"}


@pytest.fixture
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
    found = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    return found[agent.keys[0]]


@pytest.mark.parametrize(("agent", "scope"), PLACES)
def test_a_file_is_made_and_goes_again(agent: Agent, scope: str, machine: SettingsPlaces, project: Path):
    place = agent.places()[scope]
    file = machine.file(place, project)
    if file.suffix == ".toml":
        pytest.importorskip("tomlkit")
    entry = entry_of(agent, place, HOW, project, fixed=False)
    change = installing(file, [*agent.keys, NAME], entry)
    assert (change.before, change.real) == (None, True)
    write(change)
    assert held(agent, file) == {NAME: entry}
    assert not installing(file, [*agent.keys, NAME], entry).real, "a second time changes nothing"
    assert file.is_relative_to(project if scope == "project" else machine.home)
    write(undoing(file, [*agent.keys, NAME]))
    assert not [*project.rglob("*"), *machine.home.rglob("*")]


@pytest.mark.parametrize("lines", LINES)
@pytest.mark.parametrize(("agent", "scope"), PLACES)
def test_a_file_is_the_same_afterwards(agent: Agent, scope: str, lines: str, machine: SettingsPlaces, project: Path):
    place = agent.places()[scope]
    file = machine.file(place, project)
    if file.suffix == ".toml":
        pytest.importorskip("tomlkit")
    before = others(agent, file).replace("\n", LINES[lines]).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before)
    keys = [*agent.keys, NAME]
    write(installing(file, keys, entry_of(agent, place, HOW, project, fixed=True)))
    assert ours(entry_in(file, keys))
    after = file.read_bytes()
    assert all(line in after.splitlines() for line in before.splitlines() if b'"x"' in line or b"mine" in line)
    assert after.count(b"\n") == after.count(b"\r\n") or lines == "lf"
    write(undoing(file, keys))
    assert file.read_bytes() == before


@pytest.mark.parametrize(("agent", "scope"), PLACES)
def test_a_server_is_told_its_project_where_it_does_not_start_in_it(agent: Agent, scope: str, project: Path):
    place = agent.places()[scope]
    words = entry_of(agent, place, HOW, project, fixed=False)
    command = words["command"] if isinstance(words["command"], list) else [words["command"], *words["args"]]
    assert command[:2] == [HOW.command, "mcp"]
    told = {"": [], "/": [str(project)]}.get(place.starts, [place.starts])
    assert command[2:] == told
    fixed = entry_of(agent, place, HOW, project, fixed=True)
    assert (str(project) in json.dumps(fixed)) == (scope == "user" or told == [str(project)])


@pytest.mark.parametrize("folder", [Path.home(), Path("/")], ids=["home", "root"])
def test_no_agent_is_led_to_search_everything(folder: Path):
    desktop = agent_named("claude-desktop")
    assert desktop.user
    with pytest.raises(InputError, match="would search all of"):
        entry_of(desktop, desktop.user, HOW, folder, fixed=False)


def test_names_are_known_and_few_things_repeat():
    names = [agent.name for agent in AGENTS]
    assert len(set(names)) == len(names) >= 15
    files = [file for agent in AGENTS for place in agent.places().values() for file in place.files]
    assert len(set(files)) == len(files)
    with pytest.raises(InputError, match="did you mean 'cursor'"):
        agent_named("curser")
    assert OTHER.shape("assay", ["mcp"]) == {"command": "assay", "args": ["mcp"]}


@pytest.mark.parametrize(
    ("platform", "name", "path"),
    [
        ("linux", "vscode", "/h/.config/Code/User/mcp.json"),
        ("darwin", "vscode", "/h/Library/Application Support/Code/User/mcp.json"),
        ("darwin", "zed", "/h/.config/zed/settings.json"),
        ("darwin", "claude-desktop", "/h/Library/Application Support/Claude/claude_desktop_config.json"),
        ("darwin", "opencode", "/h/.config/opencode/opencode.json"),
        ("linux", "codex", "/elsewhere/config.toml"),
    ],
)
def test_each_platform_has_its_places(platform: str, name: str, path: str, tmp_path: Path):
    machine = SettingsPlaces(platform, Path("/h"), {"CODEX_HOME": "/elsewhere"})
    place = agent_named(name).user
    assert place
    assert machine.file(place, tmp_path) == Path(path)


def test_settings_lie_where_the_environment_says(tmp_path: Path):
    machine = SettingsPlaces("linux", tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "x")})
    assert machine.path("{config}/a") == tmp_path / "x" / "a"
    assert machine.path("{app}/a") == tmp_path / "x" / "a"


def test_the_file_that_is_there_is_taken(machine: SettingsPlaces, project: Path):
    place = agent_named("opencode").project
    assert place
    (project / "opencode.jsonc").write_text("{}")
    assert machine.file(place, project).name == "opencode.jsonc"


def test_an_agent_is_found_by_its_folder_or_its_program(tmp_path: Path):
    machine = SettingsPlaces("linux", tmp_path, {"PATH": str(tmp_path / "bin")})
    assert not any(map(machine.has, AGENTS))
    (tmp_path / ".kiro").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert [agent.name for agent in AGENTS if machine.has(agent)] == ["codex", "kiro"]


@pytest.mark.parametrize(
    ("entry", "known"),
    [
        ({"command": "assay", "args": ["mcp"]}, True),
        ({"command": "/opt/tools/assay", "args": ["mcp", "x"]}, True),
        ({"command": "/usr/bin/python3", "args": ["-m", "assay.cli.main", "mcp"]}, True),
        ({"command": ["/a/assay", "mcp"], "type": "local"}, True),
        ({"command": "assay", "args": ["serve"]}, False),
        ({"command": "npx", "args": ["assay-metals", "mcp"]}, False),
        ({"url": "http://127.0.0.1"}, False),
        ({"command": None, "args": [None, 3]}, False),
        ("assay mcp", False),
    ],
)
def test_an_entry_of_ours_is_known(entry: object, *, known: bool):
    assert ours(entry) == known
