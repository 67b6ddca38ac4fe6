"""A cage of each kind from outside: what comes back, what is bounded, what one job or judge leaves to the next."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cages import ADD, FOLDER, ISOLATED, cages, ends, job, need, open_to_others, printed

from assay.cage.job import Job
from assay.cage.limits import Limits
from assay.cage.processes import below
from assay.cage.processes import processes as all_processes
from assay.errors import InputError
from waiting import until


@pytest.fixture(scope="module", params=ISOLATED, ids=lambda kind: kind.name)
def kind(request):
    return need(request.param)


@pytest.fixture(scope="module")
def sandbox(kind):
    with cages(kind, 2) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def cage(kind):
    """One worker, whose judge is kept from job to job."""
    with cages(kind) as sandbox:
        yield sandbox


def test_a_judge_says_what_a_program_does_which_cannot_signal_its_judge(sandbox):
    right, wrong, gone = sandbox.run(
        [job(ADD, [[[1], 2]]), job(ADD, [[[1], 3]]), job("import os\nos._exit(0)", [[[1], 2]])]
    )
    assert (right.verdict, right.ended, right.status) == (b"correct", "exit", 0)
    assert wrong.verdict == b"wrong"
    assert gone.verdict == b""
    source = (
        "import os\nfor pid in [-1, *range(max(2, os.getpid() - 50), os.getpid()), -os.getpid() + 1]:\n"
        "    try: os.kill(pid, 9)\n    except OSError: pass\n" + ADD
    )
    (ended,) = sandbox.run([job(source, [[[1], 2]])])
    assert ended.verdict == b"correct"


DEAF = "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass\n"
FORKS = "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        "
BROKEN_LIMITS = {
    "time of a loop": (DEAF + "while True: pass", {"cpu_s": 0.3}, "cpu"),
    "time of children": ("import os\nfor _ in range(4): os.fork()\nwhile True: pass", {"cpu_s": 0.5}, "cpu"),
    "waiting": ("import time\ntime.sleep(600)", {"wall_s": 0.4}, "wall"),
    "memory of children": (
        FORKS + "data = bytearray(b'x') * (50 << 20)\n        time.sleep(600)\ntime.sleep(600)", {"memory_mb": 128},
        "memory",
    ),
    "a fork bomb": (
        "import os, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(.01)", {"processes": 10},
        "processes",
    ),
    "endless output": ("while True: print('x' * 100_000)", {}, "output"),
    "as many processes as it may have": (
        FORKS + "time.sleep(.6)\n        os._exit(0)\ntime.sleep(.5)", {"processes": 5}, "exit",
    ),
}  # fmt: skip


def test_each_limit_ends_a_job_and_says_which_it_was(sandbox):
    found = {name: ends(sandbox, source, **limits)[0] for name, (source, limits, _) in BROKEN_LIMITS.items()}
    wanted = {name: reason for name, (_, _, reason) in BROKEN_LIMITS.items()}
    assert {name: ended.ended for name, ended in found.items()} == wanted
    assert min(found["time of a loop"].cpu_s, found["time of children"].cpu_s - 0.2) >= 0.3, "over the limit it broke"
    assert found["waiting"].wall_s >= 0.4
    assert found["memory of children"].peak_mb >= 128
    assert len(found["endless output"].stdout) == 65536, "no more is kept"


def test_scratch_is_bounded_and_nothing_is_left_of_a_job(sandbox):
    fill = (
        "import time\ntry:\n    for n in range(30):\n        with open(str(n), 'wb') as file:\n"
        "            file.write(bytes(1 << 20))\nexcept OSError as error: print(error.errno)\nelse: time.sleep(600)"
    )
    (ended,) = ends(sandbox, fill, scratch_mb=8)
    assert ended.ended == "output" or ended.stdout == b"28\n"
    source = "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)"
    ends(sandbox, source, source)
    for cage in sandbox.processes():
        assert len(below(cage, all_processes())) == 1


def test_the_next_job_finds_nothing_of_the_last(kind):
    dirty = (
        "import builtins, json, os, signal, sys, tempfile\n"
        "os.environ['LEFT'] = '1'\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\n"
        "open(os.path.join(tempfile.gettempdir(), 'd'), 'w')\nsys.setrecursionlimit(90)\nsys.path.insert(0, '/left')\n"
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])\n"
        "os.umask(0o777)\nos.mkdir('closed')\njson.dumps = print\nbuiltins.len = lambda _: 5\n"
    )
    look = (
        "import builtins, json, os, signal, sys, tempfile\n"
        "print(os.listdir('.'), os.listdir(tempfile.gettempdir()), sys.path, sys.getrecursionlimit(), os.umask(0), "
        "signal.getsignal(signal.SIGALRM), signal.pthread_sigmask(signal.SIG_BLOCK, []), "
        "len('ab'), json.dumps(1), 'LEFT' in os.environ)"
    )
    with cages(kind) as one:
        clean = printed(one, look)
        assert (printed(one, dirty), printed(one, look)) == ("", clean)
        assert clean.startswith("[] [")
        assert clean.endswith("2 1 False\n")


READS = """
import os
for path in (%r, "/etc/shadow", "/etc/hostname", "/var/log", "/proc/1/environ"):
    try:
        print(path, os.listdir(path) if os.path.isdir(path) else open(path, "rb").read())
    except OSError:
        pass
"""


def test_a_program_reads_no_file_of_the_machine_or_of_others_and_has_no_descriptor_but_its_own(sandbox, tmp_path):
    (tmp_path / "secret").write_text("x")
    open_to_others(tmp_path)
    assert printed(sandbox, READS % str(tmp_path / "secret")) == ""
    assert [ended.stdout for ended in ends(sandbox, WRITES % "one", WRITES % "two")] == [b"one.own\n", b"two.own\n"]
    source = (
        "import os\nfound = []\nfor n in range(128):\n    try: os.fstat(n); found.append(n)\n    except OSError: pass\n"
    )
    assert printed(sandbox, source + "print(found)") == "[0, 1, 2, 4]\n"
    (ended,) = sandbox.run([job(source + "def f(): return found", [[[], [0, 1, 2, 3, 4]]])])
    assert ended.verdict == b"correct"


WRITES = """
import os, tempfile, time
seen = set()
for top in (".", tempfile.gettempdir()):
    open(f"{top}/%s.own", "w").close()
for _ in range(20):
    for top in (".", tempfile.gettempdir()):
        seen |= {name for name in os.listdir(top) if name.endswith(".own")}
    time.sleep(.02)
print(*seen)
"""


CROWD = """
import os, sys, time
if os.geteuid() != 0:
    for _ in range(120):
        if os.fork() == 0:
            break
print("x", end="", flush=True)
time.sleep(600)
"""


def test_many_processes_of_the_same_user_take_none_from_a_job(kind):
    forks = "import os\npid = os.fork()\nif pid == 0: os._exit(0)\nprint(os.waitpid(pid, 0)[1])"
    with (
        subprocess.Popen([sys.executable, "-c", CROWD], stdout=-1, start_new_session=True) as crowd,
        cages(kind) as one,
    ):
        crowd.stdout.read(121 if os.geteuid() else 1)
        found = [ended.stdout for ended in ends(one, *[forks] * 20)]
        os.killpg(crowd.pid, signal.SIGKILL)
    assert found == [b"0\n"] * 20


def test_what_is_loaded_before_is_there_and_hashes_and_chances_are_the_same_in_every_cage(kind, tmp_path):
    (tmp_path / "mine.py").write_text("WORD = 'found'\n")
    open_to_others(tmp_path)
    look = "import random, sys, mine\nprint('colorsys' in sys.modules, mine.WORD, hash('assay'), random.random())"
    seen = set()
    for _ in range(2):
        with cages(kind, paths=(str(tmp_path),), modules=("colorsys", "mine")) as one:
            seen.add(printed(one, look))
    (text,) = seen
    assert text.startswith("True found ")
    with cages(kind, modules=("no_such_module",)) as one, pytest.raises(InputError, match="no_such_module"):
        ends(one, "pass")


def test_a_cage_that_dies_once_costs_nothing_and_who_stops_listening_leaves_nothing_running(kind):
    with cages(kind) as one:
        found = one.run([job("print(1)"), job("import time; time.sleep(.5); print(2)"), job("print(3)")])
        assert next(found).stdout == b"1\n"
        os.kill(one.processes()[0], 9)
        assert [ended.stdout for ended in found] == [b"2\n", b"3\n"]
        found = one.run([job("pass"), job("import time; time.sleep(600)", limits=Limits(wall_s=600))])
        next(found)
        found.close()
        assert printed(one, "print(1)") == "1\n"


def test_a_job_whose_cages_die_is_broken_and_the_next_is_not(kind):
    with cages(kind) as one:
        done = threading.Event()

        def kill():
            while not done.wait(0.05):
                for cage in one.processes():
                    server, *children = below(cage, all_processes()) or [None]
                    if children:  # the job runs
                        os.kill(server.pid, 9)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            found = one.run([job("import time; time.sleep(600)", limits=Limits(wall_s=600)), job("print(1)")])
            broken = next(found)
            done.set()
            killer.join()
            (well,) = found
        finally:
            done.set()
    assert broken.ended == "broken"
    assert "died" in broken.detail
    assert well.stdout == b"1\n"


SUPERVISOR = """
import sys
sys.path.insert(0, sys.argv[2])
from assay.cage.job import KINDS
from cages import cages, job
sleeper = "import os, time\\nfor _ in range(3):\\n    if os.fork() == 0: os.setsid()\\ntime.sleep(600)"
with cages(KINDS[sys.argv[1]], 2) as sandbox:
    for ended in sandbox.run([job("print(1)"), job(sleeper), job(sleeper)]):
        print("on", flush=True)
"""


@pytest.mark.parametrize("least", [1, 12], ids=["at once", "when its jobs run"])
def test_a_killed_supervisor_leaves_no_process_and_no_file(kind, least, tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    open_to_others(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-B", "-c", SUPERVISOR, kind.name, FOLDER], env=environment, stdout=subprocess.PIPE
    ) as supervisor:
        assert supervisor.stdout.readline() == b"on\n"

        def started():
            found = {process.pid for process in below(supervisor.pid, all_processes())}
            return found if len(found) >= least else set()

        processes = until(started, "its jobs have started their processes")
        supervisor.kill()
        supervisor.wait()
    until(lambda: not processes & {one.pid for one in all_processes()}, "its processes are gone")
    until(lambda: not os.listdir(tmp_path), "its folders are gone")


WHO = "os.write(verdict, str(os.getpid()).encode())"
WAITS = "import sys\nsys.stdin.read()"
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()
"""


def judged(cage, *codes, source="pass", stays=True, limits=None):
    """Return how jobs ended that were given to one cage, each with a judge of this code."""
    program = json.dumps({"source": source}).encode()
    jobs = [
        Job(str(n), program, json.dumps({"code": code, "stays": stays}).encode(), limits=limits)
        for n, code in enumerate(codes)
    ]
    return list(cage.run(jobs))


def judges(ends):
    return [int(ended.verdict) for ended in ends]


def test_jobs_with_equal_tests_share_a_judge_unless_it_was_changed(cage):
    assert len(set(judges(judged(cage, WHO, WHO, WHO)))) == 1
    assert len(set(judges(judged(cage, WHO, f"{WHO}\n", WHO)))) == 3, "another task came between"
    assert len(set(judges(judged(cage, WHO, WHO, WHO, stays=False)))) == 3
    for code in (f"held = b'x' * (300 << 20)\n{WHO}", f"{WHO}\nos._exit(3)"):
        assert len(set(judges(judged(cage, code, code)))) == 2, code


@pytest.mark.parametrize("source", [DAEMON, f"{DAEMON}\n{WAITS}"])
def test_what_a_program_leaves_running_ends_with_its_job(cage, source):
    counts = "import time\ntime.sleep(.2)\nos.write(verdict, str(os.getpid()).encode())"
    assert len(set(judges(judged(cage, counts, counts, source=source)))) == 2, "it was ended with all else"


def test_a_job_has_the_processor_time_of_its_own_tests(cage):
    works = "import time\nuntil = time.process_time() + .3\nwhile time.process_time() < until: pass\n" + WHO
    ends = judged(cage, *[works] * 4, limits=Limits(cpu_s=0.8))
    assert len(set(judges(ends))) == 1
    assert [ended.ended for ended in ends] == ["exit"] * 4, "none is charged with those before it"
    endless, after = judged(cage, "while True: pass", WHO, limits=Limits(cpu_s=0.5))
    assert (endless.ended, endless.verdict, endless.cpu_s >= 0.5) == ("cpu", b"", True)
    assert judges([after])
