"""As an ordinary user, where this is root, and in a container that refuses namespaces: what is given holds there too.

Root's own Python is often out of other users' reach: kinds that need it readable are tried here as such a user.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from ordinary import HERE, NOBODYS, copies, interpreter

from assay.cage import landlock

PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
TESTS = ("cages.py", "standin_harness.py", "../waiting.py", "test_cage.py")
QUICK = "landlock and (judge_says or each_limit or reads_no or signal_its or next_job)"
POD = "pod_filter.py"
OPEN = """
from assay.cage.open_cage import open_sandbox
with open_sandbox() as sandbox:
    print(sandbox.name)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes that are tried need Linux")


def run_as_nobody(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "HOME": str(folder)},
        cwd=folder, user=NOBODYS, group=NOBODYS, extra_groups=[],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


# All of them take a minute, for each opens cages of its own.
@pytest.mark.parametrize("chosen", [QUICK, pytest.param("landlock", marks=pytest.mark.nightly)])
def test_cages_of_an_ordinary_user_hold_too(chosen):
    python = interpreter()
    with copies(*PYTEST, beside=TESTS) as folder:
        options = ("-q", "-rs", "-p", "no:cacheprovider", "-k", chosen)
        done = run_as_nobody(folder, python, "-B", "-m", "pytest", *options, *TESTS[-1:])
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_an_ordinary_user_in_a_container_is_given_landlock():
    if landlock.abi() < 1:
        pytest.skip("this kernel has no Landlock")
    python = interpreter()
    with copies(beside=(POD,)) as folder:
        done = run_as_nobody(folder, python, "-B", POD, python, "-B", "-c", OPEN)
    assert done.stdout == "landlock\n", done.stderr


def test_a_refusal_of_namespaces_is_said_at_once_and_no_process_stays(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "POD_OF_TEST": str(tmp_path)}
    command = [sys.executable, str(HERE / POD), sys.executable, "-m", "assay", "doctor"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert "namespaces: does not start: PermissionError: [Errno 1] Operation not permitted" in done.stdout, done.stderr
    assert processes_with(f"POD_OF_TEST={tmp_path}") == []


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
