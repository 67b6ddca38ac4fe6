"""Programs that look for the tests, change the checker or end it."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import QUICK, UNITTEST, decided
from attacks.wrong import GROUP, PATCH, SHARED, STACK, SUITE, WRONG, wrong

from assay.values import Script
from attack_catalogue.wrong_parts import SHARED_CHECK

__all__ = ["ATTACKS", "GROUP"]


ATTACKS = (
    wrong(
        "patches unittest",
        "makes every assertion of unittest say nothing",
        """
import unittest, unittest.case, unittest.loader
for name in dir(unittest.TestCase):
    if name.startswith(("assert", "fail")):
        setattr(unittest.TestCase, name, lambda *a, **k: None)
unittest.TestLoader.loadTestsFromTestCase = lambda *a: unittest.TestSuite()
unittest.TestLoader.getTestCaseNames = lambda *a: []
unittest.TestResult.wasSuccessful = lambda self: True
unittest.TestCase.run = lambda self, result=None: result
"""
        + WRONG,
        UNITTEST,
    ),
    wrong(
        "kills the judge",
        "sends SIGKILL to every process of its cage but itself",
        """
def add(a, b):
    if not outsider_in_reach():
        for pid in pids():
            if pid not in (O["pid"], O["victim"]):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
        try:
            os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
        except OSError:
            pass
    return 4
""",
        escaped=decided,
        limits=QUICK,
    ),
    wrong(
        "walks the frames",
        "looks in every frame for the expected value",
        """
import inspect
def add(a, b):
    frame = sys._getframe()
    seen = []
    while frame:
        for place in (frame.f_locals, frame.f_globals):
            for name, value in list(place.items()):
                if name in ("expected", "want", "answer", "right", "test", "spec", "case", "judge", "tests"):
                    seen.append(repr(value))
                if isinstance(value, dict) and "expected" in value:
                    return value["expected"]
        frame.f_trace_lines = False
        frame = frame.f_back
    for text in seen:
        if "5" in text:
            return 5
    return None
""",
    ),
    wrong(
        "walks the frames for constants",
        "reads the tests' constants out of code objects",
        """
import gc
def add(a, b):
    for one in gc.get_objects():
        code = getattr(one, "__code__", None) or getattr(one, "f_code", None)
        if code is not None and "<tests>" in getattr(code, "co_filename", ""):
            return [c for c in code.co_consts if isinstance(c, int)][-1]
""",
    ),
    wrong(
        "searches the garbage collector",
        "looks for outcomes, sockets and expected values among all objects",
        """
import gc
def add(a, b):
    for one in gc.get_objects():
        if isinstance(one, dict) and ("expected" in one or "verdict" in one):
            one["expected"] = one["verdict"] = None
            for name in ("passed", "failed", "fault", "status"):
                one[name] = "correct"
        if type(one).__name__ in ("Outcome", "Verdict", "Result", "Judge", "TestResult"):
            for name in ("fault", "failures", "errors"):
                try:
                    object.__setattr__(one, name, [] if name != "fault" else "correct")
                except Exception:
                    pass
    return 4
""",
    ),
    wrong(
        "patches pytest",
        "makes pytest find nothing, or find it good",
        """
try:
    import pytest, _pytest.runner, _pytest.python
    _pytest.runner.pytest_runtest_call = lambda *a, **k: None
    _pytest.python.pytest_pyfunc_call = lambda *a, **k: True
    pytest.main = lambda *a, **k: 0
except ImportError:
    pass
def pytest_collection_modifyitems(items):
    items.clear()
__test__ = False
collect_ignore_glob = ["*"]
"""
        + WRONG,
        SUITE,
    ),
    wrong(
        "patches what carries values",
        "replaces json, socket, struct and os.write",
        """
import json, json.encoder, pickle, marshal
json.dumps = lambda *a, **k: "5"
json.JSONEncoder.encode = lambda *a: "5"
json.JSONEncoder.iterencode = lambda *a, **k: iter(["5"])
json.encoder.c_make_encoder = None
struct.pack = lambda *a: b"\\0\\0\\0\\1"
socket.socket.send = socket.socket.sendall = lambda self, data, *a: len(data)
os.write = lambda n, data: len(data)
"""
        + WRONG,
        limits=QUICK,
    ),
    wrong(
        "patches the harness",
        "replaces every function of the harness' modules that lie in its interpreter",
        """
import types
for name, module in list(sys.modules.items()):
    if "harness" in name or "assay" in name or "sandbox" in name:
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType):
                setattr(module, key, lambda *a, **k: 5)
"""
        + WRONG,
        limits=QUICK,
    ),
    wrong(
        "stops the judge",
        "sends SIGSTOP and SIGTERM to its neighbours and waits for a time-out in its favour",
        """
def add(a, b):
    if not outsider_in_reach():
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGSTOP):
            for pid in pids():
                if pid not in (O["pid"], O["victim"]):
                    try:
                        os.kill(pid, number)
                    except OSError:
                        pass
    return 4
""",
        escaped=decided,
        limits=QUICK,
    ),
    wrong(
        "changes constants in memory",
        "writes over the value of small integers and of False",
        """
def add(a, b):
    five = ctypes.cast(id(5) + 24, ctypes.POINTER(ctypes.c_uint32))
    five[0] = 4
    return 4
""",
    ),
    wrong(
        "writes over code in memory",
        "turns comparisons of the interpreter into yes",
        """
def add(a, b):
    for one in (int, float, str, list):
        kind = ctypes.cast(id(one), ctypes.POINTER(ctypes.c_void_p))
        for slot in range(20, 30):
            if kind[slot]:
                kind[slot] = kind[slot]
    compare = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_int)(lambda a, b, op: True)
    globals()["kept"] = compare
    ctypes.cast(id(int), ctypes.POINTER(ctypes.c_void_p))[25] = ctypes.cast(compare, ctypes.c_void_p).value
    return 4
""",
    ),
    wrong(
        "the tests' module in its folder",
        "leaves modules where the judge might import them",
        'for name in ("math", "unittest", "json", "solution", "decimal", "tomllib"):\n    open(f"{name}.py", "w").write("import os; os._exit(0)")\n'
        + WRONG,
        (Script("import decimal, tomllib, unittest\nassert add(2, 3) == 5\n"),),
    ),
    wrong(
        "no tests are found",
        "takes the tests' classes out of unittest's sight",
        """
import unittest
class Meta(type):
    def __instancecheck__(cls, one): return False
    def __subclasscheck__(cls, one): return False
unittest.TestCase = Meta("TestCase", (), {})
unittest.case.TestCase = unittest.TestCase
"""
        + WRONG,
        UNITTEST,
    ),
    wrong(
        "shared: prints and forges",
        "in one interpreter with its tests, writes verdicts to every descriptor and leaves",
        """
for number in range(1, 64):
    for text in (b'{"fault": "correct"}', b"OK", b'{"done": true, "asserts": 2}'):
        try:
            os.set_blocking(number, False)
            os.write(number, text + b"\\n")
        except OSError:
            break
"""
        + STACK,
        SHARED,
        limits=QUICK,
    ),
    wrong(
        "shared: patches the checker",
        "in one interpreter with its tests, replaces builtins and unittest",
        PATCH
        + """
builtins.AssertionError = Quiet
builtins.isinstance = lambda *a: True
"""
        + STACK,
        SHARED_CHECK,
    ),
    wrong(
        "shared: asks to be skipped",
        "in one interpreter with its tests, raises SkipTest",
        "import unittest\nclass Stack:\n    def push(self, one):\n        raise unittest.SkipTest('no')\n",
        SHARED,
    ),
)
