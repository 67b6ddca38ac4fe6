"""A socket and what a server was given to who may ask it, and to where people open it."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from assay.errors import InputError
from assay.serve.http.access import AccessRules
from assay.serve.http.access_tokens import VARIABLE, Tokens, read_tokens, shared_token
from assay.serve.http.forwarding import public_url, trusted_proxies


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """What whoever starts a server says about who may ask it."""

    host: str
    public_url: str = ""
    trusted: Sequence[str] = ()
    tokens: Path | None = None
    """A file of names and hashes."""
    token: str = ""
    """The one that everybody shares."""

    def wants_token(self, listener: socket.socket) -> bool:
        """Say whether others than programs of this machine can ask."""
        return bool(self.public_url or self.tokens) or not is_loopback(listener)


def rules_of(listener: socket.socket, given: AccessOptions) -> AccessRules:
    """Return who may ask a socket that was made for a host; others than this machine need a token."""
    unix = listener.family == socket.AF_UNIX
    if unix and not given.public_url:
        raise InputError("a Unix socket is for a proxy, and needs --public-url: say where people open the server")
    if given.trusted and not given.public_url:
        raise InputError("--trusted-proxy needs --public-url: say where people open the server behind the proxy")
    names, loopback = {given.host.lower(), "localhost"}, is_loopback(listener)
    names |= {"127.0.0.1", "[::1]"} if loopback else {socket.gethostname().lower(), socket.getfqdn().lower()}
    return AccessRules(
        0 if unix else listener.getsockname()[1],
        frozenset(names),
        _tokens(listener, given),
        loopback=loopback,
        public=public_url(given.public_url) if given.public_url else None,
        proxies=trusted_proxies(given.trusted, unix=unix),
    )


def is_loopback(listener: socket.socket) -> bool:
    """Say whether only this machine reaches a socket."""
    return listener.family == socket.AF_UNIX or ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def address_of(listener: socket.socket, given: AccessOptions) -> str:
    """Return where a browser finds what listens; for any address of this machine by the machine's name."""
    if given.public_url:
        return f"{public_url(given.public_url).origin}/"
    address, port = listener.getsockname()[:2]
    name = socket.gethostname() if ip_address(address.partition("%")[0]).is_unspecified else given.host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


def _tokens(listener: socket.socket, given: AccessOptions) -> Tokens:
    if not given.wants_token(listener):
        return Tokens()
    if not given.tokens:
        return shared_token(given.token)
    if given.token:
        raise InputError(f"--tokens and {VARIABLE} were given: unset {VARIABLE}, or leave the file out")
    return read_tokens(given.tokens)
