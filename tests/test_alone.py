from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.alone import alone
from assay.errors import InputError

HOLDER = """
import sys, time
from pathlib import Path
from assay.alone import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    process = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path / "lock"], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.usefixtures("holder")
def test_a_second_holder_is_refused_where_it_will_not_wait(tmp_path: Path):
    with pytest.raises(InputError, match="somebody writes"), alone(tmp_path / "lock", busy="somebody writes"):
        pass


def test_the_system_lets_go_when_the_holder_is_killed(holder, tmp_path: Path):
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        time.sleep(0.3)
        os.kill(holder.pid, signal.SIGKILL)
        os._exit(0)
    with alone(tmp_path / "lock"):
        assert time.monotonic() - began >= 0.2
    os.waitpid(pid, 0)
    with alone(tmp_path / "lock", busy="nobody is there"):
        pass
