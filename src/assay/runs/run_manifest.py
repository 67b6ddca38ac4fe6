"""The settings of a run to its manifest: what somebody needs to repeat it, as JSON beside its results."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import __version__
from assay.io.files import write_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def manifest(settings: DataclassInstance, *, seed: int, corpus: Iterable[object] = ()) -> dict[str, Any]:
    """Return what somebody needs to repeat a run: settings, versions, seed, a hash of the corpus, hardware."""
    return {
        "settings": asdict(settings),
        "seed": seed,
        "corpus": digest(corpus),
        "versions": {"python": platform.python_version(), **_versions()},
        "hardware": {
            "machine": platform.machine(),
            "system": f"{platform.system()} {platform.release()}",
            "cores": os.cpu_count(),
            "memory_mb": _memory_mb(),
        },
    }


def write_manifest(file: Path, settings: DataclassInstance, *, seed: int, corpus: Iterable[object] = ()) -> None:
    """Write the manifest of a run to a file, whole or not at all."""
    write_json(file, manifest(settings, seed=seed, corpus=corpus))


def digest(corpus: Iterable[object]) -> str:
    """Return a hash of the items of a corpus, the same in whatever order they come."""
    lines = sorted(repr(item).encode("utf-8", "backslashreplace") for item in corpus)
    return blake2b(b"\n".join(lines), digest_size=16).hexdigest()


@cache
def code_stamp() -> str:
    """Return what tells the code that runs, and the weights and prompts shipped with it, from another version."""
    return f"{__version__} {stamp_of(Path(__file__).parents[1])}"


def stamp_of(folder: Path) -> str:
    """Return a hash of which files a folder has and when they were written, without what Python keeps of them."""
    held = (file for file in folder.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    files = sorted((str(file.relative_to(folder)), file.stat().st_mtime_ns) for file in held)
    return blake2b(repr(files).encode(), digest_size=8).hexdigest()


def _versions() -> dict[str, str]:
    """Return the version of Assay and of each library that it needs, or an extra needs, as far as they are there.

    Which of them a run has loaded says nothing: systems and programs run in processes of their own.
    """
    try:
        needed = {re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in metadata.requires("assay") or ()}
    except metadata.PackageNotFoundError:  # run from its sources: nobody wrote down what it needs
        needed = set()
    return {"assay": __version__, **{name: found for name in sorted(needed - {"assay"}) if (found := _version(name))}}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _memory_mb() -> int | None:
    """Return the size of this machine's memory, or None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (AttributeError, ValueError, OSError):
        return None
