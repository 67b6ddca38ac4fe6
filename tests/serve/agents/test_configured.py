"""An entry in somebody's settings: what is said of it, what is kept to take it back, and what is left alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.errors import InputError, StorageError
from assay.serve.agents.edits import SettingsEdit, entry_in, installing, undoing, write

KEYS = ["mcpServers", "assay"]
ENTRY = {"command": "assay", "args": ["mcp"]}
MOVED = {"command": "/new/assay", "args": ["mcp"]}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n')
    return path


def install(file: Path, entry: dict[str, object] = ENTRY) -> SettingsEdit:
    change = installing(file, KEYS, entry)
    write(change)
    return change


def undo(file: Path) -> SettingsEdit:
    change = undoing(file, KEYS)
    write(change)
    return change


def servers(file: Path) -> list[str]:
    return list(json.loads(file.read_text())["mcpServers"])


def test_two_edits_are_undone_at_once(file: Path):
    before = file.read_bytes()
    install(file)
    install(file, MOVED)
    assert entry_in(file, KEYS) == MOVED
    undo(file)
    assert file.read_bytes() == before
    assert not undoing(file, KEYS).real


def test_later_additions_of_others_stay(file: Path):
    install(file)
    settings = json.loads(file.read_text())
    settings["mcpServers"]["late"] = {"command": "y"}
    file.write_text(json.dumps(settings, indent=4))
    assert undo(file).notes == (f"{file} has other changes since: only the entry is removed",)
    assert servers(file) == ["other", "late"]


def test_an_edited_entry_is_reported_and_keeps_its_additions(file: Path):
    install(file)
    file.write_text(file.read_text().replace('"args"', '// mine\n      "env": {"A": "1"},\n      "args"'))
    install(file, MOVED)
    assert entry_in(file, KEYS) == {**MOVED, "env": {"A": "1"}}
    assert "// mine" in file.read_text()
    file.write_text(file.read_text().replace('"mcp"', '"mcp", "--clone"'))
    change = undoing(file, KEYS)
    assert "the entry was edited since it was written" in change.notes
    assert ("--clone" in str(change.before), "--clone" in str(change.after)) == (True, False)


def test_an_entry_of_others_is_replaced_with_a_note_and_restored(file: Path):
    theirs = {"command": "precious", "args": ["metals"]}
    file.write_text(json.dumps({"mcpServers": {"assay": theirs}}, indent=2))
    assert not undoing(file, KEYS).real
    assert install(file).notes == ("an entry 'assay' that does not start this program is replaced",)
    file.write_text(file.read_text() + "\n")
    undo(file)
    assert entry_in(file, KEYS) == theirs


def test_folders_made_for_an_entry_go_with_it(tmp_path: Path):
    path = tmp_path / "made" / "deep" / "mcp.json"
    install(path)
    path.write_text(path.read_text() + "\n")
    undo(path)
    assert not (tmp_path / "made").exists()
    install(path)
    (tmp_path / "made" / "mine").touch()
    undo(path)
    assert [each.name for each in (tmp_path / "made").iterdir()] == ["mine"]
    settings = tmp_path / "settings.json"
    settings.write_text('{"theme": "dark"}')
    install(settings)
    settings.write_text(settings.read_text().replace("dark", "light"))
    undo(settings)
    assert json.loads(settings.read_text()) == {"theme": "light"}


def test_a_record_holds_no_secret_and_is_not_needed(file: Path, state: Path):
    file.write_text('{"mcpServers": {"other": {"env": {"KEY": "sk-very-secret"}}}}')
    for kept in (None, b"", b"[1]", b'{"step": 3}', b"\xff", b'{"step": null, "folders": null}'):
        install(file)
        (place,) = state.rglob("*.json")
        assert "sk-very-secret" not in place.read_text()
        place.unlink() if kept is None else place.write_bytes(kept)
        undo(file)
        assert servers(file) == ["other"], kept


def test_a_file_changed_meanwhile_is_left_alone(file: Path):
    change = installing(file, KEYS, ENTRY)
    file.write_text("{}")
    with pytest.raises(InputError, match="was changed in the meantime"):
        write(change)
    assert file.read_text() == "{}"


def test_rights_and_links_stay(file: Path, tmp_path: Path):
    link = tmp_path / "link.json"
    link.symlink_to(file)
    file.chmod(0o640)
    install(link)
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert entry_in(file, KEYS) == ENTRY
    undo(link)
    assert entry_in(file, KEYS) is None
    assert [each.name for each in file.parent.iterdir()] == ["mcp.json"]
    link.unlink()
    link.symlink_to(tmp_path / "there" / "mcp.json")
    install(link)
    assert entry_in(tmp_path / "there" / "mcp.json", KEYS) == ENTRY
    undo(link)
    assert (link.is_symlink(), (tmp_path / "there").exists()) == (True, False)


def _protected(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0o444)


HOSTILE = {
    "folder": (Path.mkdir, "is a folder"),
    "pipe": (os.mkfifo, "is a special file"),
    "circle": (lambda path: path.symlink_to(path), "symbolic links"),
    "protected": (_protected, "is write-protected"),
    "binary": (lambda path: path.write_bytes(b"\x89PNG\xff"), "is not valid UTF-8"),
    "utf-16": (lambda path: path.write_text("{}", encoding="utf-16"), "is not valid UTF-8"),
    "deep": (lambda path: path.write_text('{"a": ' + "[" * 50_000), ":1: cannot be read"),
    "broken": (lambda path: path.write_text('{\n"a": 1,,\n}'), ":2: cannot be read: found ',', expecting property"),
    "no servers": (lambda path: path.write_text('{"mcpServers": []}'), "expected an object"),
    "huge": (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 2**31), "has 2,048 MB; at most"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_cannot_be_changed_is_left_alone(name: str, tmp_path: Path):
    make, said = HOSTILE[name]
    path = tmp_path / "mcp.json"
    make(path)
    before = path.lstat().st_mtime_ns
    with pytest.raises((InputError, OSError), match=said):
        installing(path, KEYS, ENTRY)
    assert (path.lstat().st_mtime_ns, [*tmp_path.iterdir()]) == (before, [path])


def test_without_a_record_nothing_is_written(file: Path, state: Path, tmp_path: Path):
    (tmp_path / ".vscode").write_text("")
    with pytest.raises((InputError, OSError), match=r"no folder|Not a directory"):
        installing(tmp_path / ".vscode" / "mcp.json", KEYS, ENTRY)
    state.write_text("a file in the way")
    before = file.read_bytes()
    with pytest.raises(StorageError, match="nothing was changed"):
        write(installing(file, KEYS, ENTRY))
    assert file.read_bytes() == before
