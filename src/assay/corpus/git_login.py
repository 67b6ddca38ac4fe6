"""The URL of a repository in, the same without its name and password out, and how git learns these all the same.

A login in an argument would be seen by everybody on the machine, and git would write it into the clone. Git reads
settings from its environment, too, which only the same user can look at: there they name a helper that answers with the
login, to that host alone. A URL is never one with a login, for git gives its URL to another program as an argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from assay.errors import InputError
from assay.io.endpoints import Mask

_LOGIN = re.compile(r"(https?://)([^/?#\s]+)@(.*)", re.DOTALL | re.IGNORECASE)
_ANY_LOGIN = re.compile(r"([a-z][\w+.-]*://).*@", re.DOTALL | re.IGNORECASE)
_NAME, _PASSWORD = "ASSAY_GIT_NAME", "ASSAY_GIT_PASSWORD"
_HELPER = f"""!f() {{ test "$1" = get && printf 'username=%s\\npassword=%s\\n' "${_NAME}" "${_PASSWORD}"; }}; f"""


def split_login(url: str) -> tuple[str, str]:
    """Return a URL without the login in it, and the login; that of ssh is a name alone, which stays.

    >>> split_login("https://ann:secret@example.org/a.git")
    ('https://example.org/a.git', 'ann:secret')
    >>> split_login("ssh://git@example.org/a.git")
    ('ssh://git@example.org/a.git', '')
    """
    found = _LOGIN.fullmatch(url)
    return (found[1] + found[3], found[2]) if found else (url, "")


def with_login(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what to add to an environment so that git fetches from a URL that it is given without its login."""
    plain, login = split_login(url)
    if not login:
        return {}
    name, colon, password = (unquote(part) for part in login.partition(":"))
    if any(sign in name + password for sign in "\0\r\n"):
        raise InputError(f"cannot get {plain}: its login holds a line break")
    scope = f"credential.{'/'.join(plain.split('/')[:3])}"
    if not colon:  # whoever else knows the password is asked for it
        return _git_configuration(environment, [(f"{scope}.username", name)])
    no_others = ("credential.helper", "")  # one of the user would write the password down
    settings = [no_others, (f"{scope}.helper", ""), (f"{scope}.helper", _HELPER)]
    return {**_git_configuration(environment, settings), _NAME: name, _PASSWORD: password}


def _git_configuration(environment: Mapping[str, str], settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return what to add to an environment so that git has some settings, behind those that stand there."""
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
    """Return what may be a URL without anything that may be a login: all before its last @.

    >>> without_login("FTP://ann:my secret/of @home@example.org/a")
    'FTP://example.org/a'
    """
    return _ANY_LOGIN.sub(r"\1", text)
