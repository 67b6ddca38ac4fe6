"""Folders of their own for systems that share one, and how long it took to make what lies there."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path


def folder_of(location: str, kind: str, *telling: str) -> Path:
    """Return a folder below a location that belongs to everything of the same kind with the same telling texts."""
    digest = blake2b(digest_size=8)
    for place, text in enumerate(telling):  # one by one: they may be all texts of a large corpus
        digest.update(b"\0" * bool(place) + text.encode("utf-8", "surrogatepass"))
    folder = Path(location).resolve() / f"{kind}-{digest.hexdigest()}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def build_seconds(folder: Path, seconds: float, *, made: bool) -> float:
    """Return how long it took to make what is in a folder: now if it was made now, else what was noted then.

    Of several systems that share an index only the first one makes it; the figure is the same for all of them.
    """
    note = folder.with_name(f"{folder.name}.seconds")
    if made or not note.exists():
        note.write_text(repr(seconds), "utf-8")
    return float(note.read_text("utf-8"))
