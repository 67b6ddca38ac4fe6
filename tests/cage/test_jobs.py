"""What a sandbox promises of jobs whatever its kind, and what only namespaces of its own give a program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cages import ADD, FOLDER, cages, ends, job, need, printed

from assay.cage.job import NAMESPACES, Limits


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


def test_streams_status_and_reports_come_back(sandbox):
    source = "import sys\nprint(input(), sys.stdin.read())\nprint('wrong', file=sys.stderr)\ninput()"
    (ended,) = sandbox.run([job(source, stdin=b"one\ntwo\nthree")])
    assert ended.stdout == b"one two\nthree\n"
    assert ended.stderr.startswith(b"wrong\n")
    assert b"EOFError" in ended.stderr
    assert ended.reports == b"EOFError"
    assert (ended.ended, os.waitstatus_to_exitcode(ended.status)) == ("exit", 1)


def test_much_goes_in_and_what_is_kept_of_the_output_is_cut(sandbox):
    big = job(f"text = '{'x' * 10_000_000}'\nprint(len(text))", stdin=b"y" * 1_000_000)
    some = job("import sys\nprint('x' * 100_000)\nprint('y' * 100_000, file=sys.stderr)")
    whole, cut = sandbox.run([big, some])
    assert whole.stdout == b"10000000\n"
    assert (cut.ended, len(cut.stdout), len(cut.stderr)) == ("exit", 65536, 65536)


def test_a_signal_is_told_also_where_the_judge_is_gone_first(sandbox):
    end = "    held = bytearray(b'x') * (300 << 20)\n    os.kill(os.getpid(), signal.SIGSEGV)"
    crash = f"import os, signal\ndef f(x):\n{end}"
    aborted, crashed = sandbox.run([job("import os\nos.abort()"), job(crash, [[[1], 2]])])
    assert (aborted.ended, os.WTERMSIG(aborted.status)) == ("signal", signal.SIGABRT)
    assert os.WIFSIGNALED(crashed.status)
    assert os.WTERMSIG(crashed.status) == signal.SIGSEGV


def test_the_kernel_steps_in_long_after_the_fork_server_and_says_so(sandbox):
    limit = "import resource\nprint(*resource.getrlimit(resource.RLIMIT_CPU))"
    assert printed(sandbox, limit, cpu_s=3.5).split() == ["16", "17"]
    (ended,) = ends(sandbox, "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)")
    assert ended.ended == "cpu"


def test_one_process_gets_no_more_addresses_than_a_few_times_its_memory(sandbox):
    (ended,) = ends(sandbox, "bytearray(8 << 30)")
    assert ended.reports == b"MemoryError"


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


def test_a_program_is_alone_in_its_namespaces(cage):
    seen = printed(
        cage,
        "import os, socket\nprint([n for n in os.listdir('/proc') if n.isdecimal()] == [str(os.getpid())], "
        "os.getuid() != 0, os.listdir(os.path.expanduser('~')), socket.gethostname(), sorted(os.environ))",
    )
    assert seen == (
        "True True [] sandbox ['HOME', 'LANG', 'MKL_NUM_THREADS', 'NUMEXPR_NUM_THREADS', 'OMP_NUM_THREADS', "
        "'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'PYTHONPATH', 'TMPDIR']\n"
    )


def test_its_own_network_works_and_a_port_is_free_for_the_next_job(cage):
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
