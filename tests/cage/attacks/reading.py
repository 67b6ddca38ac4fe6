"""Programs that try to read what is none of theirs: files, secrets, memory, the tests themselves."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from assay.values import Script
from attacks.model import Attack, not_correct

GROUP = "reading"
HIDDEN = (Script("expected = 'never-to-be-seen-' + 'by-the-program-4711'\nassert guess() == expected\n"),)

ATTACKS = (
    Attack("files anybody may read", GROUP, "reads world-readable files of the machine by their absolute path", """
def attack():
    for path in O["canaries"]:
        tried(path, lambda: read(path))
    for path in (O["cwd"], "/var/tmp", "/srv", "/mnt", "/media", "/boot", "/var/lib", "/opt", "/run", "/sys"):
        tried(f"lists {path}", lambda: strangers(path))
"""),
    Attack("environment through /proc", GROUP, "reads /proc/1/environ, the parent's and everybody's", """
def attack():
    for pid in (*pids(), "self", "thread-self"):
        for name in ("environ", "cmdline", "auxv"):
            try:
                text = read(f"/proc/{pid}/{name}")
            except OSError:
                continue
            if O["secret_mark"].encode() in text:
                out(f"/proc/{pid}/{name} {text[:200]}")
"""),
    Attack("memory through /proc", GROUP, "opens /proc/PID/mem, maps and stack of everybody else", """
def attack():
    def open_memory(pid):
        with open(f"/proc/{pid}/mem", "rb") as memory, open(f"/proc/{pid}/maps") as maps:
            memory.seek(int(maps.readline().split("-")[0], 16))
            return memory.read(16)
    children = {int(p) for p in read("/proc/self/task/self/children").split()} if os.path.exists("/proc/self/task/self/children") else set()
    for pid in set(pids()) - children:
        tried(f"/proc/{pid}/mem", lambda: open_memory(pid))
"""),
    Attack("tests in its own memory", GROUP, "searches its own memory through /proc for the expected value", """
def guess():
    start, tail = b"never-to-be-" + b"seen-", b"by-the-" + b"program-4711"
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
            for line in maps:
                area, rights = line.split()[:2]
                first, last = (int(end, 16) for end in area.split("-"))
                if not rights.startswith("rw"):
                    continue
                try:
                    memory.seek(first)
                    text = memory.read(min(last - first, 64 << 20))
                except (OSError, ValueError):
                    continue
                for middle in (b"", b"' + '"):
                    if start + middle + tail in text:
                        out("the tests' text lies in the program's memory")
                        return (start + tail).decode()
    except OSError as error:
        print("held:", error)
""", tests=HIDDEN, entry_point="guess", escaped=not_correct),
)  # fmt: skip
