"""Build the seccomp filter (BPF) of the system calls that a program may make.

A list of what is denied, for a program may need anything harmless. Denied calls fail with an error and the program
goes on; calls of another architecture kill it, for their numbers mean other calls. Signals never
reach the judge of a program or whoever keeps it.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Callable, Sequence

from assay.cage.syscalls import ARCHITECTURES, MACHINE, NUMBERS, PR_SET_SECCOMP, prctl

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _GREATER_EQUAL, _GREATER, _ANY_BIT = 0x20, 0x15, 0x35, 0x25, 0x45
_RETURN, _AND, _JUMP = 0x06, 0x54, 0x05
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWTIME."""
_FORBIDDEN_REQUESTS = (0x5412, 0x541C, 0x8901, 0x8902)
"""TIOCSTI and TIOCLINUX put input into a terminal; FIOSETOWN and SIOCSPGRP are F_SETOWN."""
_FORBIDDEN_COMMANDS = (8, 10, 15)
"""F_SETOWN, F_SETSIG and F_SETOWN_EX have the kernel send any process a signal when something can be read."""

DENIED = """
unshare setns mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick
mount_setattr statmount listmount mknod mknodat ptrace process_vm_readv process_vm_writev process_madvise
process_mrelease kcmp bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register add_key
request_key keyctl kexec_load kexec_file_load init_module finit_module delete_module create_module get_kernel_syms
query_module pidfd_open pidfd_getfd pidfd_send_signal name_to_handle_at open_by_handle_at memfd_create memfd_secret
tkill shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink
landlock_create_ruleset landlock_add_rule landlock_restrict_self lsm_set_self_attr fanotify_init fanotify_mark acct
quotactl quotactl_fd swapon swapoff reboot sethostname setdomainname iopl ioperm modify_ldt personality settimeofday
clock_settime clock_adjtime adjtimex syslog vhangup uselib ustat vserver _sysctl nfsservctl lookup_dcookie
migrate_pages move_pages mbind set_mempolicy set_mempolicy_home_node vmsplice io_setup
""".split()
"""`vmsplice` keeps pages in pipes that count as nobody's memory; the whole machine shares those of `io_setup`."""
_NO_ROOM = ("inotify_init", "inotify_init1")
"""Libraries look for changes themselves where the system has no watches left; each holds memory of the kernel."""
_ABSENT = ("clone3",)
"""The kernel says that it has no such call, so that libraries fall back to one whose arguments can be seen."""
_UNSUPPORTED = "setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat".split()
OUTSIDE = """
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat truncate
setpriority ioprio_set
""".split()
"""What Landlock does not cover of files outside, and the priority of processes of the same user."""
_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET and AF_INET6: those that a network namespace holds, the first only with files of its own."""
_OF_A_PROCESS = "prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr".split()
_TO_A_PROCESS = "kill tgkill rt_sigqueueinfo rt_tgsigqueueinfo".split()

_STRETCH = 64
"""The kernel tries each number when a filter is loaded, in each process: no call goes past all of the others."""
_PLACE = 0x7A7A7A7A
"""Stands for the number of a process until it is known."""


class Filter:
    """A filter built once and loaded in each process with one number filled in.

    Behind namespaces that is the process which must get no signal (1 where there is none). Without namespaces it is
    the loading process itself, and signals reach it, its groups and, where the kernel keeps them from strangers,
    processes younger than it.
    """

    def __init__(
        self, *, namespaces: bool, own_files: bool = True, signals_younger: bool = True, machine: str = MACHINE
    ) -> None:
        code = _Code(NUMBERS[machine])
        code.deny(DENIED, errno.EPERM)
        code.deny(_ABSENT, errno.ENOSYS)
        code.deny(_UNSUPPORTED, errno.EOPNOTSUPP)
        code.when(["clone"], [(_LOAD, 0, 0, _ARGUMENT), (_ANY_BIT, 0, 1, _NEW_NAMESPACES)], errno.EPERM)
        for name, refused in (("ioctl", _FORBIDDEN_REQUESTS), ("fcntl", _FORBIDDEN_COMMANDS)):
            code.when([name], [(_LOAD, 0, 0, _ARGUMENT + 8), *_any_of(refused, then_allow=False)], errno.EPERM)
        code.when(["setsockopt"], _SIZES_OF_BUFFERS, 0)
        code.deny(_NO_ROOM, errno.EMFILE)
        code.deny(["sync", "syncfs"], 0)  # they say that all went well, and have no disk of the machine written
        code.when(_OF_A_PROCESS, [(_LOAD, 0, 0, _ARGUMENT), *_any_of((0,), then_allow=True)], errno.EPERM)
        if namespaces:
            families = _FAMILIES if own_files else _FAMILIES[1:]
            code.when(["socket"], [(_LOAD, 0, 0, _ARGUMENT), *_any_of(families, then_allow=True)], errno.EAFNOSUPPORT)
            code.when(_TO_A_PROCESS, _NOT_TO_THE_JUDGE, errno.EPERM)
        else:
            code.deny(["socket"], errno.EPERM)
            code.when(_TO_A_PROCESS, _TO_THE_YOUNGER if signals_younger else _TO_ITSELF, errno.EPERM)
        if not (namespaces and own_files):
            code.deny(OUTSIDE, errno.EPERM)
            code.when(["socketpair"], _CONNECTED_FOR_GOOD, errno.EPERM)
        done = code.instructions(ARCHITECTURES[machine], x32=machine == "x86_64")
        self._text = b"".join(struct.pack("HBBI", *one) for one in done)
        constants = enumerate(constant for *_, constant in done)
        self._places = [(8 * n + 4, value != _PLACE) for n, value in constants if value in (_PLACE, _PLACE + 1)]

    def program(self, pid: int) -> bytes:
        """Return the instructions with this number filled in."""
        text = bytearray(self._text)
        for offset, negative in self._places:
            struct.pack_into("I", text, offset, (-pid if negative else pid) & 0xFFFFFFFF)
        return bytes(text)

    def bind(self, pid: int) -> Callable[[], None]:
        """Return a function that applies the filter to its process and all that this starts; memory is allocated here.

        The process must have given up new privileges before.
        """
        text = self.program(pid)
        content = ctypes.create_string_buffer(text, len(text))
        head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(text) // 8, ctypes.addressof(content)), 16)

        def load() -> None:
            prctl(PR_SET_SECCOMP, 2, ctypes.addressof(head))

        load.__dict__["memory"] = content
        return load


_Instruction = tuple[int, int, int, int]
"""Operation, jump if so, jump if not, constant. A block falls off its end to refuse and jumps one further to allow."""


def _any_of(values: Sequence[int], *, then_allow: bool) -> list[_Instruction]:
    """Compare the loaded word with each value; at the end of the block, the other decision applies."""
    last = len(values) - 1
    compared = [(_EQUAL, last - position + (1 if then_allow else 0), 0, value) for position, value in enumerate(values)]
    return compared if then_allow else [*compared[:-1], (_EQUAL, 0, 1, values[-1])]


_NOT_TO_THE_JUDGE: list[_Instruction] = [
    (_LOAD, 0, 0, _ARGUMENT),
    *((_EQUAL, 2, 0, _PLACE), (_EQUAL, 1, 0, _PLACE + 1), (_EQUAL, 0, 1, 0xFFFFFFFF)),
]
_TO_THE_YOUNGER: list[_Instruction] = [
    (_LOAD, 0, 0, _ARGUMENT),
    (_EQUAL, 4, 0, 0),
    (_GREATER_EQUAL, 0, 2, _PLACE),
    (_GREATER, 0, 2, 0x7FFFFFFF),
    (_GREATER, 0, 1, _PLACE + 1),
]
"""To its own group (0), to processes and to groups of processes (negative numbers) not older than it; never to all."""
_TO_ITSELF: list[_Instruction] = [
    (_LOAD, 0, 0, _ARGUMENT),
    *((_EQUAL, 3, 0, 0), (_EQUAL, 2, 0, _PLACE), (_EQUAL, 1, 0, _PLACE + 1)),
]
_SIZES = _any_of((7, 8, 32, 33), then_allow=False)
_SIZES_OF_BUFFERS = [(_LOAD, 0, 0, _ARGUMENT + 8), (_EQUAL, 0, 6, 1), (_LOAD, 0, 0, _ARGUMENT + 16), *_SIZES]
"""SO_SNDBUF, SO_RCVBUF and what forces them stay as they are, as the kernel may decide for anybody."""
_CONNECTED_FOR_GOOD = [(_LOAD, 0, 0, _ARGUMENT + 8), (_AND, 0, 0, 0xF), (_EQUAL, 2, 0, 1), (_EQUAL, 1, 0, 5)]
"""SOCK_STREAM and SOCK_SEQPACKET: an end of a datagram pair could send to any other socket of the machine."""


class _Code:
    """Filter rules in order; the first that names a call decides."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers
        self._rules: list[tuple[list[int], list[_Instruction]]] = []

    def deny(self, names: Sequence[str], error: int) -> None:
        """Refuse these calls whatever their arguments."""
        self.when(names, [], error, allow=False)

    def when(self, names: Sequence[str], block: list[_Instruction], error: int, *, allow: bool = True) -> None:
        """Let a block decide about these calls."""
        numbers = sorted(self._numbers[name] for name in names if name in self._numbers)
        ends = [*block, (_RETURN, 0, 0, _ERRNO | error), *([(_RETURN, 0, 0, _ALLOW)] if allow else [])]
        self._rules.append((numbers, ends))

    def instructions(self, architecture: int, *, x32: bool) -> list[_Instruction]:
        """Kill foreign architectures, refuse the calls of x32, and decide about the others by stretches of numbers."""
        done = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
        done += [(_LOAD, 0, 0, _NUMBER)]
        done += [(_GREATER_EQUAL, 0, 1, _X32), (_RETURN, 0, 0, _ERRNO | errno.EPERM)] if x32 else []
        for start in range(0, max(max(numbers, default=0) for numbers, _ in self._rules) + 1, _STRETCH):
            part: list[_Instruction] = []
            for numbers, ends in self._rules:
                group = [number for number in numbers if start <= number < start + _STRETCH]
                part += [(_EQUAL, len(group) - position, 0, number) for position, number in enumerate(group)]
                part += [(_JUMP, 0, 0, len(ends)), *ends] if group else []
            done += [(_GREATER_EQUAL, 0, 1, start + _STRETCH), (_JUMP, 0, 0, len(part) + 1)]
            done += [*part, (_RETURN, 0, 0, _ALLOW)]
        return [*done, (_RETURN, 0, 0, _ALLOW)]
