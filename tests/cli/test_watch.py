"""`assay watch` as a process: its lines, its end, and a search beside it."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("watchfiles")

import assay as package
from assay.encode.hashed import HashedEncoder
from assay.search.folder_index import FolderIndex

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}
ENCODER = HashedEncoder("16")
KILLS = 5


@pytest.fixture
def watch(project: Path, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Return what starts `assay watch`, with something before its command if wanted; it is killed in the end."""
    started = []

    def start(*before: str) -> subprocess.Popen[str]:
        arguments = ["watch", str(project), "--index", str(tmp_path / "index"), "--encoder", "hash:16"]
        command = [*before, sys.executable, "-m", "assay", *arguments]
        process = subprocess.Popen(
            command, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_line_for_each_update_and_a_graceful_end(watch: Callable, project: Path, number: int):
    process = watch()
    assert "4 files, 6 chunks (4 added) in " in process.stdout.readline()
    (project / "mail" / "send.py").write_text("def other():\n    return 1\n")
    (project / "new.py").write_text("def new():\n    return 1\n")
    lines = [process.stdout.readline()]
    while f"{project}: 5 files" not in lines[-1]:  # both in one update, or the first one before the second was there
        lines.append(process.stdout.readline())
    assert "1 changed" in lines[0]
    assert "1 added" in lines[-1]
    os.killpg(process.pid, number)  # as Ctrl-C does: the whole group
    assert process.wait(20) == 0
    assert process.stderr.read() == "assay: watching 1 folder; Ctrl-C ends it\n"


def test_a_signal_during_an_update_loses_no_work(watch: Callable, project: Path, tmp_path: Path):
    for number in range(3000):
        folder = project / f"part{number % 30}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number}.py").write_text(f"def unit_{number}(a):\n    return a + {number}\n" * 5)
    process = watch()
    deadline = time.monotonic() + 60
    while not list((tmp_path / "index").glob("*.segment")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 0
    index = FolderIndex(project, tmp_path / "index", ENCODER)
    assert index.standing().report.files == 3004
    assert not index.standing().stale


def test_several_folders_and_one_index_are_refused(assay: Callable, project: Path, tmp_path: Path):
    ran = assay("watch", project / "mail", project / "web", "--index", tmp_path)
    assert (ran.status, "--index names one index" in ran.err) == (2, True)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
def test_a_limit_of_the_system_is_said_and_lived_with(watch: Callable, project: Path):
    namespace = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    limited = "echo 1 > /proc/sys/user/max_inotify_watches"
    if (
        not shutil.which("unshare")
        or subprocess.run([*namespace, limited], check=False, capture_output=True).returncode
    ):
        pytest.skip("no user namespace to lower a limit in")
    process = watch(*namespace, f'{limited} && exec "$@"', "sh")
    assert "4 files" in process.stdout.readline()
    (project / "new.py").write_text("def new():\n    return 1\n")
    assert "(1 added)" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(20) == 0
    assert "the system watches no more folders" in process.stderr.read()


def test_killed_at_any_moment_it_leaves_a_whole_index(watch: Callable, project: Path, tmp_path: Path):
    index = FolderIndex(project, tmp_path / "index", ENCODER)
    index.refresh()
    chance = random.Random(5)
    for number in range(KILLS):
        process = watch()
        for again in range(400):
            (project / f"file{again}.py").write_text(f"def unit_{number}_{again}():\n    return {number}\n" * 20)
        time.sleep(chance.uniform(0.2, 0.8))
        process.kill()
        process.wait()
        assert index.check() == ""
        assert index.standing().report.files in {4, 404}
    assert index.refresh().rebuilt_because == ""
    (project / "last.py").write_text("def last():\n    return 1\n")
    index.refresh()
    left = {entry.name for entry in index.folder.location.iterdir()} - index.folder.open().manifest.files
    assert left == {"manifest.json", "lock", "kept", ".gitignore"}


def test_a_search_does_not_wait_for_another_writer(assay: Callable, project: Path, tmp_path: Path):
    options = (project, "--index", tmp_path / "index", "--encoder", "hash:16")
    assay("index", *options)
    index = FolderIndex(project, tmp_path / "index", ENCODER)
    (project / "new.py").write_text("def fetch_inbox():\n    return 1\n")
    with index.folder.writing():
        ran = assay("search", "send mail", *options)  # would wait for ever
    assert ran.status == 0
    assert "another process is indexing them; this is from before" in ran.err
    assert "another process" not in assay("search", "fetch inbox", *options).err


def test_a_search_leaves_writing_to_the_watcher(watch: Callable, assay: Callable, project: Path, tmp_path: Path):
    options = (project, "--index", tmp_path / "index", "--encoder", "hash:16")
    process = watch()
    assert "4 files" in process.stdout.readline()
    (project / "new.py").write_text("def fetch_inbox():\n    return 1\n")
    ran = assay("search", "fetch inbox", *options)
    assert ran.status == 0
    assert "fetch_inbox" in ran.out  # the watcher was quick enough
    assert "(1 added)" in process.stdout.readline()
    assert "another assay watch keeps the index" in assay("watch", *options).err
    os.kill(process.pid, signal.SIGSTOP)
    (project / "more.py").write_text("def more_mail():\n    return 1\n")
    ran = assay("search", "fetch inbox", *options)
    assert (ran.status, "this is from before" in ran.err) == (0, True)
    process.kill()
    process.wait()
    assert "more_mail" in assay("search", "more mail", *options).out
