"""What a sandbox promises of jobs whatever its kind, what only namespaces give, and use that nobody is told of."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cages import ADD, FOLDER, cages, ends, job, need, printed

from assay.cage import processes
from assay.cage.confinement import _empty
from assay.cage.job import NAMESPACES
from assay.cage.limits import Limits


@pytest.fixture(scope="module")
def sandbox():
    with cages(need(NAMESPACES), 2) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def cage():
    """One worker, where jobs follow one another in one cage."""
    with cages(need(NAMESPACES)) as sandbox:
        yield sandbox


def test_results_come_in_the_order_of_the_jobs_each_with_its_own_limits(sandbox):
    sources = ["import time; time.sleep(.5)", "pass", "import time; time.sleep(600)", "pass"]
    jobs = [job(source, name=str(number)) for number, source in enumerate(sources)]
    jobs[2] = job(sources[2], name="2", limits=Limits(wall_s=0.2))
    found = [(ended.id, ended.ended) for ended in sandbox.run(jobs)]
    assert found == [("0", "exit"), ("1", "exit"), ("2", "wall"), ("3", "exit")]
    assert Limits(cpu_s=5, wall_s=15).with_cpu(60) == Limits(cpu_s=60, wall_s=180)


def test_streams_status_and_reports_come_back_and_long_output_is_cut(sandbox):
    source = "import sys\nprint(input(), sys.stdin.read())\nprint('wrong', file=sys.stderr)\ninput()"
    (ended,) = sandbox.run([job(source, stdin=b"one\ntwo\nthree")])
    assert ended.stdout == b"one two\nthree\n"
    assert ended.stderr.startswith(b"wrong\n")
    assert b"EOFError" in ended.stderr
    assert ended.reports == b"EOFError"
    assert (ended.ended, os.waitstatus_to_exitcode(ended.status)) == ("exit", 1)
    big = job(f"text = '{'x' * 10_000_000}'\nprint(len(text))", stdin=b"y" * 1_000_000)
    some = job("import sys\nprint('x' * 100_000)\nprint('y' * 100_000, file=sys.stderr)")
    whole, cut = sandbox.run([big, some])
    assert whole.stdout == b"10000000\n"
    assert (cut.ended, len(cut.stdout), len(cut.stderr)) == ("exit", 65536, 65536)


def test_a_signal_is_told_and_the_kernel_steps_in_long_after_the_fork_server(sandbox):
    end = "    held = bytearray(b'x') * (300 << 20)\n    os.kill(os.getpid(), signal.SIGSEGV)"
    crash = f"import os, signal\ndef f(x):\n{end}"
    aborted, crashed = sandbox.run([job("import os\nos.abort()"), job(crash, [[[1], 2]])])
    assert (aborted.ended, os.WTERMSIG(aborted.status)) == ("signal", signal.SIGABRT)
    assert os.WIFSIGNALED(crashed.status)
    assert os.WTERMSIG(crashed.status) == signal.SIGSEGV
    limit = "import resource\nprint(*resource.getrlimit(resource.RLIMIT_CPU))"
    assert printed(sandbox, limit, cpu_s=3.5).split() == ["16", "17"]
    killed, big = ends(sandbox, "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)", "bytearray(8 << 30)")
    assert killed.ended == "cpu"
    assert big.reports == b"MemoryError", "no more addresses than a few times its memory"


def test_no_program_finds_another_one_or_a_test_in_its_memory(cage):
    search = (
        "import os, re\ndef found(pattern):\n    total = 0\n    memory = os.open('/proc/self/mem', os.O_RDONLY)\n"
        "    for line in open('/proc/self/maps'):\n"
        "        first, last = (int(n, 16) for n in line.split()[0].split('-'))\n"
        "        if 'rw' not in line: continue\n"
        "        try: text = os.pread(memory, last - first, first)\n        except OSError: continue\n"
        "        total += len(re.findall(pattern, text))\n    return total\n"
        "own = 'my own ' + str(4712)\nprint(found(rb'the answer is [4]711'), found(rb'my own [4]712') > 0)"
    )
    told = [[[1], "the answer is 4711"]]
    list(cage.run([job("# the answer is 4711\n" + ADD, told), job("print('the answer is 4711')")]))
    assert printed(cage, search) == "0 True\n"


def test_a_program_is_alone_in_its_namespaces_with_a_network_of_its_own(cage):
    seen = printed(
        cage,
        "import os, socket\nprint([n for n in os.listdir('/proc') if n.isdecimal()] == [str(os.getpid())], "
        "os.getuid() != 0, os.listdir(os.path.expanduser('~')), socket.gethostname(), sorted(os.environ))",
    )
    assert seen == (
        "True True [] sandbox ['HOME', 'LANG', 'MKL_NUM_THREADS', 'NUMEXPR_NUM_THREADS', 'OMP_NUM_THREADS', "
        "'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'PYTHONPATH', 'TMPDIR']\n"
    )
    source = (
        "import socket, multiprocessing\nserver = socket.socket()\nserver.bind(('127.0.0.1', 5000))\nserver.listen()\n"
        "with socket.create_connection(server.getsockname()) as client:\n"
        "    connection, _ = server.accept(); connection.sendall(b'x'); print(client.recv(1)); connection.close()\n"
        "with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))"
    )
    assert [printed(cage, source) for _ in range(3)] == ["b'x'\n[1, 2]\n"] * 3


REFUSED = """
import sys
sys.path.insert(0, {0!r})
from cages import NAMESPACES, cages, ends
from assay.cage.seccomp import Filter
from assay.cage.syscalls import PR_SET_NO_NEW_PRIVS, prctl
prctl(PR_SET_NO_NEW_PRIVS, 1)
Filter(namespaces=True).bind(1)()
with cages(NAMESPACES) as sandbox:
    ends(sandbox, "pass")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are of Linux")
def test_where_namespaces_are_refused_it_is_said_at_once():
    """As in a container that allows none: nobody waits for a helper that waits for itself."""
    done = subprocess.run(
        [sys.executable, "-c", REFUSED.format(FOLDER)], capture_output=True, text=True, timeout=120, check=False
    )
    assert "does not start here: PermissionError" in done.stderr


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


def test_processor_time_counts_where_nobody_may_look_and_little_waits_in_sockets_and_timers(cage):
    hides = "import ctypes\nctypes.CDLL(None).prctl(4, 0)\nwhile True: pass"
    for source in (hides, UNSEEN):
        (ended,) = ends(cage, source, cpu_s=0.3, wall_s=60)
        assert (ended.ended, ended.cpu_s >= 0.3) == ("cpu", True), ended
    assert int(printed(cage, FILLS)) < 64
    assert 1000 < int(printed(cage, TIMERS)) <= 4096


def test_memory_of_a_process_without_its_first_thread_and_of_sockets_is_seen():
    number = 93 if os.uname().machine == "aarch64" else 60
    with subprocess.Popen([sys.executable, "-c", HEADLESS % number], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"alone\n"
        (found,) = (one for one in processes.processes() if one.pid == process.pid)
        process.kill()
    assert found.resident_mb > 64
    before = processes.sockets_mb()
    kept = [socket.socketpair() for _ in range(200)]
    assert processes.sockets_mb() - before > 64 * 0.25
    for pair in kept:
        for end in pair:
            end.close()


def test_a_tree_of_any_depth_mode_and_name_is_deleted(tmp_path: Path):
    root = tmp_path / "work"
    (root / "closed" / "inner").mkdir(parents=True)
    (root / "closed" / "inner" / "file").write_text("x")
    (root / "closed").chmod(0)
    (root / os.fsdecode(b"\xff\n")).write_text("x")
    (root / "link").symlink_to(tmp_path)
    (tmp_path / "kept").write_text("x")
    top = os.open(root, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d" * 50, dir_fd=top)
        top, above = os.open("d" * 50, os.O_RDONLY, dir_fd=top), top
        os.close(above)
    os.close(top)
    _empty(root)
    assert list(root.iterdir()) == []
    assert (tmp_path / "kept").exists()
