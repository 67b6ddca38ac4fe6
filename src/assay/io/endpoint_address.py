"""Read endpoint URLs and API keys from the environment, and mask the keys in texts.

`ASSAY_API_BASE` names the endpoint of everything that asks a model, and `ASSAY_API_KEY` is the key for it. Without a
base a provider's own address is asked, with the provider's own variable. A key goes only there or to an address that
the environment names, never to one that stands in a file.

A service that echoes what it was sent would otherwise put a key into messages, records and tracebacks: whole, cut off
somewhere, with escapes of JSON or of URLs. What is shorter than six characters is a placeholder and hidden nowhere,
for it stands in ordinary words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from assay.errors import InputError

BASE, KEY = "ASSAY_API_BASE", "ASSAY_API_KEY"
_BARE_ADDRESS = re.compile(r"@((?:localhost|[\w.-]+(?=:\d))(?::\d+)?(?:/\S*)?)$", re.ASCII)
OPENAI_URL, OPENAI_BASE, OPENAI_KEY = "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"


def split_address(argument: str) -> tuple[str, str]:
    """Return the model and the address of `MODEL@URL`; the address is empty if none is given.

    A name may hold an @ of its own. What looks like an address without `http://` is refused, for it would be taken for
    a part of the name.
    """
    model, at, rest = argument.partition("@http")
    if at and rest.startswith((":", "s:")):
        return model, f"http{rest}"
    if bare := _BARE_ADDRESS.search(argument):
        raise InputError(
            f"'{argument}': the address has no http:// or https://; write {argument[: bare.start()]}@http://{bare[1]}"
        )
    return argument, ""


def first_set(names: Sequence[str]) -> str:
    """Return the first of some variables that is set and not empty; empty without one."""
    return next((name for name in names if os.environ.get(name, "").strip()), "")


def key_in(variable: str) -> str:
    """Return the key in a variable; empty without one."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"{variable} has characters that keys cannot have: copy it again")
    return key


def checked_base(url: str, what: str) -> str:
    """Return the checked address of an endpoint, without its last slash."""
    parts = checked_url(url, what, "http://HOST:PORT/v1 or https://HOST/v1")
    if parts.query or parts.fragment:
        raise InputError(f"{what} is {url!r}; wanted http://HOST:PORT/v1 or https://HOST/v1")
    return url.rstrip("/")


def checked_url(url: str, what: str, expected: str) -> SplitResult:
    """Return the parts of a valid URL; refuse one with a password, which would appear in every record."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"{what} is not a URL: {error}") from error
    if parts.username or parts.password:
        raise InputError(f"{what} of {host} has a name or password in it; keys come from the environment")
    if not url.isprintable() or " " in url or parts.scheme not in {"http", "https"} or not host:
        raise InputError(f"{what} is {url!r}; wanted {expected}")
    return parts


MASK = "***"
_MIN_SECRET_CHARS = 6
_RUN = 10
"""Characters of a secret in a row that are hidden; fewer may be a coincidence, or the prefix of all keys of a kind."""
_BLOCK = 5  # every run of ten holds one of a secret's blocks of five whole


class Mask:
    """Hide secrets in texts."""

    def __init__(self, secrets: Iterable[str]) -> None:
        parts = {part for secret in secrets for part in (secret, secret.partition(" ")[2])}
        self._secrets = sorted((part for part in parts if len(part) >= _MIN_SECRET_CHARS), key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return a text without the secrets; one that holds some quoted as in a URL comes back unquoted."""
        hidden = self._hide_plain(text)
        if self._secrets and "%" in hidden:
            plain = unquote(hidden)
            if (without := self._hide_plain(plain)) != plain:
                return without
        return hidden

    def hide_all(self, value: Any) -> Any:
        """Return a JSON value whose texts hold no secret."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.hide_all(each) for each in value]
        if isinstance(value, dict):
            return {self.hide(name): self.hide_all(each) for name, each in value.items()}
        return value

    def _hide_plain(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
            if len(secret) >= _RUN:
                for start in range(0, len(secret) - _BLOCK + 1, _BLOCK):
                    text = _hide_runs(text, secret, start)
        return text


def _hide_runs(text: str, secret: str, start: int) -> str:
    """Hide the long runs of a secret's characters around one of its blocks."""
    block = secret[start : start + _BLOCK]
    at = text.find(block)
    if at < 0:
        return text
    pieces, done = list[str](), 0
    while at >= 0:
        before = _alike(reversed(text[max(done, at - start) : at]), reversed(secret[:start]))
        begin, rest = at - before, secret[start:]
        end = at + _alike(text[at : at + len(rest)], rest)
        if end - begin >= _RUN:
            pieces += [text[done:begin], MASK]
            done = end
        at = text.find(block, end)
    return "".join([*pieces, text[done:]])


def _alike(left: Iterable[str], right: Iterable[str]) -> int:
    """Return the length of the common prefix."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))
