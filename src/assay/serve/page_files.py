"""The name of a file of a page to its text and type, as the package brings them; nothing else can be had by a name."""

from __future__ import annotations

from importlib import resources
from pathlib import PurePosixPath

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


def page_file(folder: str, name: str) -> tuple[str, bytes] | None:
    """Return the type and bytes of a file in one of the package's folders of pages, None where it has no such file."""
    held = resources.files("assay.serve").joinpath(folder)
    file = next((each for each in held.iterdir() if each.name == name), None)
    kind = _TYPES.get(PurePosixPath(name).suffix)
    return None if file is None or kind is None else (kind, file.read_bytes())
