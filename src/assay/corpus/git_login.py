"""The URL of a repository in, the same without its name and password out, and how git learns these all the same.

A login in an argument would be seen by everybody on the machine, and git would write it into the clone. Git reads
settings from its environment, too, which only the same user can look at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from assay.io.masks import Mask

_LOGIN = re.compile(r"(https?://)([^/@\s]+)@(.*)", re.DOTALL)


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
    count = environment.get("GIT_CONFIG_COUNT", "")
    number = int(count) if count.isdecimal() else 0
    key = f"url.{url}.insteadOf"
    return {
        "GIT_CONFIG_COUNT": str(number + 1),
        f"GIT_CONFIG_KEY_{number}": key,
        f"GIT_CONFIG_VALUE_{number}": plain,
    }


def masked(text: str, url: str) -> str:
    """Return a text without the login of a URL, whole or in parts."""
    plain, login = split_login(url)
    if not login:
        return text
    name, _, password = login.partition(":")
    text = text.replace(url, plain).replace(f"{login}@", "")
    return Mask([login, password or name, unquote(password or name)]).hide(text)
