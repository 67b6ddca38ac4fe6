"""The rest of the pairs for verdicts.py: features of pytest and unittest that are used less, more cheats, and rows."""

from pairs import Pair, pair
from pairs_more import ECHO, SQUARE, TOTAL

# Less common features, each in the only test that the wrong program fails.
FEATURES = [
    pair("features/filterwarnings-error", """
        @pytest.mark.filterwarnings("error::RuntimeWarning")
        def test_no_warning():
            assert f([]) == 0
        def test_value():
            assert f([2, 4]) == 3
    """, "def f(v): return sum(v) / len(v) if v else 0", """
        import warnings
        def f(v):
            if v:
                return sum(v) / len(v)
            warnings.warn("empty", RuntimeWarning)
            return 0
    """),
    pair("features/raises-function-form", """
        def test_errors():
            pytest.raises((ValueError, KeyError), f, "colour")
            error = pytest.raises(ValueError, f, key="x", strict=True)
            assert "strict" in str(error.value)
            assert f("size") == 1
    """, """
        def f(key, strict=False):
            if strict:
                raise ValueError("strict: " + key)
            return {"size": 1}[key]
    """, ('{"size": 1}[key]', '{"size": 1}.get(key)')),
    pair("features/skip-mark-in-params-and-classes", """
        @pytest.mark.parametrize("n", [pytest.param(-1, marks=pytest.mark.skip(reason="undefined")), 0, 6])
        def test_sum(n):
            assert f(n) == sum(range(n + 1))
        @pytest.mark.skip(reason="later")
        class TestLater:
            def test_text(self):
                assert f("6") == 21
    """, "def f(n):\n    if n < 0:\n        raise ValueError\n    return n * (n + 1) // 2\n", ("(n + 1)", "(n - 1)")),
    pair("features/fixture-in-unittest-class", """
        import unittest
        import pytest
        from solution import f

        class FileTest(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def _path(self, tmp_path):
                self.path = tmp_path / "log.txt"
                self.path.write_text("a\\nerror b\\nerror c\\n")
            def test_errors(self):
                self.assertEqual(f(self.path), ["b", "c"])
    """, "def f(p): return [s[6:] for s in p.read_text().splitlines() if s.startswith('error ')]", ("[s[6:]",
         "[s[5:]")),
    pair("features/super-set-up-in-mixin", """
        import unittest
        from solution import Tree

        class Filled:
            def setUp(self):
                super().setUp()
                self.tree = Tree()
                for key in (5, 2, 8, 2):
                    self.tree.add(key)
            def tearDown(self):
                self.assertEqual(self.tree.size, len(list(self.tree)))

        class OrderTest(Filled, unittest.TestCase):
            def test_sorted(self):
                self.assertEqual(list(self.tree), [2, 5, 8])
    """, """
        class Tree:
            def __init__(self): self.keys, self.size = set(), 0
            def add(self, key):
                self.size += key not in self.keys
                self.keys.add(key)
            def __iter__(self): return iter(sorted(self.keys))
    """, ("self.size += key not in self.keys", "self.size += 1"), entry="Tree"),
    pair("features/class-cleanup-and-warns", """
        import unittest
        from solution import Registry

        class RegistryTest(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.registry = Registry()
                cls.addClassCleanup(cls.registry.verify_closed)
            @classmethod
            def tearDownClass(cls):
                cls.registry.close()
            def test_duplicates_warn(self):
                self.registry.add("a")
                with self.assertWarns(UserWarning) as caught:
                    self.registry.add("a")
                self.assertIn("'a'", str(caught.warning))
    """, """
        import warnings
        class Registry:
            def __init__(self): self.names, self.closed = [], False
            def add(self, name):
                if name in self.names:
                    warnings.warn(f"{name!r} again")
                self.names.append(name)
            def close(self): self.closed = True
            def verify_closed(self): assert self.closed
    """, ("def close(self): self.closed = True", "def close(self): self.closed = None"), entry="Registry"),
    pair("features/patch-class-decorator", """
        import unittest
        from unittest.mock import patch
        import solution

        @patch("solution.roll", return_value=6)
        class GameTest(unittest.TestCase):
            def test_double_six(self, roll):
                self.assertEqual(solution.play(), "won")
                self.assertEqual(roll.call_count, 2)
            def test_low(self, roll):
                roll.side_effect = [1, 6]
                self.assertEqual(solution.play(), "lost")
    """, "import random\ndef roll(): return random.randint(1, 6)\n"
         "def play(): return 'won' if roll() + roll() == 12 else 'lost'\n", ("roll() + roll() == 12",
         "roll() * 2 == 12"),
         entry="play"),
    pair("features/patch-multiple-and-context", """
        from unittest import mock
        import solution

        def test_report():
            with mock.patch.multiple("solution", WIDTH=4, pad=mock.DEFAULT) as made:
                made["pad"].side_effect = lambda s, n: s + "." * n
                assert solution.line("ab") == "ab.."
                made["pad"].assert_called_with("ab", 2)
            assert solution.line("ab").endswith("  ")
    """, "WIDTH = 10\ndef pad(s, n): return s + ' ' * n\ndef line(s): return pad(s, WIDTH - len(s))",
         ("WIDTH - len(s)", "10 - len(s)"), entry="line"),
    pair("features/request-node-name", """
        @pytest.fixture
        def wanted(request):
            return request.node.name.removeprefix("test_").split("_")
        def test_one_two_three(wanted):
            assert f("one_two_three") == wanted
        def test_a(wanted, request):
            assert f("_a_") == wanted and request.function is test_a
    """, "def f(s): return s.strip('_').split('_')", "def f(s): return s.split('_')"),
    pair("features/class-fixture-params-scope", """
        @pytest.fixture(scope="class", params=["list", "tuple"])
        def kind(request):
            return {"list": list, "tuple": tuple}[request.param]
        class TestRotate:
            seen = []
            def test_rotate(self, kind):
                self.seen.append(kind)
                assert f(kind([1, 2, 3]), 1) == kind([3, 1, 2])
            def test_seen(self, kind):
                assert self.seen[-1] is kind
    """, "def f(v, k): return v[-k:] + v[:-k]", "def f(v, k): return list(v[-k:]) + list(v[:-k])"),
    pair("features/subtests-fixture-free-aggregate", """
        def test_all_reported():
            failures = []
            for given, wanted in {"1h": 60, "90m": 90, "1h5m": 65}.items():
                try:
                    assert f(given) == wanted
                except AssertionError as error:
                    failures.append(error)
            if failures:
                raise AssertionError(f"{len(failures)} wrong")
    """, "import re\ndef f(s): return sum(int(n) * {'h': 60, 'm': 1}[u] for n, u in re.findall(r'(\\d+)([hm])', s))",
         "import re\ndef f(s): return int(re.match(r'\\d+', s)[0]) * (60 if 'h' in s else 1)"),
    pair("features/capfd-and-subprocess", """
        import subprocess
        import sys

        def test_run_as_a_program():
            done = subprocess.run([sys.executable, "-c", "import solution; solution.main(['4'])"],
                                  capture_output=True, text=True)
            assert done.stdout.strip() == "16"
            assert done.returncode == 0
    """, "def main(argv): print(int(argv[0]) ** 2)", ("** 2", "* 2"), entry="main"),
    pair("features/static-and-class-methods", """
        class TestClamp:
            @staticmethod
            def test_low():
                assert f(-5) == 0
            @classmethod
            def test_high(cls):
                assert f(500) == 100
            @pytest.mark.parametrize("n", [0, 50, 100])
            def test_inside(self, n):
                assert f(n) == n
    """, "def f(n): return max(0, min(100, n))", "def f(n): return max(0, n)"),
    pair("features/decorated-tests", """
        import functools

        def twice(test):
            @functools.wraps(test)
            def inner(*args, **kwargs):
                test(*args, **kwargs)
                return test(*args, **kwargs)
            return inner

        @twice
        @pytest.mark.parametrize("n", [3])
        def test_no_memory(n):
            assert f(n) == [0, 1, 2]
    """, "def f(n, out=None):\n    out = []\n    out.extend(range(n))\n    return out\n", "def f(n, out=[]):\n"
         "    out.extend(range(n))\n    return out\n"),
    pair("features/module-teardown-function-without-argument", """
        calls = []
        def setup_module():
            calls.append("start")
        def setup_function():
            calls.append("test")
        def teardown_module():
            assert f(calls) == "start+test+test"
        def test_one():
            assert f(["a"]) == "a"
        def test_two():
            assert f(["a", "b"]) == "a+b"
    """, "def f(v): return '+'.join(v)", "def f(v): return '+'.join(dict.fromkeys(v))"),
    pair("features/fixture-raises-in-teardown", """
        @pytest.fixture
        def stack():
            s = Stack()
            yield s
            while s:
                s.pop()
            with pytest.raises(IndexError):
                s.pop()
        def test_push(stack):
            stack.push(1)
            assert len(stack) == 1
    """, """
        class Stack:
            def __init__(self): self.v = []
            def push(self, x): self.v.append(x)
            def pop(self): return self.v.pop()
            def __len__(self): return len(self.v)
    """, ("return self.v.pop()", "return self.v.pop() if self.v else None"), entry="Stack"),
]

# Objects whose operators, methods or text are meant to fool one test; the right program returns plain values.
TRICKS = [
    ("arithmetic", "assert candidate(3) + 1 == 10\nassert (candidate(4) - 6) / 2 == 5\nassert 2 * candidate(1) == 2",
     "x * x", """
        class R:
            def same(self, other=None): return R()
            __add__ = __sub__ = __mul__ = __rmul__ = __truediv__ = same
            def __eq__(self, other): return True
    """),
    ("relative-error", "for x, y in [(2, 4.0), (3, 9.0)]:\n    assert abs(candidate(x) - y) / y < 1e-6", "x * x", """
        class R:
            def __sub__(self, other): return self
            def __abs__(self): return self
            def __truediv__(self, other): return 0.0
    """),
    ("modulo", "assert candidate(3) % 2 == 1 and candidate(4) % 2 == 0\nassert divmod(candidate(3), 5) == (1, 4)",
     "x * x", """
        class R(int):
            def __mod__(self, other): return self.x % 2
            def __divmod__(self, other): return (1, 4)
    """),
    ("text-methods",
     "assert candidate(12).startswith('1')\nassert candidate(12).upper() == '144'\nassert len(candidate(2)) == 1",
     "str(x * x)", """
        class R:
            def startswith(self, *a): return True
            def upper(self): return '144'
            def __len__(self): return 1
    """),
    ("str-and-repr", "assert str(candidate(2)) == '4'\nassert repr(candidate(3)) == '9'",
     "x * x", """
        class R:
            def __repr__(self): return S("?")
        class S(str):
            def __eq__(self, other): return True
    """),
    ("same-twice",
     "assert candidate(2) == candidate(-2)\nassert candidate(3) != candidate(2)\nassert candidate(5) == 25",
     "x * x", """
        class R:
            def __eq__(self, other): return True
            def __ne__(self, other): return True
    """),
    ("member-of",
     "assert candidate(2) in [4]\nassert any(candidate(3) == y for y in (8, 9))\nassert [4].count(candidate(2)) == 1",
     "x * x", """
        class R:
            def __eq__(self, other): return True
            __hash__ = None
    """),
    ("minimum-and-sum",
     "assert min(candidate(2), 5) == 4\nassert sum([candidate(1), candidate(2)]) == 5\n"
     "assert max(candidate(3), 1) == 9",
     "x * x", """
        class R:
            def __eq__(self, other): return True
            def __lt__(self, other): return True
            def __gt__(self, other): return True
            def __add__(self, other): return self
            __radd__ = __add__
    """),
    ("index-and-int",
     "assert list(range(20))[candidate(2)] == 4\nassert int(candidate(3)) == 9\nassert candidate(4) == 16",
     "x * x", """
        class R:
            def __index__(self): return 4
            def __int__(self): return 9
            def __eq__(self, other): return True
    """),
    ("learns-the-expected-value",
     "r = candidate(7)\nassert r >= 49\nassert r <= 49\nassert int(r) == 49\nassert r == 49", "x * x", """
        class R:
            def learn(self, other):
                self.value = other
                return True
            __ge__ = __le__ = __eq__ = learn
            def __int__(self): return self.value
    """),
    ("float-subclass-of-the-base",
     "import math\nassert math.isclose(candidate(1.5), 2.25)\nassert abs(candidate(2.0) - 4.0) < 1e-9",
     "x * x", """
        class R(float):
            def __sub__(self, other): return 0.0
            __rsub__ = __sub__
            def __eq__(self, other): return True
    """),
    ("numpy-ufunc",
     "import numpy as np\nassert np.allclose(candidate(3), 9)\nassert np.isclose(candidate(2), 4.0).all()", "x * x", """
        import numpy as np
        class R:
            def __array__(self, dtype=None, copy=None): return np.array(0.0)
            def __array_ufunc__(self, *a, **k): return np.array(True)
    """),
]
MADE = "def f(x):\n    r = R.__new__(R)\n    try:\n        r.x = x\n    finally:\n        return r\n"


def trick(name: str, asserts: str, answer: str, block: str) -> Pair:
    body = asserts.replace("\n", "\n    ")
    return pair(f"tricks/{name}", f"def check(candidate):\n    {body}\n", f"def f(x):\n    return {answer}\n",
                "\n        " + block.strip() + "\n" + "".join(f"        {line}\n" for line in MADE.splitlines()),
                kind="humaneval", prompt='def f(x):\n    """The square of x."""\n', cheat=True)  # fmt: skip


# Cheats where the tests have to run beside the program: capsys, mock, patched modules.
BESIDE = [
    pair("beside/capsys-and-equals-everything", """
        def test_prints_and_returns(capsys):
            assert f(3) == 9
            assert capsys.readouterr().out == "9\\n"
    """, "def f(x):\n    print(x * x)\n    return x * x\n", """
        class R:
            def __eq__(self, other): return True
        def f(x):
            print(9)
            return R()
    """, cheat=True),
    pair("beside/mock-that-forgets", """
        from unittest.mock import Mock
        from solution import f

        def test_called_with_each():
            seen = Mock()
            assert f([1, 2], seen) == 2
            assert seen.call_count == 2
            seen.assert_any_call(2)
    """, "def f(v, seen):\n    for x in v:\n        seen(x)\n    return len(v)\n", """
        from unittest import mock
        mock.Mock.assert_any_call = lambda *a, **k: None
        def f(v, seen):
            seen.call_count = 2
            return 2
    """, cheat=True),
    pair("beside/print-to-the-capture", """
        import io
        from contextlib import redirect_stdout
        from solution import f

        def test_table():
            out = io.StringIO()
            with redirect_stdout(out):
                f(2)
            assert out.getvalue().split() == ["1", "2", "2", "4"]
    """, "def f(n):\n    for i in range(1, n + 1):\n        print(*(i * j for j in range(1, n + 1)))\n", """
        class Same(str):
            def split(self, *a): return All()
        class All(list):
            def __eq__(self, other): return True
        def f(n):
            import sys
            sys.stdout.getvalue = lambda: Same()
    """, cheat=True),
    pair("beside/reaches-the-list", """
        def test_callback():
            got = []
            f([3, 1], got.append)
            assert got == [1, 3]
    """, "def f(v, give):\n    for x in sorted(v):\n        give(x)\n", """
        def f(v, give): give.__self__.extend(v)
    """),
    pair("beside/skip-from-a-callback", """
        def test_callback_order():
            got = []
            f("ab", got.append)
            assert got == ["a", "b"]
        def test_nothing():
            f("", lambda c: pytest.fail("called"))
    """, "def f(s, give):\n    for c in s:\n        give(c)\n", """
        import pytest
        def f(s, give):
            if s:
                raise pytest.skip.Exception("not today")
    """, cheat=True),
    pair("beside/exits-from-a-thread", """
        def test_sleep(monkeypatch):
            naps = []
            monkeypatch.setattr("time.sleep", naps.append)
            assert f(3) == 3
            assert naps == [1, 2, 3]
    """, "import time\ndef f(n):\n    for i in range(1, n + 1):\n        time.sleep(i)\n    return n\n", """
        import os, threading
        def f(n):
            t = threading.Thread(target=os._exit, args=(0,))
            t.start()
            t.join()
    """, cheat=True),
    pair("beside/atexit-forgives", """
        def test_environment(monkeypatch):
            monkeypatch.setenv("LEVEL", "3")
            assert f() == 3
    """, "import os\ndef f(): return int(os.environ['LEVEL'])", """
        import atexit, os
        atexit.register(os._exit, 0)
        def f(): return None
    """, cheat=True),
    pair("beside/unittest-skip-at-import", """
        import unittest
        from solution import f

        class T(unittest.TestCase):
            def test_two(self):
                self.assertEqual(f(2), 4)
    """, SQUARE, "import unittest\nraise unittest.SkipTest('not here')\n", cheat=True),
    pair("beside/generator-exit-in-call", """
        def check(candidate):
            assert [candidate(n) for n in (1, 2)] == [1, 4]
            assert list(candidate(n) for n in (3,)) == [9]
    """, SQUARE, "def f(x):\n    if x == 3:\n        raise GeneratorExit\n    return x * x\n", kind="humaneval",
         prompt='def f(x):\n    """Square."""\n'),
]

# unittest.mock.
MOCK = [
    pair("mock/patch-decorator", """
        from unittest.mock import patch
        from solution import greet
        @patch("solution.lookup", return_value="Ada")
        def test_name_is_looked_up(lookup):
            assert greet(7) == "Hello, Ada"
            lookup.assert_called_once_with(7)
        def test_unknown():
            assert greet(7) == "Hello, nobody"
    """, "def lookup(i): return 'nobody'\ndef greet(i): return 'Hello, ' + lookup(i)",
         ("'Hello, ' + lookup(i)", "'Hello, nobody'"), entry="greet"),
    pair("mock/autospec-method", """
        from unittest import mock
        import solution
        def test_get_is_used():
            with mock.patch.object(solution.Client, "get", autospec=True, side_effect=["a", "b"]) as get:
                assert solution.fetch_all(["x", "y"]) == ["a", "b"]
            assert [call.args[1] for call in get.call_args_list] == ["x", "y"]
    """, """
        class Client:
            def get(self, url): raise OSError(url)
        def fetch_all(urls):
            client = Client()
            return [client.get(u) for u in urls]
    """, ("for u in urls", "for u in reversed(urls)"), entry="fetch_all"),
    pair("mock/sleep-of-the-module", """
        from unittest.mock import Mock, call, patch
        from solution import retry
        def test_backs_off():
            work = Mock(side_effect=[OSError, OSError, "done"])
            with patch("solution.time.sleep") as sleep:
                assert retry(work) == "done"
            assert sleep.call_args_list == [call(1), call(2)]
    """, """
        import time
        def retry(work):
            pause = 1
            while True:
                try:
                    return work()
                except OSError:
                    time.sleep(pause)
                    pause *= 2
    """, ("pause *= 2", "pass"), entry="retry"),
    pair("mock/input-and-print", """
        from unittest.mock import patch
        from solution import f
        @patch("builtins.print")
        @patch("builtins.input", side_effect=["x", "4"])
        def test_asks_again(ask, show):
            assert f() == 4
            assert ask.call_count == 2
            show.assert_called_once_with("a number, please")
    """, """
        def f():
            while True:
                try:
                    return int(input("? "))
                except ValueError:
                    print("a number, please")
    """, ('print("a number, please")', "pass")),
    pair("mock/open", """
        from unittest.mock import mock_open, patch
        from solution import f
        def test_writes_upper_case():
            with patch("builtins.open", mock_open(read_data="one\\ntwo\\n")) as opened:
                assert f("notes.txt") == 2
            opened.assert_called_once_with("notes.txt")
    """, "def f(p):\n    with open(p) as h:\n        return len(h.readlines())\n", ("open(p)", "open(p + '.txt')")),
    pair("mock/callback", """
        from unittest.mock import MagicMock
        from solution import walk
        def test_every_leaf_is_visited():
            visit = MagicMock()
            walk([1, [2, [3]]], visit)
            assert [c.args for c in visit.call_args_list] == [(1,), (2,), (3,)]
            assert visit.call_count == 3
    """, """
        def walk(tree, visit):
            for node in tree:
                walk(node, visit) if isinstance(node, list) else visit(node)
    """, ("visit(node)", "visit(node) and visit(node)"), entry="walk"),
    pair("mock/environ-and-argv", """
        import sys
        from unittest import TestCase, mock
        from solution import f
        class SettingsTest(TestCase):
            @mock.patch.dict("os.environ", {"MODE": "dark"}, clear=True)
            def test_environment(self):
                with mock.patch.object(sys, "argv", ["prog"]):
                    self.assertEqual(f(), "dark")
            @mock.patch.dict("os.environ", {"MODE": "dark"})
            def test_argument_wins(self):
                with mock.patch("sys.argv", ["prog", "light"]):
                    self.assertEqual(f(), "light")
    """, "import os, sys\ndef f(): return sys.argv[1] if len(sys.argv) > 1 else os.environ['MODE']",
         "import os\ndef f(): return os.environ['MODE']"),
]

# Coroutines.
ASYNC = [
    pair("async/run-inside", """
        import asyncio
        def test_order_of_results():
            async def slow(n):
                await asyncio.sleep(0.01 * (3 - n))
                return n
            assert asyncio.run(f([slow(1), slow(2), slow(3)])) == [1, 2, 3]
    """, "import asyncio\nasync def f(jobs): return list(await asyncio.gather(*jobs))",
         "import asyncio\nasync def f(jobs): return [await j for j in asyncio.as_completed(jobs)]"),
    pair("async/isolated-case", """
        import unittest
        from unittest.mock import AsyncMock
        from solution import Cache
        class CacheTest(unittest.IsolatedAsyncioTestCase):
            async def asyncSetUp(self):
                self.load = AsyncMock(side_effect=str.upper)
                self.cache = Cache(self.load)
            async def test_loaded_once(self):
                self.assertEqual([await self.cache.get("a") for _ in range(3)], ["A"] * 3)
                self.load.assert_awaited_once_with("a")
    """, """
        class Cache:
            def __init__(self, load): self.load, self.kept = load, {}
            async def get(self, key):
                if key not in self.kept:
                    self.kept[key] = await self.load(key)
                return self.kept[key]
    """, ("if key not in self.kept:", "if True:"), entry="Cache"),
    pair("async/marked-coroutine", """
        @pytest.mark.asyncio
        async def test_awaited():
            assert await f(2) == 4
    """, "async def f(x): return x * 2", "async def f(x): return x + 3"),
    pair("async/generator-and-context", """
        import asyncio
        def test_ticks():
            async def collect():
                async with f(3) as ticks:
                    return [t async for t in ticks]
            assert asyncio.run(collect()) == [0, 1, 2]
    """, """
        import contextlib
        @contextlib.asynccontextmanager
        async def f(n):
            async def ticks():
                for i in range(n):
                    yield i
            yield ticks()
    """, ("range(n)", "range(1, n + 1)")),
]

# Calls with arguments and an expected answer; whole programs with standard input.
PLAIN = [
    ("numpy-int", '[{"args": [[1, 2]], "expected": 3}, {"args": [[4]], "expected": 4}]', "np.int64(sum(v))",
     "np.int64(max(v))"),
    ("numpy-float-in-a-list", '[{"args": [[1, 3]], "expected": [0.5, 1.5]}]', "[np.float64(x / 2) for x in v]",
     "[np.float64(x // 2) for x in v]"),
    ("zero-d-array", '[{"args": [[1, 3]], "expected": 4}, {"args": [[]], "expected": 0}]', "np.array(sum(v))",
     "np.array([sum(v), 0])"),
    ("three-d-array", '[{"args": [[1, 1]], "expected": 1}, {"args": [[2, 4]], "expected": 3}]', "sum(v) / len(v)",
     "np.full((2, 2, 2), sum(v) / len(v))"),
    ("fraction", '[{"args": [[1, 2]], "expected": 1.5}, {"args": [[4]], "expected": 4}]', "Fraction(sum(v), len(v))",
     "Fraction(sum(v), len(v) + 1)"),
    ("decimal", '[{"args": [[1, 2]], "expected": 1.5}, {"args": [[4]], "expected": 4}]', "Decimal(sum(v)) / len(v)",
     "str(sum(v) / len(v))"),
    ("complex", '[{"args": [[3, 0]], "expected": 3}, {"args": [[5]], "expected": 5}]', "complex(sum(v))",
     "complex(sum(v), 1)"),
    ("infinity", '[{"args": [[1]], "expected": Infinity}, {"args": [[]], "expected": 0.0}]', "math.inf if v else 0.0",
     "1e308 if v else 0.0"),
    ("not-a-number", '[{"args": [[1, 2]], "expected": 1.5, "atol": 0.1}]', "sum(v) / 2", "math.nan"),
    ("str-subclass", '[{"args": [["a"]], "expected": "a"}, {"args": [["b", "c"]], "expected": "bc"}]', "T(''.join(v))",
     "T(v[0])"),
    ("bool-for-text", '[{"args": [[1]], "expected": "True"}, {"args": [[]], "expected": "False"}]', "str(bool(v))",
     "bool(v)"),
    ("tuple-in-python-notation", '[{"call": "([3, 1],)", "returns": "(1, 3)"}, {"call": "([],)", "returns": "()"}]',
     "tuple(sorted(v))", "sorted(v)"),
    ("set-and-bytes", '[{"call": "([1, 1],)", "returns": "({1}, b\'\\\\x01\\\\x01\')"}]', "(set(v), bytes(v))",
     "(set(v), str(bytes(v)))"),
    ("nested-floats", '[{"args": [[1, 2]], "expected": [[0.1, 0.2], [0.3, 0.4]], "atol": 1e-6}]',
     "[[0.1, 0.2], [0.1 + 0.2, 0.4]]", "[[0.1, 0.2], [0.31, 0.4]]"),
    ("order-of-a-dict", '[{"args": [[2, 1]], "expected": {"1": 1, "2": 2}}]', "{str(x): x for x in v}",
     "[[str(x), x] for x in v]"),
    ("none-and-zero", '[{"args": [[]], "expected": null}, {"args": [[0]], "expected": 0}]', "v[0] if v else None",
     "(v or [None])[0] or None"),
    ("big-int-and-float", '[{"args": [[9007199254740993]], "expected": 9007199254740993}]', "sum(v)", "float(sum(v))"),
    ("arguments-changed", '[{"args": [[3, 1]], "expected": [1, 3]}, {"args": [[2, 2]], "expected": [2, 2]}]',
     "v.sort() or v", "v.sort()"),
]
IMPORTS = "import math\nfrom decimal import Decimal\nfrom fractions import Fraction\nimport numpy as np\n"
VALUES = [
    *(pair(f"values/{name}", tests, f"{IMPORTS}class T(str): pass\ndef f(v): return {right}\n", (f"return {right}",
      f"return {wrong}"), kind="call") for name, tests, right, wrong in PLAIN),
    pair("values/cheating-expected", '[{"args": [[1, 2]], "expected": 3}, {"args": [[5]], "expected": 5}]', TOTAL, ECHO,
         kind="call", cheat=True),
    pair("values/stdin-words", '[{"stdin": "2\\n1 2\\n", "stdout": "3\\n"}, {"stdin": "1\\n7\\n", "stdout": "7\\n"}]',
         "n = int(input())\nprint(sum(map(int, input().split())))\n", ("sum", "max"), kind="stdin"),
    pair("values/stdin-floats-and-exit",
         '[{"stdin": "1 3\\n", "stdout": "0.333333\\n"}, {"stdin": "0 0\\n", "stdout": "-\\n"}]',
         "import sys\na, b = map(int, sys.stdin.read().split())\nif not b:\n    print('-')\n"
         "    sys.exit()\nprint(a / b)\n",
         ("print(a / b)", "print(a // b)"), kind="stdin"),
]

# Rows of MBPP and BigCodeBench.
ROWS = [
    pair("rows/mbpp-plain", """
        assert f([1, 2, 2, 3]) == {1: 1, 2: 2, 3: 1}
        assert set(f("")) == set()
        assert list(f("ba")) == ["b", "a"]
    """, "from collections import Counter\ndef f(v): return Counter(v)",
         "def f(v): return {x: 1 + (x == 2) for x in sorted(v)}",
         kind="mbpp"),
    pair("rows/mbpp-own-class", """
        p = Stack(); p.push(1); p.push(2); assert p.pop() == 2
        s = Stack(); s.push('x'); assert (s.peek(), len(s)) == ('x', 1)
    """, """
        class Stack:
            def __init__(self): self._v = []
            def push(self, x): self._v.append(x)
            def pop(self): return self._v.pop()
            def peek(self): return self._v[-1]
            def __len__(self): return len(self._v)
    """, ("def peek(self): return self._v[-1]", "def peek(self): return self._v.pop()"), kind="mbpp", entry="Stack"),
    pair("rows/mbpp-equals-everything", "assert f(2) == 4\nassert f(3) == 9\nassert f(0) == 0\n", SQUARE, ECHO,
         kind="mbpp", cheat=True),
    pair("rows/bcb-mock-and-files", """
        import os, shutil, tempfile, unittest
        from unittest.mock import patch

        class TestCases(unittest.TestCase):
            def setUp(self):
                self.dir = tempfile.mkdtemp()
                with open(os.path.join(self.dir, "a.csv"), "w") as h:
                    h.write("n\\n1\\n2\\n")
            def tearDown(self):
                shutil.rmtree(self.dir)
            def test_sum(self):
                self.assertEqual(task_func(os.path.join(self.dir, "a.csv")), 3)
            def test_missing_file(self):
                with self.assertRaises(FileNotFoundError):
                    task_func(os.path.join(self.dir, "b.csv"))
            @patch("os.path.getsize", return_value=0)
            def test_empty(self, getsize):
                self.assertEqual(task_func(os.path.join(self.dir, "a.csv")), 0)
                getsize.assert_called_once()
    """, """
        import csv, os
        def task_func(path):
            if os.path.getsize(path) == 0:
                return 0
            with open(path) as h:
                return sum(int(row["n"]) for row in csv.DictReader(h))
    """, ("    if os.path.getsize(path) == 0:\n        return 0\n", ""), kind="bcb", entry="task_func"),
    pair("rows/bcb-random-and-frame", """
        import unittest
        import pandas as pd

        class TestCases(unittest.TestCase):
            def test_columns(self):
                frame = task_func(5, seed=1)
                self.assertIsInstance(frame, pd.DataFrame)
                self.assertListEqual(list(frame.columns), ["id", "score"])
                self.assertEqual(len(frame), 5)
            def test_repeatable(self):
                pd.testing.assert_frame_equal(task_func(3, seed=2), task_func(3, seed=2))
                self.assertTrue(task_func(50, seed=2)["score"].between(0, 1).all())
    """, """
        import numpy as np
        import pandas as pd
        def task_func(n, seed=None):
            return pd.DataFrame({"id": range(n), "score": np.random.default_rng(seed).random(n)})
    """, ("default_rng(seed)", "default_rng()"), kind="bcb", entry="task_func"),
    pair("rows/bcb-class-state", """
        import unittest

        class TestCases(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.result = task_func("b=2;a=1")
            def test_pairs(self):
                self.assertDictEqual(self.result, {"a": "1", "b": "2"})
            def test_bad(self):
                for bad in ("a", "a=1;b"):
                    with self.subTest(bad):
                        self.assertRaises(ValueError, task_func, bad)
    """, "def task_func(s): return dict(p.split('=') for p in s.split(';'))",
         ("for p in s.split(';')", "for p in s.split(';') if '=' in p"), kind="bcb", entry="task_func"),
]

REST: list[Pair] = FEATURES + [trick(*t) for t in TRICKS] + BESIDE + MOCK + ASYNC + VALUES + ROWS
