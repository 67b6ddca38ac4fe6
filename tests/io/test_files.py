"""A file is there whole or not at all, with the rights it had."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from assay.errors import InputError, StorageError
from assay.io import files


def test_what_breaks_leaves_what_was_there(tmp_path: Path):
    file = tmp_path / "deep" / "a.txt"
    files.write(file, "old")

    def parts():
        yield "new"
        raise KeyError

    with pytest.raises(KeyError):
        files.write(file, parts())
    with pytest.raises(InputError, match="not UTF-8; write JSON lines"):
        files.write(file, "\udc80", errors="strict")
    assert file.read_text() == "old"
    assert [each.name for each in file.parent.iterdir()] == ["a.txt"]


def test_rights_stay(tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_text("{}")
    file.chmod(0o640)
    files.write_json(file, {"a": "é"})
    assert file.read_text() == '{\n "a": "é"\n}\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    files.write(tmp_path / "new", b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~umask()


def test_a_secret_is_never_readable_by_others(tmp_path: Path):
    file = tmp_path / "secret"
    file.touch(0o600)
    with files.replacing(file) as beside:
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600
        beside.write_text("s")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_writers_do_not_meet(tmp_path: Path):
    file = tmp_path / "a"
    writers = [Thread(target=files.write, args=(file, str(number) * 100_000)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(set(file.read_text())) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_what_cannot_be_written_is_one_error(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot write .*file/a: "):
        files.write(tmp_path / "file" / "a", "x")
    with pytest.raises(StorageError, match="is not a regular file"):
        files.write(tmp_path, "x")


def test_rows_hold_any_text(tmp_path: Path):
    files.write_rows(tmp_path / "a.jsonl", [{"a": "é\udc80"}])
    assert (tmp_path / "a.jsonl").read_bytes() == '{"a": "é\\udc80"}\n'.encode()


def umask() -> int:
    old = os.umask(0)
    os.umask(old)
    return old
