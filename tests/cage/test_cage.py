"""A cage from outside: what comes back, what is bounded, what one job leaves to the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cages import ISOLATED, cages, ends, job, open_to_others, printed

from assay.cage import usage
from assay.cage.limits import Limits
from assay.cage.probe import probe
from assay.cage.sandbox_kinds import NAMESPACES
from assay.errors import InputError

ADD = "def f(x):\n    return x + 1"


@pytest.fixture(scope="module", params=ISOLATED, ids=lambda kind: kind.name)
def kind(request):
    if not (found := probe(request.param)).holds:
        pytest.skip(str(found))
    return request.param


@pytest.fixture(scope="module")
def sandbox(kind):
    with cages(kind, 2) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def strongest():
    """One worker of namespaces, where jobs follow one another in one cage."""
    if not (found := probe(NAMESPACES)).holds:
        pytest.skip(str(found))
    with cages(NAMESPACES) as sandbox:
        yield sandbox


def test_a_judge_says_what_a_program_does(sandbox):
    right, wrong, gone = sandbox.run(
        [job(ADD, [[[1], 2]]), job(ADD, [[[1], 3]]), job("import os\nos._exit(0)", [[[1], 2]])]
    )
    assert (right.verdict, right.ended, right.status) == (b"correct", "exit", 0)
    assert wrong.verdict == b"wrong"
    assert gone.verdict == b""


def test_results_come_in_the_order_of_the_jobs(sandbox):
    sources = ["import time; time.sleep(.5)", "pass", "pass", "pass"]
    jobs = [job(source, name=str(number)) for number, source in enumerate(sources)]
    assert [ended.id for ended in sandbox.run(jobs)] == ["0", "1", "2", "3"]


def test_standard_streams(sandbox):
    source = "import sys\nprint(input(), sys.stdin.read())\nprint('wrong', file=sys.stderr)\ninput()"
    (ended,) = sandbox.run([job(source, stdin=b"one\ntwo\nthree")])
    assert ended.stdout == b"one two\nthree\n"
    assert ended.stderr.startswith(b"wrong\n")
    assert b"EOFError" in ended.stderr
    assert ended.reports == b"EOFError"
    assert os.waitstatus_to_exitcode(ended.status) == 1


def test_output_is_cut_and_too_much_of_it_ends_the_job(sandbox):
    some, flood = ends(sandbox, "print('x' * 100_000)", "while True: print('x' * 100_000)")
    assert (some.ended, len(some.stdout)) == ("exit", 65536)
    assert (flood.ended, len(flood.stdout)) == ("output", 65536)


def test_processor_time_is_the_verdict(sandbox):
    loop = (
        "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass\n"
    )
    (ended,) = ends(sandbox, loop + "while True: pass", cpu_s=0.3)
    assert ended.ended == "cpu"
    assert 0.3 <= ended.cpu_s < 1.5


def test_processor_time_of_children_counts(sandbox):
    source = "import os\nfor _ in range(4): os.fork()\nwhile True: pass"
    (ended,) = ends(sandbox, source, cpu_s=0.5)
    assert ended.ended == "cpu"
    assert ended.cpu_s < 2.5


BUSY = """
import time
end = time.monotonic() + 12
while time.monotonic() < end:
    begun = time.perf_counter()
    while time.perf_counter() - begun < 0.0025:
        pass
    time.sleep(0.0015)
"""


def test_an_endless_loop_is_over_its_time_on_a_machine_that_is_busy_between_two_ticks(sandbox):
    load = [subprocess.Popen([sys.executable, "-I", "-c", BUSY]) for _ in range(4)]
    try:
        found = ends(sandbox, *["while True: pass"] * 3, cpu_s=1.0)
    finally:
        for one in load:
            one.kill()
            one.wait()
    assert [ended.ended for ended in found] == ["cpu"] * 3
    assert all(1.0 <= ended.cpu_s < 3 for ended in found)


def test_the_kernel_steps_in_long_after_the_fork_server_and_says_so(sandbox):
    limit = "import resource\nprint(*resource.getrlimit(resource.RLIMIT_CPU))"
    assert printed(sandbox, limit, cpu_s=3.5).split() == ["16", "17"]
    (ended,) = ends(sandbox, "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)")
    assert ended.ended == "cpu"


def test_a_crash_is_told_though_its_judge_is_gone_first(sandbox):
    end = "    held = bytearray(b'x') * (300 << 20)\n    os.kill(os.getpid(), signal.SIGSEGV)"
    crash = f"import os, signal\ndef f(x):\n{end}"
    (ended,) = sandbox.run([job(crash, [[[1], 2]])])
    assert os.WIFSIGNALED(ended.status)
    assert os.WTERMSIG(ended.status) == signal.SIGSEGV


def test_who_sleeps_is_woken_in_the_end(sandbox):
    (ended,) = ends(sandbox, "import time\ntime.sleep(60)", wall_s=0.4)
    assert ended.ended == "wall"
    assert 0.4 <= ended.wall_s < 5


def test_memory_of_all_children_together_is_bounded(sandbox):
    source = (
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n"
        "        data = bytearray(b'x') * (50 << 20)\n        time.sleep(60)\n        os._exit(0)\ntime.sleep(5)"
    )
    (ended,) = ends(sandbox, source, memory_mb=128)
    assert ended.ended == "memory"
    assert ended.peak_mb >= 128


def test_one_process_gets_no_more_addresses_than_a_few_times_its_memory(sandbox):
    (ended,) = ends(sandbox, "bytearray(8 << 30)")
    assert ended.reports == b"MemoryError"


def test_a_fork_bomb_is_ended(sandbox):
    source = "import os, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(.01)"
    (ended,) = ends(sandbox, source, processes=10)
    assert ended.ended == "processes"


def test_a_signal_is_told(sandbox):
    (ended,) = ends(sandbox, "import os\nos.abort()")
    assert (ended.ended, os.WTERMSIG(ended.status)) == ("signal", 6)


def test_nothing_is_left_of_a_job(sandbox):
    source = "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)"
    ends(sandbox, source, source)
    for cage in sandbox.processes():
        assert len(usage.below(cage, usage.processes())) == 1


def test_the_next_job_finds_nothing_of_the_last(kind):
    dirty = (
        "import builtins, json, os, tempfile\nbuiltins.len = json.dumps = None\nos.environ['LEFT'] = '1'\n"
        "os.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nopen(os.path.join(tempfile.gettempdir(), 'd'), 'w')\n"
        "os.umask(0o777)\nos.mkdir('closed')\n"
    )
    look = (
        "import builtins, json, os, tempfile\nprint(os.listdir('.'), os.listdir(tempfile.gettempdir()), len('ab'), "
        "json.dumps(1), 'LEFT' in os.environ)"
    )
    with cages(kind) as one:
        clean = printed(one, look)
        ends(one, dirty)
        assert printed(one, look) == clean
        assert clean.endswith("2 1 False\n")


def test_scratch_is_bounded(sandbox):
    fill = (
        "import time\ntotal = 0\ntry:\n    for n in range(30):\n        with open(str(n), 'wb') as file:\n"
        "            total += file.write(bytes(1 << 20))\nexcept OSError as error: print(error.errno)\ntime.sleep(.3)"
    )
    (ended,) = ends(sandbox, fill, scratch_mb=8)
    assert ended.ended == "output" or ended.stdout == b"28\n"


def test_a_program_has_no_descriptor_but_its_own(sandbox):
    source = (
        "import os\nfound = []\nfor n in range(128):\n    try: os.fstat(n); found.append(n)\n    except OSError: pass\n"
    )
    assert printed(sandbox, source + "print(found)") == "[0, 1, 2, 4]\n"
    (ended,) = sandbox.run([job(source + "def f(): return found", [[[], [0, 1, 2, 3, 4]]])])
    assert ended.verdict == b"correct"


def test_a_program_cannot_signal_its_judge(sandbox):
    source = (
        "import os\nfor pid in [-1, *range(max(2, os.getpid() - 50), os.getpid()), -os.getpid() + 1]:\n"
        "    try: os.kill(pid, 9)\n    except OSError: pass\n" + ADD
    )
    (ended,) = sandbox.run([job(source, [[[1], 2]])])
    assert ended.verdict == b"correct"


def test_hashes_and_chances_are_the_same_in_every_cage(kind):
    seen = set()
    for _ in range(2):
        with cages(kind) as one:
            seen.add(printed(one, "import random\nprint(hash('assay'), random.random())"))
    assert len(seen) == 1


def test_no_program_finds_another_one_or_a_test_in_its_memory(strongest):
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
    list(strongest.run([job("# the answer is 4711\n" + ADD, told), job("print('the answer is 4711')")]))
    assert printed(strongest, search) == "0 True\n"


def test_a_program_is_alone_in_its_namespaces(strongest):
    seen = printed(
        strongest,
        "import os, socket\nprint([n for n in os.listdir('/proc') if n.isdecimal()] == [str(os.getpid())], "
        "os.getuid() != 0, os.listdir(os.path.expanduser('~')), socket.gethostname(), sorted(os.environ))",
    )
    assert seen == (
        "True True [] sandbox ['HOME', 'LANG', 'MKL_NUM_THREADS', 'NUMEXPR_NUM_THREADS', 'OMP_NUM_THREADS', "
        "'OPENBLAS_NUM_THREADS', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'PYTHONPATH', 'TMPDIR']\n"
    )


def test_its_own_network_works(strongest):
    source = (
        "import socket, multiprocessing\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "with socket.create_connection(server.getsockname()) as client: server.accept()[0].sendall(b'x'); "
        "print(client.recv(1))\nwith multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))"
    )
    assert printed(strongest, source) == "b'x'\n[1, 2]\n"


def test_what_is_loaded_before_is_there(kind, tmp_path):
    (tmp_path / "mine.py").write_text("WORD = 'found'\n")
    open_to_others(tmp_path)
    with cages(kind, paths=(str(tmp_path),), modules=("colorsys", "mine")) as one:
        assert printed(one, "import sys, mine\nprint('colorsys' in sys.modules, mine.WORD)") == "True found\n"


def test_a_module_that_is_not_there_is_said(kind):
    with cages(kind, modules=("no_such_module",)) as one, pytest.raises(InputError, match="no_such_module"):
        ends(one, "pass")


def test_a_cage_that_dies_once_costs_nothing(kind):
    with cages(kind) as one:
        found = one.run([job("print(1)"), job("import time; time.sleep(.5); print(2)"), job("print(3)")])
        assert next(found).stdout == b"1\n"
        os.kill(one.processes()[0], 9)
        assert [ended.stdout for ended in found] == [b"2\n", b"3\n"]


def test_a_job_whose_cages_die_is_broken_and_the_next_is_not(kind):
    with cages(kind) as one:
        done = threading.Event()

        def kill():
            while not done.wait(0.5):
                for cage in one.processes():
                    for server in usage.below(cage, usage.processes())[:1]:
                        os.kill(server.pid, 9)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            found = one.run([job("import time; time.sleep(5)"), job("print(1)")])
            broken = next(found)
            done.set()
            killer.join()
            (well,) = found
        finally:
            done.set()
    assert broken.ended == "broken"
    assert "died" in broken.detail
    assert well.stdout == b"1\n"


def test_who_stops_listening_leaves_nothing_running(kind):
    with cages(kind) as one:
        found = one.run([job("pass"), job("import time; time.sleep(600)", limits=Limits(wall_s=600))])
        next(found)
        found.close()
        assert printed(one, "print(1)", wall_s=20) == "1\n"


def test_ten_megabytes_cross(sandbox):
    (ended,) = sandbox.run([job(f"text = '{'x' * 10_000_000}'\nprint(len(text))", stdin=b"y" * 1_000_000)])
    assert ended.stdout == b"10000000\n"


def test_jobs_may_have_their_own_limits(sandbox):
    short, long = sandbox.run(
        [job("import time; time.sleep(1)", limits=Limits(wall_s=0.2)), job("import time; time.sleep(1)")]
    )
    assert (short.ended, long.ended) == ("wall", "exit")


SUPERVISOR = """
import sys, time
sys.path.insert(0, sys.argv[2])
from assay.cage.sandbox_kinds import KINDS
from cages import cages, job
sleeper = "import os, time\\nfor _ in range(3):\\n    if os.fork() == 0: os.setsid()\\ntime.sleep(600)"
with cages(KINDS[sys.argv[1]], 2) as sandbox:
    for ended in sandbox.run([job("print(1)"), job(sleeper), job(sleeper)]):
        print("on", flush=True)
"""


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.5])
def test_a_killed_supervisor_leaves_no_process_and_no_file(kind, after_s, tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    open_to_others(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-B", "-c", SUPERVISOR, kind.name, str(Path(__file__).parent)],
        env=environment,
        stdout=subprocess.PIPE,
    ) as supervisor:
        assert supervisor.stdout.readline() == b"on\n"
        time.sleep(after_s)
        started = {process.pid for process in usage.below(supervisor.pid, usage.processes())}
        supervisor.kill()
        supervisor.wait()
    assert started
    deadline = time.monotonic() + 20
    while started & {process.pid for process in usage.processes()} or os.listdir(tmp_path):
        assert time.monotonic() < deadline, "something is left"
        time.sleep(0.05)


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
        [sys.executable, "-c", REFUSED.format(str(Path(__file__).parent))],
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert "does not start here: PermissionError" in done.stderr
