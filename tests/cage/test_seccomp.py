"""The filter of system calls as the kernel would run it, and the rules of Landlock in a process of ours."""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Callable

import pytest

from assay.cage import landlock
from assay.cage.seccomp import DENIED, OUTSIDE, Filter
from assay.cage.syscalls import ARCHITECTURES, NUMBERS, PR_SET_NO_NEW_PRIVS, prctl

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
OWN = 50


def decided(program: bytes, machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Interpret classic BPF over the kernel's `struct seccomp_data`, which is to be short."""
    code = [struct.unpack_from("HBBI", program, at) for at in range(0, len(program), 8)]
    values = [value & (2**64 - 1) for value in (*arguments, 0, 0, 0, 0, 0, 0)][:6]
    data = struct.pack("<iIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *values)
    at = loaded = 0
    for _ in range(400):
        operation, yes, no, constant = code[at]
        at += 1
        if operation == 0x06:
            return constant
        if operation == 0x20:
            loaded = struct.unpack_from("<I", data, constant)[0]
        elif operation == 0x54:
            loaded &= constant
        elif operation == 0x05:
            at += constant
        else:
            holds = {0x15: loaded == constant, 0x35: loaded >= constant, 0x25: loaded > constant}
            at += yes if {**holds, 0x45: bool(loaded & constant)}[operation] else no
    raise AssertionError("it does not end")


DANGEROUS = """
unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen fsmount mount_setattr statmount listmount
mknodat ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp bpf perf_event_open
userfaultfd io_uring_setup io_uring_enter add_key request_key keyctl kexec_load kexec_file_load init_module
finit_module delete_module pidfd_open pidfd_getfd pidfd_send_signal name_to_handle_at open_by_handle_at memfd_create
memfd_secret shmget shmat semget msgget msgsnd mq_open fanotify_init acct quotactl quotactl_fd swapon swapoff reboot
sethostname setdomainname personality settimeofday clock_settime adjtimex syslog vhangup migrate_pages move_pages
mbind lsm_set_self_attr landlock_restrict_self vmsplice io_setup tkill
""".split()
"""What no program may call, whatever the table of the filter says."""


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
    decisions = {name: decided(program, machine, number) for name, number in NUMBERS[machine].items()}
    assert [name for name in DANGEROUS if name not in decisions or decisions[name] != ERRNO | errno.EPERM] == []
    assert [name for name in DENIED if decisions.get(name, ERRNO | errno.EPERM) != ERRNO | errno.EPERM] == []
    others = set(range(470)) - set(NUMBERS[machine].values())
    assert [number for number in others if decided(program, machine, number) != ALLOW] == []


def test_some_calls_are_answered_so_that_libraries_go_on_and_foreign_ones_kill(machine):
    program = Filter(namespaces=True, machine=machine).program(1)
    wanted = {"clone3": errno.ENOSYS, "inotify_init1": errno.EMFILE, "setxattr": errno.EOPNOTSUPP, "sync": 0}
    found = {name: decided(program, machine, NUMBERS[machine][name]) for name in wanted}
    assert found == {name: ERRNO | error for name, error in wanted.items()}
    sizes = [decided(program, machine, NUMBERS[machine]["setsockopt"], 3, *pair) for pair in ((1, 7), (1, 9), (6, 7))]
    assert sizes == [ERRNO, ALLOW, ALLOW], "a size is said to be set, and is not"
    (other,) = set(ARCHITECTURES.values()) - {ARCHITECTURES[machine]}
    program = Filter(namespaces=True, machine=machine).program(1)
    assert decided(program, machine, 1, architecture=other) == KILL
    if machine == "x86_64":
        assert decided(program, machine, 0x40000000 | 1) == ERRNO | errno.EPERM


def test_forks_and_sockets_are_those_that_namespaces_hold(asked):
    families = (1, 2, 10, 16, 17, 38, 40)
    assert [asked("socket", family) for family in families] == [True] * 3 + [False] * 4
    assert [asked("socket", family, own_files=False) for family in families] == [False, True, True] + [False] * 4
    assert not any(asked("socket", family, namespaces=False) for family in families)
    flags = (0x01200011, 0x10000011, 0x00020011, 0x20000011, 0x40000011, 0x08000011, 0x04000011, 0x02000011, 0x91)
    assert [asked("clone", flag) for flag in flags] == [True] + [False] * 8
    assert asked("socketpair", 1, 2)
    assert not asked("socketpair", 1, 2, namespaces=False)
    assert not asked("socketpair", 1, 2, own_files=False)
    assert asked("socketpair", 1, 1 | 0o2000000, namespaces=False)
    assert asked("socketpair", 1, 5, namespaces=False)


def test_a_judge_gets_no_signal_and_without_namespaces_they_go_to_the_younger_or_stay_at_home(asked):
    younger = dict.fromkeys((0, OWN, OWN + 1, -OWN, -OWN - 1), True)
    younger |= dict.fromkeys((OWN - 1, -OWN + 1, -1, 1), False)
    assert {target: asked("kill", target, namespaces=False) for target in younger} == younger
    home = dict.fromkeys((0, OWN, -OWN), True) | dict.fromkeys((OWN + 1, -OWN - 1, OWN - 1, -1), False)
    assert {target: asked("kill", target, namespaces=False, signals_younger=False) for target in home} == home
    targets = (OWN, -OWN, -1, 0, OWN + 1, OWN - 1, -OWN - 1)
    for call in ("kill", "tgkill", "rt_sigqueueinfo"):
        assert [asked(call, target) for target in targets] == [False, False, False, True, True, True, True], call


def test_terminals_are_not_written_to_and_limits_of_others_are_not_changed(asked):
    assert [asked("ioctl", 0, request) for request in (0x5412, 0x541C, 0x8901, 0x8902, 0x5401)] == [False] * 4 + [True]
    assert [asked("fcntl", 0, command) for command in (8, 10, 15, 9)] == [False] * 3 + [True]
    for call in ("prlimit64", "sched_setaffinity", "sched_setscheduler"):
        assert asked(call, 0)
        assert not asked(call, OWN)


def test_files_outside_keep_their_modes(asked, machine):
    names = {*OUTSIDE, "fchmodat", "fchownat", "utimensat", "truncate", "setpriority"} & NUMBERS[machine].keys()
    for name in names:
        assert asked(name)
        assert not asked(name, namespaces=False)
        assert not asked(name, own_files=False)


needs_tcp = pytest.mark.skipif(landlock.abi() < 4, reason="this kernel's Landlock has no rules about TCP")


def restricted(work: Callable[[], object], **rules: bool) -> int:
    """Return the number of the error that something raises under rules, 0 for none."""
    made = landlock.rules(landlock.abi(), ["/usr"], [], **rules)
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            landlock.restrict(made)
            work()
            code = 0
        except OSError as error:
            code = error.errno or 254
        finally:
            os._exit(code)
    os.close(made)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@needs_tcp
def test_tcp_is_refused_but_not_in_a_network_of_its_own():
    def serve() -> None:
        with socket.socket() as server, socket.socket() as client:
            server.bind(("127.0.0.1", 0))
            server.listen()
            client.connect(server.getsockname())

    assert (restricted(serve, own_network=False), restricted(serve, own_network=True)) == (13, 0)


@pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")
def test_files_are_refused_in_either():
    for own in (False, True):
        assert restricted(lambda: os.listdir("/etc"), own_network=own) == 13
        assert restricted(lambda: os.listdir("/usr"), own_network=own) == 0
