"""The command line for scripts that call it dozens of times: each call is forked from a process that has loaded it.

`python forked_assay.py SOCKET` loads the commands and listens. `python -I -S forked_assay.py SOCKET assay WORD…` has a
command run there with the files, the folder and the environment of its own process, and ends as it ended; with
`python -` instead, what stands on its standard input is run there.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType


@contextmanager
def forked_assay():
    """Return a folder with programs `assay` and `python`, to stand first on the PATH of scripts."""
    with TemporaryDirectory(prefix="assay-") as folder:  # short, as the path of a socket has to be
        path, python = f"{folder}/socket", shlex.quote(sys.executable)
        client = f"{python} -I -S {shlex.join([__file__, path])}"
        for name, condition in (("assay", "true"), ("python", '[ "$*" = - ]')):
            program = Path(folder, name)
            program.write_text(f'#!/bin/sh\n{condition} || exec {python} "$@"\nexec {client} {name} "$@"\n')
            program.chmod(0o755)
        command = [sys.executable, __file__, path]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdout.readline() == b"listening\n"
            yield folder  # the server ends with its input


def serve(path):
    """Fork for each command, which is what this returns in: the arguments are those of the command then."""
    import select
    from importlib import import_module

    names = "cli.find cli.bench operations.joint_answer search.index_build corpus.units bench.experiment"
    for name in names.split():
        import_module(f"assay.{name}")
    sys.modules["matplotlib"] = None  # to draw a report takes as long as all else of a small bench
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("listening", flush=True)  # noqa: T201
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            line = listening.accept()[0]
            if os.fork() == 0:
                become(line)
                return True
            line.close()
    return False


def become(line):
    """Go on in a child as the command that was asked for; its parent says how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, files, _, _ = socket.recv_fds(line, 8, 3)
    words, folder, environment = json.loads(line.makefile("rb").read(int.from_bytes(size, "big")))
    if child := os.fork():
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        line.sendall(str(status if status >= 0 else 128 - status).encode())
        os._exit(0)
    line.close()
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    added = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[1:1] = [os.path.abspath(each) for each in added if os.path.abspath(each) not in sys.path]  # noqa: PTH100
    sys.argv = words


def ask(path, words):
    """Have a command run; return its status."""
    said = json.dumps([words, os.getcwd(), dict(os.environ)]).encode()  # noqa: PTH109  pathlib takes 10 ms
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        socket.send_fds(line, [len(said).to_bytes(8, "big")], [0, 1, 2])
        line.sendall(said)
        return int(line.recv(4))


if __name__ == "__main__":
    if sys.flags.isolated:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    sys.path[0] = os.path.dirname(sys.executable)  # noqa: PTH120  as it is for a program that was installed
    if serve(sys.argv[1]):
        if sys.argv[0] == "python":
            sys.path[0], sys.modules["__main__"] = "", ModuleType("__main__")
            exec(compile(sys.stdin.read(), "<stdin>", "exec"), vars(sys.modules["__main__"]))
        else:
            from assay.__main__ import main

            main()
