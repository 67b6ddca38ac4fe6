from __future__ import annotations

import datetime as dt
import json
import math
import re
import socket
import struct
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv6Network
from itertools import count, islice
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType, SimpleNamespace
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.programs.harness.codec import MAX_BYTES, MAX_ITEMS, Channel, Gone, NotPlainData, RemoteIterator, pack, unpack


def crossed(value: object) -> object:
    return unpack(json.loads(json.dumps(pack(value))))


ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False)
TEXTS = st.text(st.characters(exclude_categories=())) | st.binary()
KEYS = st.booleans() | st.integers() | st.text() | st.tuples(st.integers(), st.text())
SETS = st.sets(KEYS) | st.frozensets(KEYS)


def containers(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    lists = st.lists(inner)
    return lists | lists.map(tuple) | lists.map(deque) | st.dictionaries(KEYS, inner) | SETS


VALUES = st.recursive(ATOMS | TEXTS, containers)


@settings(max_examples=60)
@given(VALUES)
def test_plain_values_cross_as_they_are(value):
    assert repr(crossed(value)) == repr(value) or crossed(value) == value
    assert type(crossed(value)) is type(value)


BERLIN = ZoneInfo("Europe/Berlin")
EXACT: list[object] = [
    *(10**5000, -(10**5000), [2**62, 1], [True, 2, "x", None, 1.5], "\ud83d\ude00", ["a", "\ud83d\ude00"], -0.0),
    *(float("inf"), range(2, 20, 3), Counter("abca"), OrderedDict([(2, 1), (1, 2)]), bytearray(b"ab")),
    *(Decimal("1.10"), Fraction(1, 3), slice(1, None, 2), ..., NotImplemented, array("d", [1.5, 2])),
    *(dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5, 6), dt.timedelta(days=1, seconds=2), dt.UTC),  # noqa: DTZ001
    dt.datetime(2020, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2), "here")),
    *(dt.datetime(2020, 10, 25, 2, 30, tzinfo=BERLIN, fold=1), dt.time(1, 2, tzinfo=dt.UTC), ZoneInfo("Asia/Tokyo")),
    *(memoryview(b"abc"), UUID(int=5), PurePosixPath("/a/b"), Path("a"), PureWindowsPath("c:/x")),
    *(IPv4Address("1.2.3.4"), IPv6Network("2001:db8::/32"), IPv4Interface("1.2.3.4/8"), MappingProxyType({"a": [1]})),
    *(SimpleNamespace(a=[1], b=2), re.compile("a+", re.IGNORECASE), UserDict({"a": 1}), UserList([1])),
    *(ChainMap({"a": 1}, {"b": 2}), int, UUID, type(None), ValueError, {(1, "a"): [{2}], None: frozenset({1})}),
]


def test_what_tests_compare_crosses():
    assert [value for value in EXACT if crossed(value) != value or type(crossed(value)) is not type(value)] == []


def test_views_cross_as_views_and_halves_of_a_character_as_halves():
    assert len(crossed("\ud83d\ude00")) == 2
    assert crossed({1: 2}.keys()) == {1}
    assert list(crossed({1: 2}.values())) == [2]
    assert list(crossed({1: 2}.items())) == [(1, 2)]
    assert crossed(defaultdict(int, a=1)) == {"a": 1}


def test_iterators_are_drawn_and_stay_iterators():
    drawn = crossed(zip([1], [2], strict=True))
    assert isinstance(drawn, RemoteIterator)
    assert drawn != [(1, 2)]
    assert list(drawn) == [(1, 2)]
    assert list(drawn) == []
    assert list(crossed(islice(count(), 3))) == [0, 1, 2]


LIES = "__iter__ __eq__ __len__ __str__ __repr__ __index__ __int__ __pos__ items keys encode isascii bit_length".split()


def lying(value: object) -> object:
    """Return a value of a subclass whose methods say something else."""
    return type("Lying", (type(value),), dict.fromkeys(LIES, lambda *_: 7))(value)


def test_a_subclass_crosses_as_the_data_it_is_unless_it_has_operators_of_its_own():
    for truth in ([1, 2], {3: 4}, "truth", 3, 3.5):
        plain = type("Plain", (type(truth),), {"more": lambda _: 7})(truth)
        for derived, right in ((plain, truth), ([plain], [truth])):
            assert (type(crossed(derived)), crossed(derived)) == (type(right), right)
        with pytest.raises(NotPlainData, match="class Lying"):
            crossed([lying(truth)])


def itself() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


def test_a_value_that_holds_itself_does_so_on_the_other_side():
    twice = [1]
    inner = crossed({"a": [itself()], "b": (twice, {1: twice})})
    assert inner["a"][0][0] is inner["a"][0]
    assert inner["b"][0] is inner["b"][1][1]
    packed = [[1, 2], 3]
    unpack(packed)[0].append(5)
    assert packed == [[1, 2], 3], "what is unpacked is a copy"


def test_no_field_is_dropped():
    late = crossed(dt.datetime(2020, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1))
    assert (late.fold, late.tzinfo.key) == (1, "Europe/Berlin")
    counts = crossed(defaultdict(list, {1: [2]}))
    assert (counts, counts[5]) == ({1: [2], 5: []}, [])
    assert crossed(deque([1, 2], 2)).maxlen == 2
    assert crossed(memoryview(bytearray(b"ab"))).readonly is False
    lost = crossed(FileNotFoundError(2, "none", "x"))
    assert (lost.filename, lost.errno, lost.args) == ("x", 2, (2, "none"))
    assert repr(crossed([dt.date.max, -0.0, Decimal("-0.00")])) == repr([dt.date.max, -0.0, Decimal("-0.00")])
    point = crossed([namedtuple("Point", "x y")(1, [2])])[0]  # noqa: PYI024  as programs do
    assert (repr(point), point, point.y) == ("Point(x=1, y=[2])", (1, [2]), [2])


class Later(dt.datetime):
    """A date of a program's own class."""


class Slotted(dt.date):
    __slots__ = ("mood", "more", "most")


def test_a_subclass_of_a_date_crosses_as_a_date_unless_it_holds_more():
    assert type(crossed(Later(2020, 1, 1))) is dt.datetime
    with pytest.raises(NotPlainData):
        pack(Slotted(2020, 1, 1))


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


class Reduced:
    def __reduce__(self):
        return (print, ("never",))


def test_what_is_no_data_is_refused_and_a_forged_value_is_no_value():
    for value, why in (
        (object(), "class object"), (Reduced(), "class Reduced"), (len, "class builtin_function_or_method"),
        (Reduced, "class type"), (nested(1200), "deep"), (nested(50_000), "deep"), (count(), "more than 200000"),
        ([0] * (MAX_ITEMS + 1), "items"), ("x" * (MAX_BYTES + 10), "bytes"), (bytes(MAX_BYTES + 10), "bytes"),
    ):  # fmt: skip
        with pytest.raises(NotPlainData, match=why):
            pack(value)
    for message in (
        *({"x": 1}, {}, {"t": 1, "u": 2}, {"d": [[1]]}, {"d": [[[]], [1]]}, {"s": [[1]]}, {"i": "zz"}, {"T": "print"}),
        *({"m": ["os.system", ["true"]]}, {"r": [1, 2, 0]}, {"c": ["x", 1]}, {"u": "ff"}),
    ):
        with pytest.raises(Gone):
            unpack(message)


def test_messages_keep_their_order_and_a_channel_ends_at_what_is_no_message():
    here, there = socket.socketpair()
    with here, there:
        sender, receiver = Channel(there), Channel(here)
        for number in range(50):
            sender.send(["x" * number, number])
        assert [receiver.receive()[1] for _ in range(50)] == list(range(50))
        sender.send(pack([math.nan]))
        assert unpack(receiver.receive()) == [math.nan]
        with pytest.raises(NotPlainData):
            sender.send("x" * MAX_BYTES)
    for raw in (b"", b"\0\0", struct.pack(">I", 10) + b"[1", struct.pack(">I", 1 << 31), struct.pack(">I", 2) + b"}{"):
        here, there = socket.socketpair()
        with here, there:
            there.sendall(raw)
            there.shutdown(socket.SHUT_WR)
            with pytest.raises(Gone):
                Channel(here).receive()


def test_numpy_arrays_cross_as_arrays():
    numpy = pytest.importorskip("numpy")
    array = numpy.array([[1.5, 2], [3, 4]])
    assert (crossed(array) == array).all()
    for value in (numpy.int64(3), numpy.float32(0.1), numpy.datetime64("2020-01-02"), numpy.str_("é"), numpy.bool_(1)):
        assert repr(crossed(value)) == repr(value)
    for kind in (numpy.int64, numpy.dtype("f4"), numpy.dtype([("a", "i4"), ("b", "U3")])):
        assert crossed(kind) == kind
    records = numpy.array([(1, "x")], dtype=[("a", "i4"), ("b", "U3")])
    objects, times = numpy.array([1, "a", None], dtype=object), numpy.array(["NaT"], "M8[s]")
    for made in (numpy.zeros((2, 0)), records, array[:, ::-1], objects, times, numpy.longdouble(2) / 3):
        again = crossed(made)
        assert (again.dtype, again.shape, repr(again)) == (made.dtype, made.shape, repr(made))
    with pytest.raises(NotPlainData):
        pack(numpy.array([object()]))
