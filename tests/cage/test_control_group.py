"""What only the kernel counts: memory that is no process's, and that the group is gone when its cage is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cages import FOLDER, cages, ends, need, printed

from assay.cage import control_group
from assay.cage.job import NAMESPACES
from waiting import until

if not control_group.parents():
    pytest.skip("no control group can be had here", allow_module_level=True)

IN_SOCKETS = """
import os, socket, time
for _ in range(24):
    if os.fork() == 0:
        pairs = []
        while True:
            try:
                pairs.append(socket.socketpair())
            except OSError:
                break
        for pair in pairs:
            for end in pair:
                end.setblocking(False)
                try:
                    while True:
                        end.send(bytes(4096))
                except BlockingIOError:
                    pass
        time.sleep(600)
time.sleep(600)
"""


def groups():
    return {folder.name for parent in control_group.parents() for folder in parent.glob("assay-cage-*")}


def test_each_cage_has_its_own_group_in_which_memory_of_sockets_counts():
    with cages(need(NAMESPACES), 2) as sandbox:
        assert [ended.stdout for ended in ends(sandbox, *["import time\ntime.sleep(.3)\nprint(1)"] * 4)] == [b"1\n"] * 4
        own = {f"assay-cage-{process}" for process in sandbox.processes()}
        assert len(own) == 2
        assert own <= groups()
    assert not own & groups()
    assert control_group.describe().startswith("memory, processor time and processes counted")
    assert f"assay-cage-{os.getpid()}" not in groups()
    with cages(need(NAMESPACES)) as cage:
        (ended,) = ends(cage, IN_SOCKETS, memory_mb=250, wall_s=60, cpu_s=60)
        assert ended.ended == "memory"
        (ended,) = ends(cage, "held = b'x' * (900 << 20)\nprint(1)", memory_mb=300)
        assert ended.ended in {"memory", "signal"}
        assert ended.stdout == b""
        assert printed(cage, "print(1)") == "1\n"


def test_what_a_killed_supervisor_left_is_taken_away_by_the_next():
    need(NAMESPACES)
    script = (
        f"import sys, time; sys.path[:0] = [{FOLDER!r}, {str(Path(FOLDER).parent)!r}]\nfrom cages import *\n"
        "sandbox = cages(NAMESPACES)\nends(sandbox, 'pass')\nprint(*sandbox.processes(), flush=True)\ntime.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout
        process = int(supervisor.stdout.readline())
        supervisor.send_signal(signal.SIGKILL)
    until(lambda: not os.path.exists(f"/proc/{process}"), "the cage of the killed supervisor is gone")
    with cages(NAMESPACES) as sandbox:
        printed(sandbox, "print(1)")
    assert f"assay-cage-{process}" not in groups()
