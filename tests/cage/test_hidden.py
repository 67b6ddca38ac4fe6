"""What a program uses where nobody is told of it: time that nobody may look at, and memory that no process has."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cages import cages, ends, need, printed

from assay.cage import processes
from assay.cage.job import NAMESPACES

FILLS = """
import socket
sent, kept = 0, []
with socket.socket() as server:
    server.bind(("127.0.0.1", 0))
    server.listen()
    while True:
        try:
            client = socket.create_connection(server.getsockname())
            kept.append((client, server.accept()[0]))
        except OSError:
            break
        for end in kept[-1]:
            end.setblocking(False)
            try:
                while True:
                    sent += end.send(bytes(65536))
            except BlockingIOError:
                pass
print(sent >> 20)
"""
TIMERS = """
import ctypes
kernel, number, count = ctypes.CDLL(None), ctypes.create_string_buffer(8), 0
while count < 10_000 and kernel.timer_create(1, None, number) == 0:
    count += 1
print(count)
"""
HEADLESS = """
import ctypes, threading, time
def hold():
    held = b"x" * (64 << 20)
    while open("/proc/self/stat").read().rpartition(") ")[2][0] != "Z":
        time.sleep(0.001)
    print("alone", flush=True)
    time.sleep(600)
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall(%d, 0)
"""
UNSEEN = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        until = time.process_time() + .1
        while time.process_time() < until:
            pass
        os._exit(0)
    time.sleep(.1)
"""


@pytest.fixture(scope="module")
def cage():
    with cages(need(NAMESPACES)) as sandbox:
        yield sandbox


def test_processor_time_counts_where_nobody_may_look_and_of_children_that_nobody_waits_for(cage):
    hides = "import ctypes\nctypes.CDLL(None).prctl(4, 0)\nwhile True: pass"
    for source in (hides, UNSEEN):
        (ended,) = ends(cage, source, cpu_s=0.3, wall_s=60)
        assert (ended.ended, ended.cpu_s >= 0.3) == ("cpu", True), ended


def test_what_waits_in_sockets_and_as_timers_is_little(cage):
    assert int(printed(cage, FILLS)) < 64
    assert 1000 < int(printed(cage, TIMERS)) <= 4096


def test_memory_of_a_process_whose_first_thread_has_ended_is_seen():
    number = 93 if os.uname().machine == "aarch64" else 60
    with subprocess.Popen([sys.executable, "-c", HEADLESS % number], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"alone\n"
        (found,) = (one for one in processes.processes() if one.pid == process.pid)
        process.kill()
    assert found.resident_mb > 64


def test_sockets_that_many_processes_keep_count_as_memory():
    before = processes.sockets_mb()
    kept = [socket.socketpair() for _ in range(200)]
    assert processes.sockets_mb() - before > 64 * 0.25
    for pair in kept:
        for end in pair:
            end.close()
