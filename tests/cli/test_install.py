"""`assay install`: what is listed, shown, written and taken back; and that what is written starts."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
pytest.importorskip("tomlkit")

import anyio
from mcp import Client, StdioServerParameters  # noqa: TID253

from assay.cli.install_change import diff
from assay.serve.agents.edits import installing
from source import SOURCE

Assay = Callable[..., Any]
COMMAND = [sys.executable, "-m", "assay", "install"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: Path) -> Path:
    """Return a home of its own, and work in a project."""
    folder = tmp_path / "home"
    folder.mkdir()
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CODEX_HOME", "CLINE_DIR", "COPILOT_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(project)
    return folder


def servers(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text())["mcpServers"]


def test_without_an_agent_all_are_listed(assay: Assay, home: Path):
    (home / ".claude").mkdir()
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{broken")
    assay("install", "--agent", "claude-code", "--yes")
    ran = assay("install")
    assert (ran.status, ran.err) == (0, "")
    rows = {row.split()[0]: re.split(r"  +", row) for row in ran.out.splitlines() if row}
    assert rows["claude-code"] == ["claude-code", "found", ".mcp.json (set up)", "~/.claude.json"]
    assert rows["cursor"] == ["cursor", "found", ".cursor/mcp.json", "~/.cursor/mcp.json (unreadable)"]
    assert "assay install --agent NAME --undo" in ran.out


def test_an_entry_is_written_once_and_undone(assay: Assay, project: Path):
    file, lines = project / ".vscode" / "mcp.json", project / ".github" / "copilot-instructions.md"
    file.parent.mkdir()
    before = b'{\r\n\t// mine\r\n\t"servers": {\r\n\t\t"other": {"command": "x"}, // why\r\n\t},\r\n}'
    file.write_bytes(before)
    ran = assay("install", "--agent", "vscode")
    assert (ran.status, file.read_bytes()) == (1, before)
    assert "nothing was written: there is no terminal to ask on; add --yes" in ran.err
    ran = assay("install", "--agent", "vscode", "--yes")
    assert (ran.status, ran.out.count("\n+\t\t")) == (0, 5)
    wrote = (f"assay: wrote {one}; VS Code reads it at its next start\n" for one in (file, lines))
    assert ran.err.endswith("".join(wrote))
    assert file.read_bytes().startswith(before[:-6])
    assert b'"${workspaceFolder}"' in file.read_bytes()
    again = assay("install", "--agent", "vscode", "--yes")
    assert (again.status, again.out) == (0, "")
    assert again.err == f"assay: VS Code: nothing to change in {file} and {lines}\n"
    back = assay("install", "--agent", "vscode", "--undo", "--yes")
    assert (back.status, back.out.count("\n-\t\t")) == (0, 5)
    assert (file.read_bytes(), lines.parent.exists()) == (before, False)
    nothing = f"assay: VS Code: nothing to take back in {lines} and {file}\n"
    assert assay("install", "--agent", "vscode", "--undo").err == nothing


def test_instructions_are_added_and_undone_to_the_byte(assay: Assay, project: Path):
    guide = project / "AGENTS.md"
    guide.write_bytes(b"# Mine\r\n\r\nrules")
    agents = ("--agent", "codex", "--agent", "opencode", "--agent", "cursor")
    assert assay("install", *agents, "--yes").status == 0
    text = guide.read_bytes().decode()
    assert text.startswith("# Mine\r\n\r\nrules\r\n\r\n<!-- assay:")
    assert text.count("<!-- assay:") == 1, "two agents read one file"
    assert all(tool in text for tool in ("`search`", "assay related", "assay log"))
    assert (project / ".cursor/rules/assay.mdc").read_text().startswith("---\nalwaysApply: true\n---\n\n<!-- assay:")
    back = assay("install", "--agent", "codex", "--undo", "--yes")
    assert f"assay: the lines in {guide} stay: OpenCode uses them\n" in back.err
    assert guide.read_bytes().decode() == text
    assay("install", "--agent", "opencode", "--agent", "cursor", "--undo", "--yes")
    assert guide.read_bytes() == b"# Mine\r\n\r\nrules"
    assert sorted(file.name for file in project.iterdir() if file.name[0] == "." or file.suffix == ".json") == []


def test_two_names_of_one_file_are_one_change(assay: Assay, project: Path):
    assay("install", "--agent", "codex", "--no-instructions", "--yes")
    assert not (project / "AGENTS.md").exists()
    (project / "CLAUDE.md").write_text("mine\n")
    (project / "AGENTS.md").symlink_to("CLAUDE.md")
    ran = assay("install", "--agent", "claude-code", "--agent", "codex", "--yes")
    assert (ran.status, (project / "CLAUDE.md").read_text().count("<!-- assay:")) == (0, 1)
    assert (project / ".codex" / "config.toml").read_text().startswith("[mcp_servers.assay]\ncommand = ")


def test_a_broken_file_is_named_with_the_block_to_paste(assay: Assay, project: Path):
    broken = '{\n  "mcpServers": {,}\n}'
    (project / ".cursor").mkdir()
    (project / ".cursor" / "mcp.json").write_text(broken)
    ran = assay("install", "--agent", "claude-code", "--agent", "cursor", "--yes")
    assert ran.status == 2
    why = "cannot be read: found ',}', expecting property name enclosed in double quotes"
    assert f"{project}/.cursor/mcp.json:2: {why}" in ran.err
    assert "nothing was written for Cursor; to add it by hand" in ran.err
    assert '"${workspaceFolder}"' in ran.out, "the block to paste"
    assert (project / ".mcp.json").exists()
    assert (project / ".cursor" / "mcp.json").read_text() == broken


def test_the_file_of_the_user_serves_every_project(assay: Assay, home: Path, project: Path):
    (home / ".claude.json").write_text('{"numStartups": 3}')
    assay("install", "--agent", "claude-code", "--scope", "user", "--yes")
    assert servers(home / ".claude.json")["assay"]["args"][-1] == "mcp"
    assay("install", "--agent", "claude-code", "--undo", "--yes")
    assert (home / ".claude.json").read_text() == '{"numStartups": 3}'
    assay("install", "--agent", "claude-code", "--scope", "user", "--yes", project / "mail")
    assert servers(home / ".claude.json")["assay"]["args"][-1] == str(project / "mail")
    ran = assay("install", "--agent", "claude-code", "--scope", "user", "--hooks", project / "web")
    assert f"served {project / 'mail'}, and no longer does: to have both, use --scope project" in ran.err
    assert "--hooks changes nothing for VS Code" in assay("install", "--agent", "vscode", "--hooks").err


def test_a_block_is_printed_and_a_project_is_the_checkout(assay: Assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    block = json.loads(assay("install", "--print").out)
    assert block["mcpServers"]["assay"]["args"][-2:] == ["mcp", str(project)]
    assert assay("install", "--print", "--agent", "codex").out.startswith("[mcp_servers.assay]\n")
    assert not list(project.glob(".*"))
    (project / ".git").mkdir()
    monkeypatch.chdir(project / "mail")
    assay("install", "--agent", "kiro", "--yes")
    assert servers(project / ".kiro" / "settings" / "mcp.json")["assay"]["args"][-1] == str(project)


def test_a_mistake_is_refused_in_one_line(refuses, project: Path):
    refuses([
        ("install --agent curser", "unknown agent 'curser'; did you mean 'cursor'?"),
        ("install --undo", "add --agent NAME"),
        ("install --undo --print --agent cursor", "without --print"),
        ("install --agent windsurf --scope project", "Windsurf (Cascade) has no file of the project: leave --scope"),
        ("install --agent continue --scope user", "Continue has no file of the user: leave --scope out"),
        ("install --agent cursor none", "no such folder: 'none'"),
        ("install --agent cursor https://example.org/a.git", "is not a folder: an agent starts in one"),
    ], lines=9)  # fmt: skip
    assert not list(project.glob(".*"))


def test_control_characters_of_a_file_are_escaped(assay: Assay, project: Path):
    (project / ".mcp.json").write_text('{\n  "mcpServers": {\n    "\\u001b": {} // \x1b[2J \u202e\n  }\n}\n')
    ran = assay("install", "--agent", "claude-code")
    assert ("\x1b" in ran.out, "\u202e" in ran.out, "\\x1b[2J" in ran.out) == (False, False, True)


def test_a_link_is_named_and_one_that_leads_out_of_the_project_is_refused(assay: Assay, project: Path, tmp_path: Path):
    inside, outside, link = project / "shared.json", tmp_path / "elsewhere.json", project / ".mcp.json"
    for file in (inside, outside):
        file.write_text("{}")
    link.symlink_to(outside)
    ran = assay("install", "--agent", "claude-code", "--yes")
    assert (ran.status, outside.read_text()) == (2, "{}")
    assert f"{link} leads to {outside}, outside of the project" in ran.err
    link.unlink()
    link.symlink_to(inside)
    ran = assay("install", "--agent", "claude-code", "--yes")
    assert (ran.status, link.is_symlink(), "mcpServers" in inside.read_text()) == (0, True, True)
    assert f" -> {inside}" in ran.out + ran.err


def test_a_person_is_asked_and_no_answer_means_no(project: Path):
    for answer, status in (("", 1), ("y", 0)):
        ours, theirs = pty.openpty()
        running = subprocess.Popen([*COMMAND, "--agent", "claude-code"], stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        seen = b""
        while b"Write these 2 changes? [y/N]: " not in seen:
            assert select.select([ours], [], [], 60)[0], seen
            seen += os.read(ours, 65_536)
        assert b'"assay": {' in seen, "the diff comes first"
        assert not (project / ".mcp.json").exists()
        os.write(ours, f"{answer}\n".encode())
        assert running.wait(60) == status
        os.close(ours)
        assert (project / ".mcp.json").exists() == (answer == "y")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return this program as one of its own, in a folder with a space in its name."""
    file = tmp_path / "my tools" / "assay"
    file.parent.mkdir()
    code = "import sys; sys.argv[0] = sys.argv.pop(1); from assay.cli.main import main; main()"
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$0" "$@"\n')
    file.chmod(0o755)
    return file


def answered(entry: dict[str, Any], folder: Path, cache: Path) -> str:
    """Start what an entry says as an agent does, in a folder, and return the path of the best answer."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=environment, cwd=folder)

    async def ask() -> Any:
        async with Client(server) as client:
            return await client.call_tool("search", {"query": "send a mail again"})

    answer = anyio.run(ask)
    assert not answer.is_error
    return answer.content[0].text.partition(":")[0]


def test_a_written_entry_starts_from_any_folder(project: Path, cache: Path, program: Path, tmp_path: Path):
    done = subprocess.run([program, "install", "--agent", "kiro", "--yes"], check=True, capture_output=True, text=True)
    assert f"assay: the entry starts {program}: 'assay' " in done.stderr
    entry = servers(project / ".kiro" / "settings" / "mcp.json")["assay"]
    assert entry == {"command": str(program), "args": ["mcp", str(project)]}
    assert answered(entry, tmp_path, cache) == "mail/send.py"


def test_a_path_of_this_machine_is_explained(
    assay: Assay, project: Path, program: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "argv", [str(program)])

    def told(agent: str, *more: str) -> str:
        ran = assay("install", "--agent", agent, "--yes", *more)
        assert ran.status == 0
        return ran.err

    means = "others who clone this cannot use the entry"
    step = "install assay so that it is on everybody's PATH, for example with pipx or uv tool install"
    assert f"assay: Cursor: {means}: {step}, or use --scope user\n" in told("cursor")
    assert f"{step}\n" in told("continue")  # which has no file of the user
    assert f"Kiro: {means}: it names {project}, for Kiro does not start servers in the project" in told("kiro")
    assert means not in told("cursor", "--scope", "user")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert "the entry starts" not in told("cursor")
    entry = servers(project / ".cursor" / "mcp.json")["assay"]
    assert entry == {"type": "stdio", "command": "assay", "args": ["mcp", "${workspaceFolder}"]}


def test_a_diff_is_that_of_diff_and_a_piece_of_a_long_line(tmp_path: Path):
    file, edit = tmp_path / "mcp.json", (["mcpServers", "assay"], {"command": "assay", "args": ["mcp"]})
    file.write_text('{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n')
    rows = diff(installing(file, *edit))
    assert rows[0] == f"--- a{file}"
    assert [row[0] + row[1:].strip() for row in rows[2:] if row[0] in "-+"] == [
        '-"other": {"command": "x"}',
        '+"other": {"command": "x"},',
        '+"assay": {',
        '+"command": "assay",',
        '+"args": ["mcp"]',
        "+}",
    ]
    file.write_text(json.dumps({"a": "x" * 100_000, "mcpServers": {}}))
    rows = diff(installing(file, *edit))
    assert max(map(len, rows)) < 500
    assert rows[-1] == '+"assay": {"command": "assay", "args": ["mcp"]}'
    file.write_text("{}")
    assert "\\ No newline at end of file" in "\n".join(diff(installing(file, *edit)))
