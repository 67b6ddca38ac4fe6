"""Programs that act on other processes, or stay when they should be gone."""

from __future__ import annotations

from attacks.model import QUICK, Attack, unwaited

GROUP = "processes"

ATTACKS = (
    Attack(
        "ptrace",
        GROUP,
        "attaches to parent, judge and itself",
        """
def attack():
    for pid in pids():
        tried(f"PTRACE_ATTACH {pid}", lambda: system("ptrace", 16, pid, 0, 0))
        tried(f"PTRACE_SEIZE {pid}", lambda: system("ptrace", 0x4206, pid, 0, 0))
    tried("PTRACE_TRACEME", lambda: system("ptrace", 0, 0, 0, 0))
""",
    ),
    Attack(
        "limits of others",
        GROUP,
        "sets limits, priority and processors of its parent and everybody",
        """
def attack():
    import resource
    own = os.getpid()
    for pid in pids():
        for kind in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
            if not outsider_in_reach():
                tried(f"prlimit {pid}", lambda: resource.prlimit(pid, kind, (1, 1)) and True)
        tried(f"affinity {pid}", lambda: os.sched_setaffinity(pid, {0}))
        tried(f"scheduler {pid}", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
""",
    ),
    Attack(
        "signal to the parent",
        GROUP,
        "kills its parent and the first processes of its namespace",
        """
def attack():
    if outsider_in_reach():
        out("the supervisor is in reach")
        return
    for pid in (os.getppid(), 1, 2, 3):
        for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGSEGV, signal.SIGKILL):
            try:
                if pid and pid != os.getpid():
                    os.kill(pid, number)
            except OSError as error:
                print("held:", error)
""",
        escaped=unwaited,
    ),
    Attack(
        "own group gone",
        GROUP,
        "kills its own whole group with SIGKILL",
        """
def attack():
    if os.getpgid(0) not in (0, O["group"]) and not outsider_in_reach():
        os.killpg(0, signal.SIGKILL)
    out("shares a group with the supervisor")
""",
    ),
    Attack(
        "many daemons",
        GROUP,
        "leaves twenty processes in sessions of their own",
        """
def attack():
    for _ in range(20):
        try:
            if os.fork() == 0:
                os.setsid()
                time.sleep(60)
                os._exit(0)
        except OSError:
            break
""",
        escaped=unwaited,
    ),
    Attack(
        "stops its neighbours",
        GROUP,
        "sends SIGSTOP to every process of its cage",
        """
def attack():
    for pid in pids():
        if pid not in (O["pid"], O["victim"]) and not outsider_in_reach():
            try:
                os.kill(pid, signal.SIGSTOP)
            except OSError:
                pass
""",
        limits=QUICK,
    ),
    Attack(
        "memory of others",
        GROUP,
        "process_vm_readv, process_vm_writev, process_madvise, move_pages",
        """
def attack():
    area = ctypes.create_string_buffer(16)
    local = ctypes.create_string_buffer(struct.pack("PP", ctypes.addressof(area), 16))
    for pid in pids():
        for name in ("process_vm_readv", "process_vm_writev"):
            tried(f"{name} {pid}", lambda: system(name, pid, local, 1, local, 1, 0))
        tried(f"kcmp {pid}", lambda: system("kcmp", os.getpid(), pid, 1, 0, 0))
""",
    ),
    Attack(
        "pidfd",
        GROUP,
        "opens processes as files, takes their descriptors, signals through them",
        """
def attack():
    for pid in pids():
        held = tried(f"pidfd_open {pid}", lambda: system("pidfd_open", pid, 0))
        for number in range(8 if held else 0):
            tried(f"pidfd_getfd {pid} {number}", lambda: system("pidfd_getfd", held, number, 0))
    for pid in ("1", "self", str(os.getppid())):
        try:
            held = os.open(f"/proc/{pid}", os.O_RDONLY)
        except OSError:
            continue
        tried("pidfd_send_signal", lambda: system("pidfd_send_signal", held, 0, 0, 0))
""",
    ),
    Attack(
        "priority of others",
        GROUP,
        "makes its parent, its user and everybody nicer",
        """
def attack():
    for pid in pids():
        try:
            os.setpriority(os.PRIO_PROCESS, pid, 19)
            system("ioprio_set", 1, pid, 3 << 13)
        except OSError as error:
            print("held:", error)
    try:
        os.setpriority(os.PRIO_USER, 0, 19)
    except OSError as error:
        print("held:", error)
""",
    ),
    Attack(
        "dead children left",
        GROUP,
        "leaves thirty zombies and a thread that never ends",
        """
def attack():
    for _ in range(25):
        try:
            if os.fork() == 0:
                os._exit(0)
        except OSError:
            break
    threading.Thread(target=lambda: [time.sleep(0.1) for _ in range(600)]).start()
    import atexit
    atexit.register(time.sleep, 60)
""",
        escaped=unwaited,
    ),
    Attack(
        "subreaper and parent's death",
        GROUP,
        "takes its orphans in, and asks not to die with its parent",
        """
def attack():
    LIBC.prctl(36, 1)
    if os.fork() == 0:
        LIBC.prctl(1, 0)
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
""",
        escaped=unwaited,
    ),
    Attack(
        "vfork and clone without a parent",
        GROUP,
        "starts processes as siblings, in the fork server's place",
        """
def attack():
    for flags in (0x8000, 0x8000 | 17):
        try:
            pid = system("clone", flags, 0, 0, 0, 0)
        except OSError as error:
            print("held:", error)
            continue
        if pid == 0:
            time.sleep(60)
            os._exit(0)
""",
        escaped=unwaited,
    ),
    Attack(
        "programs of other names",
        GROUP,
        "starts a shell that starts a shell in the background",
        """
def attack():
    subprocess.run(["/bin/sh", "-c", "(sleep 60; : " + O["token"] + ") & (sleep 61; : " + O["token"] + ") &"])
""",
        escaped=unwaited,
    ),
)
