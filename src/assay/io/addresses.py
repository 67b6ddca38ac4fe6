"""The environment in, where an OpenAI-compatible endpoint is and which variable holds its key out.

`ASSAY_API_BASE` names the endpoint of everything that asks a model, and `ASSAY_API_KEY` is the key for it. Without a
base a provider's own address is asked, with the provider's own variable. A key goes only there or to an address that
the environment names, never to one that stands in a file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from assay.errors import InputError

BASE, KEY = "ASSAY_API_BASE", "ASSAY_API_KEY"
OPENAI_URL, OPENAI_BASE, OPENAI_KEY = "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"


def first_set(names: Sequence[str]) -> str:
    """Return the first of some variables that says something, or nothing."""
    return next((name for name in names if os.environ.get(name, "").strip()), "")


def key_in(variable: str) -> str:
    """Return the key that a variable holds, or nothing."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"{variable} holds characters that no key has: copy it again")
    return key


def checked_base(url: str, what: str) -> str:
    """Return the address of an endpoint without its last slash."""
    parts = checked_url(url, what, "http://HOST:PORT/v1 or https://HOST/v1")
    if parts.query or parts.fragment:
        raise InputError(f"{what} is {url!r}; wanted http://HOST:PORT/v1 or https://HOST/v1")
    return url.rstrip("/")


def checked_url(url: str, what: str, wanted: str) -> SplitResult:
    """Return the parts of a URL; one with a password in it would stand in every record."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"{what} is not a URL: {error}") from error
    if parts.username or parts.password:
        raise InputError(f"{what} of {host} has a name or password in it; keys come from the environment")
    if not url.isprintable() or " " in url or parts.scheme not in {"http", "https"} or not host:
        raise InputError(f"{what} is {url!r}; wanted {wanted}")
    return parts
