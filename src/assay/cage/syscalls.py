"""Make the system calls that Python's standard library has no function for, on x86-64 and aarch64.

Numbers are of the kernel's `asm/unistd_64.h` and `asm-generic/unistd.h`; a call that an architecture lacks has none.
"""

from __future__ import annotations

import ctypes
import os
import platform
from typing import Any

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The names of `AUDIT_ARCH_*`, as seccomp sees them."""

_BOTH = """
pidfd_send_signal 424 io_uring_setup 425 io_uring_enter 426 io_uring_register 427 open_tree 428 move_mount 429
fsopen 430 fsconfig 431 fsmount 432 fspick 433 pidfd_open 434 clone3 435 pidfd_getfd 438 process_madvise 440
mount_setattr 442 quotactl_fd 443 landlock_create_ruleset 444 landlock_add_rule 445 landlock_restrict_self 446
memfd_secret 447 process_mrelease 448 set_mempolicy_home_node 450 fchmodat2 452 statmount 457 listmount 458
lsm_get_self_attr 459 lsm_set_self_attr 460 lsm_list_modules 461 setxattrat 463 getxattrat 464 listxattrat 465
removexattrat 466 open_tree_attr 467
"""
_X86_64 = """
ioctl 16 shmget 29 shmat 30 shmctl 31 socket 41 socketpair 53 setsockopt 54 clone 56 kill 62 semget 64 semop 65
semctl 66 shmdt 67 msgget 68 msgsnd 69 msgrcv 70 msgctl 71 fcntl 72 truncate 76 ftruncate 77 chmod 90 fchmod 91
chown 92 fchown 93 lchown 94 ptrace 101 syslog 103 capset 126 rt_sigqueueinfo 129 utime 132 mknod 133 uselib 134
personality 135 ustat 136 setpriority 141 sched_setparam 142 sched_setscheduler 144 vhangup 153 modify_ldt 154
pivot_root 155 _sysctl 156 prctl 157 adjtimex 159 chroot 161 acct 163 settimeofday 164 mount 165 umount2 166 swapon 167
swapoff 168 reboot 169 sethostname 170 setdomainname 171 iopl 172 ioperm 173 create_module 174 init_module 175
delete_module 176 get_kernel_syms 177 query_module 178 quotactl 179 nfsservctl 180 setxattr 188 lsetxattr 189
fsetxattr 190 removexattr 197 lremovexattr 198 fremovexattr 199 tkill 200 sched_setaffinity 203 lookup_dcookie 212
io_setup 206 semtimedop 220 clock_settime 227 tgkill 234 utimes 235 vserver 236 mbind 237 set_mempolicy 238 mq_open 240
mq_unlink 241 sync 162 syncfs 306 kexec_load 246 add_key 248 request_key 249 keyctl 250 ioprio_set 251 inotify_init 253
migrate_pages 256 mknodat 259 fchownat 260 futimesat 261 fchmodat 268 unshare 272 vmsplice 278 move_pages 279
utimensat 280 inotify_init1 294 rt_tgsigqueueinfo 297 perf_event_open 298 fanotify_init 300 fanotify_mark 301
prlimit64 302 name_to_handle_at 303 open_by_handle_at 304 clock_adjtime 305 setns 308 process_vm_readv 310
process_vm_writev 311 kcmp 312 finit_module 313 sched_setattr 314 seccomp 317 memfd_create 319 kexec_file_load 320
bpf 321 userfaultfd 323
"""
_AARCH64 = """
io_setup 0 sync 81 syncfs 267 setxattr 5 lsetxattr 6 fsetxattr 7 removexattr 14 lremovexattr 15 fremovexattr 16
lookup_dcookie 18 fcntl 25 inotify_init1 26 ioctl 29 ioprio_set 30 mknodat 33 umount2 39 mount 40 pivot_root 41
nfsservctl 42 truncate 45 ftruncate 46 chroot 51 fchmod 52 fchmodat 53 fchownat 54 fchown 55 vhangup 58 quotactl 60
vmsplice 75 utimensat 88 acct 89 capset 91 personality 92 unshare 97 kexec_load 104 init_module 105 delete_module 106
clock_settime 112 syslog 116 ptrace 117 sched_setparam 118 sched_setscheduler 119 sched_setaffinity 122 kill 129
tkill 130 tgkill 131 rt_sigqueueinfo 138 setpriority 140 reboot 142 sethostname 161 setdomainname 162 prctl 167
settimeofday 170 adjtimex 171 mq_open 180 mq_unlink 181 msgget 186 msgctl 187 msgrcv 188 msgsnd 189 semget 190
semctl 191 semtimedop 192 semop 193 shmget 194 shmctl 195 shmat 196 shmdt 197 socket 198 socketpair 199 setsockopt 208
add_key 217 request_key 218 keyctl 219 clone 220 swapon 224 swapoff 225 mbind 235 set_mempolicy 237 migrate_pages 238
move_pages 239 rt_tgsigqueueinfo 240 perf_event_open 241 prlimit64 261 fanotify_init 262 fanotify_mark 263
name_to_handle_at 264 open_by_handle_at 265 clock_adjtime 266 setns 268 process_vm_readv 270 process_vm_writev 271
kcmp 272 finit_module 273 sched_setattr 274 seccomp 277 memfd_create 279 bpf 280 userfaultfd 282 kexec_file_load 294
"""


def _table(text: str) -> dict[str, int]:
    words = text.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


NUMBERS = {"x86_64": _table(_X86_64 + _BOTH), "aarch64": _table(_AARCH64 + _BOTH)}

MACHINE = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine().lower(), platform.machine())

_libc = ctypes.CDLL(None, use_errno=True)
_CAPSET = ctypes.c_long(NUMBERS.get(MACHINE, {}).get("capset", -1))


def call(name: str, *arguments: Any) -> int:
    """Make a system call by its name in the table; raise `OSError` with that name if it fails."""
    result = int(_libc.syscall(ctypes.c_long(NUMBERS[MACHINE][name]), *map(_long, arguments)))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return result


def _long(argument: Any) -> Any:
    """Return an integer as wide as a register: ctypes would pass 32 bits and leave the others as they were."""
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38


_prctl = _libc.prctl
_prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
_CAPABILITIES = (ctypes.c_uint32 * 2)(0x20080522, 0)
_NONE = (ctypes.c_uint32 * 6)()


def prctl(option: int, value: int = 0, third: int = 0) -> None:
    """Set an attribute of this process."""
    if _prctl(option, value, third, 0, 0) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), f"prctl {option}")


def drop_capabilities() -> None:
    """Give up all capabilities of this process, for good once no new privileges are allowed."""
    if _libc.syscall(_CAPSET, _CAPABILITIES, _NONE) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "capset")


def drop_bounding_set() -> None:
    """Take from this process and its children the right to gain any capability by running a file."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return
