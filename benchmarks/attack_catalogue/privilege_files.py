"""Programs that gain rights by files, by what a process hands on, or by calls that everybody has forgotten."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack

GROUP = "privilege"

ATTACKS = (
    Attack(
        "rights in a file's attribute",
        GROUP,
        "gives its own copy of a program every capability, and runs it",
        """
import shutil
def attack():
    shutil.copy("/bin/cat", "able")
    for caps in (struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0),
                 struct.pack("<IIIIII", 0x03000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0, 0)):
        try:
            os.setxattr("able", "security.capability", caps)
        except OSError as error:
            print("held:", error)
    done = subprocess.run([os.path.abspath("able"), "/proc/self/status"], capture_output=True, text=True, timeout=5)
    for line in done.stdout.splitlines():
        if line.startswith(("CapEff", "CapPrm")) and int(line.split()[1], 16):
            out(line)
""",
    ),
    Attack(
        "rights handed on",
        GROUP,
        "raises ambient and inheritable capabilities, sets secure bits, takes no-new-privileges back",
        """
def attack():
    for what, arguments in (("ambient", (47, 2, 21, 0, 0)), ("secure bits", (28, 0x10, 0, 0, 0)),                             ("new privileges", (38, 0, 0, 0, 0)), ("seccomp off", (22, 0, 0, 0, 0)), ("timestamps", (34, 5, 0, 0, 0))):
        def call():
            if LIBC.prctl(*(ctypes.c_ulong(one) for one in arguments)):
                raise OSError(ctypes.get_errno(), what)
        tried(what, call)
    for word in ("NoNewPrivs", "Seccomp"):
        line = next(line for line in open("/proc/self/status") if line.startswith(word + ":")) if os.path.exists("/proc/self/status") else "x 1"
        if line.split()[1] == "0":
            out(line)
""",
    ),
    Attack(
        "forgotten calls",
        GROUP,
        "ports of the processor, old loaders, hang-ups, quotas, and memory nodes of others",
        """
def attack():
    if ARM:
        return
    for what, number, arguments in (("iopl", 172, (3,)), ("ioperm", 173, (0x80, 1, 1)), ("uselib", 134, (b"/bin/cat",)), ("vhangup", 153, ()),
                                    ("lookup_dcookie", 212, (0, 0, 0)), ("quotactl_fd", 443, (0, 0x80000700, 0, 0)),
                                    ("migrate_pages", 256, (os.getppid(), 64, b"\\1" + bytes(7), b"\\1" + bytes(7))),
                                    ("nfsservctl", 180, (0, 0, 0)), ("_sysctl", 156, (0,)), ("remap_file_pages", 216, (0, 0, 0, 0, 0))):
        def call():
            ctypes.set_errno(0)
            if LIBC.syscall(ctypes.c_long(number), *(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)) < 0:
                raise OSError(ctypes.get_errno(), what)
        if what != "vhangup" or not outsider_in_reach():
            tried(what, call)
""",
    ),
    Attack(
        "labels of itself",
        GROUP,
        "writes its security labels, login number, name spaces' maps and clock offsets",
        """
def attack():
    for name in ("attr/current", "attr/exec", "attr/sockcreate", "attr/keycreate", "loginuid", "timens_offsets", "projid_map"):
        def write():
            with open(f"/proc/self/{name}", "r+b", 0) as file:
                file.write(b"0 0 1\\n")
        tried(name, write)
    tried("own map", lambda: open("/proc/self/uid_map", "w", 1).write("0 0 4294967295\\n"))
    if not ARM:
        context = struct.pack("=QQQQ", 100, 0, 32, 0)
        if LIBC.syscall(460, 100, context, 32, 0) == 0:
            out("lsm_set_self_attr")
""",
    ),
    Attack(
        "group by a folder",
        GROUP,
        "makes files of other owners and groups by set-group-id folders, chown and fchownat",
        """
def attack():
    os.mkdir("grouped", 0o2777)
    mine = {os.getgid(), *os.getgroups()}
    for number in (0, 1, 4, 42, 1000):
        if number not in mine and number != os.getuid():
            tried(f"group {number}", lambda: os.chown("grouped", -1, number))
            tried(f"owner {number}", lambda: os.chown("grouped", number, -1))
            tried(f"becomes {number}", lambda: os.setresgid(number, number, number))
            tried(f"belongs to {number}", lambda: os.setgroups([number]))
""",
    ),
)
