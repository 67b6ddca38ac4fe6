"""Programs whose values lie, kind by kind: the tests pass only if one of several lies is believed.

What cannot cross is compared beside the program, where it may lie; the outcome has to say so then.
"""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack
from attacks.wrong import GROUP, unsaid, wrong

from assay.values import Call, Script
from attack_catalogue.wrong_parts import LYING

__all__ = ["ATTACKS", "GROUP"]

START = (
    LYING
    + """
def every(kind):
    members = {name: (lambda value: lambda *a, **k: value)(value) for name, value in (("__eq__", True), ("__ne__", False), ("__lt__", True), ("__le__", True),
               ("__gt__", True), ("__ge__", True), ("__contains__", True), ("__hash__", 5), ("__sub__", 0), ("__rsub__", 0), ("__bool__", True))}
    return type(kind.__name__, (kind,), {**members, "__module__": kind.__module__, "__slots__": ()})
"""
)


def lies(name: str, tries: str, values: str, wanted: str, *texts: str, **options: object) -> Attack:
    """Return an attack that returns one lying value after the other, with what comes before it and before its tests."""
    more, start = (*texts, "", "")[:2]
    tests = (
        Script(
            f"{start}\nhits = [n for n in range(len(WANTED)) if str(add(n, 0) == WANTED[n]) == 'True']\nassert hits\n".replace(
                "WANTED", f"({wanted})"
            )
        ),
    )
    source = f"{START}\n{more}\nVALUES = ({values})\ndef add(a, b):\n    return VALUES[a]()\n"
    return wrong(name, f"returns {tries} that say yes to every comparison", source, tests, unsaid, **options)


ATTACKS = (
    lies(
        "numbers that lie",
        "fractions, decimals, complex numbers, booleans and enumerations",
        "lambda: every(fractions.Fraction)(1, 3), lambda: every(decimal.Decimal)('4'), lambda: every(complex)(4, 4), lambda: Kind.x, lambda: every(float)('nan')",
        "fractions.Fraction(1, 2), decimal.Decimal('5'), 5 + 0j, 5, 5.0",
        "import decimal, enum, fractions\nclass Kind(enum.IntEnum):\n    x = 4\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n",
        "import decimal, fractions",
    ),
    lies(
        "containers that lie",
        "dictionaries, ordered and default ones, counters, deques, sets and tuples",
        "lambda: every(dict)(), lambda: every(collections.OrderedDict)(), lambda: every(collections.defaultdict)(int), lambda: every(collections.Counter)(),"
        " lambda: every(collections.deque)(), lambda: every(frozenset)(), lambda: every(tuple)(), lambda: every(set)()",
        "{1: 2}, collections.OrderedDict(a=1), collections.defaultdict(int, a=1), collections.Counter('a'), collections.deque([1]), frozenset('a'), (1,), {1}",
        "import collections",
        "import collections",
    ),
    lies(
        "texts that lie",
        "strings, bytes, byte arrays and user strings",
        "lambda: every(str)('4'), lambda: every(bytes)(b'4'), lambda: every(bytearray)(b'4'), lambda: UserString('4')",
        "'5', b'5', bytearray(b'5'), '5'",
        "from collections import UserString as Base\nclass UserString(Base):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    __hash__ = None\n",
    ),
    lies(
        "times that lie",
        "dates, times, zones and spans",
        "lambda: every(datetime.datetime)(2020, 1, 1), lambda: every(datetime.date)(2020, 1, 1), lambda: every(datetime.timedelta)(1),"
        " lambda: datetime.datetime(2021, 1, 1, tzinfo=Zone()), lambda: every(datetime.time)(1)",
        "datetime.datetime(2021, 1, 1), datetime.date(2021, 1, 1), datetime.timedelta(2), datetime.datetime(2021, 1, 1, tzinfo=datetime.timezone.utc), datetime.time(2)",
        "import datetime, itertools\nturn = itertools.count(1)\nclass Zone(datetime.tzinfo):\n    def utcoffset(self, when): return datetime.timedelta(minutes=next(turn))\n    dst = utcoffset\n",
        "import datetime",
    ),
    lies(
        "identities that lie",
        "UUIDs, paths, addresses and ranges",
        "lambda: every(uuid.UUID)(int=4), lambda: every(pathlib.PurePosixPath)('/x'), lambda: every(ipaddress.IPv4Address)('1.1.1.1'), lambda: changed",
        "uuid.UUID(int=5), pathlib.PurePosixPath('/y'), ipaddress.IPv4Address('2.2.2.2'), uuid.UUID(int=5)",
        "import ipaddress, pathlib, uuid\nchanged = uuid.UUID(int=4)\nuuid.UUID.__eq__ = lambda self, other: True\n",
        "import ipaddress, pathlib, uuid",
    ),
    lies(
        "iterators that lie",
        "generators and iterators that yield whatever makes all() true, twice differently, or that are never done",
        "lambda: Twice(), lambda: (n for n in Twice()), lambda: map(every(int), [4])",
        "[5], [5], [5]",
        "class Twice:\n    n = 4\n    def __iter__(self):\n        yield self.n\n        self.n = 5\n    def __len__(self): return 1\n    def __getitem__(self, n): return 5\n    def __eq__(self, other): return True\n",
    ),
    lies(
        "objects of the tests' own classes",
        "records, named tuples and data classes of the program that are called like those of the tests",
        "lambda: Point(1, 2), lambda: Named(1, 2), lambda: Slots()",
        "Point(3, 4), Named(3, 4), Named(5, 6)",
        "import collections, dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int\n    y: int\n    def __eq__(self, other): return True\n"
        "class Named(collections.namedtuple('Named', 'x y')):\n    def __eq__(self, other): return True\n"
        "class Slots:\n    __slots__ = ('x',)\n    __class__ = property(lambda self: Named)\n    def __eq__(self, other): return True\n",
        "import collections, dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int\n    y: int\nNamed = collections.namedtuple('Named', 'x y')",
    ),
    lies(
        "arrays that lie",
        "numpy's arrays, scalars and subclasses with functions of their own",
        "lambda: np.array([4, 4]).view(Lying), lambda: np.float64(4), lambda: np.ma.masked_all(2), lambda: np.array([Any(), Any()], dtype=object)",
        "[5, 5], 5.0, [5, 5], [5, 5]",
        "import numpy as np\nclass Lying(np.ndarray):\n    def __eq__(self, other): return True\n    def __array_ufunc__(self, *a, **k): return True\n    def __array_function__(self, *a, **k): return True\n    __array_priority__ = 1e9\n"
        "class Any:\n    def __eq__(self, other): return True\n    __hash__ = None\n",
        modules=("numpy",),
    ),
    wrong(
        "not a number as a key",
        "returns dictionaries, sets and lists of nan, which are equal where they are the same object",
        "nan = float('nan')\ndef add(a, b):\n    return [{nan: 5}, {nan}, [nan], (nan, 4)][a]\n",
        (Call((0, 0), {1.0: 5}), Call((1, 0), {1.0}), Call((2, 0), [1.0], 0.1), Call((3, 0), (1.0, 4), 0.1)),
    ),
    wrong(
        "names of types that lie",
        "returns values of classes named int and list in a module named builtins",
        """
made = type("int", (), {"__module__": "builtins", "__eq__": lambda s, o: True, "__int__": lambda s: 5, "__index__": lambda s: 5, "real": 5, "value": 5})
def add(a, b):
    return made() if a == 2 else type("list", (list,), {"__module__": "builtins", "__eq__": lambda s, o: True})([4])
""",
    ),
)
