"""Programs that try to leave something on the machine's disks."""

from __future__ import annotations

from attacks.model import Attack

GROUP = "writing"

ATTACKS = (
    Attack(
        "home's start-up files",
        GROUP,
        "appends to shell profiles and authorised keys",
        """
def attack():
    for name in (".bashrc", ".profile", ".ssh/authorized_keys", ".config/autostart/x.desktop", ".local/bin/python"):
        tried(name, lambda: open(os.path.join(O["home"], name), "a").write("#"))
""",
    ),
    Attack(
        "system folders",
        GROUP,
        "writes into /, /etc, /usr, /lib, /bin, /var, /boot",
        """
def attack():
    for folder in ("/", "/etc", "/usr", "/usr/bin", "/usr/lib", "/bin", "/lib", "/lib64", "/var", "/boot", "/opt",
                   "/root", "/home", "/run", "/var/spool/cron", "/etc/cron.d", "/etc/ld.so.conf.d", "/sys", "/proc"):
        tried(folder, lambda: open(f"{folder}/{O['token']}", "w").write("x"))
    for path in ("/etc/passwd", "/etc/hosts", "/etc/ld.so.preload", "/etc/ld.so.cache"):
        tried(path, lambda: os.open(path, os.O_WRONLY | os.O_APPEND))
""",
    ),
    Attack(
        "sysctls",
        GROUP,
        "opens settings of the kernel for writing, and writes the value that is there",
        """
def attack():
    for name in ("kernel/core_pattern", "kernel/modprobe", "vm/overcommit_memory", "kernel/hostname",
                 "kernel/sysrq", "fs/suid_dumpable", "kernel/randomize_va_space", "kernel/printk_ratelimit_burst",
                 "vm/drop_caches", "user/max_user_namespaces", "net/ipv4/ip_forward"):
        tried(name, lambda: os.open(f"/proc/sys/{name}", os.O_WRONLY))
    def unchanged():
        value = read("/proc/sys/kernel/printk_ratelimit_burst")
        return open("/proc/sys/kernel/printk_ratelimit_burst", "wb").write(value)
    tried("printk_ratelimit_burst", unchanged)
    for path in ("/proc/sysrq-trigger", "/proc/self/oom_adj", "/proc/irq/default_smp_affinity", "/sys/power/state",
                 "/sys/kernel/uevent_helper", "/sys/module/printk/parameters/time", "/proc/mtrr"):
        tried(path, lambda: os.open(path, os.O_WRONLY))
""",
    ),
    Attack(
        "control groups",
        GROUP,
        "opens files of its control group for writing, makes a group",
        """
def attack():
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"):
        tried(top, lambda: os.mkdir(f"{top}/{O['token']}"))
        for name in ("cgroup.procs", "release_agent", "memory.max", "pids.max", "cgroup.subtree_control"):
            tried(name, lambda: os.open(f"{top}/{name}", os.O_WRONLY))
""",
    ),
    Attack(
        "hard link",
        GROUP,
        "makes hard links to outside files, and moves files across",
        """
def attack():
    for number, path in enumerate(O["canaries"]):
        tried(path, lambda: os.link(path, f"hard{number}"))
        tried(path, lambda: os.rename(path, f"moved{number}"))
        open("own", "w").close()
        tried(path, lambda: os.rename("own", path))
        tried(path, lambda: os.link("own", path + "-linked"))
""",
    ),
    Attack(
        "up and out",
        GROUP,
        "goes up with .., /proc/self/cwd, a moved folder and O_PATH",
        """
def attack():
    paths = [path[1:] for path in O["canaries"]]
    for path in paths:
        for start in ("", "/", "/proc/self/cwd/", "/proc/self/root/", "/proc/thread-self/cwd/", "/dev/fd/../../"):
            tried(start, lambda: read(start + "../" * 30 + path))
    os.makedirs("a/b/c", exist_ok=True)
    held = os.open("a/b/c", os.O_PATH)
    os.rename("a/b/c", "c")
    for path in paths:
        tried("moved folder", lambda: os.open("../" * 30 + path, os.O_RDONLY, dir_fd=held))
    tried("/proc/self/fd", lambda: read(f"/proc/self/fd/{held}/" + "../" * 30 + paths[0]))
""",
    ),
    Attack(
        "results replaced by links",
        GROUP,
        "puts links of every likely name in its scratch, for the harness to follow",
        """
def attack():
    for name in ("result", "result.json", "verdict", "outcome.json", "stdout", "stderr", "report.xml", "solution.py",
                 "conftest.py", "test_solution.py", ".pytest_cache", "__pycache__", "junit.xml"):
        for target in O["canaries"][:1]:
            try:
                if os.path.lexists(name):
                    os.remove(name) if not os.path.isdir(name) else os.rename(name, name + ".old")
                os.symlink(target, name)
            except OSError as error:
                print(error)
""",
    ),
    Attack(
        "tree that resists removal",
        GROUP,
        "leaves folders without rights, deep, with odd names and loops of links",
        """
def attack():
    for top in (".", "/tmp", "/dev/shm"):
        try:
            os.chdir(top)
            os.makedirs("closed/inner")
            open("closed/inner/file", "w").close()
            os.symlink("loop", "loop")
            open(b"\\xff\\xfe\\n\\x1b[31m", "w").close()
            for _ in range(300):
                os.mkdir("deep" * 40)
                os.chdir("deep" * 40)
        except OSError as error:
            print(error)
        finally:
            os.chdir("/")
        for path in (f"{top}/closed/inner", f"{top}/closed"):
            try:
                os.chmod(path, 0)
            except OSError as error:
                print(error)
""",
        then="""
import os
def attack():
    assert not {"closed", "loop"} & set(names("/tmp", "/dev/shm", "."))
""",
    ),
)
