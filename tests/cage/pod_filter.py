"""Run a command as in a container whose runtime keeps namespaces and mounts from it: `python pod_filter.py COMMAND...`.

The filter refuses what the default profile of container runtimes refuses to processes without CAP_SYS_ADMIN.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
import sys

from assay.cage.seccomp import _ANY_BIT, _ARGUMENT, _LOAD, _NEW_NAMESPACES, _Code
from assay.cage.syscalls import ARCHITECTURES, NUMBERS, PR_SET_SECCOMP, prctl

PR_SET_NO_NEW_PRIVS = 38
REFUSED = """
unshare setns mount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr bpf
perf_event_open keyctl add_key request_key kexec_load init_module finit_module delete_module reboot swapon swapoff
""".split()


def refuse_namespaces() -> None:
    """Put this process and all that it starts behind the filter."""
    import ctypes

    machine = platform.machine()
    code = _Code(NUMBERS[machine])
    code.deny(REFUSED, errno.EPERM)
    code.deny(["clone3"], errno.ENOSYS)
    code.when(["clone"], [(_LOAD, 0, 0, _ARGUMENT), (_ANY_BIT, 0, 1, _NEW_NAMESPACES)], errno.EPERM)
    steps = code.instructions(ARCHITECTURES[machine], x32=machine == "x86_64")
    text = b"".join(struct.pack("HBBI", *step) for step in steps)
    content = ctypes.create_string_buffer(text, len(text))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(content)), 16)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, 2, ctypes.addressof(head))


if __name__ == "__main__":
    refuse_namespaces()
    os.execvp(sys.argv[1], sys.argv[1:])
