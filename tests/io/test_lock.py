from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.io.lock import alone

HOLDER = """
import sys, time
from pathlib import Path
from assay.io.lock import alone
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
    entered = threading.Event()

    def enter() -> None:
        with alone(tmp_path / "lock"):
            entered.set()

    waiting = threading.Thread(target=enter)
    waiting.start()
    assert not entered.wait(0.2)
    holder.kill()
    waiting.join()
    assert entered.is_set()
    with alone(tmp_path / "lock", busy="nobody is there"):
        pass
