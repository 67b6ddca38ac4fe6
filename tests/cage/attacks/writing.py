"""Programs that try to leave something on the machine's disks."""

from __future__ import annotations

from attacks.model import Attack

GROUP = "writing"

ATTACKS = (
    Attack(
        "folders anybody may write",
        GROUP,
        "writes into world-writable folders by their absolute path",
        """
def attack():
    for folder in O["folders"]:
        tried(folder, lambda: open(f"{folder}/written", "w").write("x"))
        tried(folder, lambda: os.mkdir(f"{folder}/made"))
        tried(folder, lambda: os.mkfifo(f"{folder}/pipe"))
        tried(folder, lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR))
    for path in O["canaries"]:
        tried(path, lambda: open(path, "a").write("x"))
""",
    ),
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
        "interpreter's folders",
        GROUP,
        "puts a .pth file and a module beside the interpreter's",
        """
def attack():
    import site, sysconfig
    for folder in {*sys.path, *sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, *O["interpreter"]}:
        for name in (f"{O['token']}.pth", f"__pycache__/{O['token']}.pyc"):
            if folder and not folder.startswith((os.getcwd(), "/tmp")):
                tried(folder, lambda: open(os.path.join(folder, name), "w").write("#"))
    tried("os.py", lambda: open(os.__file__, "a").close())
    tried("interpreter", lambda: open(os.path.realpath(sys.executable), "ab").close())
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
        "symbolic link out",
        GROUP,
        "writes and reads through links in its scratch that lead outside",
        """
def attack():
    for number, path in enumerate([*O["canaries"], "/etc/shadow", "/etc/hosts", "/proc/1/root" + O["canaries"][0]]):
        name = f"link{number}"
        tried(name, lambda: os.symlink(path, name) or False)
        tried(name, lambda: os.open(name, os.O_WRONLY | os.O_APPEND))
        if path != "/etc/hosts":
            tried(name, lambda: read(name))
    for number, folder in enumerate(O["folders"]):
        tried(folder, lambda: os.symlink(folder, f"folder{number}") or False)
        tried(folder, lambda: open(f"folder{number}/written", "w").write("x"))
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
        "modes, times, lengths, names",
        GROUP,
        "chmod, utime, truncate, rename, unlink, chown and xattr outside",
        """
def attack():
    for path in (*O["canaries"], *O["folders"]):
        tried("chmod", lambda: os.chmod(path, 0o777))
        tried("utime", lambda: os.utime(path, (1, 1)))
        tried("truncate", lambda: os.truncate(path, 0))
        tried("unlink", lambda: os.unlink(path))
        tried("chown", lambda: os.chown(path, os.getuid(), os.getgid()))
        tried("rename", lambda: os.rename(path, path + "-renamed"))
        tried("setxattr", lambda: os.setxattr(path, "user.canary", b"x"))
        tried("rmdir", lambda: os.rmdir(path))
    for path in ("/usr", "/etc", "/lib", "/"):
        here = os.stat(path)
        tried("utime " + path, lambda: os.utime(path, ns=(here.st_atime_ns, here.st_mtime_ns)))
        tried("chmod " + path, lambda: os.chmod(path, here.st_mode & 0o7777))
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
    Attack(
        "store of packages",
        GROUP,
        "changes, replaces and shadows the packages that it was given",
        """
def attack():
    for folder in O["packages"]:
        tried("new file", lambda: open(f"{folder}/{O['token']}.py", "w").write("#"))
        tried("append", lambda: open(f"{folder}/canary_package.py", "a").write("# poisoned"))
        tried("truncate", lambda: os.truncate(f"{folder}/canary_package.py", 0))
        tried("unlink", lambda: os.unlink(f"{folder}/canary_package.py"))
        tried("rename", lambda: os.rename(folder, folder + "-away"))
        tried("chmod", lambda: os.chmod(f"{folder}/canary_package.py", 0o666))
        def again():
            held = os.open(f"{folder}/canary_package.py", os.O_RDONLY)
            return os.open(f"/proc/self/fd/{held}", os.O_RDWR)
        tried("reopened for writing", again)
        tried("remount", lambda: LIBC.mount(None, folder.encode(), None, 32 | 4096, None) == 0)
""",
    ),
)
