"""Programs that do not end: endless work, output and recursion, and crashes."""

from __future__ import annotations

from attacks.model import QUICK, Attack, Ran, decided, not_correct, timed_out, unwaited

GROUP = "resources"


def capped(ran: Ran) -> str:
    """Output has to end, and little of it is kept."""
    kept = len(ran.ended.stdout) + len(ran.ended.stderr)
    if kept > 300_000:
        return f"{kept} bytes of output are kept"
    return unwaited(ran) or not_correct(ran)


ATTACKS = (
    Attack(
        "endless loop",
        GROUP,
        "computes for ever",
        "def attack():\n    while True:\n        pass\n",
        escaped=timed_out,
        limits=QUICK,
    ),
    Attack(
        "endless loop at import",
        GROUP,
        "computes for ever before there is a function",
        "while True:\n    pass\n",
        escaped=timed_out,
        limits=QUICK,
    ),
    Attack(
        "loop deaf to signals",
        GROUP,
        "ignores every signal and swallows every exception",
        """
def attack():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
""",
        escaped=timed_out,
        limits=QUICK,
    ),
    Attack(
        "loop in C",
        GROUP,
        "a regular expression that never comes back to Python",
        """
import re
def attack():
    re.match(r"(a+)+$", "a" * 40 + "b")
""",
        escaped=timed_out,
        limits=QUICK,
    ),
    Attack(
        "sleep",
        GROUP,
        "waits for ever without computing",
        "def attack():\n    time.sleep(1000)\n",
        escaped=timed_out,
        limits=QUICK,
    ),
    Attack(
        "children that compute",
        GROUP,
        "eight children compute while the program waits",
        """
def attack():
    for _ in range(8):
        if os.fork() == 0:
            while True:
                pass
    os.wait()
""",
        escaped=timed_out,
        limits=QUICK,
    ),
    Attack(
        "children in turn",
        GROUP,
        "spreads the work over children so that none reaches the limit",
        """
def attack():
    for _ in range(40):
        if os.fork() == 0:
            until = time.process_time() + 0.4
            while time.process_time() < until:
                pass
            os._exit(0)
        os.wait()
    out("16 s of work under a limit of 0.5 s")
""",
        escaped=timed_out,
        limits={"cpu_s": 0.5, "wall_s": 4},
    ),
    Attack(
        "endless output",
        GROUP,
        "prints for ever",
        """
def attack():
    line = "x" * 8191 + "\\n"
    for _ in range(130_000):
        print(line)
    out("1 GB was taken")
""",
        escaped=capped,
        limits={"wall_s": 8},
    ),
    Attack(
        "endless errors",
        GROUP,
        "writes to standard error for ever",
        """
def attack():
    for _ in range(130_000):
        os.write(2, b"x" * 8192)
    out("1 GB was taken")
""",
        escaped=capped,
        limits={"wall_s": 8},
    ),
    Attack(
        "one line of a gigabyte",
        GROUP,
        "writes NULs, broken UTF-8 and escapes without a line's end",
        """
def attack():
    block = (b"\\0\\xff\\xfe\\x1b[2J" * 20_000)[:1 << 16]
    for _ in range(16_384):
        os.write(1, block)
    out("1 GB was taken")
""",
        escaped=capped,
        limits={"wall_s": 8},
    ),
    Attack(
        "output from children",
        GROUP,
        "four children flood both streams",
        """
def attack():
    for _ in range(4):
        if os.fork() == 0:
            try:
                for _ in range(30_000):
                    os.write(1, b"y" * 8192)
                    os.write(2, b"y" * 8192)
            finally:
                os._exit(0)
    for _ in range(4):
        os.wait()
    out("2 GB were taken")
""",
        escaped=capped,
        limits={"wall_s": 8},
    ),
    Attack(
        "standard output as a file",
        GROUP,
        "stretches, maps and rewinds whatever standard output is",
        """
def attack():
    import fcntl, mmap
    for number in (1, 2):
        for call in (lambda: os.ftruncate(number, 1 << 33), lambda: os.posix_fallocate(number, 0, 1 << 29),
                     lambda: os.lseek(number, 1 << 33, os.SEEK_SET), lambda: fcntl.fcntl(number, fcntl.F_SETFL, 0),
                     lambda: os.write(number, b"far"), lambda: os.pwrite(number, b"far", 1 << 30),
                     lambda: os.open(f"/proc/self/fd/{number}", os.O_RDWR | os.O_TRUNC)):
            try:
                call()
            except OSError as error:
                print("held:", error)
""",
        escaped=lambda ran: "kept" if len(ran.said) > 2_000_000 else "",
    ),
    Attack(
        "deep recursion",
        GROUP,
        "recurses until something gives",
        """
def attack():
    sys.setrecursionlimit(1 << 30)
    def deeper(n):
        return deeper(n + 1) + deeper(n + 2)
    deeper(0)
""",
        escaped=not_correct,
        limits={"memory_mb": 256, "wall_s": 6, "cpu_s": 1.5},
        crashes=True,
    ),
    Attack(
        "crash in C",
        GROUP,
        "reads address 0, so that the kernel would dump memory",
        """
def attack():
    ctypes.string_at(0)
""",
        escaped=decided,
        crashes=True,
    ),
)
