"""A place in a list to a text that a client hands back for the next page, and back.

It holds what was asked, hashed, and which version of the index answered: a cursor of another question, or of files that
have changed since, is refused, for its pages would overlap or leave something out.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from struct import Struct, error
from typing import Any

from assay.errors import InputError

_HASH_BYTES = 6
_PLAIN = Struct(f">Q{_HASH_BYTES}s{_HASH_BYTES}s")


class NotOfThisList(InputError):
    """A cursor is of another question, or of files as they were before."""


_NONE = "this is no cursor of this server; leave it out for the first page"


def cursor(offset: int, asked: Any, version: str) -> str:
    """Return the cursor of what comes after `offset` entries."""
    return urlsafe_b64encode(_PLAIN.pack(offset, _digest(asked), _digest(version))).decode().rstrip("=")


def offset_of(text: str, asked: Any, version: str) -> int:
    """Return how many entries came before; 0 without a cursor."""
    if not text:
        return 0
    try:
        offset, question, answered = _PLAIN.unpack(urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except (ValueError, error):
        raise NotOfThisList(_NONE) from None
    if question != _digest(asked):
        what = "this cursor is of another question; repeat the arguments of the first page, or leave it out"
        raise NotOfThisList(what)
    if answered != _digest(version):
        raise NotOfThisList("files changed since the first page; ask again without the cursor")
    return int(offset)


def _digest(value: Any) -> bytes:
    return blake2b(json.dumps(value).encode(), digest_size=_HASH_BYTES).digest()
