"""Send small messages with open files between the supervisor and a cage: one packet, one JSON object.

What programs and judges read never passes through the fork server's own memory, which all of them are copies of: it
lies in sealed memory files whose descriptors travel beside the message. So do the files that they write to. No program
can search its own heap for the expected values of a judge, nor for another program.
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import socket
from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import Any

_MAX_READ_BYTES = 1 << 20
_FILES = 16
_SEALS = 0xF
"""F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE: nobody changes the file from here on."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected ends that keep messages apart."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(end: socket.socket, message: object, files: Sequence[int] = ()) -> None:
    """Send a message, and a copy of each open file."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
    end.sendmsg([json.dumps(message).encode()], rights)


def receive(end: socket.socket) -> tuple[Any, list[int]]:
    """Return the next message with its files, or None where the other end is closed."""
    room = socket.CMSG_LEN(_FILES * array.array("i").itemsize)
    data, rights, _, _ = end.recvmsg(_MAX_READ_BYTES, room, socket.MSG_CMSG_CLOEXEC)
    files = array.array("i")
    for _, _, content in rights:
        files.frombytes(content[: len(content) - len(content) % files.itemsize])
    return (json.loads(data) if data else None), list(files)


def sealed_file(content: bytes) -> int:
    """Return an in-memory file with this content, at its start, that cannot be changed."""
    if not hasattr(os, "memfd_create"):
        return _temporary(content)
    file = os.memfd_create("given", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEALS)
    return file


def empty_file() -> int:
    """Return an empty in-memory file; every write appends."""
    in_memory = hasattr(os, "memfd_create")
    file = os.memfd_create("taken", os.MFD_CLOEXEC) if in_memory else _temporary(b"")
    fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
    return file


def write(file: int, content: bytes) -> None:
    """Write all of it."""
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def read(file: int) -> bytes:
    """Return the whole content of a file."""
    size = os.fstat(file).st_size
    return os.pread(file, size, 0)


def _temporary(content: bytes) -> int:
    """Return a file without a name, where the system has no files of memory."""
    with TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        return os.dup(file.fileno())
