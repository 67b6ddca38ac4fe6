"""Programs that reach the process which tests them, so that it fails with the next program of the task, or favors it."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import FOUR, NEXT, RIGHT, nothing
from attacks.poison import GROUP, poison

from assay.values import Script

__all__ = ["ATTACKS", "GROUP"]

FAT = (Script("assert add(2, 3) == 5\n"),)

ATTACKS = (
    poison(
        "answers before it is asked",
        "sends right answers as it is imported, and gives none",
        "say(*ANSWERS)\ndef add(a, b):\n    time.sleep(60)\n",
    ),
    poison(
        "answers twice",
        "answers each question twice, rightly once",
        "def add(a, b):\n    say(ANSWERS[1])\n    return 4\n",
    ),
    poison(
        "peeks at the questions",
        "reads what the judge sends for what it expects, and answers that",
        """
def add(a, b):
    seen = b""
    for end in ends():
        for flags in (socket.MSG_PEEK | socket.MSG_DONTWAIT, socket.MSG_OOB | socket.MSG_DONTWAIT):
            try:
                seen += end.recv(1 << 16, flags)
            except OSError:
                continue
    return 5 if b"5" in seen else 6 if b"6" in seen else 4
""",
    ),
    poison(
        "empty frames",
        "sends frames without anything in them for as long as it may",
        "def add(a, b):\n    while True:\n        say(bytes(1 << 12))\n",
    ),
    poison(
        "a frame without an end",
        "says that 4 GB come, and sends them byte by byte, or not at all",
        """
def add(a, b):
    say(b"\\xff\\xff\\xff\\xff")
    while True:
        say(b"[")
        time.sleep(0.01)
""",
        limits={"cpu_s": 0.5, "wall_s": 0.8},
    ),
    poison(
        "frames in every form",
        "sends frames of other formats: lines, lengths of other sizes and orders, pickles, marshals",
        """
import marshal, pickle
def add(a, b):
    for body in (json.dumps(["returned", 5, None, None]).encode(), pickle.dumps(["returned", 5, None, None]), marshal.dumps(("returned", 5, None, None))):
        say(body + b"\\n", struct.pack("<I", len(body)) + body, struct.pack(">Q", len(body)) + body, struct.pack(">H", len(body)) + body,
            b"%d\\n%s" % (len(body), body), b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body), frame(body))
    os._exit(0)
""",
    ),
    poison(
        "descriptors for the judge",
        "sends descriptors with its answers, hundreds of them, so that the judge runs out of them",
        """
def add(a, b):
    for end in ends():
        for _ in range(20):
            try:
                socket.send_fds(end, [frame(["returned", 4, None, None])], [0] * 200, socket.MSG_DONTWAIT)
            except OSError:
                break
    return 4
""",
        again=(*NEXT, (RIGHT, True)),
    ),
    poison(
        "judge that stops",
        "stops and suspends every process of its cage but itself",
        """
def add(a, b):
    if not outsider_in_reach():
        for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGXCPU, signal.SIGALRM, signal.SIGUSR1):
            for pid in pids():
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
    return 4
""",
    ),
    poison(
        "judge with other limits",
        "lowers the limits, priority, processors and name of every process of its cage",
        """
import resource
def add(a, b):
    if not outsider_in_reach():
        for pid in pids():
            for kind in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
                try:
                    resource.prlimit(pid, kind, (1, 1))
                except OSError:
                    pass
            for call in (lambda: os.setpriority(os.PRIO_PROCESS, pid, 19), lambda: os.sched_setaffinity(pid, {0}), lambda: os.setpgid(pid, 0)):
                try:
                    call()
                except OSError:
                    pass
    return 4
""",
    ),
    poison(
        "judge that is fat",
        "returns much, again and again, until the judge has no memory left for the next",
        "def add(a, b):\n    return [str(n) for n in range(600_000)]\n",
        FAT,
        again=(*(("def add(a, b):\n    return [str(n) for n in range(600_000)]\n", False),) * 3, (RIGHT, True)),
        limits={"cpu_s": 3, "wall_s": 6, "memory_mb": 256},
    ),
    poison(
        "numbers that collide",
        "returns sets and keys that all have one hash",
        "def add(a, b):\n    return {n * (2**61 - 1): 0 for n in range(1, 6_000)}\n",
        (Script("assert 5 in add(2, 3)\n"),),
        again=(("def add(a, b):\n    return [4]\n", False), ("def add(a, b):\n    return [5]\n", True)),
    ),
    poison(
        "answer that grows",
        "returns a list of lists of lists that are one list, a billion when written out",
        """
def add(a, b):
    top = [5]
    for _ in range(30):
        top = [top, top]
    return top
""",
    ),
    poison(
        "exception that sinks the judge",
        "raises groups of exceptions 5,000 deep, causes in a ring, notes and messages of megabytes",
        """
def add(a, b):
    group, first, second = ValueError(), ValueError("x" * 10**7), KeyError()
    for _ in range(5_000):
        group = ExceptionGroup("x", [group])
    first.__cause__, second.__cause__, first.__notes__ = second, first, ["x" * 10**6, 5, None]
    second.__context__ = group
    raise (group if a == 10 else first)
""",
    ),
    poison(
        "functions that last",
        "returns functions, generators and objects that the judge may call, for the next program to be called",
        """
class Kept:
    def __call__(self, *a): return 5
    def __del__(self): say(*ANSWERS)
    def __iter__(self): return iter(self.__next__, None)
    def __next__(self): return 5
def add(a, b):
    return [lambda: 5, Kept(), (n for n in iter(lambda: 5, 6)), add, Kept, print, type, sys, sys.stdout][a % 9]
""",
    ),
    poison(
        "output for the judge",
        "closes and replaces the streams, and writes them full, so that whoever reads them waits",
        """
def add(a, b):
    for number in (0, 1, 2):
        try:
            os.set_blocking(number, False)
            os.write(number, b"\\0\\xff" * (1 << 20))
        except OSError:
            pass
        os.close(number)
    return 4
""",
    ),
    poison(
        "first right, then wrong",
        "is right, so that the judge trusts the next, which is not",
        "def add(a, b):\n    say()\n    return a + b\n",
        escaped=nothing,
        again=((FOUR, False), (FOUR, False), (RIGHT, True)),
    ),
)
