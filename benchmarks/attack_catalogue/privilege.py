"""Programs that ask the kernel for what only root, or nobody, should get."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack

GROUP = "privilege"

ATTACKS = (
    Attack(
        "mounts",
        GROUP,
        "mount, umount, pivot_root, chroot and the new mount calls",
        """
def attack():
    os.makedirs("on", exist_ok=True)
    here = os.path.abspath("on").encode()
    tried("tmpfs", lambda: system("mount", b"none", here, b"tmpfs", 0, 0))
    tried("proc", lambda: system("mount", b"none", here, b"proc", 0, 0))
    tried("bind", lambda: system("mount", b"/", here, 0, 4096 | 16384, 0))
    tried("remount", lambda: system("mount", 0, b"/", 0, 32, 0))
    tried("remount bind", lambda: system("mount", 0, b"/usr", 0, 32 | 4096, 0))
    tried("propagation", lambda: system("mount", 0, b"/", 0, 1 << 20, 0))
    for path in (b"/", b"/proc", b"/tmp", b"/usr", b"/dev", b"/proc/sys", b"/work"):
        tried(f"umount {path}", lambda: system("umount2", path, 2))
    tried("pivot_root", lambda: system("pivot_root", b".", b"."))
    tried("chroot", lambda: os.chroot("on"))
    tried("fsopen", lambda: system("fsopen", b"tmpfs", 0))
    tried("open_tree", lambda: system("open_tree", -100, b"/", 1))
    tried("mount_setattr", lambda: system("mount_setattr", -100, b"/", 0, ctypes.create_string_buffer(struct.pack("4Q", 0, 1, 0, 0)), 32))
""",
    ),
    Attack(
        "user namespace",
        GROUP,
        "unshare, clone and clone3 with every kind of new namespace",
        """
def attack():
    for name, flag in (("user", 0x10000000), ("mount", 0x20000), ("pid", 0x20000000), ("net", 0x40000000),
                       ("ipc", 0x08000000), ("uts", 0x04000000), ("cgroup", 0x02000000), ("time", 0x80),
                       ("user+mount", 0x10020000), ("user+net", 0x50000000)):
        def cloned():
            pid = system("clone", flag | 17, 0, 0, 0, 0)
            if pid == 0:
                os._exit(0)
            return pid
        def cloned3():
            arguments = ctypes.create_string_buffer(struct.pack("11Q", flag, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0))
            pid = system("clone3", arguments, 88)
            if pid == 0:
                os._exit(0)
            return pid
        tried(f"clone {name}", cloned)
        tried(f"clone3 {name}", cloned3)
        def unshared():
            pid = os.fork()
            if pid == 0:
                try:
                    system("unshare", flag)
                except OSError:
                    os._exit(1)
                os._exit(0)
            return os.waitpid(pid, 0)[1] == 0
        tried(f"unshare {name}", unshared)
""",
    ),
    Attack(
        "calls of other architectures",
        GROUP,
        "int 0x80 and x32 numbers, which a filter may not know",
        """
def attack():
    import mmap
    if ARM:
        return
    try:
        got = LIBC.syscall(ctypes.c_long(0x40000000 + 39))
        if got == os.getpid():
            out("x32 call")
    except OSError:
        pass
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid():
        out("int 0x80")
""",
        crashes=True,
    ),
    Attack(
        "setuid programs",
        GROUP,
        "runs su, mount, passwd and its own copy with the setuid bit",
        """
def attack():
    import shutil
    for path in ("/bin/su", "/usr/bin/sudo", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/pkexec", "/usr/bin/newuidmap"):
        if os.path.exists(path) and os.stat(path).st_mode & 0o4000:
            status = subprocess.Popen([path, "--help"], stdout=-3, stderr=-3, stdin=-3)
            try:
                if "Uid:\\t0" in open(f"/proc/{status.pid}/status").read():
                    out(path)
            except OSError:
                pass
            status.wait()
    def own():
        shutil.copy("/bin/sh", "own-sh")
        os.chmod("own-sh", 0o6755)
        os.chown("own-sh", 0, 0)
        return subprocess.run(["./own-sh", "-c", "id -u"], capture_output=True).stdout.strip() == b"0"
    tried("own copy", own)
""",
    ),
    Attack(
        "other namespaces",
        GROUP,
        "enters the namespaces of every process that shows",
        """
def attack():
    for pid in pids():
        for name in ("mnt", "net", "user", "pid", "ipc", "uts"):
            try:
                held = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
            except OSError:
                continue
            tried(f"setns {pid} {name}", lambda: system("setns", held, 0))
""",
    ),
    Attack(
        "keys",
        GROUP,
        "puts a key where the next program of the same user finds it",
        """
def attack():
    for ring in (-3, -4, -5, -1):
        tried(f"add_key {ring}", lambda: system("add_key", b"user", O["token"].encode(), b"x", 1, ring))
    tried("session", lambda: system("keyctl", 1, 0, 0, 0, 0))
    tried("persistent", lambda: system("keyctl", 22, -1, -3, 0, 0))
    tried("request", lambda: system("request_key", b"user", b"x", 0, -4))
""",
    ),
    Attack(
        "modules, kexec, reboot, swap",
        GROUP,
        "asks with arguments that are refused after the rights are checked",
        """
def attack():
    def beyond(what, call, *refused):
        try:
            call()
        except OSError as error:
            if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
                print("held:", what, error)
                return
            out(f"{what}: reached the kernel: {error}")
            return
        out(what)
    beyond("reboot", lambda: system("reboot", 1, 2, 3, 0))
    beyond("kexec_load", lambda: system("kexec_load", 0, 99, 0, 0xdead))
    beyond("init_module", lambda: system("init_module", b"x", 1, b""))
    beyond("delete_module", lambda: system("delete_module", O["token"].encode(), 0o4000))
    beyond("swapon", lambda: system("swapon", b"/nowhere", 0))
    beyond("acct", lambda: system("acct", b"/nowhere"))
    beyond("sethostname", lambda: system("sethostname", b"x" * 200, 200))
""",
    ),
    Attack(
        "device nodes",
        GROUP,
        "makes block and character devices and opens them",
        """
def attack():
    import stat
    for name, kind, numbers in (("disk", stat.S_IFBLK, (254, 0)), ("disk2", stat.S_IFBLK, (8, 0)),
                                ("memory", stat.S_IFCHR, (1, 1)), ("log", stat.S_IFCHR, (1, 11)),
                                ("zero", stat.S_IFCHR, (0, 0))):
        for top in (".", "/tmp", "/dev/shm", "/dev"):
            tried(f"{top}/{name}", lambda: os.mknod(f"{top}/{name}", kind | 0o666, os.makedev(*numbers)))
""",
    ),
    Attack(
        "priority",
        GROUP,
        "negative nice, real time, deadline, a better oom score",
        """
def attack():
    before = os.nice(0)
    tried("nice", lambda: os.nice(-5) < before)
    for name in ("SCHED_FIFO", "SCHED_RR"):
        tried(name, lambda: os.sched_setscheduler(0, getattr(os, name), os.sched_param(1)))
    deadline = struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 10_000_000, 30_000_000, 30_000_000)
    tried("deadline", lambda: system("sched_setattr", 0, ctypes.create_string_buffer(deadline), 0))
    tried("real-time I/O", lambda: system("ioprio_set", 1, 0, 1 << 13))
    tried("oom score", lambda: open("/proc/self/oom_score_adj", "w").write("-1000"))
""",
    ),
    Attack(
        "input for a terminal",
        GROUP,
        "types into every terminal that it can open",
        """
def attack():
    import fcntl
    ends = [0, 1, 2]
    for path in ("/dev/tty", "/dev/console", "/dev/tty1"):
        try:
            ends.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        except OSError:
            pass
    try:
        import pty
        ends.extend(pty.openpty())
    except OSError as error:
        print("held: no terminal", error)
    for end in ends:
        tried(f"TIOCSTI {end}", lambda: fcntl.ioctl(end, 0x5412, b"#"))
        tried(f"TIOCLINUX {end}", lambda: fcntl.ioctl(end, 0x541C, b"\\x02"))
    for number in (0, 1, 2):
        if os.isatty(number):
            out(f"{number} is a terminal")
""",
    ),
    Attack(
        "clock",
        GROUP,
        "sets the time of the machine, to a time that no clock takes",
        """
def attack():
    wrong = ctypes.create_string_buffer(struct.pack("qq", -1, -1))
    tried("clock_settime", lambda: system("clock_settime", 0, wrong))
    now = ctypes.create_string_buffer(struct.pack("qq", 0, 0))
    tried("quotactl", lambda: system("quotactl", 0x800001 << 8, 0, 0, 0))
""",
    ),
    Attack(
        "persona and watchpoints",
        GROUP,
        "changes its personality and its segments, maps page 0",
        """
def attack():
    import mmap
    tried("personality", lambda: LIBC.personality(0x0040000) != -1)
    LIBC.mmap.restype = ctypes.c_long
    LIBC.mmap.argtypes = [ctypes.c_long] * 6
    tried("page 0", lambda: LIBC.mmap(0, 4096, 3, 0x32, -1, 0) != -1)
""",
    ),
    Attack(
        "filter on top",
        GROUP,
        "asks for a listener that answers calls of programs to come",
        """
def attack():
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
    number = 277 if ARM else 317
    if os.fork() == 0:
        held = LIBC.syscall(ctypes.c_long(number), ctypes.c_long(1), ctypes.c_long(8), program)
        os._exit(0)
    os.wait()
    os.stat("/")
""",
    ),
)
