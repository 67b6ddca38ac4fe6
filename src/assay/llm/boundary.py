"""Texts of strangers to a mark for the lines around them in a prompt, which none of them can hold."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def boundary(texts: Iterable[str]) -> str:
    """Return a mark that none of these texts can hold, for it is made of all of them; always the same for the same."""
    whole = "\0".join(texts).encode("utf-8", "backslashreplace")
    return f"data-{blake2b(whole, digest_size=12).hexdigest()}"
