"""The lines for agents: added to what stands in a file, brought up to date, and taken back byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.serve.agents import instructions
from assay.serve.agents.agent import SettingsPlaces
from assay.serve.agents.agents_table import AGENTS, agent_named
from assay.serve.agents.configured import write
from assay.serve.agents.instructions import BEGIN, END, LINES, InstructionFiles, add_lines, has_lines, remove_lines
from assay.serve.agents.instructions_table import INSTRUCTIONS, instructions_of

SERVING = Path(__file__).parents[3] / "docs" / "serving.md"
PLACES = [(name, scope) for name, scopes in INSTRUCTIONS.items() for scope in scopes]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@given(text=st.text(st.sampled_from("a#\n\r\ufeffé"), max_size=12).map(lambda text: text.encode()))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_a_file_stays(text: bytes, tmp_path: Path):
    file = tmp_path / "AGENTS.md"
    file.write_bytes(text)
    write(add_lines(file, "head\n"))
    assert file.read_bytes().startswith(text)
    assert not add_lines(file, "head\n").real, "a second time changes nothing"
    write(remove_lines(file, "head\n"))
    assert file.read_bytes() == text


@pytest.mark.parametrize(("name", "scope"), PLACES)
def test_each_agent_has_its_file(name: str, scope: str, tmp_path: Path):
    machine = SettingsPlaces("linux", tmp_path / "home", {})
    project = tmp_path / "project"
    project.mkdir()
    assert scope in agent_named(name).places()
    place = instructions_of(agent_named(name), scope, machine, project)
    assert place
    file, head = place
    assert file.is_relative_to(project if scope == "project" else machine.home)
    write(add_lines(file, head))
    assert file.read_text() == f"{head}{head and chr(10)}{BEGIN}\n" + "\n".join(LINES) + f"\n{END}\n"
    write(remove_lines(file, head))
    assert not [*project.iterdir(), *machine.home.rglob("*")]


def test_the_file_that_an_agent_reads_is_written(tmp_path: Path):
    machine = SettingsPlaces("linux", tmp_path / "home", {})

    def chosen(name: str) -> str:
        place = instructions_of(agent_named(name), "project", machine, tmp_path)
        assert place
        return str(place[0].relative_to(tmp_path))

    assert (chosen("claude-code"), chosen("zed"), chosen("warp")) == ("CLAUDE.md", "AGENTS.md", "AGENTS.md")
    (tmp_path / "AGENTS.md").touch()
    assert chosen("claude-code") == "AGENTS.md", "a new CLAUDE.md would hide it"
    (tmp_path / ".rules").touch()
    assert chosen("zed") == ".rules", "the first that exists is the one that is read"


def test_a_later_version_brings_the_lines_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "AGENTS.md"
    file.write_text("mine")
    write(add_lines(file, ""))
    monkeypatch.setattr(instructions, "LINES", ("- newer",))
    write(add_lines(file, ""))
    assert file.read_text() == f"mine\n\n{BEGIN}\n- newer\n{END}\n"
    write(remove_lines(file, ""))
    assert file.read_text() == "mine"


def test_what_others_wrote_since_stays(tmp_path: Path):
    file = tmp_path / "AGENTS.md"
    file.write_text("mine\n")
    write(add_lines(file, ""))
    file.write_text("above\n\n" + file.read_text() + "below\n")
    change = remove_lines(file, "")
    write(change)
    assert file.read_text() == "above\n\nmine\nbelow\n"
    assert "changed since by somebody else" in change.notes[0]
    assert not has_lines(file)


def test_one_mark_alone_is_left_to_a_person(tmp_path: Path):
    file = tmp_path / "AGENTS.md"
    file.write_text(f"{BEGIN}\n")
    with pytest.raises(InputError, match="without the other"):
        add_lines(file, "")


def test_the_documentation_names_every_agent_with_a_source_and_a_day():
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| (.+) \|$", SERVING.read_text(encoding="utf-8"), re.MULTILINE)
    sources = {name: source for name, source in rows if "2026-" in source or "not confirmed" in source}
    assert set(sources) == {agent.name for agent in AGENTS}


def test_lines_are_taken_back_from_where_they_were_written(tmp_path: Path):
    files = InstructionFiles(("CLAUDE.md", "AGENTS.md"))
    (tmp_path / "AGENTS.md").write_text("# Ours\n")
    first = files.pick(tmp_path)
    first.write_text(add_lines(first, "").after)
    (tmp_path / "CLAUDE.md").write_text("# Later\n")
    assert files.pick(tmp_path) == first == tmp_path / "AGENTS.md"
    first.write_text(remove_lines(first, "").after)
    assert files.pick(tmp_path) == tmp_path / "CLAUDE.md"
