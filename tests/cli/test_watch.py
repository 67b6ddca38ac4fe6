"""`assay watch` as a process: its lines, its end, and a search beside it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from waiting import LIMIT_S, until

pytest.importorskip("watchfiles")

from assay.encode.vectors import HashedEncoder
from assay.search.folder_index import FolderIndex
from source import SOURCE

ENCODER = HashedEncoder("16")


@pytest.fixture
def options(project: Path, tmp_path: Path) -> tuple[str, ...]:
    return (str(project), "--index", str(tmp_path / "index"), "--encoder", "hash:16")


@pytest.fixture
def watch(options: tuple[str, ...]) -> Callable[..., subprocess.Popen[str]]:
    """Return what starts `assay watch`, with something before its command if wanted; it is killed in the end."""
    started = []
    environment = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1"}

    def start(*before: str) -> subprocess.Popen[str]:
        command = [*before, sys.executable, "-m", "assay", "watch", *options]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, env=environment, text=True, stdout=pipe, stderr=pipe, start_new_session=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_watch_prints_updates_and_ends_gracefully(
    watch: Callable, assay: Callable, project: Path, options: tuple[str, ...]
):
    process = watch()
    assert "4 files, 6 chunks (4 added) in " in process.stdout.readline()
    (project / "mail" / "send.py").write_text("def other():\n    return 1\n")
    (project / "new.py").write_text("def fetch_inbox():\n    return 1\n")
    lines = [process.stdout.readline()]
    while f"{project}: 5 files" not in lines[-1]:  # both in one update, or the first one before the second was there
        lines.append(process.stdout.readline())
    assert "1 changed" in lines[0]
    assert "1 added" in lines[-1]
    assert "fetch_inbox" in assay("search", "fetch inbox", *options).out
    assert "another assay watch keeps the index" in assay("watch", *options).err
    os.kill(process.pid, signal.SIGSTOP)
    (project / "more.py").write_text("def more_mail():\n    return 1\n")
    ran = assay("search", "fetch inbox", *options)
    assert (ran.status, "this is from before" in ran.err) == (0, True)
    os.kill(process.pid, signal.SIGCONT)
    assert any("(1 added)" in line for line in process.stdout)  # a write may be seen empty first
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does: the whole group
    assert process.wait(LIMIT_S) == 0
    assert process.stderr.read() == "assay: watching 1 folder; Ctrl-C ends it\n"


def test_a_signal_during_an_update_loses_no_work(watch: Callable, project: Path, tmp_path: Path):
    for number in range(500):
        folder = project / f"part{number % 30}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number}.py").write_text(f"def unit_{number}(a):\n    return a + {number}\n" * 5)
    process = watch()
    until(lambda: [*(tmp_path / "index").glob("*.segment")], "it has begun to write", pause_s=0.005)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(LIMIT_S) == 0
    index = FolderIndex(project, tmp_path / "index", ENCODER)
    assert index.standing().report.files == 504
    assert not index.standing().stale


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
def test_a_limit_of_the_system_is_reported_and_all_files_are_polled(watch: Callable, project: Path):
    namespace = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    limited = "echo 1 > /proc/sys/user/max_inotify_watches"
    lowers = shutil.which("unshare") and subprocess.run([*namespace, limited], check=False, capture_output=True)
    if not lowers or lowers.returncode:
        pytest.skip("no user namespace to lower a limit in")
    process = watch(*namespace, f'{limited} && exec "$@"', "sh")
    assert "4 files" in process.stdout.readline()
    (project / "new.py").write_text("def new():\n    return 1\n")
    assert any("(1 added)" in line for line in process.stdout)  # a write may be seen empty first
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(LIMIT_S) == 0
    assert "the system watches no more folders" in process.stderr.read()


def test_a_search_does_not_wait_for_another_writer(
    assay: Callable, project: Path, tmp_path: Path, options: tuple[str, ...]
):
    assay("index", *options)
    index = FolderIndex(project, tmp_path / "index", ENCODER)
    (project / "new.py").write_text("def fetch_inbox():\n    return 1\n")
    with index.folder.writing():
        ran = assay("search", "send mail", *options)  # would wait for ever
    assert ran.status == 0
    assert "another process is indexing them; this is from before" in ran.err
    assert "another process" not in assay("search", "fetch inbox", *options).err


def test_a_refused_priority_is_a_note(monkeypatch, capsys):
    from assay.cli.watch import _step_back

    def refused(_steps: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "nice", refused)
    _step_back()
    assert "it runs at the usual priority: Operation not permitted" in capsys.readouterr().err
