"""Decide who has access: hosts, origins, tokens of people, and trusted proxies.

Pages of other sites are kept out by name (`Host`, against names that are pointed at this machine), by origin and by
what the browser says of the site that asks; there are no CORS headers. Whoever is not on this machine needs a token.
A token has 192 random bits, so that its SHA-256 gives nothing away and needs no salt; all hashes are compared, each in
constant time.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from assay.errors import InputError
from assay.io import files
from assay.io.endpoint_address import checked_url
from assay.io.files import alone

Message = MutableMapping[str, Any]
Headers = Mapping[str, Sequence[str]]
HEALTH, READINESS, FIGURES = "/healthz", "/readyz", "/metrics"
PROBES = frozenset((HEALTH, READINESS))
"""A health check need not know the name of the host; its answer says nothing else."""
HSTS = (b"strict-transport-security", b"max-age=31536000")
VARIABLE = "ASSAY_TOKEN"
_TOKEN = re.compile(r"[A-Za-z0-9._~-]{16,200}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_LINE = "NAME sha256:HASH"
_BYTES = 24
UNIX = "unix"
"""The address of a peer on a Unix socket."""
_PORTS = {"http": 80, "https": 443}
_URL_FORM = "https://NAME, such as https://code.example.com"


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The URL by which people open a server."""

    scheme: str
    host: str
    """The host as in `Host`: without the scheme's default port."""

    @property
    def is_secure(self) -> bool:
        """Return whether it is https."""
        return self.scheme == "https"

    @property
    def origin(self) -> str:
        """Return the origin of its pages."""
        return f"{self.scheme}://{self.host}"

    def is_at(self, host: str) -> bool:
        """Return whether a `Host` means this one, with or without the scheme's default port."""
        return host in {self.host, f"{self.host}:{_PORTS[self.scheme]}"}


def public_url(text: str) -> PublicUrl:
    """Parse a public URL; one with a path is refused, as a page would not find its files there."""
    parts = checked_url(text, "--public-url", _URL_FORM)
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        why = "with more than a host: give the server a name of its own"
        raise InputError(f"--public-url is {text!r}, {why}: {_URL_FORM}")
    host = (parts.hostname or "").lower()
    name = f"[{host}]" if ":" in host else host
    port = parts.port or _PORTS[parts.scheme]
    return PublicUrl(parts.scheme, name if port == _PORTS[parts.scheme] else f"{name}:{port}")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The accepted tokens; empty if no token is required."""

    hashes: tuple[tuple[str, str], ...] = ()
    """A name and a hash each; the empty name belongs to the token that everybody shares."""

    def owner(self, token: str) -> str | None:
        """Return the owner of a token; None if the token is unknown."""
        hashed = hash_of(token)
        found = [name for name, known in self.hashes if compare_digest(hashed, known)]
        return found[0] if found else None

    def __bool__(self) -> bool:
        """Return whether a token is required."""
        return bool(self.hashes)


def hash_of(token: str) -> str:
    """Return the hash of a token, as files store it."""
    return f"sha256:{sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def new_token() -> str:
    """Return a new random token."""
    return token_urlsafe(_BYTES)


def line_of(name: str, token: str) -> str:
    """Return the line of a person's token in a tokens file."""
    if not _NAME.fullmatch(name):
        raise InputError(f"'{name}' is not a valid name: use up to 64 letters, digits, '.', '_', '@', '+' and '-'")
    return f"{name} {hash_of(token)}"


def shared_token(token: str) -> Tokens:
    """Return the tokens of a server with one shared token."""
    if not _TOKEN.fullmatch(token):
        raise InputError(f"{VARIABLE} is not a valid token: use 16 or more letters, digits, '-', '.', '_' and '~'")
    return Tokens((("", hash_of(token)),))


def read_tokens(file: Path) -> Tokens:
    """Read a tokens file, which only its owner, and perhaps a group, may read."""
    hashes, _ = _entries(file)
    if not hashes:
        raise InputError(f"the tokens file '{file}' has no tokens: assay token NAME --tokens '{file}' adds a person")
    return Tokens(hashes)


def _entries(file: Path) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the names and hashes in a file, which may have none, and its text."""
    try:
        mode = file.stat().st_mode
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = f"{getattr(error, 'strerror', None) or 'it is not UTF-8 text'}; assay token NAME --tokens FILE makes one"
        raise InputError(f"cannot read the tokens file '{file}': {why}") from None
    if mode & (stat.S_IRWXO | stat.S_IWGRP):
        others = "may be read by everybody" if mode & stat.S_IROTH else "may be changed by others"
        raise InputError(f"the tokens file '{file}' {others}: chmod 600 '{file}' first")
    rows = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    hashes = tuple(_entry(line, f"{file}:{number}") for number, line in rows if line and not line.startswith("#"))
    names = [name for name, _ in hashes]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise InputError(f"the tokens file '{file}' names '{twice}' twice: remove one of the lines")
    return hashes, text


def add_token(file: Path, name: str) -> str:
    """Create a token for a person, store its hash in a file, and return the token, which is stored nowhere."""
    token = new_token()
    line = line_of(name, token)
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise InputError(f"cannot write the tokens file '{file}': {error.strerror}") from error
    with alone(file.with_name(f".{file.name}.lock")):
        known, before = _entries(file)
        if name in dict(known):
            raise InputError(f"the tokens file '{file}' has a token of '{name}': remove that line first")
        end = "" if not before or before.endswith("\n") else "\n"
        files.write(file, f"{before}{end}{line}\n")
    return token


def _entry(line: str, place: str) -> tuple[str, str]:
    name, _, known = line.partition(" ")
    if not _NAME.fullmatch(name) or not _HASH.fullmatch(known.strip()):
        raise InputError(f"{place} is not '{_LINE}': assay token NAME prints such a line")
    return name, known.strip()


@dataclass(frozen=True, slots=True)
class Refusal(Exception):  # an answer, not a fault
    """The answer to a request that is refused."""

    status: int
    what: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The rules of access."""

    port: int
    names: frozenset[str]
    """The names of the server; on the loopback address with its port, elsewhere with any."""
    tokens: Tokens = field(default_factory=Tokens)
    """None: everybody on this machine has access."""
    loopback: bool = True
    public: PublicUrl | None = None
    """The URL by which people open it, behind a proxy."""
    proxies: tuple[str, ...] = ()
    """Addresses and networks whose `X-Forwarded-For` is trusted; `unix`: everybody who may write to the socket."""

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token; all ports of a host share their cookies."""
        return f"assay-{self.port}"

    @property
    def extra_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Headers of every answer that depend on the public URL."""
        return (HSTS,) if self.public and self.public.is_secure else ()

    def host_of(self, path: str, headers: Headers) -> str:
        """Return the host that a request names, in lower case; refuse a host that is not this server."""
        hosts = headers.get("host", ())
        host = hosts[0].lower() if len(hosts) == 1 else ""
        if self.public and self.public.is_secure and "http" in headers.get("x-forwarded-proto", ()):
            raise Refusal(403, f"this request came over http: open {self.public.origin}")
        if not self._is_ours(host, path):
            raise Refusal(421, "the Host of this request is not this server")
        return host

    def check_site(self, scope: Message, headers: Headers, host: str) -> None:
        """Refuse requests by pages of other sites; only following a link to the page itself is harmless."""
        own = {self.public.origin} if self.public else {f"http://{host}", f"https://{host}"}
        foreign = [origin for origin in headers.get("origin", ()) if origin.lower() not in own]
        sites = set(headers.get("sec-fetch-site", ())) - {"same-origin", "none"}
        link = scope["path"] == "/" and scope["method"] == "GET" and headers.get("sec-fetch-mode") == ["navigate"]
        if foreign or (sites and not link):
            raise Refusal(403, "requests by other sites are not answered")

    def person(self, headers: Headers) -> str | None:
        """Return the owner of a request's token: empty if shared or not required, None if the token is wrong."""
        if not self.tokens:
            return ""
        bearers = [value for value in headers.get("authorization", ()) if value[:7].lower() == "bearer "]
        tokens = [value.partition(" ")[2] for value in bearers]
        if not tokens:  # other schemes are between the client and a proxy, other cookies of the host of other servers
            pairs = (each.strip().partition("=") for each in ";".join(headers.get("cookie", ())).split(";"))
            tokens = list(dict.fromkeys(value for name, _, value in pairs if name == self.cookie))
        return self.tokens.owner(tokens[0]) if len(tokens) == 1 else None

    def hand_over_cookie(self, scope: Message, headers: Headers) -> None:
        """Turn a token in the address of the page into a cookie, unless another site linked to it.

        Else another site could have somebody work under a name of its choice.
        """
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"))) if scope["path"] == "/" else {}
        token = query.get("token", "")
        if self.tokens and token and self.tokens.owner(token) is not None:
            if set(headers.get("sec-fetch-site", ())) - {"same-origin", "none"}:
                how = "copy the address and paste it into the address bar of the browser"
                raise Refusal(403, f"a link of another site brought this token, so it is not accepted: {how}")
            secure = "; Secure" if self.public and self.public.is_secure else ""
            cookie = f"{self.cookie}={token}; Path=/; HttpOnly; SameSite=Strict{secure}"
            raise Refusal(303, "see /", ((b"location", b"/"), (b"set-cookie", cookie.encode())))

    def _is_ours(self, host: str, path: str) -> bool:
        """Return whether a `Host` is this server: the public one, one of its names, or an IP address."""
        try:
            if self.public and (self.public.is_at(host) or path != FIGURES):
                return self.public.is_at(host)
            if self.loopback:
                plain = self.names if self.port == 80 else frozenset[str]()
                return host in {f"{name}:{self.port}" for name in self.names} | plain
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:  # no host at all
            return False
        return name in self.names or address_in(name) is not None


def headers_of(scope: Message) -> dict[str, list[str]]:
    """Return the headers of a request by their names in small letters."""
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def address_in(name: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address; None if a text is another name."""
    try:
        return ip_address(name)
    except ValueError:
        return None


def trusted_proxies(addresses: Sequence[str], *, unix: bool = False) -> tuple[str, ...]:
    """Return the networks of proxies as uvicorn compares them; an IPv4 one also as an IPv6 socket names it."""
    networks = [UNIX] if unix else []
    for text in addresses:
        try:
            network = ip_network(text, strict=False)
        except ValueError:
            usage = "use an address or a network, such as 127.0.0.1 or 10.0.0.0/8"
            raise InputError(f"--trusted-proxy {text!r} is not valid: {usage}") from None
        mapped = [f"::ffff:{network.network_address}/{96 + network.prefixlen}"] if network.version == 4 else []
        networks += [str(network), *mapped]
    return tuple(networks)


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """The options of access to a server."""

    host: str
    public_url: str = ""
    trusted: Sequence[str] = ()
    tokens: Path | None = None
    """A file of names and hashes."""
    token: str = ""
    """The token that everybody shares."""

    def wants_token(self, listener: socket.socket) -> bool:
        """Return whether a token was set, or others than programs of this machine can connect."""
        return bool(self.public_url or self.tokens or self.token) or not is_loopback(listener)


def rules_of(listener: socket.socket, options: AccessOptions) -> AccessRules:
    """Return the rules for a socket; if it is reachable from other machines, a token is required."""
    unix = listener.family == socket.AF_UNIX
    if unix and not options.public_url:
        raise InputError("a Unix socket is for a proxy, and needs --public-url: say where people open the server")
    if options.trusted and not options.public_url:
        raise InputError("--trusted-proxy needs --public-url: say where people open the server behind the proxy")
    names, loopback = {options.host.lower(), "localhost"}, is_loopback(listener)
    names |= {"127.0.0.1", "[::1]"} if loopback else {socket.gethostname().lower(), socket.getfqdn().lower()}
    port = 0 if unix else listener.getsockname()[1]
    tokens = _tokens(listener, options)
    public = public_url(options.public_url) if options.public_url else None
    proxies = trusted_proxies(options.trusted, unix=unix)
    return AccessRules(port, frozenset(names), tokens, loopback=loopback, public=public, proxies=proxies)


def is_loopback(listener: socket.socket) -> bool:
    """Return whether a socket is reachable from this machine only."""
    return listener.family == socket.AF_UNIX or ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def address_of(listener: socket.socket, options: AccessOptions) -> str:
    """Return the URL of a socket for a browser; for any address of this machine, with the machine's name."""
    if options.public_url:
        return f"{public_url(options.public_url).origin}/"
    address, port = listener.getsockname()[:2]
    name = socket.gethostname() if ip_address(address.partition("%")[0]).is_unspecified else options.host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


def _tokens(listener: socket.socket, options: AccessOptions) -> Tokens:
    if not options.wants_token(listener):
        return Tokens()
    if not options.tokens:
        return shared_token(options.token)
    if options.token:
        raise InputError(f"--tokens and {VARIABLE} were given: unset {VARIABLE}, or leave the file out")
    return read_tokens(options.tokens)


_AT_PATH = "unix:"
"""The prefix of a host that is the path of a Unix socket."""
BACKLOG = 2048
"""Connections that wait to be accepted, at most."""


def listening(host: str, port: int, option: str = "--port") -> socket.socket:
    """Return a listening socket, port 0 being any, or raise InputError; `option` is what chose the port."""
    if host.startswith(_AT_PATH):
        return _listening_at(Path(host.removeprefix(_AT_PATH)))
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        sock = socket.socket(family, kind, protocol)  # with its protocol, or small answers wait 40 ms for an ACK
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen(BACKLOG)
        except BaseException:
            sock.close()
            raise
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(f"cannot listen on {host}, port {port}: {_why(error, option)}") from error
    sock.setblocking(False)
    return sock


def _listening_at(path: Path) -> socket.socket:
    """Return a listening Unix socket for its owner and group; a socket without a listener is replaced."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket() and sock.connect_ex(str(path)) == errno.ECONNREFUSED:
            path.unlink()
        sock.bind(str(path))
        path.chmod(0o660)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        why = error.strerror or error
        raise InputError(f"cannot listen on {_AT_PATH}{path}: {why}; give another --host") from error
    sock.setblocking(False)
    return sock


def _why(error: Exception, option: str) -> str:
    """Return what is wrong with an address, and what to use instead."""
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return "unknown host; give another --host"
    if isinstance(error, OSError) and error.errno in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
        return "not an address of this machine; give another --host, such as 127.0.0.1"
    return f"{getattr(error, 'strerror', None) or error}; give another {option}, or 0 for any"
