"""Pairs of a right and a wrong program for one test text each, to check the verdicts of `assay exec`.

A wrong program that is given as (old, new) is the right one with that text replaced. `cheat` marks wrong programs that
try to look right: they may fool a reference tool, but what they answer is not what the tests ask for.
"""

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True, slots=True)
class Pair:
    """One test text with a right and a wrong program; the class of the case is the part of `name` before the slash."""

    name: str
    kind: str  # pytest, script, humaneval, mbpp, bcb (BigCodeBench's unittest), call (JSON), stdin (JSON)
    entry: str
    prompt: str
    tests: str
    right: str
    wrong: str
    cheat: bool = False

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]


def text(block: str) -> str:
    """The block without its common indentation; a text that does not begin with a line break is left as it is."""
    return dedent(block).strip("\n") + "\n" if block.startswith("\n") else block


def pair(name: str, tests: str, right: str, wrong: str | tuple[str, str], *, kind: str = "pytest", entry: str = "f",
         prompt: str = "", cheat: bool = False) -> Pair:  # fmt: skip
    """A pair; pytest files that do not import `solution` themselves get the two usual imports."""
    tests, right = text(tests), text(right)
    if kind == "pytest" and "solution" not in tests:
        tests = f"import pytest\n\nfrom solution import {entry}\n\n\n{tests}"
    if isinstance(wrong, tuple):
        assert wrong[0] in right, name
        wrong = right.replace(*wrong)
    return Pair(name, kind, entry, text(prompt), tests, right, text(wrong), cheat)



# Test methods that come from a base class, a mixin, or a class made at run time.
INHERITED = [
    pair("inherited/contract-mixin", """
        class QueueContract:
            def test_get_on_empty(self):
                with pytest.raises(IndexError):
                    self.make().get()
        class TestQueue(QueueContract):
            def make(self):
                return Queue()
            def test_put(self):
                queue = self.make()
                queue.put(4)
                assert queue.get() == 4
    """, """
        class Queue:
            def __init__(self): self.items = []
            def put(self, item): self.items.append(item)
            def get(self): return self.items.pop(0)
    """, ("return self.items.pop(0)", "return self.items.pop(0) if self.items else None"), entry="Queue"),
    pair("inherited/unittest-hidden-base", """
        import unittest
        from solution import roman
        class Shared:
            class Base(unittest.TestCase):
                cases = {}
                def test_cases(self):
                    for number, numeral in self.cases.items():
                        self.assertEqual(roman(number), numeral)
        class SimpleTest(Shared.Base):
            cases = {1: "I", 3: "III"}
        class SubtractiveTest(Shared.Base):
            cases = {4: "IV", 9: "IX"}
    """, """
        def roman(n):
            out = ""
            for v, s in [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:
                while n >= v:
                    out, n = out + s, n - v
            return out
    """, ('(9, "IX"), (5, "V"), (4, "IV")', '(5, "V")'), entry="roman"),
    pair("inherited/dunder-test", """
        class TestShapeBase:
            __test__ = False
            sides = ()
            def test_area(self):
                assert f(*self.sides) == self.area
        class TestUnitSquare(TestShapeBase):
            __test__ = True
            sides, area = (1, 1), 1
        class TestWide(TestShapeBase):
            __test__ = True
            sides, area = (5, 2), 10
    """, "def f(a, b): return a * b", "def f(a, b): return a ** b"),
    pair("inherited/parametrized-grandparent", """
        class Grand:
            @pytest.mark.parametrize("n", [0, 1, 7])
            def test_sign(self, n):
                assert f(self.factor * n) == self.factor * abs(n)
        class Parent(Grand):
            pass
        class TestPlus(Parent):
            factor = 1
        class TestMinus(Parent):
            factor = -1
    """, "def f(x): return x", "def f(x): return abs(x)"),
    pair("inherited/made-by-type", """
        def make(given, wanted):
            return lambda self: self.check_one(given, wanted)
        class Common:
            def check_one(self, given, wanted):
                assert f(given) == wanted
        TestSlug = type("TestSlug", (Common,), {
            "test_plain": make("abc", "abc"),
            "test_spaces": make("a  b", "a-b"),
        })
    """, "def f(s): return '-'.join(s.split())", "def f(s): return s.replace(' ', '-')"),
]

# Test classes in test classes.
NESTED = [
    pair("nested/two-levels", """
        class TestLeap:
            class TestCentury:
                def test_divisible_by_400(self):
                    assert f(2000)
                def test_other(self):
                    assert not f(1900)
            class TestUsual:
                def test_four(self):
                    assert f(2024) and not f(2023)
    """, "def f(y): return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)", "def f(y): return y % 4 == 0"),
    pair("nested/outer-fixture", """
        class TestBag:
            @pytest.fixture
            def bag(self):
                return Bag("hello")
            class TestCounting:
                class TestLetters:
                    def test_twice(self, bag):
                        assert bag.count("l") == 2
                def test_missing(self, bag):
                    assert bag.count("z") == 0
    """, """
        class Bag:
            def __init__(self, items): self.items = items
            def count(self, item): return sum(i == item for i in self.items)
    """, ("sum(i == item for i in self.items)", "int(item in self.items)"), entry="Bag"),
]

# xunit-style set-up and tear-down, with asserts in them.
XUNIT = [
    pair("xunit/teardown-module", """
        import solution
        def setup_module(module):
            solution.reset()
        def teardown_module(module):
            assert solution.hits() == 2
        def test_first():
            assert solution.visit("a") == "hello a"
        def test_second():
            assert solution.visit("b") == "hello b"
    """, """
        LOG = []
        def reset(): LOG.clear()
        def hits(): return len(LOG)
        def visit(name):
            LOG.append(name)
            return "hello " + name
    """, ("    LOG.append(name)\n", "    LOG[:] = [name]\n"), entry="visit"),
    pair("xunit/setup-method-with-name", """
        class TestSplit:
            def setup_method(self, method):
                self.separator = ";" if method.__name__.endswith("semicolon") else ","
            def test_comma(self):
                assert f("a,b", self.separator) == ["a", "b"]
            def test_semicolon(self):
                assert f("a;b,c", self.separator) == ["a", "b,c"]
    """, "def f(s, sep): return s.split(sep)", "def f(s, sep): return s.replace(';', ',').split(',')"),
    pair("xunit/teardown-method-untouched", """
        class TestMedian:
            def setup_method(self):
                self.values = [9, 1, 5]
            def teardown_method(self):
                assert self.values == [9, 1, 5], "the input must not be changed"
            def test_median(self):
                assert f(self.values) == 5
    """, "def f(v):\n    return sorted(v)[len(v) // 2]\n", "def f(v):\n    v.sort()\n    return v[len(v) // 2]\n"),
    pair("xunit/teardown-class", """
        class TestIds:
            @classmethod
            def setup_class(cls):
                cls.seen = []
            @classmethod
            def teardown_class(cls):
                assert len(set(cls.seen)) == 2
            def test_one(self):
                self.seen.append(f("x"))
                assert self.seen[-1].startswith("x")
            def test_two(self):
                self.seen.append(f("x"))
                assert self.seen[-1].startswith("x")
    """, "import itertools\nIDS = itertools.count()\ndef f(p): return p + str(next(IDS))", "def f(p): return p + '0'"),
    pair("xunit/setup-function-argument", """
        names = []
        def setup_function(function):
            names.append(function.__name__)
        def teardown_function():
            assert f(names) == max(names, key=len), names
        def test_b():
            assert f(["a"]) == "a"
        def test_longer_name():
            assert f(["c", "a"]) == "c"
    """, "def f(names): return max(names, key=len)", "def f(names): return names[0]"),
    pair("xunit/setup-class-uses-program", """
        class TestTable:
            def setup_class(self):
                self.table = f(4)
                assert len(self.table) == 4
            def test_first_row(self):
                assert self.table[0] == [1]
    """, """
        def f(n):
            rows = [[1]]
            while len(rows) < n:
                rows.append([a + b for a, b in zip([0, *rows[-1]], [*rows[-1], 0])])
            return rows
    """, ("< n:", "<= n:")),
]

# unittest: set-up of classes and modules, cleanups, subtests, expected failures, skips.
UNITTEST = [
    pair("unittest/tear-down-class", """
        import unittest
        import solution
        class PoolTest(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.pool = solution.Pool(2)
            @classmethod
            def tearDownClass(cls):
                assert cls.pool.free == 2
            def test_take(self):
                with self.pool.take() as item:
                    self.assertIn(item, (0, 1))
    """, """
        import contextlib
        class Pool:
            def __init__(self, n): self.free = n
            @contextlib.contextmanager
            def take(self):
                self.free -= 1
                yield self.free
                self.free += 1
    """, ("        self.free += 1\n", ""), entry="Pool"),
    pair("unittest/set-up-module", """
        import unittest
        from solution import f
        WORDS = []
        def setUpModule():
            WORDS.extend(f("to be or not to be"))
        def tearDownModule():
            if len(WORDS) != 4:
                raise AssertionError(f"{len(WORDS)} words")
        class WordsTest(unittest.TestCase):
            def test_order(self):
                self.assertEqual(WORDS[:2], ["to", "be"])
    """, "def f(s): return list(dict.fromkeys(s.split()))", "def f(s): return s.split()"),
    pair("unittest/add-cleanup", """
        import unittest
        from solution import Account
        class AccountTest(unittest.TestCase):
            def setUp(self):
                self.account = Account()
                self.addCleanup(lambda: self.assertEqual(self.account.balance, 0))
            def test_deposit_and_close(self):
                self.account.deposit(5)
                self.assertEqual(self.account.close(), 5)
    """, """
        class Account:
            balance = 0
            def deposit(self, n): self.balance += n
            def close(self):
                paid, self.balance = self.balance, 0
                return paid
    """, ("paid, self.balance = self.balance, 0", "paid = self.balance"), entry="Account"),
    pair("unittest/sub-test", """
        import unittest
        from solution import f
        class GcdTest(unittest.TestCase):
            def test_table(self):
                for a, b, want in [(4, 6, 2), (5, 7, 1), (0, 9, 9), (12, 18, 6)]:
                    with self.subTest(a=a, b=b):
                        self.assertEqual(f(a, b), want)
    """, "def f(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n",
         "def f(a, b): return max((d for d in range(1, min(a, b) + 1) if a % d == b % d == 0), default=0)"),
    pair("unittest/expected-failure", """
        import unittest
        from solution import f
        class RootTest(unittest.TestCase):
            def test_nine(self):
                self.assertEqual(f(9), 3)
            @unittest.expectedFailure
            def test_negative_is_not_zero(self):
                self.assertEqual(f(-4), 0)
    """, "import math\ndef f(n): return math.isqrt(n)", "import math\ndef f(n): return math.isqrt(max(n, 0))"),
    pair("unittest/skip-unless-and-skip", """
        import sys
        import unittest
        from solution import f
        class VersionTest(unittest.TestCase):
            @unittest.skip("not agreed on yet")
            def test_empty(self):
                self.assertEqual(f(""), (0, 0))
            @unittest.skipUnless(sys.version_info >= (3, 8), "needs 3.8")
            def test_pair(self):
                self.assertEqual(f("3.11"), (3, 11))
    """, "def f(s): return tuple(map(int, s.split('.')))", "def f(s): return tuple(s.split('.'))"),
    pair("unittest/skip-test-by-program", """
        import unittest
        import solution
        class OptionalTest(unittest.TestCase):
            def setUp(self):
                if not hasattr(solution, "shout"):
                    self.skipTest("shout is optional")
            def test_shout(self):
                self.assertEqual(solution.shout("hi"), "HI!")
    """, "def shout(s): return s.upper() + '!'", "def shout(s): return s.upper()", entry="shout"),
    pair("unittest/run-test-only", """
        import unittest
        from solution import f
        class CapsTest(unittest.TestCase):
            def runTest(self):
                self.assertEqual(f("the end"), "The End")
    """, "def f(s): return s.title()", "def f(s): return s.capitalize()"),
    pair("unittest/regex-and-logs", """
        import unittest
        from solution import f
        class ParseTest(unittest.TestCase):
            def test_warns_in_the_log(self):
                with self.assertLogs("parser", level="WARNING") as log:
                    self.assertEqual(f("7x"), 7)
                self.assertIn("trailing", log.output[0])
            def test_error(self):
                with self.assertRaisesRegex(ValueError, r"no digits in 'x+'"):
                    f("xxx")
    """, """
        import logging, re
        def f(s):
            found = re.match(r"\\d+", s)
            if not found:
                raise ValueError(f"no digits in {s!r}")
            if found.end() < len(s):
                logging.getLogger("parser").warning("trailing %s", s[found.end():])
            return int(found[0])
    """, ("no digits in {s!r}", "no digits")),
    pair("unittest/enter-context", """
        import tempfile
        import unittest
        from pathlib import Path
        from solution import f
        class FilesTest(unittest.TestCase):
            def setUp(self):
                self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
                (self.folder / "a.txt").write_text("one two")
                (self.folder / "b.md").write_text("three")
            def test_words(self):
                self.assertEqual(f(self.folder, ".txt"), 2)
    """, "def f(d, ext): return sum(len(p.read_text().split()) for p in d.iterdir() if p.suffix == ext)",
         ("p.suffix == ext", "p.suffix")),
]

# Fixtures: parameters, scopes, yields, autouse, request, classes, indirect parameters, factories.
FIXTURES = [
    pair("fixtures/params-with-ids", """
        @pytest.fixture(params=[("", True), ("abba", True), ("Abba", True), ("ab", False)],
                        ids=["empty", "lower", "mixed", "no"])
        def case(request):
            return request.param
        def test_palindrome(case):
            word, wanted = case
            assert f(word) is wanted
    """, "def f(s):\n    s = s.lower()\n    return s == s[::-1]\n", "def f(s): return s == s[::-1]"),
    pair("fixtures/autouse-class-yield", """
        class TestCart:
            @pytest.fixture(autouse=True)
            def _cart(self):
                self.cart = Cart()
                yield
                assert self.cart.total() == sum(self.cart.items.values())
            def test_add(self):
                self.cart.add("tea", 3)
                assert self.cart.items == {"tea": 3}
            def test_add_twice(self):
                self.cart.add("tea", 3)
                self.cart.add("tea", 4)
                assert self.cart.items["tea"] == 7
    """, """
        class Cart:
            def __init__(self): self.items = {}
            def add(self, name, n): self.items[name] = self.items.get(name, 0) + n
            def total(self): return sum(self.items.values())
    """, ("return sum(self.items.values())", "return 3"), entry="Cart"),
    pair("fixtures/module-scope-teardown", """
        @pytest.fixture(scope="module")
        def counter():
            counter = Counter()
            yield counter
            assert counter.value == 3
        def test_one(counter):
            counter.step()
            assert counter.value > 0
        def test_two(counter):
            counter.step(2)
            assert counter.value > 0
    """, "class Counter:\n    value = 0\n    def step(self, n=1): self.value += n\n", ("+= n", "= n"), entry="Counter"),
    pair("fixtures/indirect", """
        @pytest.fixture
        def number(request):
            return int(request.param, 2)
        @pytest.mark.parametrize(("number", "ones"), [("0", 0), ("1011", 3), ("-110", 2)], indirect=["number"])
        def test_ones(number, ones):
            assert f(number) == ones
    """, "def f(n): return bin(n).count('1')",
         "def f(n):\n    c = 0\n    while n > 0:\n        c, n = c + n % 2, n // 2\n"
         "    return c\n"),
    pair("fixtures/usefixtures-request-cls", """
        @pytest.fixture(scope="class")
        def grid(request):
            request.cls.grid = [[1, 2, 3], [4, 5, 6]]
        @pytest.mark.usefixtures("grid")
        class TestTranspose:
            def test_shape(self):
                assert len(f(self.grid)) == 3
            def test_twice(self):
                assert [list(r) for r in f(f(self.grid))] == self.grid
    """, "def f(g): return [list(c) for c in zip(*g)]", "def f(g): return [list(c)[::-1] for c in zip(*g)]"),
    pair("fixtures/factory-finalizer", """
        @pytest.fixture
        def open_door(request):
            def build(name):
                door = Door(name)
                door.open()
                request.addfinalizer(lambda: check_closed(door))
                return door
            return build
        def check_closed(door):
            door.close()
            assert not door.is_open
        def test_open(open_door):
            assert open_door("front").is_open
            assert open_door("back").name == "back"
    """, """
        class Door:
            def __init__(self, name): self.name, self.is_open = name, False
            def open(self): self.is_open = True
            def close(self): self.is_open = False
    """, ("def close(self): self.is_open = False", "def close(self): pass"), entry="Door"),
    pair("fixtures/getfixturevalue", """
        @pytest.fixture
        def empty():
            return []
        @pytest.fixture
        def falling():
            return [3, 2, 2, 1]
        @pytest.mark.parametrize("name", ["empty", "falling"])
        def test_sorted(request, name):
            values = request.getfixturevalue(name)
            assert f(values) == sorted(values)
    """, "def f(v): return sorted(v)", "def f(v): return sorted(set(v))"),
    pair("fixtures/override-in-class", """
        @pytest.fixture
        def base():
            return 10
        def test_decimal(base):
            assert f(255, base) == "255"
        class TestHex:
            @pytest.fixture
            def base(self, base):
                return base + 6
            def test_hex(self, base):
                assert f(255, base) == "ff"
    """, """
        def f(n, base):
            digits = "0123456789abcdef"
            return (f(n // base, base) if n >= base else "") + digits[n % base]
    """, "def f(n, base): return str(n)"),
    pair("fixtures/named-and-multiplied", """
        @pytest.fixture(name="left", params=[0, 3])
        def _left(request):
            return request.param
        @pytest.fixture(params=[2, -2], ids=lambda n: f"by{n}")
        def right(request, left):
            return request.param + left
        def test_difference(left, right):
            assert f(left, right) == abs(left - right)
    """, "def f(a, b): return abs(a - b)", "def f(a, b): return b - a"),
    pair("fixtures/autouse-session-order", """
        trail = []
        @pytest.fixture(autouse=True, scope="session")
        def _first():
            trail.append("session")
        @pytest.fixture(autouse=True)
        def _second():
            trail.append("function")
        def test_trail():
            assert f(trail) == {"session": 1, "function": 1}
        def test_trail_again():
            assert f(trail) == {"session": 1, "function": 2}
    """, "from collections import Counter\ndef f(xs): return dict(Counter(xs))",
         "def f(xs): return dict.fromkeys(xs, 1)"),
]

# Fixtures of pytest itself.
BUILTIN_FIXTURES = [
    pair("builtin-fixtures/capsys-err", """
        def test_streams(capsys):
            f(["a", "!b"])
            out, err = capsys.readouterr()
            assert out == "a\\n"
            assert err == "b\\n"
    """,
         "import sys\ndef f(ls):\n    for s in ls:\n"
         "        print(s.lstrip('!'), file=sys.stderr if s[0] == '!' else None)\n",
         "def f(ls):\n    for s in ls:\n        print(s.lstrip('!'))\n"),
    pair("builtin-fixtures/caplog", """
        import logging
        def test_slow_is_logged(caplog):
            with caplog.at_level(logging.INFO, logger="jobs"):
                assert f(12) == "slow"
                assert f(1) == "fast"
            assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("WARNING", "12 s")]
    """, """
        import logging
        def f(s):
            if s < 10:
                return "fast"
            logging.getLogger("jobs").warning("%d s", s)
            return "slow"
    """, ("warning(", "error(")),
    pair("builtin-fixtures/monkeypatch-dotted", """
        from solution import price
        def test_rate_is_asked(monkeypatch):
            monkeypatch.setattr("solution.rate", lambda currency: {"chf": 2.0}[currency])
            assert price(10, "chf") == 20.0
        def test_unpatched():
            assert price(10, "eur") == 10.0
    """, "def rate(c): return 1.0\ndef price(n, c): return n * rate(c)", ("n * rate(c)", "n * 1.0"), entry="price"),
    pair("builtin-fixtures/monkeypatch-global", """
        import solution
        def test_limit(monkeypatch):
            monkeypatch.setattr(solution, "LIMIT", 2)
            monkeypatch.setitem(solution.NAMES, "b", "beta")
            assert solution.names(["a", "b", "c"]) == ["alpha", "beta"]
        def test_undone():
            assert solution.names(["b", "a"]) == ["b", "alpha"]
    """, "LIMIT = 9\nNAMES = {'a': 'alpha'}\ndef names(xs): return [NAMES.get(x, x) for x in xs[:LIMIT]]",
         ("[:LIMIT]", ""), entry="names"),
    pair("builtin-fixtures/monkeypatch-env-and-cwd", """
        def test_reads_the_file_named_in_the_environment(monkeypatch, tmp_path):
            (tmp_path / "conf.ini").write_text("[main]\\ncolour = red\\n")
            monkeypatch.chdir(tmp_path)
            monkeypatch.setenv("CONF", "conf.ini")
            assert f("colour") == "red"
        def test_without(monkeypatch):
            monkeypatch.delenv("CONF", raising=False)
            assert f("colour") is None
    """, """
        import configparser, os
        def f(key):
            parser = configparser.ConfigParser()
            parser.read(os.environ.get("CONF", []))
            return parser.get("main", key, fallback=None)
    """, ("fallback=None", "fallback='red'")),
    pair("builtin-fixtures/tmp-path-factory", """
        @pytest.fixture(scope="module")
        def store(tmp_path_factory):
            return tmp_path_factory.mktemp("store") / "data.json"
        def test_save_and_load(store):
            f(store, {"a": 1})
            assert store.read_text() == '{"a": 1}'
        def test_appends(store):
            f(store, {"b": 2})
            assert store.read_text() == '{"a": 1, "b": 2}'
    """, """
        import json
        def f(path, new):
            old = json.loads(path.read_text()) if path.exists() else {}
            path.write_text(json.dumps(old | new))
    """, ("old | new", "new")),
    pair("builtin-fixtures/recwarn", """
        def test_one_warning_each(recwarn):
            assert f("old") == f("new") == 1
            assert len(recwarn) == 1
            assert "old" in str(recwarn.pop(FutureWarning).message)
    """, """
        import warnings
        def f(name):
            if name == "old":
                warnings.warn(f"{name} is going", FutureWarning, stacklevel=2)
            return 1
    """, ('    if name == "old":\n        ', "    ")),
]

# Parametrized tests.
PARAMETRIZE = [
    pair("parametrize/strict-xfail-mark", """
        @pytest.mark.parametrize(("given", "wanted"), [
            pytest.param("3", 3, id="plain"),
            pytest.param(" 3 ", 3, id="spaces"),
            pytest.param("0x3", 3, id="hex", marks=pytest.mark.xfail(raises=ValueError, strict=True)),
        ])
        def test_parse(given, wanted):
            assert f(given) == wanted
    """, "def f(s): return int(s)", "def f(s): return int(s, 0)"),
    pair("parametrize/stacked", """
        @pytest.mark.parametrize("sign", [1, -1])
        @pytest.mark.parametrize("n", range(4))
        def test_power(n, sign):
            assert f(sign * 2, n) == (sign * 2) ** n
    """, "def f(b, n): return b ** n", "def f(b, n): return abs(b) ** n if n != 1 else b"),
    pair("parametrize/class", """
        @pytest.mark.parametrize("text", ["", "a", "ab", "aab"])
        class TestEncoding:
            def test_round_trip(self, text):
                assert "".join(c * n for c, n in f(text)) == text
            def test_no_equal_neighbours(self, text):
                runs = f(text)
                assert all(a[0] != b[0] for a, b in zip(runs, runs[1:]))
    """, "from itertools import groupby\ndef f(s): return [(c, len(list(g))) for c, g in groupby(s)]",
         "def f(s): return [(c, 1) for c in s]"),
    pair("parametrize/pytestmark", """
        pytestmark = [pytest.mark.parametrize("day", ["sat", "sun", "mon"])]
        def test_weekend(day):
            assert f(day) == (day != "mon")
    """, "def f(d): return d in ('sat', 'sun')", "def f(d): return d == 'sat'"),
    pair("parametrize/generate-tests", """
        TABLE = {"half": [(3, 1), (4, 2)], "negative": [(-3, -1), (-4, -2)]}
        def pytest_generate_tests(metafunc):
            if "case" in metafunc.fixturenames:
                cases = [case for group in TABLE.values() for case in group]
                metafunc.parametrize("case", cases, ids=str)
        def test_truncates(case):
            given, wanted = case
            assert f(given) == wanted
    """, "def f(n): return int(n / 2)", "def f(n): return n // 2"),
    pair("parametrize/context-managers", """
        from contextlib import nullcontext
        @pytest.mark.parametrize(("age", "outcome"), [
            (0, nullcontext("child")), (18, nullcontext("adult")),
            (-1, pytest.raises(ValueError, match="negative")), ("x", pytest.raises(TypeError)),
        ])
        def test_group(age, outcome):
            with outcome as wanted:
                assert f(age) == wanted
    """, """
        def f(age):
            if age < 0:
                raise ValueError("negative age")
            return "adult" if age >= 18 else "child"
    """, ("if age < 0:", "if not isinstance(age, int) or age < 0:")),
    pair("parametrize/computed-values", """
        def cases():
            for n in range(1, 30):
                yield n, "Fizz" * (n % 3 == 0) + "Buzz" * (n % 5 == 0) or str(n)
        @pytest.mark.parametrize("n, word", cases())
        def test_word(n, word):
            assert f(n) == word
    """, "def f(n): return 'Fizz' * (n % 3 == 0) + 'Buzz' * (n % 5 == 0) or str(n)",
         "def f(n): return 'Fizz' if n % 3 == 0 else 'Buzz' if n % 5 == 0 else str(n)"),
]

# Expected failures and skips.
XFAIL = [
    pair("xfail/strict-passes", """
        def test_small():
            assert f(5) == 120
        @pytest.mark.xfail(strict=True, reason="factorials of negative numbers are undefined")
        def test_negative():
            assert f(-1) == 1
    """, "def f(n):\n    if n < 0:\n        raise ValueError(n)\n    return n * f(n - 1) if n else 1\n",
         "def f(n): return n * f(n - 1) if n > 0 else 1"),
    pair("xfail/non-strict", """
        @pytest.mark.xfail(reason="rounding half up would be nicer")
        def test_half():
            assert f(2.5) == 3
        def test_third():
            assert f(2.3) == 2
    """, "def f(x): return round(x)", "import math\ndef f(x): return math.ceil(x)"),
    pair("xfail/other-exception", """
        def test_mean():
            assert f([1, 3]) == 2
        @pytest.mark.xfail(raises=ZeroDivisionError)
        def test_empty():
            f([])
    """, "def f(v): return sum(v) / len(v)", "def f(v): return sum(v) / (len(v) or None)"),
    pair("xfail/not-run", """
        @pytest.mark.xfail(run=False, reason="takes for ever")
        def test_huge():
            while True:
                f(10**6)
        def test_small():
            assert f(10) == 4
    """, "def f(n): return sum(all(k % d for d in range(2, k)) for k in range(2, n + 1))",
         ("range(2, n + 1))", "range(1, n + 1))")),
    pair("xfail/called", """
        def test_optional_order():
            found = f(["b", "a"])
            if found != ["a", "b"]:
                pytest.xfail("order is not promised")
        def test_unique():
            assert len(f(["a", "a"])) == 1
    """, "def f(v): return list(dict.fromkeys(v))", "def f(v): return list(v)"),
    pair("xfail/skip-by-program", """
        def test_negative_if_supported():
            try:
                root = f(-8)
            except ValueError:
                pytest.skip("no negative roots")
            assert root == -2
        def test_positive():
            assert f(27) == 3
    """, "def f(n):\n    if n < 0:\n        raise ValueError(n)\n    return round(n ** (1 / 3))\n",
         "def f(n): return round(abs(n) ** (1 / 3))"),
    pair("xfail/skipif-false", """
        import sys
        @pytest.mark.skipif(sys.platform == "win32", reason="posix paths")
        def test_path():
            assert f("a", "b") == "a/b"
        @pytest.mark.skipif(sys.version_info >= (3, 0), reason="python 2 only")
        def test_bytes():
            assert f(b"a", "b") == b"a/b"
    """, "def f(a, b): return a + '/' + b", "def f(a, b): return a + '\\\\' + b"),
    pair("xfail/importorskip", """
        np = pytest.importorskip("numpy")
        def test_needs_a_missing_module():
            pytest.importorskip("no_such_module_anywhere")
            assert f([1]) == "never"
        def test_mean():
            assert np.isclose(f([1, 2, 6]), 3)
    """, "def f(v): return sum(v) / len(v)", "def f(v): return sorted(v)[len(v) // 2]"),
]

# Expected exceptions and warnings.
RAISES = [
    pair("raises/attributes-and-cause", """
        import pytest
        from solution import ConfigError, load
        def test_cause():
            with pytest.raises(ConfigError) as caught:
                load({"port": "x"})
            assert caught.value.key == "port"
            assert isinstance(caught.value.__cause__, ValueError)
        def test_good():
            assert load({"port": "80"}) == 80
    """, """
        class ConfigError(Exception):
            def __init__(self, key): self.key = key
        def load(d):
            try:
                return int(d["port"])
            except ValueError as e:
                raise ConfigError("port") from e
    """, (" from e", " from None"), entry="load"),
    pair("raises/exception-group", """
        def test_all_errors_are_reported():
            with pytest.raises(ExceptionGroup) as caught:
                f({"age": -1, "name": ""})
            values, rest = caught.value.split(ValueError)
            assert len(values.exceptions) == 1 and len(rest.exceptions) == 1
        def test_fine():
            assert f({"age": 3, "name": "x"})
    """, """
        def f(d):
            errors = []
            if d["age"] < 0:
                errors.append(ValueError("age"))
            if not d["name"]:
                errors.append(LookupError("name"))
            if errors:
                raise ExceptionGroup("invalid", errors)
            return True
    """, ('LookupError("name")', 'ValueError("name")')),
    pair("raises/group-matcher", """
        def test_group():
            with pytest.RaisesGroup(pytest.RaisesExc(TypeError, match="int"), ValueError):
                f([1, "a"])
            assert f([]) is None
    """, """
        def f(xs):
            if xs:
                raise ExceptionGroup("bad", [TypeError("int"), ValueError("a")])
    """, ('TypeError("int")', 'TypeError("str")')),
    pair("raises/warns-match", """
        def test_old_name_warns():
            with pytest.warns(DeprecationWarning, match=r"use \\w+ instead"):
                assert f(1, old=True) == 2
            with pytest.deprecated_call():
                f(2, old=True)
        def test_new_name_does_not():
            import warnings
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert f(1) == 2
    """, """
        import warnings
        def f(x, old=False):
            if old:
                warnings.warn("use g instead", DeprecationWarning)
            return x + 1
    """, ("if old:", "if True:")),
    pair("raises/try-else", """
        def test_rejects():
            try:
                f("12a")
            except ValueError as error:
                assert "12a" in str(error)
            else:
                pytest.fail("a bad number was accepted")
        def test_accepts():
            assert f("12") == 12
    """, "def f(s): return int(s)", "def f(s): return int(''.join(c for c in s if c.isdigit()))"),
    pair("raises/system-exit", """
        def test_usage(capsys):
            with pytest.raises(SystemExit) as stop:
                f([])
            assert stop.value.code == 2
            assert "usage" in capsys.readouterr().err
        def test_runs():
            assert f(["--n", "3"]) == 3
    """, """
        import argparse
        def f(argv):
            parser = argparse.ArgumentParser()
            parser.add_argument("--n", type=int, required=True)
            return parser.parse_args(argv).n
    """, ("required=True", "default=3")),
]

PAIRS: list[Pair] = (INHERITED + NESTED + XUNIT + UNITTEST + FIXTURES + BUILTIN_FIXTURES + PARAMETRIZE + XFAIL
                     + RAISES)  # fmt: skip
