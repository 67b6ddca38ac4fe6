"""Name content by its digest (BLAKE2b): cache keys, stable ids and draws that a seed decides."""

from __future__ import annotations

from hashlib import blake2b


def digest(content: str | bytes, size: int = 16) -> bytes:
    """Return `size` bytes that stand for a content; text counts as UTF-8, lone surrogates included."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return blake2b(data, digest_size=size).digest()


def hex_digest(content: str | bytes, size: int = 16) -> str:
    """Return the digest of a content in hexadecimal digits, two a byte."""
    return digest(content, size).hex()
