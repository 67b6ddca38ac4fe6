"""Decide which repositories a server clones for its clients, and keep git from reaching any other place for them.

A client is an agent that reads what strangers wrote: a URL may be made to carry data out, or to reach a service of this
machine or its network. So nothing is cloned unless the server was started so, and then from public addresses only: a
name is looked up here, and git is told the address that was checked, and to follow no redirect.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv6Address, ip_address

from assay.errors import InputError

_HTTPS = re.compile(
    r"https://(?:[^/@\s\\?#]*@)?(?P<host>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?(?:/[^\s\\]*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CloneRules:
    """What a server clones for its clients: by default nothing."""

    schemes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Globs of the hosts that are allowed; none is any public host."""

    def check(self, url: str) -> None:
        """Raise InputError for a URL that is not to be cloned, before any name is looked up."""
        if not self.schemes:
            raise InputError(f"'{url}' is not served: cloning is off; start the server with --clone")
        if (url.partition("://")[0] if "://" in url else "ssh") not in self.schemes:
            raise InputError(f"'{url}' is not served: give a URL of {' or '.join(self.schemes)}")
        if url.startswith("https:"):
            host, _ = _host_of(url)
            if self.hosts and not any(fnmatchcase(host, allowed.lower()) for allowed in self.hosts):
                raise InputError(f"'{url}' is not served: only repositories of {', '.join(self.hosts)} are cloned")

    def git_options(self, url: str) -> tuple[str, ...]:
        """Return what keeps git to the address of a URL; raise InputError where that is not a public one."""
        if not url.startswith("https:"):
            return ()
        host, port = _host_of(url)
        try:
            found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise InputError(f"cannot get {url}: the host '{host}' was not found") from error
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if not all(map(_is_public, addresses)):
            raise InputError(f"'{url}' is not served: '{host}' is in this machine's own network")
        pinned = f"http.curloptResolve={host.strip('[]')}:{port}:{','.join(addresses)}"
        return "-c", "http.followRedirects=false", "-c", pinned


def _host_of(url: str) -> tuple[str, int]:
    parts = _HTTPS.fullmatch(url)
    if parts is None:
        raise InputError(f"'{url}' is not served: not an https URL of a repository")
    return parts["host"].lower(), int(parts["port"] or 443)


def _is_public(text: str) -> bool:
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address.sixtofour or address
    return address.is_global and not address.is_multicast
