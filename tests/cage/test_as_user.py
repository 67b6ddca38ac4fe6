"""Root's own Python is often out of other users' reach: kinds that need it readable are tried here as such a user."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from ordinary import NOBODYS, copies, interpreter

PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
TESTS = ("cages.py", "standin_harness.py", "test_cage.py", "test_container.py")
KINDS = "landlock or container"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes that are tried need Linux")


def test_cages_of_an_ordinary_user_hold_too():
    python = interpreter()
    with copies(*PYTEST, beside=TESTS) as folder:
        done = subprocess.run(
            [python, "-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-k", KINDS, *TESTS[-2:]],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "HOME": str(folder)},
            cwd=folder, user=NOBODYS, group=NOBODYS, extra_groups=[],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
