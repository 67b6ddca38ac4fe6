"""Parse URLs of repositories: their names and logins, and which ones a server may clone for its clients.

A login in an argument would be seen by everybody on the machine, and git would write it into the clone. Git reads
settings from its environment, too, which only the same user can look at: there they name a helper that answers with the
login, to that host alone. A client of a server is an agent that reads what strangers wrote: a URL may be made to carry
data out, or to reach a service of this machine or its network. So nothing is cloned unless the server was started so,
and then from public addresses only: a name is looked up here, and git is given the address that was checked, and
follows no redirect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import quote, unquote, urlsplit

from assay.errors import InputError
from assay.io.endpoint_address import Mask

_URL = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")
_LOGIN = re.compile(r"(https?://)([^/?#\s]+)@(.*)", re.DOTALL | re.IGNORECASE)
_ANY_LOGIN = re.compile(r"([a-z][\w+.-]*://).*@", re.DOTALL | re.IGNORECASE)
_NAME, _PASSWORD = "ASSAY_GIT_NAME", "ASSAY_GIT_PASSWORD"
_HELPER = f"""!f() {{ test "$1" = get && printf 'username=%s\\npassword=%s\\n' "${_NAME}" "${_PASSWORD}"; }}; f"""


def is_url(text: str) -> bool:
    """Say whether a text is the URL of a repository rather than a path."""
    return _URL.fullmatch(text) is not None


def split_login(url: str) -> tuple[str, str]:
    """Split a URL into the URL without login, and the login; the user name of an ssh URL stays.

    >>> split_login("https://ann:secret@example.org/a.git")
    ('https://example.org/a.git', 'ann:secret')
    >>> split_login("ssh://git@example.org/a.git")
    ('ssh://git@example.org/a.git', '')
    """
    found = _LOGIN.fullmatch(url)
    return (found[1] + found[3], found[2]) if found else (url, "")


def with_login(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables with which git fetches from a URL whose login was split off."""
    plain, login = split_login(url)
    if not login:
        return {}
    name, colon, password = (unquote(part) for part in login.partition(":"))
    if any(sign in name + password for sign in "\0\r\n"):
        raise InputError(f"cannot get {plain}: its login contains a line break")
    scope = f"credential.{'/'.join(plain.split('/')[:3])}"
    if not colon:  # whoever else knows the password is asked for it
        return _git_configuration(environment, [(f"{scope}.username", name)])
    no_others = ("credential.helper", "")  # one of the user would write the password down
    settings = [no_others, (f"{scope}.helper", ""), (f"{scope}.helper", _HELPER)]
    return {**_git_configuration(environment, settings), _NAME: name, _PASSWORD: password}


def _git_configuration(environment: Mapping[str, str], settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the environment variables that add settings to git's, behind those already set."""
    count = environment.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    more = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings, first):
        more |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return more


def mask_login(text: str, url: str) -> str:
    """Return a text without the login of a URL, whole or in parts."""
    plain, login = split_login(url)
    if not login:
        return text
    name, _, password = login.partition(":")
    text = text.replace(url, plain).replace(f"{login}@", "")
    secret = password or name
    return Mask([login, secret, unquote(secret), quote(unquote(secret), safe="")]).hide(text)


def without_login(text: str) -> str:
    """Return a possible URL without anything that may be a login: all before its last @.

    >>> without_login("FTP://ann:my secret/of @home@example.org/a")
    'FTP://example.org/a'
    """
    return _ANY_LOGIN.sub(r"\1", text)


_HTTPS = re.compile(
    r"https://(?:[^/@\s\\?#]*@)?(?P<host>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?(?:/[^\s\\]*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CloneRules:
    """Which repositories a server clones for its clients: by default none."""

    schemes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Globs of the hosts that are allowed; none is any public host."""

    def check(self, url: str) -> None:
        """Raise InputError for a URL that must not be cloned, before any host is resolved."""
        if not self.schemes:
            raise InputError(f"'{url}' is not served: cloning is off; start the server with --clone")
        if (url.partition("://")[0] if "://" in url else "ssh") not in self.schemes:
            raise InputError(f"'{url}' is not served: give a URL of {' or '.join(self.schemes)}")
        if url.startswith("https:"):
            host, _ = _host_of(url)
            if self.hosts and not any(fnmatchcase(host, allowed.lower()) for allowed in self.hosts):
                raise InputError(f"'{url}' is not served: only repositories of {', '.join(self.hosts)} are cloned")

    def git_options(self, url: str) -> tuple[str, ...]:
        """Return the options that pin git to the address of a URL; raise InputError if that is not public."""
        if not url.startswith("https:"):
            return ()
        host, port = _host_of(url)
        import socket  # 3 ms, and only a server that clones needs it

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
    from ipaddress import IPv6Address, ip_address

    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address.sixtofour or address
    return address.is_global and not address.is_multicast


_SCP = re.compile(r"(?:[^@/]+@)?([\w.-]+):(?!/{2})(.+)")
_OTHER = re.compile(r"[^\w.+~-]+", re.ASCII)


def normalized_origin(url: str) -> str:
    """Return `github.com/owner/name` for any URL of that repository; empty without a host.

    >>> normalized_origin("https://user:token@GitHub.com/owner/name.git")
    'github.com/owner/name'
    >>> normalized_origin("git@github.com:owner/name.git")
    'github.com/owner/name'
    >>> normalized_origin("/srv/git/name.git")
    ''
    """
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, path = parts.hostname or "", parts.path
        except ValueError:
            return ""
        if parts.scheme == "file":
            return ""
    elif found := _SCP.fullmatch(url):
        host, path = found[1].lower(), found[2]
    else:
        return ""
    host, path = plain_name(host), plain_name(path.strip("/").removesuffix(".git"))
    return f"{host}/{path}" if host and path else ""


def plain_name(text: str) -> str:
    """Return a path with only letters, digits and . _ + ~ - in its parts."""
    parts = (_OTHER.sub("-", part) for part in text.split("/"))
    return "/".join(part for part in parts if part.strip("."))
