"""Programs that break what runs them, so that nobody could tell: each has to be called wrong, not left undecided."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import ADD, CALLED, NEXT, QUICK, UNITTEST, Attack, decided
from attacks.wrong import GROUP, SHARED, WRONG, unsaid, wrong

from assay.values import Test

__all__ = ["ATTACKS", "GROUP"]


def breaks(name: str, tries: str, source: str, tests: tuple[Test, ...] = ADD) -> Attack:
    """Return an attack on its own interpreter, by which nobody else may be harmed."""
    limits = {"cpu_s": 0.5, "wall_s": 1.0}
    return wrong(name, tries, source, tests, decided, again=NEXT if tests is ADD else (), limits=limits)


ATTACKS = (
    breaks(
        "calls that fail",
        "filters its own system calls so that writing, sending and ending fail",
        """
def add(a, b):
    calls = (64, 66, 206, 211, 93, 94) if ARM else (1, 20, 44, 46, 60, 231)
    code = struct.pack("=HBBI", 0x20, 0, 0, 0)
    for n, one in enumerate(calls):
        code += struct.pack("=HBBI", 0x15, len(calls) - n, 0, one)
    code += struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000) + struct.pack("=HBBI", 6, 0, 0, 0x50000 | 11)
    kept = ctypes.create_string_buffer(code)
    LIBC.prctl(22, 2, struct.pack("=HxxxxxxQ", len(calls) + 3, ctypes.addressof(kept)), 0, 0)
    return 4
""",
    ),
    breaks(
        "no recursion",
        "sets the limits of recursion, of digits and of switching to the least",
        "sys.setrecursionlimit(30)\nsys.set_int_max_str_digits(640)\nsys.setswitchinterval(100)\n" + WRONG,
    ),
    breaks(
        "no limits left",
        "sets its own limits of memory, files, size and processes to nothing",
        """
import resource
def add(a, b):
    for name in ("AS", "DATA", "STACK", "NOFILE", "FSIZE", "NPROC", "MEMLOCK", "SIGPENDING"):
        resource.setrlimit(getattr(resource, "RLIMIT_" + name), (0, 0))
    return [4] * 10**5
""",
    ),
    breaks(
        "no builtins",
        "clears builtins, modules and the module of the harness",
        "import builtins\ndef add(a, b):\n    for one in list(sys.modules.values()):\n        if one is not builtins:\n            vars(one).clear()\n    sys.modules.clear()\n    vars(builtins).clear()\n",
    ),
    breaks(
        "no lock",
        "takes the interpreter's lock and never gives it back",
        "def add(a, b):\n    ctypes.PyDLL(None).pause()\n",
    ),
    breaks(
        "strict mode",
        "has the kernel kill it at its next system call",
        "def add(a, b):\n    LIBC.prctl(22, 1, 0, 0, 0)\n    return 4\n",
    ),
    breaks(
        "interpreter that ends",
        "finalizes the interpreter in the middle of the call",
        "def add(a, b):\n    ctypes.pythonapi.Py_FinalizeEx()\n    return 4\n",
    ),
    breaks(
        "exit of the interpreter",
        "leaves by C's exit, with 0 and with handlers that leave again",
        "def add(a, b):\n    ctypes.pythonapi.Py_AtExit(ctypes.cast(LIBC.pause, ctypes.c_void_p))\n    LIBC.exit(0)\n",
    ),
    breaks(
        "exceptions from nowhere",
        "throws SystemExit, KeyboardInterrupt and GeneratorExit into the main thread from another, for ever",
        """
def throw():
    main = ctypes.c_ulong(threading.main_thread().ident)
    while True:
        for kind in (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration, AssertionError):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(kind))
            time.sleep(0)
def add(a, b):
    threading.Thread(target=throw, daemon=True).start()
    return 4
""",
    ),
    breaks(
        "signals that raise",
        "has a timer raise exceptions wherever it is, after the call too",
        """
def stop(number, frame):
    raise SystemExit(0)
def add(a, b):
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    return 4
""",
    ),
    breaks(
        "crashes of every kind",
        "dies of SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGSYS, whichever comes first",
        "def add(a, b):\n    for number in (signal.SIGSYS, signal.SIGFPE, signal.SIGILL, signal.SIGBUS, signal.SIGSEGV):\n        os.kill(os.getpid(), number)\n    return 4\n",
        CALLED,
    ),
    breaks(
        "references that are gone",
        "frees None, True and the tests' arguments, so that whoever uses them next crashes",
        "def add(a, b):\n    for one in (a, b, add, sys.modules, type):\n        for _ in range(10**4):\n            ctypes.pythonapi.Py_DecRef(ctypes.py_object(one))\n    return 4\n",
    ),
    breaks(
        "memory without code",
        "unmaps the program's own code and libraries",
        "def add(a, b):\n    for line in open('/proc/self/maps') if os.path.exists('/proc/self/maps') else ():\n        low, high = (int(part, 16) for part in line.split()[0].split('-'))\n        if 'r-xp' in line and 'libc' not in line:\n            LIBC.munmap(ctypes.c_void_p(low), ctypes.c_size_t(high - low))\n    os.kill(os.getpid(), 11)\n",
    ),
    breaks(
        "another harness",
        "starts its own harness again from its command line, without a judge",
        "def add(a, b):\n    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])\n",
        UNITTEST,
    ),
    breaks(
        "hooks of the interpreter",
        "traces, profiles, audits and hooks every event, and ends in each",
        "def end(*a):\n    os._exit(0)\nsys.setprofile(end)\nsys.settrace(end)\nthreading.settrace(end)\nsys.addaudithook(end)\nsys.excepthook = sys.unraisablehook = sys.displayhook = threading.excepthook = end\n"
        + WRONG,
    ),
    breaks(
        "hooks of forks and ends",
        "registers functions for each fork, for its end and for the garbage collector",
        "import atexit, gc, weakref\ndef end(*a):\n    os._exit(0)\nos.register_at_fork(before=end, after_in_child=end, after_in_parent=end)\natexit.register(end)\ngc.callbacks.append(end)\ngc.set_threshold(1)\n"
        + WRONG,
    ),
    breaks(
        "streams that lie",
        "replaces stdin, stdout and stderr by objects that end the process",
        "class End:\n    def __getattr__(self, name): os._exit(0)\nsys.stdout = sys.stderr = sys.stdin = sys.__stdout__ = sys.__stderr__ = End()\n"
        + WRONG,
    ),
    breaks(
        "exception without a text",
        "raises exceptions whose text, arguments, cause and traceback raise",
        "class Bad(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\n    args = property(lambda self: 1 / 0)\n    __traceback__ = __cause__ = __context__ = property(lambda self: 1 / 0)\n    __class__ = property(lambda self: 1 / 0)\ndef add(a, b):\n    raise Bad\n",
    ),
    wrong(
        "shared: traces the tests",
        "in one interpreter with its tests, rewrites the locals and skips the lines of whoever called it",
        """
class Stack:
    def push(self, one):
        frame = sys._getframe(1)
        def skip(frame, event, argument):
            try:
                frame.f_lineno = frame.f_lineno + 1
            except (ValueError, AttributeError):
                pass
            return skip
        sys.settrace(skip)
        while frame:
            frame.f_trace = skip
            frame.f_globals["stack"] = self
            frame = frame.f_back
        return self
""",
        SHARED,
        escaped=unsaid,
        limits=QUICK,
    ),
)
