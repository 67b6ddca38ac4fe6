"""What a program uses where nobody is told of it: memory and time that a process does not have, and other processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cages import cages, ends, printed

from assay.cage import usage
from assay.cage.probe import probe
from assay.cage.sandbox_kinds import NAMESPACES

HIDES = "import ctypes, time\nctypes.CDLL(None).prctl(4, 0)\n"
DENIED = """
import ctypes, fcntl, os
kernel = ctypes.CDLL(None, use_errno=True)
def refused(call):
    try:
        return call() == -1 and ctypes.get_errno()
    except OSError as error:
        return error.errno
read, written = os.pipe()
print(
    refused(lambda: kernel.vmsplice(written, None, 0, 0)),
    refused(lambda: kernel.inotify_init1(0)),
    refused(lambda: fcntl.fcntl(read, 8, os.getppid())),
    refused(lambda: fcntl.fcntl(read, 10, 9)),
    refused(lambda: fcntl.fcntl(read, 15, bytes(8))),
    refused(lambda: fcntl.ioctl(read, 0x8901, bytes(4))),
)
"""
SERVES = """
import socket
with socket.socket() as server:
    server.bind(("127.0.0.1", 5000))
    server.listen()
    with socket.create_connection(("127.0.0.1", 5000)) as client:
        connection, _ = server.accept()
        connection.close()
print("served")
"""
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
BUFFERS = """
import socket
one, other = socket.socketpair()
before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
print(one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == before, one.getsockopt(socket.SOL_SOCKET, 9))
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
    if not (found := probe(NAMESPACES)).holds:
        pytest.skip(str(found))
    with cages(NAMESPACES) as sandbox:
        yield sandbox


def test_memory_of_a_process_that_nobody_may_look_at_counts(cage):
    (ended,) = ends(cage, f"{HIDES}held = [b'x' * (20 << 20) for _ in range(20)]\ntime.sleep(60)", memory_mb=200)
    assert ended.ended == "memory"


def test_its_processor_time_counts_too(cage):
    (ended,) = ends(cage, f"{HIDES}while True: pass", cpu_s=0.3)
    assert ended.ended == "cpu"
    assert 0.3 <= ended.cpu_s < 2


def test_processor_time_of_children_that_nobody_waits_for_counts(cage):
    (ended,) = ends(cage, UNSEEN, cpu_s=0.5, wall_s=60)
    assert (ended.ended, ended.cpu_s >= 0.5) == ("cpu", True), ended


def test_what_would_hide_or_reach_further_is_refused(cage):
    assert printed(cage, DENIED).split() == ["1", "24", "1", "1", "1", "1"]


def test_a_port_is_free_for_the_next_job(cage):
    assert [printed(cage, SERVES) for _ in range(3)] == ["served\n"] * 3


def test_what_waits_in_sockets_is_little(cage):
    assert int(printed(cage, FILLS)) < 64


def test_what_waits_as_signals_and_timers_is_little(cage):
    assert 1000 < int(printed(cage, TIMERS)) <= 4096


def test_buffers_of_sockets_keep_their_size(cage):
    assert printed(cage, BUFFERS).split() == ["True", "1"]


def test_memory_of_a_process_whose_first_thread_has_ended_is_seen():
    number = 93 if os.uname().machine == "aarch64" else 60
    with subprocess.Popen([sys.executable, "-c", HEADLESS % number], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"alone\n"
        (found,) = (one for one in usage.processes() if one.pid == process.pid)
        process.kill()
    assert found.resident_mb > 64


def test_sockets_that_many_processes_keep_count_as_memory():
    before = usage.sockets_mb()
    kept = [socket.socketpair() for _ in range(200)]
    assert usage.sockets_mb() - before > 64 * 0.25
    for pair in kept:
        for end in pair:
            end.close()


def test_who_works_and_then_sleeps_has_no_more_time_than_who_sleeps(cage):
    source = "import time\nwhile time.process_time() < .2: pass\ntime.sleep(600)"
    (ended,) = ends(cage, source, wall_s=1.0)
    assert ended.ended == "wall"
    assert ended.wall_s < 3.5, "four times as long, because it had computed"
