"""Programs that take more than their share: processes, memory, disk, descriptors."""

from __future__ import annotations

from attacks.model import ADD, Attack, decided

GROUP = "resources"

SMALL = {"memory_mb": 256, "wall_s": 8}

FAIL = "\n\ndef add(a, b):\n    attack()\n    return a + b\n"

ATTACKS = (
    Attack(
        "descriptors",
        GROUP,
        "opens files without closing one",
        """
def attack():
    held = []
    try:
        while len(held) < 5_000:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        print("held:", error, len(held))
    if len(held) >= 5_000:
        out("5,000 descriptors")
""",
    ),
    Attack(
        "fork bomb",
        GROUP,
        "starts 300 processes that each sleep",
        """
def attack():
    count = 0
    for _ in range(300):
        try:
            if os.fork() == 0:
                time.sleep(3)
                os._exit(0)
        except OSError as error:
            print("held:", error)
            break
        count += 1
    print(count, "processes")
    if count > 64:
        out(f"{count} processes")
""",
    ),
    Attack(
        "fork bomb that doubles",
        GROUP,
        "every process forks, eight times over",
        """
def attack():
    for _ in range(8):
        try:
            os.fork()
        except OSError:
            pass
    number = os.open("alive", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    os.write(number, b"x")
    time.sleep(0.5)
    if os.stat("alive").st_size > 64:
        out(f"{os.stat('alive').st_size} processes")
""",
        limits={"wall_s": 5},
        crashes=True,
    ),
    Attack(
        "hopping process",
        GROUP,
        "a child forks and ends, again and again, faster than it can be killed",
        """
def attack():
    if os.fork() == 0:
        for _ in range(3000):
            try:
                if os.fork():
                    os._exit(0)
                os.setsid()
            except OSError:
                time.sleep(0.001)
        os._exit(0)
""",
    ),
    Attack(
        "memory of one process",
        GROUP,
        "takes 2 GB in one block, then in small ones",
        """
def attack():
    tried("2 GB", lambda: len(bytearray(2 << 30)))
    held = []
    try:
        for _ in range(40):
            held.append(bytearray(b"x") * (16 << 20))
    except MemoryError as error:
        print("held:", error)
        return
    time.sleep(0.3)
    out("holds 640 MB of 256")
""",
        limits=SMALL,
        crashes=True,
    ),
    Attack(
        "memory of many children",
        GROUP,
        "12 children hold 100 MB each at once",
        """
def attack():
    readable, writable = os.pipe()
    for _ in range(12):
        if os.fork() == 0:
            held = bytearray(b"x") * (100 << 20)
            os.write(writable, b"x")
            time.sleep(1.5)
            os._exit(len(held) & 0)
    os.close(writable)
    time.sleep(1)
    count = len(os.read(readable, 100))
    print(count, "children")
    if count > 6:
        out(f"{count * 100} MB of 256")
""",
        limits=SMALL,
        crashes=True,
    ),
    Attack(
        "memory shared by children",
        GROUP,
        "maps 600 MB that belong to no one process",
        """
def attack():
    import mmap
    held = []
    for _ in range(12):
        try:
            if os.fork() == 0:
                area = mmap.mmap(-1, 50 << 20)
                for at in range(0, 50 << 20, 4096):
                    area[at] = 1
                open(f"/tmp/full{os.getpid()}", "w").close()
                time.sleep(1)
                os._exit(0)
        except OSError as error:
            print("held:", error)
    time.sleep(0.7)
    count = sum(name.startswith("full") for name in os.listdir("/tmp"))
    if count > 6:
        out(f"{count * 50} MB of 256")
""",
        limits=SMALL,
        crashes=True,
    ),
    Attack(
        "memory of killed children is no success",
        GROUP,
        "children die of the memory limit, the program answers right",
        """
def attack():
    for _ in range(6):
        if os.fork() == 0:
            held = bytearray(b"x") * (100 << 20)
            time.sleep(1.5)
            os._exit(len(held) & 0)
    time.sleep(0.5)
"""
        + FAIL,
        tests=ADD,
        entry_point="add",
        escaped=decided,
        limits=SMALL,
    ),
    Attack(
        "memory files",
        GROUP,
        "fills 600 MB of memfd",
        """
def attack():
    def fill():
        total = 0
        for number in range(60):
            file = os.memfd_create(f"m{number}")
            total += sum(os.write(file, bytes(1 << 20)) for _ in range(10))
        return total > 400 << 20
    tried("memfd", fill)
    tried("memfd_secret", lambda: system("memfd_secret", 0))
""",
        limits=SMALL,
    ),
    Attack(
        "System V memory",
        GROUP,
        "takes shared memory that outlives every process",
        """
def attack():
    tried("shmget", lambda: system("shmget", int(O["token"][-6:], 16), 64 << 20, 0o1666))
    tried("msgget", lambda: system("msgget", int(O["token"][-6:], 16), 0o1666))
    tried("semget", lambda: system("semget", int(O["token"][-6:], 16), 1, 0o1666))
""",
        then="""
import os
def attack():
    try:
        table = open("/proc/sysvipc/shm").readlines()
    except OSError:
        return
    assert len(table) == 1, table
""",
    ),
    Attack(
        "memory of pipes and sockets",
        GROUP,
        "fills buffers of the kernel, which no process owns",
        """
def attack():
    import fcntl
    total, held = 0, []
    try:
        while total < 300 << 20:
            ends = os.pipe()
            held.append(ends)
            size = fcntl.fcntl(ends[1], 1031, 1 << 20)
            os.set_blocking(ends[1], False)
            total += os.write(ends[1], bytes(size))
    except OSError as error:
        print("held:", error, total)
        return
    out(f"{total >> 20} MB in pipes")
""",
        limits=SMALL,
    ),
    Attack(
        "full /dev/shm, /tmp and scratch",
        GROUP,
        "writes 400 MB in files of 8 MB",
        """
def attack():
    for top in ("/dev/shm", "/tmp", "."):
        total = 0
        try:
            for number in range(50):
                with open(f"{top}/fill{number}", "wb") as file:
                    total += file.write(bytes(8 << 20))
        except OSError as error:
            print("held:", top, error, total >> 20)
        if total > 100 << 20:
            out(f"{top} {total >> 20} MB")
""",
        limits={"memory_mb": 512, "wall_s": 8},
        then="""
import os
def attack():
    assert not [name for name in names("/tmp", "/dev/shm", ".") if name.startswith("fill")]
    open("fits", "wb").write(bytes(8 << 20))
""",
    ),
    Attack(
        "locked and huge pages",
        GROUP,
        "locks memory and asks for huge pages",
        """
def attack():
    import mmap
    tried("mlockall", lambda: LIBC.mlockall(3) == 0 and len(bytearray(300 << 20)) and True)
    tried("huge pages", lambda: mmap.mmap(-1, 512 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000))
""",
        limits=SMALL,
        crashes=True,
    ),
    Attack(
        "compressed bomb",
        GROUP,
        "unpacks 2 GB from a few kilobytes",
        """
def attack():
    import zlib
    packed = zlib.compress(bytes(1 << 24), 9)
    tried("2 GB", lambda: len(b"".join(zlib.decompress(packed) for _ in range(128))))
""",
        limits=SMALL,
        crashes=True,
    ),
)
