"""What every attacking program starts with: the facts about the world outside that it attacks, and how to say so.

A program calls `tried(what, call)` for what must not work, or `out(what)` when it knows that it is out. Whatever it
starts carries the run's token as its name, so that the test can look for survivors.
"""

# ruff: noqa: E741, F401, SIM115, T201 - a text put before programs,
# which use what it imports

import ctypes
import errno
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

O = json.loads("""@FACTS@""")
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.prctl(15, O["token"].encode())
ARM = os.uname().machine == "aarch64"
NUMBERS = {}  # name, x86_64, aarch64
for row in """
ptrace 101 117; process_vm_readv 310 270; process_vm_writev 311 271; pidfd_open 434 434; pidfd_getfd 438 438;
pidfd_send_signal 424 424; unshare 272 97; clone 56 220; clone3 435 435; setns 308 268; mount 165 40;
umount2 166 39; pivot_root 155 41; chroot 161 51; fsopen 430 430; open_tree 428 428; move_mount 429 429;
mount_setattr 442 442; io_uring_setup 425 425; bpf 321 280; perf_event_open 298 241; userfaultfd 323 282;
add_key 248 217; keyctl 250 219; request_key 249 218; kexec_load 246 104; init_module 175 105; finit_module 313 273;
delete_module 176 106; reboot 169 142; swapon 167 224; acct 163 89; syslog 103 116; sethostname 170 161;
open_by_handle_at 304 265; name_to_handle_at 303 264; memfd_create 319 279; memfd_secret 447 447; shmget 29 194;
shmat 30 196; msgget 68 186; msgsnd 69 189; semget 64 190; mq_open 240 180; fanotify_init 300 262;
ioprio_set 251 30; sched_setattr 314 274; prlimit64 302 261; getpid 39 172; kcmp 312 272; quotactl 179 60;
clock_settime 227 112; move_pages 279 239; process_madvise 440 440
""".split(";"):
    name, *both = row.split()
    NUMBERS[name] = tuple(map(int, both))


def out(what):
    print("ESCAPED:", what, flush=True)


def tried(what, call):
    try:
        got = call()
    except (OSError, MemoryError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
        print("held:", what, type(error).__name__, error, flush=True)
        return None
    if got is not False:
        out(f"{what} {got if isinstance(got, (int, str, bytes)) else ''}")
    return got


def holds(what, megabytes):
    """Say what is held where no process seems to have it; who sees it ends this at once."""
    print("held:", what, megabytes, "MB", flush=True)
    if megabytes > 256:
        print("HOLDS:", what, megabytes, "MB", flush=True)
        time.sleep(60)


def system(name, *arguments):
    ctypes.set_errno(0)
    fixed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    got = LIBC.syscall(ctypes.c_long(NUMBERS[name][ARM]), *fixed)
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)
    return got


def pids():
    """Every process that shows, and those that may: the parent, and the low numbers of a namespace."""
    seen = [int(name) for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc/self") else []
    return sorted({*seen, os.getppid(), *range(1, 64), O["pid"], O["victim"]} - {os.getpid(), 0})


def outsider_in_reach():
    for pid in (O["pid"], O["victim"]):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        except PermissionError:
            continue
        name = f"/proc/{pid}/cmdline"
        if not os.path.exists(name) or any(word in open(name).read() for word in (O["token"], "attacks")):
            return True
    return False


def read(path, size=1 << 16):
    with open(path, "rb") as file:
        return file.read(size)


def strangers(folder):
    """Return what lies in a folder, but for the way to folders that every program is shown."""
    names = {
        path[len(folder) :].strip("/").split("/")[0] for path in O["shown"] if path.startswith(folder.rstrip("/") + "/")
    }
    return " ".join({*os.listdir(folder)} - names) or False


def names(*folders):
    """Return what lies in folders, as far as they can be read."""
    found = []
    for folder in folders:
        try:
            found += os.listdir(folder)
        except OSError:
            continue
    return found
