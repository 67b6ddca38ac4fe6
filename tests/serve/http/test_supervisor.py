"""A supervisor whose parts are small programs: parts that cannot be started, that die at once, that are many."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

from click.testing import CliRunner

from assay.cli.main import assay
from assay.cli.server_options import MOST_WORKERS
from assay.serve.http.shared_table import SLOTS, SharedTable
from assay.serve.http.supervisor import Supervisor

PART = """
import json, os, sys, time
part = json.loads(os.environ["ASSAY_SERVER_PART"])
os.write(part["ready"], b"1")
if part["role"] == "keeper" and "keeper" in sys.argv:
    sys.exit(1)
time.sleep(100)
"""


def run(program: Path | str, *arguments: str, within: Callable[[Supervisor, list[str]], None]) -> list[str]:
    """Run a supervisor of two workers, and meanwhile something else; return what it said."""
    said: list[str] = []
    failed: list[BaseException] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Supervisor([str(program), "-S", "-c", PART, *arguments], listener, SharedTable(), 2, said.append)

        def use() -> None:
            try:
                within(made, said)
            except BaseException as error:  # noqa: BLE001  it is raised below
                failed.append(error)
            os.kill(os.getpid(), signal.SIGTERM)

        thread = Thread(target=use)
        status = made.run(thread.start)
        thread.join()
    assert status == 0
    if failed:
        raise failed[0]
    return said


def until(what: Callable[[], object]) -> None:
    ends = time.monotonic() + 20
    while not what():
        assert time.monotonic() < ends, "it did not come to that"
        time.sleep(0.02)


def test_a_program_that_is_gone_for_a_while_ends_nothing(tmp_path: Path):
    program = tmp_path / "python"
    program.symlink_to(sys.executable)

    def within(made: Supervisor, said: list[str]) -> None:
        until(lambda: len(made._children) == 3)
        away = program.rename(tmp_path / "away")
        first = made._children[0]
        first.process.kill()
        until(lambda: any("cannot start a worker: No such file" in line for line in said))
        away.rename(program)
        until(lambda: len(made._children) == 3)
        assert first not in made._children

    said = run(program, within=within)
    assert any("trying again in" in line for line in said)


def test_a_part_that_says_it_is_ready_and_dies_is_started_ever_later():
    def within(_made: Supervisor, said: list[str]) -> None:
        until(lambda: any("another one is started in 1 s" in line for line in said))

    said = run(sys.executable, "keeper", within=within)
    assert [line.rpartition(" is started")[2] for line in said[:2]] == [" in 0.2 s", " in 1 s"]


def test_workers_have_a_bound_that_a_reload_has_slots_for():
    assert 2 * MOST_WORKERS + 2 <= SLOTS
    refused = CliRunner().invoke(assay, ["serve", "--workers", str(MOST_WORKERS + 1)])
    assert refused.exit_code == 2
    assert f"1<=x<={MOST_WORKERS}" in refused.output
