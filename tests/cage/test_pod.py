"""In a container that refuses namespaces: that is seen at once, what still holds is offered, and nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cage import landlock

sys.path.insert(0, str(Path(__file__).parent))
from ordinary import HERE, NOBODYS, copies, interpreter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="containers refuse by the filters of Linux")
FILTER = "pod_filter.py"
OPEN = """
from assay.cage.limits import Job
from assay.cage.open_cage import open_sandbox
with open_sandbox() as sandbox:
    print(sandbox.name)
"""


def test_a_refusal_is_said_at_once_with_what_to_read_and_no_process_stays(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "POD_OF_TEST": str(tmp_path)}
    command = [sys.executable, str(HERE / FILTER), sys.executable, "-m", "assay", "doctor"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=40, check=False)
    assert "namespaces: does not start: PermissionError: [Errno 1] Operation not permitted" in done.stdout, done.stderr
    assert not processes_with(f"POD_OF_TEST={tmp_path}")


def test_an_ordinary_user_is_given_landlock():
    if landlock.abi() < 1:
        pytest.skip("this kernel has no Landlock")
    python = interpreter()
    with copies(beside=(FILTER,)) as folder:
        done = subprocess.run(
            [python, "-B", FILTER, python, "-B", "-c", OPEN],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "HOME": str(folder)},
            cwd=folder, user=NOBODYS, group=NOBODYS, extra_groups=[],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.stdout == "landlock\n", done.stderr


def processes_with(variable):
    """Return the processes that have a variable in their environment."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if variable.encode() in Path("/proc", process, "environ").read_bytes():
                found.append(process)
        except OSError:  # gone, or another user's
            continue
    return found
