"""What a proxy says about a request in, who asks and for which host out; only proxies that are trusted are believed.

Without a public URL, what is said in `X-Forwarded-*` is nobody's business and is passed over. With one, a stranger who
says such things is refused: most likely it is the server's own proxy, which nobody named, and all people behind it
would share one pace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from assay.errors import InputError
from assay.io.endpoints import checked_url

FOR, PROTO, HOST = "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"
UNIX = "unix"
"""What a peer on a Unix socket is called; whoever may write to the socket is trusted."""
_PORTS = {"http": 80, "https": 443}
_WANTED = "https://NAME, such as https://code.example.com"


class Misled(Exception):
    """What a proxy said cannot be believed."""


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """Where people open a server."""

    scheme: str
    host: str
    """As `Host` names it: without the port where that is the scheme's own."""

    @property
    def is_secure(self) -> bool:
        """Say whether it is https."""
        return self.scheme == "https"

    @property
    def origin(self) -> str:
        """Return the origin of its pages."""
        return f"{self.scheme}://{self.host}"

    def is_at(self, host: str) -> bool:
        """Say whether a `Host` means this one, with the scheme's own port or without."""
        return host in {self.host, f"{self.host}:{_PORTS[self.scheme]}"}


def public_url(text: str) -> PublicUrl:
    """Return the parts of a public URL; one below a path is refused, for a page would not find its files there."""
    parts = checked_url(text, "--public-url", _WANTED)
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise InputError(
            f"--public-url is {text!r}, with more than a host: give the server a name of its own: {_WANTED}"
        )
    host = (parts.hostname or "").lower()
    name = f"[{host}]" if ":" in host else host
    port = parts.port or _PORTS[parts.scheme]
    return PublicUrl(parts.scheme, name if port == _PORTS[parts.scheme] else f"{name}:{port}")


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks for what, as far as addresses go."""

    address: str
    host: str
    """In small letters; empty where none was named, or several were."""


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """Proxies whose word counts."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    unix: bool = False

    def __contains__(self, address: str) -> bool:
        """Say whether an address is one of them."""
        if address == UNIX:
            return self.unix
        try:
            found = _plain(ip_address(address.partition("%")[0]))
        except ValueError:
            return False
        return any(found.version == each.version and found in each for each in self.networks)


def trusted_proxies(given: Sequence[str], *, unix: bool = False) -> TrustedProxies:
    """Return the proxies of some addresses and networks, with whoever may write to a Unix socket where it is one."""
    networks = []
    for text in given:
        try:
            networks.append(ip_network(text, strict=False))
        except ValueError:
            wanted = "an address or a network, such as 127.0.0.1 or 10.0.0.0/8"
            raise InputError(f"--trusted-proxy is {text!r}; wanted {wanted}") from None
    return TrustedProxies(tuple(networks), unix)


def asker_of(
    peer: str, headers: Mapping[str, Sequence[str]], public: PublicUrl | None, proxies: TrustedProxies
) -> Asker:
    """Return who asks for which host; raise `Misled` where what is said about that cannot be true."""
    hosts = headers.get("host", ())
    host = hosts[0].lower() if len(hosts) == 1 else ""
    said = [name for name in (FOR, PROTO, HOST) if name in headers]
    if not public or not said:
        return Asker(peer, host)
    if peer not in proxies:
        raise Misled(f"{said[0].title()} came from {peer}, which is no --trusted-proxy of this server")
    proto = headers.get(PROTO, [public.scheme])
    if proto != [public.scheme]:
        raise Misled(f"the proxy was asked over {', '.join(proto)[:20]}: open {public.origin}")
    if HOST in headers:
        named = headers[HOST]
        host = named[0].lower() if len(named) == 1 else ""
    return Asker(_first_stranger(peer, headers.get(FOR, ()), proxies), host)


def _first_stranger(peer: str, lines: Sequence[str], proxies: TrustedProxies) -> str:
    """Return the last address on the way that is not one of the proxies: all before it may be made up."""
    for text in reversed([each.strip() for each in ",".join(lines).split(",") if each.strip()]):
        try:
            peer = str(_plain(ip_address(text)))
        except ValueError:
            raise Misled("X-Forwarded-For of the proxy holds what is no address") from None
        if peer not in proxies:
            break
    return peer


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return an IPv4 address that is written as an IPv6 one as it is."""
    return getattr(address, "ipv4_mapped", None) or address
