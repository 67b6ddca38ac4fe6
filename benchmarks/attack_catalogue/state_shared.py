"""Programs that reach the next one through what the kernel shares between them, and leave it there."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack, unwaited
from attacks.state import on_all

GROUP = "state"
ATTACKS = (
    Attack(
        "ports that linger",
        GROUP,
        "leaves ports behind that the kernel keeps for a minute, on both families",
        """
def attack():
    for port in range(42000, 42040):
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            try:
                with socket.socket(family) as server:
                    server.bind((host, port))
                    server.listen()
                    with socket.create_connection((host, port), 1) as client:
                        server.accept()[0].close()
                        client.recv(1)
            except OSError as error:
                print("held:", error)
""",
        then="""
import socket
def attack():
    for port in range(42000, 42040):
        try:
            server = socket.socket()
        except PermissionError:
            return
        with server:
            server.bind(("127.0.0.1", port))
            server.listen()
""",
    ),
    Attack(
        "server in flight",
        GROUP,
        "sends a listening socket into a ring of sockets that nobody holds, and ends",
        """
def attack():
    server = socket.socket()
    server.bind(("127.0.0.1", 42050))
    server.listen()
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    socket.send_fds(one, [b"x"], [server.fileno(), one.fileno(), other.fileno()])
    socket.send_fds(other, [b"x"], [server.fileno(), one.fileno(), other.fileno()])
""",
        then="""
import socket
def attack():
    try:
        server = socket.socket()
    except PermissionError:
        return
    with server:
        server.bind(("127.0.0.1", 42050))
        server.listen()
""",
    ),
    Attack(
        "locks on shared files",
        GROUP,
        "locks files that every program sees, in a child that stays, and in flight",
        """
import fcntl
def attack():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for path in ("/", "/dev/null", "/usr", "/usr/bin", sys.executable, os.__file__, "/tmp", "/dev/shm", "/etc"):
        try:
            file = os.open(path, os.O_RDONLY)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            socket.send_fds(one, [b"x"], [file, one.fileno(), other.fileno()])
        except OSError as error:
            print("held:", path, error)
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
""",
        then="""
import fcntl, os, sys
def attack():
    for path in ("/", "/dev/null", "/usr", "/usr/bin", sys.executable, os.__file__, "/tmp", "/dev/shm", "/etc"):
        try:
            file = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
""",
    ),
    Attack(
        "start-up files of the next interpreter",
        GROUP,
        "leaves sitecustomize, .pth, pyvenv.cfg, start-up files and bytecode where an interpreter would run them",
        """
import importlib.util, site, sysconfig
def attack():
    text = "import sys; sys.modules['canary'] = sys"
    tops = {os.getcwd(), "/tmp", os.path.expanduser("~"), site.getusersitepackages(), os.path.dirname(sys.executable), sys.prefix,
            *filter(os.path.isdir, sys.path), sysconfig.get_path("stdlib"), f"/tmp/../{os.getcwd()}/lib"}
    for top in tops:
        for name in ("sitecustomize.py", "usercustomize.py", "canary.pth", "pyvenv.cfg", ".pythonrc.py", "python311._pth",
                     os.path.relpath(importlib.util.cache_from_source(os.path.join(top, "json.py")), top)):
            try:
                os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
                with open(os.path.join(top, name), "w") as file:
                    file.write(text)
            except OSError as error:
                print("held:", error)
""",
        then="""
import subprocess, sys
def attack():
    done = subprocess.run([sys.executable, "-c", "import json, sys; print('canary' in sys.modules)"], capture_output=True, text=True)
    assert done.stdout == "False\\n", done
""",
    ),
    Attack(
        "list of robust locks",
        GROUP,
        "ends while its lists of robust locks and of what to clear at its end point into nowhere, and in a circle",
        """
def attack():
    ring = (ctypes.c_ulong * 3)()
    ring[0] = ctypes.addressof(ring)
    for head in (ctypes.addressof(ring), 8, 0x7FFFFFFFF000):
        child = os.fork()
        if child == 0:
            LIBC.syscall(ctypes.c_long(99 if ARM else 273), ctypes.c_void_p(head), ctypes.c_long(24))
            LIBC.syscall(ctypes.c_long(96 if ARM else 218), ctypes.c_void_p(head))
            os._exit(0)
        os.waitpid(child, 0)
""",
        escaped=unwaited,
    ),
    Attack(
        "folder as its own",
        GROUP,
        "removes its scratch, or puts a file or a link in its place, and takes the rights of what is above",
        """
def attack():
    here = os.getcwd()
    for call in (lambda: os.chmod(here, 0), lambda: os.rename(here, here + "-moved"), lambda: os.rmdir(here), lambda: os.symlink("/", here),
                 lambda: os.chmod("/tmp", 0), lambda: os.chmod("/dev/shm", 0), lambda: os.rename("/tmp", "/tmp2"), lambda: os.chmod(os.path.dirname(here), 0)):
        try:
            call()
            print("held: done")
        except OSError as error:
            print("held:", error)
""",
        then="""
import os, tempfile
def attack():
    open("mine", "w").write("x")
    with tempfile.TemporaryFile() as file:
        file.write(b"x")
    assert os.path.samefile(".", os.getcwd())
""",
    ),
    on_all(
        "flags of shared descriptors",
        "makes everything that it was given non-blocking, append-only and asynchronous, and moves its place",
        """
def meddle():
    for number in range(256):
        for call in (lambda: fcntl.fcntl(number, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND | os.O_ASYNC), lambda: os.lseek(number, 0, 2),
                     lambda: fcntl.ioctl(number, 0x5421, b"\\1\\0\\0\\0"), lambda: os.ftruncate(number, 0)):
            try:
                call()
            except OSError:
                pass
""",
    ),
    on_all(
        "filters on shared sockets",
        "puts a locked filter on every socket that lets nothing through, and timeouts and limits of one byte",
        """
def meddle():
    code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0))
    program = struct.pack("=HxxxxxxQ", 1, ctypes.addressof(code))
    def set_all(end):
        for option, value in ((26, program), (44, 1), (socket.SO_SNDBUF, 1), (socket.SO_RCVBUF, 1), (42, 5), (socket.SO_PASSCRED, 1),
                              (socket.SO_RCVLOWAT, 1 << 30), (socket.SO_SNDTIMEO, struct.pack("=qq", 0, 1)), (socket.SO_RCVTIMEO, struct.pack("=qq", 0, 1))):
            try:
                end.setsockopt(socket.SOL_SOCKET, option, value)
            except OSError:
                pass
    every(set_all)
""",
    ),
    on_all(
        "swallows what comes",
        "reads every descriptor empty, before anybody else does",
        "def meddle():\n    every(lambda end: end.recv(1 << 20, socket.MSG_DONTWAIT))\n",
    ),
)
