"""Programs that hold memory or compute where no process seems to do so."""

from __future__ import annotations

from attacks.model import LITTLE, Attack, timed_out, unhidden

GROUP = "hiding"
BRIEF = {"cpu_s": 0.2, "wall_s": 8}


def hides(name: str, tries: str, source: str, **more: object) -> Attack:
    """Return an attack that says how much it holds, and then waits to be ended for that."""
    given = {"limits": LITTLE, "crashes": True, **more}
    return Attack(name, GROUP, tries, "import fcntl, mmap\n" + source, escaped=unhidden, **given)


def works(name: str, tries: str, source: str, limits: dict[str, float] = BRIEF) -> Attack:
    """Return an attack that computes for longer than it may; its end has to be a time-out."""
    return Attack(name, GROUP, tries, SPIN + source, escaped=timed_out, limits=limits)


HOARD = """
def hoard(megabytes=400):
    held = []
    for n in range(megabytes // 8):
        held.append(bytearray(b"x") * (8 << 20))
    holds("memory", megabytes)
"""
SPIN = """
def spin(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
"""

ATTACKS = (
    hides("memory of a child without a main thread",
          "the same in a child in a session of its own, which nobody may look at", HOARD + """
def attack():
    if os.fork() == 0:
        os.setsid()
        LIBC.prctl(4, 0)
        threading.Thread(target=hoard).start()
        LIBC.syscall(ctypes.c_long(93 if ARM else 60), ctypes.c_long(0))
    os.wait()
"""),
    works("work in crumbs", "a chain of processes, each of which works for two milliseconds and starts the next", """
def attack():
    read, written = os.pipe()
    if os.fork() == 0:
        for number in range(1500):
            spin(0.002)
            if os.fork():
                os._exit(0)
        os._exit(0)
    os.close(written)
    os.read(read, 1)
    out("3 s of work in crumbs")
"""),
)  # fmt: skip
