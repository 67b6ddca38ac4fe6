"""A child process and its limits: what it prints, and that nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.errors import AssayError, InputError
from assay.io.processes import FinishedCommand, ProcessLimits, run_bounded

FAMILY = "import os, sys, time\nif os.fork() == 0:\n    time.sleep(600)\nopen('child', 'w').write(str(os.getpgid(0)))\n"


def run(source: str, folder: Path, stdin: bytes = b"", **limits: object) -> FinishedCommand:
    wanted = ProcessLimits(**{"seconds": 60.0, "output_bytes": 1000, **limits})
    return run_bounded([sys.executable, "-S", "-c", source], wanted, cwd=folder, env={}, stdin=stdin)


def is_gone(group: int) -> bool:
    """Say whether the last of a group ends soon; one that nobody reaped yet has ended."""
    for _ in range(500):
        states = subprocess.run(["ps", "-o", "stat=", "-g", str(group)], capture_output=True, text=True, check=False)
        if not [state for state in states.stdout.split() if not state.startswith("Z")]:
            return True
        time.sleep(0.02)
    return False


def test_what_a_command_prints_and_how_it_ends(tmp_path: Path):
    ran = run("import sys; print(input()); sys.exit('\\n no ')", tmp_path, "größer\n".encode())
    assert (ran.status, ran.out, ran.complaint) == (1, "größer\n", "no")


@pytest.mark.parametrize(
    ("more", "limits", "said"),
    [
        ("time.sleep(600)", {"seconds": 1.0}, r"did not end within 1 s and was stopped"),
        ("while True: print('x' * 1000, flush=True)", {}, "printed more than 1,000 bytes and was stopped"),
    ],
)
def test_over_a_limit_nothing_is_left(tmp_path: Path, more: str, limits: dict, said: str):
    with pytest.raises(AssayError, match=said):
        run(FAMILY + more, tmp_path, **limits)
    assert is_gone(int((tmp_path / "child").read_text()))


def test_a_command_that_ends_takes_its_children_along(tmp_path: Path):
    assert run(FAMILY + "os._exit(0)", tmp_path).status == 0
    assert is_gone(int((tmp_path / "child").read_text()))


def test_a_watch_ends_a_command_and_has_the_last_word(tmp_path: Path):
    def watch() -> None:
        if (tmp_path / "child").exists():
            raise AssayError("too many files")

    for more in ("time.sleep(600)", "os._exit(0)"):
        with pytest.raises(AssayError, match="too many files"):
            run(FAMILY + more, tmp_path, watch=watch)
        assert is_gone(int((tmp_path / "child").read_text()))
        (tmp_path / "child").unlink()


def test_a_program_that_is_not_there_is_an_error_of_the_input(tmp_path: Path):
    with pytest.raises(InputError, match="there is no program 'no-such-program'"):
        run_bounded(["no-such-program"], ProcessLimits(1.0, 1), cwd=tmp_path, env={})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_process_may_end_with_its_parent():
    starter = (
        "import os, subprocess, sys, time\nfrom functools import partial\nfrom assay.io.parent_death import end_with\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'],"
        " preexec_fn=partial(end_with, os.getpid()), process_group=0)\n"
        "print(child.pid, flush=True)\ntime.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.send_signal(signal.SIGKILL)
    assert is_gone(child)
