"""Programs that try to read what is none of theirs: files, secrets, memory, the tests themselves."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack, not_correct

from assay.values import Script

GROUP = "reading"
HIDDEN = (Script("expected = 'never-to-be-seen-' + 'by-the-program-4711'\nassert guess() == expected\n"),)

ATTACKS = (
    Attack(
        "links in /proc",
        GROUP,
        "goes through root, cwd, exe, fd and map_files of every process",
        """
def attack():
    for pid in (*pids(), "self"):
        for path in O["canaries"]:
            for link in ("root", "cwd", "cwd/..", "cwd/../../../../.."):
                tried(f"/proc/{pid}/{link}", lambda: read(f"/proc/{pid}/{link}/{path}"))
        if pid == "self":
            continue
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for name in names:
            tried(f"/proc/{pid}/fd/{name}", lambda: os.open(f"/proc/{pid}/fd/{name}", os.O_RDONLY | os.O_NONBLOCK) and None)
""",
    ),
    Attack(
        "system's secrets",
        GROUP,
        "reads /etc/shadow and others that only root may",
        """
def attack():
    for path in ("/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/sudoers", "/etc/ssh/ssh_host_ed25519_key",
                 "/etc/ssh/ssh_host_rsa_key", "/etc/machine-id", "/var/log/syslog", "/var/log/auth.log"):
        tried(path, lambda: read(path))
""",
    ),
    Attack(
        "home",
        GROUP,
        "reads keys in the home folder that HOME and the password file name",
        """
def attack():
    import pwd
    homes = {O["home"], os.path.expanduser("~"), "/root", *(one.pw_dir for one in pwd.getpwall())}
    for home in homes:
        for name in (".ssh/id_ed25519", ".netrc", ".aws/credentials", ".bash_history", ".gitconfig", ".profile"):
            tried(home, lambda: read(os.path.join(home, name)))
    for home in homes - {os.getcwd(), "/"}:
        tried(f"lists {home}", lambda: strangers(home))
""",
    ),
    Attack(
        "walk of the file system",
        GROUP,
        "searches every folder that it can reach for the canary's name",
        """
def attack():
    for root, folders, files in os.walk("/"):
        if root == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys", "dev", "usr", "lib")]
        for name in files:
            if O["token"] in name:
                out(os.path.join(root, name))
""",
    ),
    Attack(
        "environment",
        GROUP,
        "looks for a secret of the caller in its own environment",
        """
def attack():
    for name, value in os.environ.items():
        if O["secret_mark"] in value or "CANARY" in name:
            out(f"{name}={value}")
    for name in ("HOME", "PWD", "OLDPWD"):
        if os.environ.get(name, "").startswith((O["home"], O["cwd"])):
            out(name)
""",
    ),
    Attack(
        "open files",
        GROUP,
        "looks for descriptors beyond its own three that lead somewhere",
        """
def attack():
    import stat
    for number in range(3, 4096):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode):
            for path in O["canaries"]:
                tried(f"folder {number}", lambda: os.open("../" * 20 + path[1:], os.O_RDONLY, dir_fd=number))
                tried(f"folder {number}", lambda: (os.fchdir(number), os.chdir("../" * 20), read(path[1:])))
        elif stat.S_ISREG(mode):
            try:
                text = os.pread(number, 1 << 20, 0)
            except OSError:
                continue
            if b"assert" in text or O["secret_mark"].encode() in text:
                out(f"file {number} {text[:100]}")
        elif not stat.S_ISSOCK(mode) and not stat.S_ISFIFO(mode) and not stat.S_ISCHR(mode):
            print("descriptor", number, oct(mode))
""",
    ),
    Attack(
        "devices",
        GROUP,
        "opens memory, disks, the kernel's log, KVM, FUSE, terminals",
        """
def attack():
    for name in ("kmsg", "mem", "kmem", "port", "kvm", "fuse", "vda", "sda", "nvme0n1", "loop0", "loop-control",
                 "tty", "tty0", "tty1", "console", "input/event0", "net/tun", "vhost-vsock", "vsock", "btrfs-control",
                 "snapshot", "userfaultfd", "uinput", "autofs", "cpu_dma_latency", "hwrng", "mapper/control"):
        for flags in (os.O_RDONLY, os.O_WRONLY):
            tried(name, lambda: os.open("/dev/" + name, flags | os.O_NONBLOCK))
""",
    ),
    Attack(
        "kernel's own files",
        GROUP,
        "reads kcore, the kernel's log, keys, timers and the mounts of others",
        """
def attack():
    for path in ("/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/timer_list", "/proc/slabinfo", "/proc/vmallocinfo",
                 "/proc/sched_debug", "/sys/kernel/debug/tracing/trace", "/sys/firmware/acpi/tables/DSDT",
                 "/sys/kernel/security/lsm", "/proc/1/mountinfo", "/proc/1/maps"):
        if path == "/proc/keys":
            tried(path, lambda: bool(read(path).strip()))
        elif path == "/proc/1/mountinfo":
            tried(path, lambda: O["home"].encode() in read(path))
        else:
            tried(path, lambda: bool(read(path)))
    tried("syslog", lambda: system("syslog", 3, ctypes.create_string_buffer(4096), 4096))
""",
    ),
    Attack(
        "processes of others",
        GROUP,
        "looks for processes of the machine in /proc and by signal 0",
        """
def attack():
    if outsider_in_reach():
        out("sees the supervisor")
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if name.isdigit():
            try:
                line = read(f"/proc/{name}/cmdline")
            except OSError:
                continue
            if b"outsider-" + O["token"].encode() in line:
                out(line)
""",
    ),
    Attack(
        "file by handle",
        GROUP,
        "opens the root folder by its number, past every path",
        """
def attack():
    def by_handle():
        handle = struct.pack("IiQ", 8, 1, 2)
        return system("open_by_handle_at", os.open("/", os.O_RDONLY), ctypes.create_string_buffer(handle, 16), 0)
    tried("open_by_handle_at", by_handle)
    for root in ("/", "/usr"):
        tried("name_to_handle_at", lambda: system("name_to_handle_at", -100, root.encode(),
              ctypes.create_string_buffer(struct.pack("Ii120x", 120, 0)), ctypes.create_string_buffer(8), 0))
""",
    ),
    Attack(
        "scratch of a peer",
        GROUP,
        "searches for what another program keeps in its scratch at the same time",
        """
def attack():
    until = time.monotonic() + 0.8
    while time.monotonic() < until:
        for top in ("/work", "/tmp", "/dev/shm", os.getcwd()):
            for root, _, files in os.walk(top):
                for name in files:
                    if name == "peer-secret":
                        out(os.path.join(root, name))
        for pid in pids():
            try:
                if b"peer-" in read(f"/proc/{pid}/cmdline"):
                    out(f"process {pid}")
            except OSError:
                pass
        time.sleep(0.05)
""",
        beside="""
def attack():
    for top in ("/tmp", "/dev/shm", "."):
        try:
            with open(f"{top}/peer-secret", "w") as file:
                file.write("peer")
        except OSError as error:
            print(error)
    subprocess.run([sys.executable, "-c", "import time; time.sleep(0.8)  # peer-" + O["token"]])
""",
    ),
    Attack(
        "harness and tests on disk",
        GROUP,
        "searches scratch, /proc and the harness' folder for the tests' text",
        """
def guess():
    wanted = b"-".join((b"never", b"to", b"be", b"seen"))
    for top in (os.getcwd(), "/tmp", "/work", "/dev/shm", "/run", "/var"):
        for root, _, files in os.walk(top):
            for name in files:
                try:
                    if wanted in read(os.path.join(root, name), 1 << 20):
                        out(os.path.join(root, name))
                except OSError:
                    pass
    for pid in (*pids(), "self"):
        for name in ("cmdline", "environ"):
            try:
                if wanted in read(f"/proc/{pid}/{name}"):
                    out(f"{pid} {name}")
            except OSError:
                pass
""",
        tests=HIDDEN,
        entry_point="guess",
        escaped=not_correct,
    ),
)
