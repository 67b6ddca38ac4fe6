"""A child process and its limits: what it prints, and that nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import AssayError, InputError
from assay.io.processes import FinishedCommand, ProcessLimits, run_bounded
from waiting import until

FAMILY = "/bin/sleep 600 & echo $$ > child\n"


def run(script: str, folder: Path, stdin: bytes = b"", **limits: object) -> FinishedCommand:
    wanted = ProcessLimits(**{"seconds": 60.0, "output_bytes": 1000, **limits})
    return run_bounded(["/bin/sh", "-c", script], wanted, cwd=folder, env={}, stdin=stdin)


def wait_for_the_end_of(group: int) -> None:
    """Wait until the last of a group has ended, though perhaps nobody reaped it."""

    def is_gone() -> bool:
        states = subprocess.run(["ps", "-o", "stat=", "-g", str(group)], capture_output=True, text=True, check=False)
        return not [state for state in states.stdout.split() if not state.startswith("Z")]

    until(is_gone, f"all of group {group} are gone")


def test_what_a_command_prints_and_how_it_ends(tmp_path: Path):
    ran = run("read line; echo \"$line\"; printf '\\n no ' >&2; exit 3", tmp_path, "größer\n".encode())
    assert (ran.status, ran.out, ran.complaint) == (3, "größer\n", "no")
    assert len(run("printf %01000d 7", tmp_path).out) == 1000, "as much as the limit"
    with pytest.raises(InputError, match="there is no program 'no-such-program'"):
        run_bounded(["no-such-program"], ProcessLimits(1.0, 1), cwd=tmp_path, env={})


def test_over_a_limit_nothing_is_left_nor_where_a_command_ends_by_itself(tmp_path: Path):
    def watch() -> None:
        if (tmp_path / "child").exists() and (tmp_path / "child").read_text():
            raise AssayError("too many files")

    for more, limits, said in (
        ("/bin/sleep 600", {"seconds": 2.0}, r"sh did not end within 2 s and was stopped"),
        ("while :; do echo 1234567890; done", {}, "sh printed more than 1,000 bytes and was stopped"),
        ("/bin/sleep 600", {"watch": watch}, "too many files"),
        ("exit 0", {"watch": watch}, "too many files"),
        ("exit 0", {}, ""),
    ):
        if said:
            with pytest.raises(AssayError, match=said):
                run(FAMILY + more, tmp_path, **limits)
        else:
            assert run(FAMILY + more, tmp_path, **limits).status == 0
        wait_for_the_end_of(int((tmp_path / "child").read_text()))
        (tmp_path / "child").unlink()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_process_may_end_with_its_parent():
    starter = (
        "import os, subprocess, sys\nfrom functools import partial\nfrom assay.io.processes import end_with\n"
        "child = subprocess.Popen(['/bin/sleep', '600'], preexec_fn=partial(end_with, os.getpid()), process_group=0)\n"
        "print(child.pid, flush=True)\nsys.stdin.read()"
    )
    command = [sys.executable, "-c", starter]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.send_signal(signal.SIGKILL)
    wait_for_the_end_of(child)
