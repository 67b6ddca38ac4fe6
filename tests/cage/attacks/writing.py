"""Programs that try to leave something on the machine's disks."""

from __future__ import annotations

from attacks.model import Attack

GROUP = "writing"

ATTACKS = (
    Attack("folders anybody may write", GROUP, "writes into world-writable folders by their absolute path", """
def attack():
    for folder in O["folders"]:
        tried(folder, lambda: open(f"{folder}/written", "w").write("x"))
        tried(folder, lambda: os.mkdir(f"{folder}/made"))
        tried(folder, lambda: os.mkfifo(f"{folder}/pipe"))
        tried(folder, lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR))
    for path in O["canaries"]:
        tried(path, lambda: open(path, "a").write("x"))
"""),
    Attack("interpreter's folders", GROUP, "puts a .pth file and a module beside the interpreter's", """
def attack():
    import site, sysconfig
    for folder in {*sys.path, *sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, *O["interpreter"]}:
        for name in (f"{O['token']}.pth", f"__pycache__/{O['token']}.pyc"):
            if folder and not folder.startswith((os.getcwd(), "/tmp")):
                tried(folder, lambda: open(os.path.join(folder, name), "w").write("#"))
    tried("os.py", lambda: open(os.__file__, "a").close())
    tried("interpreter", lambda: open(os.path.realpath(sys.executable), "ab").close())
"""),
    Attack("symbolic link out", GROUP, "writes and reads through links in its scratch that lead outside", """
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
"""),
    Attack("modes, times, lengths, names", GROUP, "chmod, utime, truncate, rename, unlink, chown and xattr outside",
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
"""),
    Attack("store of packages", GROUP, "changes, replaces and shadows the packages that it was given", """
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
"""),
)  # fmt: skip
