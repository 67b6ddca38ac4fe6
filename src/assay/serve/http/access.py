"""A request's headers in, who asks out: refused are other hosts, pages of other sites, and whoever has no token.

Pages of other sites are kept out by name (`Host`, against names that are pointed at this machine), by origin and by
what the browser says of the site that asks; there are no CORS headers. Whoever is not on this machine needs a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from assay.serve.http.access_tokens import Tokens
from assay.serve.http.forwarding import Asker, Misled, PublicUrl, TrustedProxies, asker_of

Message = MutableMapping[str, Any]
Headers = Mapping[str, Sequence[str]]
HEALTH, READINESS, FIGURES = "/healthz", "/readyz", "/metrics"
PROBES = frozenset((HEALTH, READINESS))
"""Whoever looks whether the server works need not know what it is called; the answer says nothing else."""
_HTTP = 80
HSTS = (b"strict-transport-security", b"max-age=31536000")


@dataclass(frozen=True, slots=True)
class Refusal(Exception):  # an answer, not a fault
    """What is answered instead."""

    status: int
    what: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Who may ask."""

    port: int
    names: frozenset[str]
    """What the server is called; on the loopback address with its port, elsewhere with any."""
    tokens: Tokens = field(default_factory=Tokens)
    """None: whoever is on this machine may ask."""
    loopback: bool = True
    public: PublicUrl | None = None
    """Where people open it, if a proxy stands before it."""
    proxies: TrustedProxies = field(default_factory=TrustedProxies)

    @property
    def cookie(self) -> str:
        """What the cookie with the token is called; cookies of one host are shared by all its ports."""
        return f"assay-{self.port}"

    @property
    def extra_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Headers of every answer that depend on where people open it."""
        return (HSTS,) if self.public and self.public.is_secure else ()

    def asker(self, peer: str, path: str, headers: Headers) -> Asker:
        """Return who asks, where what a proxy says can be believed and the host is this server."""
        try:
            asker = asker_of(peer, headers, self.public, self.proxies)
        except Misled as error:
            raise Refusal(403, str(error)) from None
        if not self._is_ours(asker.host, path):
            raise Refusal(421, "the Host of this request is not this server")
        return asker

    def check_site(self, scope: Message, headers: Headers, host: str) -> None:
        """Refuse what a page of another site asks for; only following a link to the page itself is nobody's harm."""
        own = {self.public.origin} if self.public else {f"http://{host}", f"https://{host}"}
        foreign = [origin for origin in headers.get("origin", ()) if origin.lower() not in own]
        sites = set(headers.get("sec-fetch-site", ())) - {"same-origin", "none"}
        link = scope["path"] == "/" and scope["method"] == "GET" and headers.get("sec-fetch-mode") == ["navigate"]
        if foreign or (sites and not link):
            raise Refusal(403, "asked by another site, which this server does not answer")

    def person(self, headers: Headers) -> str | None:
        """Return whose token a request brings: empty where one is shared or none is wanted, None for a wrong one."""
        if not self.tokens:
            return ""
        given = [value.partition(" ")[2] for value in headers.get("authorization", ()) if _is_bearer(value)]
        if not given:  # other schemes are between the client and a proxy
            given = list(dict.fromkeys(_cookies(headers, self.cookie)))
        return self.tokens.owner(given[0]) if len(given) == 1 else None

    def hand_over_cookie(self, scope: Message, headers: Headers) -> None:
        """Give who brings a token in the address of the page that token as a cookie; a link elsewhere brings none.

        Else another site could have somebody work under a name of its choice.
        """
        asked = dict(parse_qsl(scope["query_string"].decode("latin-1"))) if scope["path"] == "/" else {}
        token = asked.get("token", "")
        if self.tokens and token and self.tokens.owner(token) is not None:
            if set(headers.get("sec-fetch-site", ())) - {"same-origin", "none"}:
                how = "copy the address and paste it into the address bar of the browser"
                raise Refusal(403, f"a link of another site brought this token, so it is not taken: {how}")
            secure = "; Secure" if self.public and self.public.is_secure else ""
            kept = f"{self.cookie}={token}; Path=/; HttpOnly; SameSite=Strict{secure}"
            raise Refusal(303, "see /", ((b"location", b"/"), (b"set-cookie", kept.encode())))

    def _is_ours(self, host: str, path: str) -> bool:
        """Say whether a `Host` is this server: the public one, else one of its names or a bare address."""
        try:
            if self.public and (self.public.is_at(host) or path != FIGURES):
                return self.public.is_at(host)
            if self.loopback:
                return host in {f"{name}:{self.port}" for name in self.names} or (
                    self.port == 80 and host in self.names
                )
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:  # no host at all
            return False
        return name in self.names or _is_address(name)


def headers_of(scope: Message) -> dict[str, list[str]]:
    """Return the headers of a request by their names in small letters."""
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _cookies(headers: Headers, name: str) -> Iterable[str]:
    """Return the values of a cookie; what other cookies of the host look like is nobody's business."""
    for each in ";".join(headers.get("cookie", ())).split(";"):
        known, _, value = each.strip().partition("=")
        if known == name:
            yield value


def _is_bearer(value: str) -> bool:
    return value[:7].lower() == "bearer "


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
