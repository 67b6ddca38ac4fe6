"""The rules themselves, in a process of ours that takes them on: what they refuse and what they let be."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import pytest

from assay.cage import landlock
from assay.cage.syscalls import PR_SET_NO_NEW_PRIVS, prctl

needs_tcp = pytest.mark.skipif(landlock.abi() < 4, reason="this kernel's Landlock has no rules about TCP")


def restricted(work: Callable[[], object], **rules: bool) -> int:
    """Return the number of the error that something raises under rules, 0 for none."""
    made = landlock.rules(landlock.abi(), ["/usr"], [], **rules)
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            landlock.restrict(made)
            work()
            code = 0
        except OSError as error:
            code = error.errno or 254
        finally:
            os._exit(code)
    os.close(made)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@needs_tcp
def test_tcp_is_refused_but_not_in_a_network_of_its_own():
    def serve() -> None:
        with socket.socket() as server, socket.socket() as client:
            server.bind(("127.0.0.1", 0))
            server.listen()
            client.connect(server.getsockname())

    assert (restricted(serve, own_network=False), restricted(serve, own_network=True)) == (13, 0)


@pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")
def test_files_are_refused_in_either():
    for own in (False, True):
        assert restricted(lambda: os.listdir("/etc"), own_network=own) == 13
        assert restricted(lambda: os.listdir("/usr"), own_network=own) == 0
