"""A request to whether it comes from this machine: only then an editor there can open the files that are served."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import Request


def is_same_machine(request: Request) -> bool:
    """Say whether a request came from this machine and by a name of it that no other machine has.

    What a proxy passes on says so, and into a container it comes from another address. A forwarded port cannot be
    told from this machine.
    """
    client = request.client.host if request.client else ""
    if any(name.startswith("x-forwarded-") for name in request.headers):
        return False
    name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    return _is_loopback(client) and (name == "localhost" or _is_loopback(name))


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False
