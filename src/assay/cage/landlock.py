"""Restrict the files of a process that has no root of its own by Landlock, from ABI 1 (kernel 5.13) on.

Rules name folders by open descriptors; what no rule allows is refused. What Landlock does not cover in the running
kernel (datagrams, sockets in folders, modes and times of files) seccomp refuses in the same sandboxes.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from assay.cage.syscalls import call

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_DEVICE = (1 << 6) | (1 << 11)
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_SINCE = (2, 3, 5)
"""Versions that each added a right to the first 13: to move between folders, to truncate, to control devices."""
_NETWORK, _SCOPES = 3, 3
"""Bind and connect TCP; abstract sockets and signals."""


def abi() -> int:
    """Return the Landlock ABI version of the kernel, 0 without Landlock."""
    try:
        return call("landlock_create_ruleset", 0, 0, 1)
    except (OSError, KeyError):
        return 0


def rules(
    version: int,
    readable: Iterable[str],
    writable: Iterable[str],
    devices: Iterable[str] = (),
    *,
    own_network: bool = False,
) -> int:
    """Return the descriptor of a ruleset: paths to read and run, folders to write in, files to write to.

    TCP is refused, but not to processes with a network of their own, where it reaches nothing else.
    """
    known = (1 << 13 + sum(version >= since for since in _SINCE)) - 1
    network = _NETWORK if version >= 4 and not own_network else 0
    head = struct.pack("QQQ", known, network, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = call("landlock_create_ruleset", ctypes.create_string_buffer(head, len(head)), size, 0)
    os.set_inheritable(ruleset, False)
    for path in readable:
        _allow(ruleset, path, _READING & known)
    for path in writable:
        _allow(ruleset, path, known & ~_MAKE_DEVICE)
    for path in devices:
        _allow(ruleset, path, (_READ_FILE | _WRITE_FILE) & known)
    return ruleset


def restrict(ruleset: int) -> None:
    """Apply the rules to this process and all that it starts; it must have given up new privileges before."""
    call("landlock_restrict_self", ruleset, 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Add one rule; a missing path needs none."""
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        allowed = rights if os.path.isdir(path) else rights & _OF_A_FILE
        rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, beneath), 12)
        call("landlock_add_rule", ruleset, 1, rule, 0)
    finally:
        os.close(beneath)
