"""Programs that ask the kernel for what only root, or nobody, should get."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack

GROUP = "privilege"

ATTACKS = (
    Attack("becomes root", GROUP, "setuid, setgid, setgroups, setfsuid and what root's name gives", """
def attack():
    if 0 in os.getresuid() or 0 in os.getresgid():
        out(f"is root: {os.getresuid()} {os.getresgid()}")
    tried("setuid", lambda: os.setuid(0))
    tried("setreuid", lambda: os.setreuid(0, 0))
    tried("setresuid", lambda: os.setresuid(0, 0, 0))
    tried("setgid", lambda: os.setgid(0))
    tried("setgroups", lambda: os.setgroups([0]))
    LIBC.setfsuid(0)
    if LIBC.setfsuid(-1) == 0:
        out("setfsuid")
"""),
    Attack("capabilities", GROUP, "looks for any capability, and for a way to gain one by exec", """
def attack():
    if LIBC.prctl(39, 0, 0, 0, 0) != 1:
        out("no_new_privs is not set")
    head = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    sets = ctypes.create_string_buffer(24)
    LIBC.capget(head, sets)
    if any(struct.unpack("6I", sets.raw)):
        out(f"holds capabilities {sets.raw.hex()}")
    tried("takes all", lambda: LIBC.capset(head, ctypes.create_string_buffer(b"\\xff" * 24)) == 0)
    tried("ambient", lambda: LIBC.prctl(47, 2, 21, 0, 0) == 0)
    tried("keeps", lambda: LIBC.prctl(28, 1 << 4, 0, 0, 0) == 0 and any(LIBC.prctl(23, n, 0, 0, 0) == 1 for n in range(41)))
"""),
    Attack("wide doors of the kernel", GROUP, "io_uring, bpf, perf events, userfaultfd", """
def attack():
    tried("io_uring", lambda: system("io_uring_setup", 4, ctypes.create_string_buffer(256)))
    tried("bpf map", lambda: system("bpf", 0, ctypes.create_string_buffer(struct.pack("4I", 2, 4, 4, 1), 128), 128))
    event = ctypes.create_string_buffer(struct.pack("IIQ", 1, 112, 0), 112)
    tried("perf", lambda: system("perf_event_open", event, 0, -1, -1, 0))
    tried("userfaultfd", lambda: system("userfaultfd", 1))
    tried("userfaultfd of the kernel", lambda: system("userfaultfd", 0))
    tried("fanotify", lambda: system("fanotify_init", 0, 0))
"""),
    Attack("higher limits", GROUP, "raises every limit that was set for it", """
def attack():
    import resource
    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            kind = getattr(resource, name)
            soft, hard = resource.getrlimit(kind)
            if hard != resource.RLIM_INFINITY:
                tried(name, lambda: resource.setrlimit(kind, (hard, hard + 1)))
                tried(name, lambda: resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2))
    for name in ("RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE"):
        if resource.getrlimit(getattr(resource, name))[1] == resource.RLIM_INFINITY:
            out(f"{name} has no hard limit")
"""),
)  # fmt: skip
