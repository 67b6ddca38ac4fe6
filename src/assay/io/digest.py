"""Name content by its digest (BLAKE2b): for cache keys, stable ids and seeded draws."""

from __future__ import annotations

from hashlib import blake2b


def digest(content: str | bytes, size: int = 16) -> bytes:
    """Return the digest of a content, `size` bytes; text is hashed as UTF-8, with lone surrogates."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return blake2b(data, digest_size=size).digest()


def hex_digest(content: str | bytes, size: int = 16) -> str:
    """Return the digest of a content as hexadecimal digits, two per byte."""
    return digest(content, size).hex()
