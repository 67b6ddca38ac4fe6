"""Programs that take more than their share: processes, disk, descriptors."""

from __future__ import annotations

from attacks.model import Attack, decided

GROUP = "resources"

ATTACKS = (
    Attack("thread bomb", GROUP, "starts 300 threads", """
def attack():
    count = 0
    try:
        for _ in range(300):
            threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
            count += 1
    except RuntimeError as error:
        print("held:", error)
    if count > 64:
        out(f"{count} threads")
"""),
    Attack("one big file", GROUP, "writes and allocates one file of 200 MB", """
def attack():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    def written():
        with open("big", "wb") as file:
            for _ in range(200):
                file.write(bytes(1 << 20))
    tried("write", written)
    def allocated():
        with open("allocated", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 200 << 20)
    tried("fallocate", allocated)
    def sparse():
        with open("sparse", "wb") as file:
            file.truncate(1 << 40)
    tried("truncate", sparse)
""", limits={"wall_s": 8}),
    Attack("many files", GROUP, "makes 30,000 files, folders and links", """
def attack():
    count = 0
    try:
        for number in range(10_000):
            open(f"file{number}", "w").close()
            os.mkdir(f"folder{number}")
            os.symlink("x", f"link{number}")
            count += 3
    except OSError as error:
        print("held:", error, count)
    if count > 10_000:
        out(f"{count} files")
""", limits={"wall_s": 8}),
    Attack("abort", GROUP, "calls abort() with a core file allowed", """
import resource
def attack():
    tried("core files", lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20)))
    os.abort()
""", escaped=decided, crashes=True),
)  # fmt: skip
