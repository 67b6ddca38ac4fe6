"""The filter as the kernel would run it, for both architectures, on any."""

from __future__ import annotations

import errno
import struct
from itertools import count

import pytest

from assay.cage.seccomp import DENIED, OUTSIDE, Filter
from assay.cage.syscalls import ARCHITECTURES, NUMBERS

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
OWN = 50


def decided(program: bytes, machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Interpret classic BPF over the kernel's `struct seccomp_data`."""
    return traced(program, machine, number, *arguments, architecture=architecture)[0]


def traced(
    program: bytes, machine: str, number: int, *arguments: int, architecture: int | None = None
) -> tuple[int, int]:
    """Return the decision and after how many instructions it was made."""
    code = [struct.unpack_from("HBBI", program, at) for at in range(0, len(program), 8)]
    values = [value & (2**64 - 1) for value in (*arguments, 0, 0, 0, 0, 0, 0)][:6]
    data = struct.pack("<iIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *values)
    at = loaded = 0
    for steps in count(1):
        operation, yes, no, constant = code[at]
        at += 1
        if operation == 0x06:
            return constant, steps
        if operation == 0x20:
            loaded = struct.unpack_from("<I", data, constant)[0]
        elif operation == 0x54:
            loaded &= constant
        elif operation == 0x05:
            at += constant
        else:
            holds = {
                0x15: loaded == constant,
                0x35: loaded >= constant,
                0x25: loaded > constant,
                0x45: bool(loaded & constant),
            }
            at += yes if holds[operation] else no
    raise AssertionError("it does not end")


@pytest.fixture(params=sorted(NUMBERS))
def machine(request):
    return request.param


@pytest.fixture
def asked(machine):
    def ask(name: str, *arguments: int, **kind: bool) -> bool:
        program = Filter(machine=machine, **{"namespaces": True, **kind}).program(OWN)
        return decided(program, machine, NUMBERS[machine][name], *arguments) == ALLOW

    return ask


def test_what_is_denied_is_denied_and_the_rest_is_not(machine):
    program = Filter(namespaces=True, machine=machine).program(1)
    denied = {NUMBERS[machine][name] for name in DENIED if name in NUMBERS[machine]}
    judged = set(NUMBERS[machine].values())
    for number in denied:
        assert decided(program, machine, number) == ERRNO | errno.EPERM
    for number in set(range(470)) - judged:
        assert decided(program, machine, number) == ALLOW


def test_the_kernel_has_little_to_try_when_a_filter_is_loaded(machine):
    program = Filter(namespaces=True, machine=machine).program(1)
    assert sum(traced(program, machine, number)[1] for number in range(470)) < 470 * 40


def test_libraries_are_told_that_clone3_is_not_there(machine):
    program = Filter(namespaces=True, machine=machine).program(1)
    assert decided(program, machine, NUMBERS[machine]["clone3"]) == ERRNO | errno.ENOSYS


def test_foreign_calls_kill(machine):
    (other,) = set(ARCHITECTURES.values()) - {ARCHITECTURES[machine]}
    program = Filter(namespaces=True, machine=machine).program(1)
    assert decided(program, machine, 1, architecture=other) == KILL


def test_x32_calls_are_refused():
    program = Filter(namespaces=True, machine="x86_64").program(1)
    assert decided(program, "x86_64", 0x40000000 | 1) == ERRNO | errno.EPERM


def test_a_fork_is_allowed_and_a_namespace_is_not(asked):
    assert asked("clone", 0x01200011)
    assert not asked("clone", 0x10000011)
    assert not asked("clone", 0x00020011)


@pytest.mark.parametrize(
    ("family", "with_files", "with_network"), [(1, True, False), (2, True, True), (10, True, True), (16, False, False),
                                                (17, False, False), (38, False, False), (40, False, False)]
)  # fmt: skip
def test_sockets_are_those_that_namespaces_hold(asked, family, with_files, with_network):
    assert asked("socket", family) == with_files
    assert asked("socket", family, own_files=False) == with_network
    assert not asked("socket", family, namespaces=False)


def test_a_pair_that_could_send_elsewhere_is_refused_where_others_could_listen(asked):
    assert asked("socketpair", 1, 2)
    assert not asked("socketpair", 1, 2, namespaces=False)
    assert not asked("socketpair", 1, 2, own_files=False)
    assert asked("socketpair", 1, 1 | 0o2000000, namespaces=False)
    assert asked("socketpair", 1, 5, namespaces=False)


def test_a_judge_gets_no_signal(asked):
    targets = (OWN, -OWN, -1, 0, OWN + 1, OWN - 1, -OWN - 1)
    assert [asked("kill", target) for target in targets] == [False, False, False, True, True, True, True]
    assert not asked("tgkill", OWN)
    assert not asked("tkill", OWN + 1)


def test_without_namespaces_signals_go_to_the_younger(asked):
    targets = (0, OWN, OWN + 1, -OWN, -OWN - 1, OWN - 1, -OWN + 1, -1, 1)
    allowed = [True] * 5 + [False] * 4
    assert [asked("kill", target, namespaces=False) for target in targets] == allowed


def test_without_a_guard_against_strangers_signals_stay_at_home(asked):
    targets = (0, OWN, -OWN, OWN + 1, -OWN - 1, OWN - 1, -1)
    allowed = [True] * 3 + [False] * 4
    assert [asked("kill", target, namespaces=False, signals_younger=False) for target in targets] == allowed


def test_terminals_are_not_written_to(asked):
    assert not asked("ioctl", 0, 0x5412)
    assert not asked("ioctl", 0, 0x541C)
    assert asked("ioctl", 0, 0x5401)


def test_limits_of_others_are_not_changed(asked):
    assert asked("prlimit64", 0)
    assert not asked("prlimit64", OWN)


def test_files_outside_keep_their_modes(asked, machine):
    for name in OUTSIDE:
        if name in NUMBERS[machine]:
            assert asked(name)
            assert not asked(name, namespaces=False)
            assert not asked(name, own_files=False)
