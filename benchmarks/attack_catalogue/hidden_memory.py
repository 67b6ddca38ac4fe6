"""Programs that hold memory where no process seems to have it: under another name, in a file, or in flight."""

from __future__ import annotations

from attacks.hiding import GROUP, HOARD, hides

__all__ = ["ATTACKS", "GROUP"]

ATTACKS = (
    hides(
        "files without a name",
        "fills files of every folder in memory that are already deleted, and memory files",
        """
def attack():
    total, held = 0, []
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for top in ("/dev/shm", "/tmp", ".", "/run", "/var/tmp", "memfd"):
        try:
            for number in range(60):
                held.append(os.memfd_create("m") if top == "memfd" else os.open(top, os.O_TMPFILE | os.O_RDWR, 0o600))
                total += os.write(held[-1], bytes(8 << 20))
        except OSError as error:
            print("held:", top, error)
    holds("files", total >> 20)
""",
    ),
    hides(
        "memory without a main thread",
        "ends its main thread, and takes memory in another: the process looks like one without memory",
        HOARD
        + """
def attack():
    threading.Thread(target=hoard).start()
    LIBC.syscall(ctypes.c_long(93 if ARM else 60), ctypes.c_long(0))
""",
    ),
    hides(
        "memory that nobody may look at",
        "takes memory in grandchildren that are not dumpable",
        HOARD
        + """
def attack():
    LIBC.prctl(4, 0)
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            hoard(100)
            print("HOLDS: 300 MB in three", flush=True)
            time.sleep(60)
    time.sleep(60)
""",
    ),
    hides(
        "shared memory that its holder never touched",
        "maps memory that a child fills, which ends: who still maps it has none of it",
        """
def attack():
    area = mmap.mmap(-1, 400 << 20)
    child = os.fork()
    if child == 0:
        for n in range(0, 400 << 20, 4096):
            area[n] = 1
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        holds("shared memory", 400)
""",
    ),
    hides(
        "memory files in flight",
        "sends memory files over a socket that nobody reads, and closes its own ends",
        """
def attack():
    total = 0
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.setblocking(False)
    try:
        for number in range(100):
            try:
                file = os.memfd_create("m")
            except OSError:
                file = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR, 0o600)
            total += os.write(file, bytes(4 << 20))
            socket.send_fds(one, [b"x"], [file])
            os.close(file)
    except OSError as error:
        print("held:", error)
    holds("files in flight", total >> 20)
""",
    ),
    hides(
        "pages spliced out of files",
        "splices pages of files into pipes and truncates the files: no file has them any more",
        """
def attack():
    total, held = 0, []
    try:
        for number in range(100):
            file = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
            os.write(file, bytes(4 << 20))
            os.lseek(file, 0, 0)
            for _ in range(64):
                held.append(os.pipe())
                total += os.splice(file, held[-1][1], 1 << 16)
            os.ftruncate(file, 0)
            os.close(file)
    except OSError as error:
        print("held:", error)
    holds("spliced pages", total >> 20)
""",
    ),
    hides(
        "stacks of threads",
        "fills the stacks of threads, in children too",
        """
def attack():
    threading.stack_size(16 << 20)
    read, written = os.pipe()
    for _ in range(3):
        if os.fork() == 0:
            def fill():
                area = mmap.mmap(-1, 12 << 20, flags=0x22 | 0x20000)
                area.write(bytes(12 << 20))
                os.write(written, b"x")
                time.sleep(60)
            for _ in range(10):
                threading.Thread(target=fill).start()
            time.sleep(60)
    count = 0
    while count < 30:
        count += len(os.read(read, 30))
    holds("stacks", 12 * count)
""",
    ),
    hides(
        "memory that comes and goes",
        "takes 300 MB for moments, in children that end at once",
        """
def attack():
    for number in range(10):
        child = os.fork()
        if child == 0:
            area = mmap.mmap(-1, 300 << 20, flags=0x22 | 0x8000)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0 and number == 9:
            holds("memory for moments", 300)
""",
    ),
)
