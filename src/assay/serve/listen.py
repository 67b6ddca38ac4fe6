"""An address to a socket that listens there: what a server needs before it may say that it serves."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

from assay.errors import InputError

UNIX = "unix:"
"""How a host begins that is the path of a Unix socket."""
BACKLOG = 2048
"""Connections that wait to be accepted, at most."""


def listening(host: str, port: int, option: str = "--port") -> socket.socket:
    """Return a socket that listens, 0 being any port, or say why none can; `option` is what chose the port."""
    if host.startswith(UNIX):
        return _listening_at(Path(host.removeprefix(UNIX)))
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        made = socket.socket(family, kind, protocol)  # with its protocol, or small answers wait 40 ms for an ACK
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(BACKLOG)
        except BaseException:
            made.close()
            raise
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(f"cannot listen on {host}, port {port}: {_why(error, option)}") from error
    made.setblocking(False)
    return made


def _listening_at(path: Path) -> socket.socket:
    """Return a Unix socket that listens, for its owner and group; one that nobody listens to any more is replaced."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket() and made.connect_ex(str(path)) == errno.ECONNREFUSED:
            path.unlink()
        made.bind(str(path))
        path.chmod(0o660)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise InputError(f"cannot listen on {UNIX}{path}: {error.strerror or error}; give another --host") from error
    made.setblocking(False)
    return made


def _why(error: Exception, option: str) -> str:
    """Return what is wrong with an address, and what to give in its place."""
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return "unknown host; give another --host"
    if isinstance(error, OSError) and error.errno in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
        return "that is no address of this machine; give another --host, such as 127.0.0.1"
    return f"{getattr(error, 'strerror', None) or error}; give another {option}, or 0 for any"
