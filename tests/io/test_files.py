"""A file is there whole or not at all, with the rights it had, and one process holds its lock."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from assay.errors import InputError, StorageError
from assay.io import files
from assay.io.files import alone, is_held


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


def test_rights_stay_and_a_secret_is_never_readable_by_others(tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_text("{}")
    file.chmod(0o640)
    files.write_json(file, {"a": "é"})
    assert file.read_text() == '{\n "a": "é"\n}\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    files.write_rows(tmp_path / "a.jsonl", [{"a": "é\udc80"}])
    assert (tmp_path / "a.jsonl").read_bytes() == '{"a": "é\\udc80"}\n'.encode()
    files.write(tmp_path / "new", b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~umask()
    secret = tmp_path / "secret"
    secret.touch(0o600)
    with files.replacing(secret) as beside:
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600
        beside.write_text("s")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_writers_do_not_meet(tmp_path: Path):
    file = tmp_path / "a"
    writers = [threading.Thread(target=files.write, args=(file, str(number) * 100_000)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (len(file.read_text()), len(set(file.read_text()))) == (100_000, 1)
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_what_cannot_be_written_is_one_error_and_nothing_is_written_through_a_link(tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for path, told in (
        (tmp_path / "file" / "a", r"cannot write .*file/a: "),
        (tmp_path, "is not a regular file"),
        (tmp_path / "link", "link is a symbolic link"),
    ):
        with pytest.raises(StorageError, match=told):
            files.write(path, "x")
    assert (tmp_path / "file").read_text() == ""
    with pytest.raises(OSError, match=r"symbolic link|Too many levels"):
        files.read_regular(tmp_path / "link", 10)


def umask() -> int:
    old = os.umask(0)
    os.umask(old)
    return old


HOLDER = """
import sys
from pathlib import Path
from assay.io.files import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_refused_while_it_is_held_and_the_system_lets_go_when_the_holder_is_killed(tmp_path: Path):
    lock, entered = tmp_path / "lock", threading.Event()

    def enter() -> None:
        with alone(lock):
            entered.set()

    command = [sys.executable, "-c", HOLDER, lock]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="somebody writes"), alone(lock, busy="somebody writes"):
            pass
        with pytest.raises(BlockingIOError), alone(lock, patience_s=0.05):
            pass
        assert is_held(lock)
        waiting = threading.Thread(target=enter)
        waiting.start()
        assert not entered.wait(0.1)
        holder.kill()
        waiting.join()
    assert entered.is_set()
    assert not is_held(lock)
    with alone(lock, busy="nobody is there"):
        pass
