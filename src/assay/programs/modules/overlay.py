"""A set of distributions to a folder that programs import from: made once, whole or not there, and read-only.

A set of names is resolved once, and its lock is kept: the same command installs the same versions tomorrow, without
the network. The folder is named after the lock, this Python and this platform. A folder and not a virtual environment,
for there a `.pth` file of a wheel would run.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from platformdirs import user_cache_path

from assay.io.files import write
from assay.io.lock import alone
from assay.programs.modules.distributions import plain
from assay.programs.modules.installer import Bounds, Installer, InstallRefused, installer

_MARKER = ".assay-overlay.json"
_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Overlay:
    """Distributions that lie in one folder."""

    folder: Path
    distributions: tuple[str, ...]
    """Each as `NAME==VERSION`, those that others need included."""


def store() -> Path:
    """Return where overlays lie when nobody says."""
    return user_cache_path("assay") / "overlays"


def overlay(
    names: Sequence[str], *, tool: Installer | None = None, place: Path | None = None, bounds: Bounds | None = None
) -> Overlay:
    """Return the folder with these distributions, made if it is not there; raise InstallRefused where it cannot be had.

    One process makes, the others wait for it and take what it made.
    """
    place, bounds = place or store(), bounds or Bounds()
    (place / "locks").mkdir(parents=True, exist_ok=True)
    with alone(place / "lock"):
        for left in place.glob("*.tmp"):
            _remove(left)
        tool = tool or installer()
        lock = _locked(place / "locks", sorted({plain(name) for name in names}), tool, bounds)
        return _install_overlay(place, lock, tool, bounds)


def key_of(lock: str) -> str:
    """Return the name of what a lock means for this Python on this platform."""
    return sha256("\0".join((lock, *_here())).encode()).hexdigest()[:32]


def versions(lock: str) -> tuple[str, ...]:
    """Return what a lock names, each as `NAME==VERSION`."""
    return tuple(sorted(f"{plain(name)}=={version}" for name, version in _PIN.findall(lock)))


def is_whole(folder: Path) -> bool:
    """Say whether an overlay is all there: its marker is written last, and counts the files and their bytes."""
    try:
        told = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
        return bool(told["key"] == folder.name and told["holds"] == _holds(folder))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _locked(folder: Path, names: list[str], tool: Installer, bounds: Bounds) -> Path:
    """Return the file with the lock of a set, resolved the first time it is asked for."""
    file = folder / f"{sha256(chr(0).join((*names, *_here())).encode()).hexdigest()[:32]}.txt"
    if file.exists():
        return file
    try:
        lock = tool.lock(names, bounds)
    except InstallRefused as refused:
        raise InstallRefused(f"{', '.join(names)} cannot be installed: {refused}") from refused
    write(file, lock)
    return file


def _install_overlay(place: Path, lock: Path, tool: Installer, bounds: Bounds) -> Overlay:
    """Return the overlay of a lock, installed beside its place and moved there when it is whole."""
    text = lock.read_text(encoding="utf-8")
    key = key_of(text)
    folder, fresh = place / key, place / f"{key}.tmp"
    made = Overlay(folder, versions(text))
    if is_whole(folder):
        return made
    _remove(folder)
    fresh.mkdir()
    try:
        tool.install(lock, fresh, bounds)
        marker = {"key": key, "distributions": made.distributions, "holds": _holds(fresh)}
        (fresh / _MARKER).write_text(json.dumps(marker, indent=1), encoding="utf-8")
    except BaseException as error:
        _remove(fresh)
        if isinstance(error, InstallRefused):
            raise InstallRefused(f"{', '.join(made.distributions)} cannot be installed: {error}") from error
        raise
    _protect(fresh)
    os.sync()
    fresh.rename(folder)
    return made


def _here() -> tuple[str, ...]:
    return (sys.implementation.cache_tag or "", platform.python_version(), sysconfig.get_platform())


def _holds(folder: Path) -> list[int]:
    """Return how many files there are, and their bytes, without the marker."""
    count = size = 0
    for place, _, files in os.walk(folder):
        for name in files:
            if name != _MARKER:
                count, size = count + 1, size + os.lstat(os.path.join(place, name)).st_size
    return [count, size]


def _protect(folder: Path) -> None:
    """Take the right to write from everything, and give everyone the right to read: programs are another user."""
    for place, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555 if os.stat(path).st_mode & 0o100 else 0o444)
        os.chmod(place, 0o555)  # noqa: S103  it is to be read


def _remove(folder: Path) -> None:
    """Delete a folder, read-only or not."""
    if not folder.exists():
        return
    for place, _, _ in os.walk(folder):
        os.chmod(place, 0o700)
    shutil.rmtree(folder)
