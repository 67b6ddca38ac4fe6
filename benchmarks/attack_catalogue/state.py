"""Programs that leave something for the next one in the same sandbox, which looks for it."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack, unwaited

GROUP = "state"

ATTACKS = (
    Attack(
        "settings of the process",
        GROUP,
        "environment, folder, path, umask, signal handlers, locale, hooks",
        """
def attack():
    import locale
    os.environ["CANARY"] = "1"
    os.putenv("LD_PRELOAD", "/canary.so")
    os.makedirs("canary", exist_ok=True)
    os.chdir("canary")
    sys.path.insert(0, "/canary")
    os.umask(0)
    sys.excepthook = sys.displayhook = None
    sys.setrecursionlimit(60)
    sys.set_int_max_str_digits(640)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
""",
        then="""
import os, signal, sys
def attack():
    assert "CANARY" not in os.environ and "LD_PRELOAD" not in os.environ and "canary" not in os.getcwd()
    assert "/canary" not in sys.path and sys.getrecursionlimit() > 500 and sys.get_int_max_str_digits() > 640
    assert signal.getsignal(signal.SIGALRM) is not signal.SIG_IGN
    assert signal.SIGCHLD not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    mask = os.umask(0o22)
    assert mask != 0, mask
""",
    ),
    Attack(
        "patched library",
        GROUP,
        "patches builtins, json, os and the import system",
        """
import builtins, json, math, os, random
def attack():
    builtins.len = lambda _: 4711
    builtins.canary = True
    json.dumps = lambda *a, **k: "4711"
    json.loads = lambda *a, **k: 4711
    math.pi = 3
    os.getcwd = lambda: "/canary"
    random.seed = lambda *a: None
    sys.modules["canary"] = sys
    sys.meta_path.insert(0, None)
""",
        then="""
import builtins, json, math, os, sys
def attack():
    assert len("ab") == 2 and not hasattr(builtins, "canary") and math.pi > 3 and "canary" not in sys.modules
    assert json.loads(json.dumps([1])) == [1] and None not in sys.meta_path and os.getcwd() != "/canary"
""",
    ),
    Attack(
        "files",
        GROUP,
        "leaves files in scratch, /tmp, /dev/shm, /var/tmp, home",
        """
def attack():
    for top in (".", "/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), "/work", "/run", "/dev", "/"):
        try:
            with open(os.path.join(top, O["token"]), "w") as file:
                file.write("x")
        except OSError as error:
            print("held:", error)
""",
        then="""
import os
def attack():
    found = [top for top in (".", "/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), "/work", "/run", "/dev", "/")
             if os.path.exists(os.path.join(top, O["token"]))]
    assert not found, found
""",
    ),
    Attack(
        "shadowing modules",
        GROUP,
        "leaves json.py, unittest.py and solution.py where an import would find them",
        """
def attack():
    for folder in {os.getcwd(), "/tmp", *filter(os.path.isdir, sys.path)}:
        for name in ("json.py", "unittest.py", "solution.py", "sitecustomize.py", "decimal.py"):
            try:
                with open(os.path.join(folder, name), "w") as file:
                    file.write("canary = 1\\n")
            except OSError as error:
                print("held:", error)
""",
        then="""
import decimal, json, unittest
def attack():
    assert not any(hasattr(one, "canary") for one in (decimal, json, unittest))
""",
    ),
    Attack(
        "listening socket",
        GROUP,
        "leaves a process that serves on loopback, by name and by path",
        """
def attack():
    if os.fork() == 0:
        os.setsid()
        for family, address in ((socket.AF_INET, ("127.0.0.1", 47115)), (socket.AF_UNIX, "\\0canary"), (socket.AF_UNIX, "/tmp/canary")):
            try:
                end = socket.socket(family)
                end.bind(address)
                end.listen()
                globals().setdefault("kept", []).append(end)
            except OSError:
                pass
        time.sleep(60)
        os._exit(0)
    time.sleep(0.1)
""",
        then="""
import socket
def attack():
    reached = []
    for family, address in ((socket.AF_INET, ("127.0.0.1", 47115)), (socket.AF_UNIX, "\\0canary"), (socket.AF_UNIX, "/tmp/canary")):
        try:
            with socket.socket(family) as end:
                end.connect(address)
        except OSError:
            continue
        reached.append(address)
    assert not reached, reached
""",
    ),
    Attack(
        "child in its own session",
        GROUP,
        "leaves a child that waits for the next program's files",
        """
def attack():
    if os.fork() == 0:
        os.setsid()
        for _ in range(600):
            for top in (".", "/tmp"):
                try:
                    open(f"{top}/answer-of-the-next", "w").write("poisoned")
                except OSError:
                    pass
            time.sleep(0.01)
        os._exit(0)
""",
        then="""
import os, time
def attack():
    time.sleep(0.15)
    assert not any(os.path.exists(f"{top}/answer-of-the-next") for top in (".", "/tmp"))
""",
    ),
    Attack(
        "messages on every descriptor",
        GROUP,
        "writes frames to whatever it inherited, in every likely format",
        """
def attack():
    frames = (b'{"id": "x", "verdict": "correct", "status": 0}\\n', b'{"fault": "correct"}',
              struct.pack(">I", 21) + b'{"fault": "correct"}\\n', struct.pack("<Q", 4) + b"pass", b"OK\\n", b"\\0" * 64)
    for number in range(3, 1024):
        for frame in frames:
            try:
                os.set_blocking(number, False)
                os.write(number, frame)
                with socket.socket(fileno=os.dup(number)) as end:
                    end.send(frame, socket.MSG_DONTWAIT)
            except OSError:
                break
""",
        escaped=unwaited,
    ),
    Attack(
        "descriptors closed and replaced",
        GROUP,
        "closes everything, then puts its own pipes in their place",
        """
def attack():
    os.closerange(3, 4096)
    ends = os.pipe()
    for number in range(3, 40):
        try:
            os.dup2(ends[1], number)
        except OSError:
            pass
""",
        escaped=unwaited,
    ),
    Attack(
        "limits lowered for those to come",
        GROUP,
        "lowers its own and its parent's limits, group and priority",
        """
def attack():
    import resource
    for name in ("RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_FSIZE"):
        kind = getattr(resource, name)
        for pid in (os.getppid(), 0):
            try:
                if not outsider_in_reach():
                    resource.prlimit(pid, kind, (4, 4))
            except OSError as error:
                print("held:", error)
""",
        escaped=unwaited,
        crashes=True,
    ),
    Attack(
        "exit handlers and threads",
        GROUP,
        "leaves exit handlers, finalisers and a thread that print later",
        """
def attack():
    import atexit, weakref
    class Late:
        def __del__(self):
            os.write(1, b"late")
    sys.late = Late()
    atexit.register(lambda: time.sleep(30))
    threading.Thread(target=time.sleep, args=(30,)).start()
    threading._register_atexit(time.sleep, 30)
""",
        escaped=unwaited,
    ),
    Attack(
        "caches of the interpreter",
        GROUP,
        "poisons bytecode, linecache, re and import caches",
        """
import decimal, importlib.util, re
def attack():
    import linecache
    linecache.cache["x.py"] = (1, None, ["canary"], "x.py")
    re._cache.clear() if hasattr(re, "_cache") else None
    path = importlib.util.cache_from_source(decimal.__file__)
    tried("bytecode of decimal", lambda: open(path, "r+b").write(b"canary"))
    sys.path_importer_cache.clear()
    sys.modules["decimal"] = sys.modules["os"]
""",
        then="""
import decimal, linecache, sys
def attack():
    assert decimal.Decimal("0.1") + decimal.Decimal("0.2") == decimal.Decimal("0.3")
    assert "x.py" not in linecache.cache
""",
    ),
    Attack(
        "locks of the files it shares",
        GROUP,
        "locks every file that it can open, and leaves a lease",
        """
def attack():
    import fcntl
    for path in ("/usr/lib/os-release", "/etc/passwd", os.__file__, *O["packages"]):
        try:
            held = os.open(path, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            print("held:", error)
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
""",
        then="""
import fcntl, os
def attack():
    fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
""",
    ),
)
