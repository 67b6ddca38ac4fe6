"""Programs that end, skip or outlast their tests to be called right."""

from __future__ import annotations

from attacks.model import QUICK, UNITTEST, decided, timed_out
from attacks.verdict import PLACES, exits
from attacks.wrong import GROUP, SUITE, WRONG, wrong

from attack_catalogue.wrong_parts import MAPPED, RAISES

__all__ = ["ATTACKS", "GROUP"]

EXITS = (
    *(("sys.exit(0)", place) for place in PLACES),
    ("os.kill(os.getpid(), 9)", PLACES[1]),
    ("os.abort()", PLACES[1]),
    ('os.execv("/bin/true", ["true"])', PLACES[0]),
)

ATTACKS = (
    wrong(
        "swallows the time-out",
        "catches every exception and signal, then answers right, too late",
        """
def add(a, b):
    for number in range(1, 65):
        try:
            signal.signal(number, lambda *_: None)
        except (OSError, ValueError):
            pass
    until = time.process_time() + 1.0
    while time.process_time() < until:
        try:
            while time.process_time() < until:
                pass
        except BaseException:
            pass
    return a + b
""",
        escaped=timed_out,
        limits={"cpu_s": 0.5, "wall_s": 4},
    ),
    *(exits(call, place) for call, place in EXITS),
    wrong(
        "moves the clock",
        "replaces time and raises its own limits, then answers right, too late",
        """
import resource, time
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
def add(a, b):
    for kind in (resource.RLIMIT_CPU, resource.RLIMIT_RTTIME):
        try:
            resource.setrlimit(kind, (resource.getrlimit(kind)[1],) * 2)
        except (OSError, ValueError):
            pass
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    count = 0
    while count < 10**9:
        count += 1
    return a + b
""",
        escaped=timed_out,
        limits=QUICK,
    ),
    wrong(
        "works in exit handlers",
        "leaves threads and exit handlers that would write a verdict later",
        """
import atexit
def late():
    for number in range(1, 64):
        try:
            os.set_blocking(number, False)
            os.write(number, b'{"fault": "correct"}\\n')
        except OSError:
            pass
atexit.register(late)
atexit.register(os._exit, 0)
threading.Thread(target=lambda: (time.sleep(0.05), late(), os._exit(0))).start()
"""
        + WRONG,
        limits=QUICK,
    ),
    wrong(
        "ends an iteration of the tests",
        "raises StopIteration inside the tests' map, so that all() sees none",
        "def add(a, b):\n    raise StopIteration\n",
        MAPPED,
        escaped=decided,
    ),
    wrong(
        "asks to be expected to fail",
        "raises pytest's xfail",
        """
def add(a, b):
    import pytest
    pytest.xfail("as expected")
""",
        SUITE,
    ),
    *(
        wrong(
            f"raises {name}",
            "lets an exception cross that ends more than a test",
            f"def add(a, b):\n    raise {name}\n",
            UNITTEST,
        )
        for name in ("KeyboardInterrupt", "GeneratorExit", "StopIteration", "SystemExit")
    ),
    wrong(
        "exception with a lying name",
        "raises a class called like the one that is wanted, which lies about itself",
        """
class ValueError(BaseException):
    def __str__(self): os._exit(0)
    __repr__ = __str__
def add(a, b=None):
    raise ValueError
""",
        RAISES,
    ),
    wrong("nothing to test", "defines nothing", "pass\n"),
    wrong("stub", "returns a fresh object for any call", "def add(*a, **k):\n    return object()\n"),
    wrong(
        "source that ends early",
        "holds NUL bytes and text after what compilers take for the end",
        "def add(a, b):\n    return 4\n\0\ndef add(a, b):\n    return a + b\n",
        bare=True,
    ),
    wrong(
        "source that is another encoding",
        "hides its text behind a coding line",
        "# -*- coding: rot13 -*-\ndef add(a, b):\n    return 4\n",
        bare=True,
    ),
    wrong(
        "optimised away",
        "starts Python again without asserts",
        """
if "again" not in sys.argv:
    os.execv(sys.executable, [sys.executable, "-O", "-c", "import sys; sys.exit(0)", "again"])
"""
        + WRONG,
    ),
)
