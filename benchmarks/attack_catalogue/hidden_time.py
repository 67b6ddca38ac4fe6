"""Programs that compute or wait where nobody counts it."""

from __future__ import annotations

from attacks.hiding import GROUP, works

__all__ = ["ATTACKS", "GROUP"]

ATTACKS = (
    works(
        "programs that follow one another",
        "replaces itself by exec again and again, each time new",
        """
def attack():
    with open("step.py", "w") as file:
        file.write("import os, sys, time\\nturn = int(sys.argv[1])\\nwhile time.process_time() < .05 * turn: pass\\n"
                   "os.execv(sys.executable, [sys.executable, '-S', 'step.py', str(turn + 1)])\\n")
    child = os.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-S", "step.py", "1"])
    os.waitpid(child, 0)
    out("it could replace itself without end")
""",
    ),
    works(
        "work of orphans",
        "gives its work to grandchildren whose parents end at once, and waits for their files",
        """
def attack():
    for number in range(60):
        child = os.fork()
        if child == 0:
            if os.fork() == 0:
                os.setsid()
                spin(0.05)
                open(f"done{number}", "w").close()
            os._exit(0)
        os.waitpid(child, 0)
        while not os.path.exists(f"done{number}"):
            time.sleep(0.01)
    out("3 s of work in orphans")
""",
    ),
    works(
        "work of the unreaped",
        "gives its work to children that the kernel forgets as they end",
        """
def attack():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for number in range(60):
        if os.fork() == 0:
            spin(0.05)
            os._exit(0)
        try:
            os.wait()
        except ChildProcessError:
            pass
    out("3 s of work in children")
""",
    ),
    works(
        "work without a main thread",
        "computes in a thread after the main thread has ended, for a child too",
        """
def attack():
    if os.fork():
        os.wait()
    threading.Thread(target=spin, args=(3,)).start()
    LIBC.syscall(ctypes.c_long(93 if ARM else 60), ctypes.c_long(0))
""",
    ),
    works(
        "work of a clone that is told to nobody",
        "computes in clones whose end sends no signal and whom wait() does not see",
        """
def attack():
    if ARM:
        spin(9)
    for number in range(60):
        pid = LIBC.syscall(ctypes.c_long(56), ctypes.c_long(0), 0, 0, 0, 0)
        if pid == 0:
            spin(0.05)
            os._exit(0)
        LIBC.waitpid(pid, None, 0x40000000)
    out("3 s of work in clones")
""",
    ),
    works(
        "work in the kernel",
        "lets the kernel compute: it copies, zeroes and fills memory without a line of its own",
        """
import mmap
def attack():
    area = mmap.mmap(-1, 32 << 20)
    while True:
        area.madvise(mmap.MADV_REMOVE)
        area.madvise(23)
""",
    ),
    works(
        "work in small sleeps",
        "computes for a moment and sleeps for a moment, so that neither limit is near for long",
        """
def attack():
    while True:
        spin(0.001)
        time.sleep(0.05)
""",
        {"cpu_s": 5, "wall_s": 0.6},
    ),
    works(
        "waits that swallow every signal",
        "waits on itself in locks, FIFOs and futexes, and begins again whatever ends the wait",
        """
import fcntl
def attack():
    for number in range(1, 65):
        try:
            signal.signal(number, lambda *_: None)
        except (OSError, ValueError):
            pass
    one, other = open("lock", "w"), open("lock", "w")
    fcntl.flock(one, fcntl.LOCK_EX)
    while True:
        try:
            fcntl.flock(other, fcntl.LOCK_EX)
        except BaseException:
            pass
""",
        {"cpu_s": 5, "wall_s": 0.6},
    ),
    works(
        "work of one second, then sleep",
        "computes first, so that it seems to be busy, and then sleeps",
        """
def attack():
    spin(0.2)
    while True:
        signal.sigwait([signal.SIGUSR1])
""",
        {"cpu_s": 5, "wall_s": 0.8},
    ),
)
