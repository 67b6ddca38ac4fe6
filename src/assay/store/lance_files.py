"""The files of an index in Lance on a disk, and whether each is as it was written.

Lance has no checksums of its own, so each update notes those of all files beside the datasets. What Lance writes it
never changes; only the file that holds the notes is replaced. Object storage checks what it holds by itself.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

from assay.errors import DamagedIndex
from assay.io import files

NOTES = "checksums.json"
_DATASETS = ("chunks", "files")
_BLOCK = 1 << 22

Noted = dict[str, list[int]]
"""Size and checksum by path."""


def note(uri: str) -> None:
    """Note the checksums of files that have none yet; nothing is done for what is no folder of this machine."""
    place = Path(uri)
    if not place.is_dir():
        return
    known = _read(place)
    noted = {path: known.get(path) or _summed(place / path) for path in _files(place)}
    data = json.dumps(noted, sort_keys=True)
    files.write(place / NOTES, f"{data}\n{zlib.crc32(data.encode())}\n")


def check(uri: str, *, whole: bool) -> None:
    """Raise DamagedIndex when a file that was noted is gone or changed; sizes alone are compared unless the whole."""
    place = Path(uri)
    if not place.is_dir():
        return
    for path, (size, checksum) in _read(place).items():
        file = place / path
        if not file.is_file():
            raise DamagedIndex(f"{path} is missing")
        if file.stat().st_size != size:
            raise DamagedIndex(f"{path} has {file.stat().st_size} bytes, {size} were written")
        if whole and _summed(file)[1] != checksum:
            raise DamagedIndex(f"{path} is corrupt")


def remove(uri: str) -> bool:
    """Remove an index from a disk, and nothing else that may lie there; say whether it lay there."""
    place = Path(uri)
    if not place.is_dir():
        return False
    for dataset in _DATASETS:
        shutil.rmtree(place / dataset, ignore_errors=True)
    (place / NOTES).unlink(missing_ok=True)
    return True


def _read(place: Path) -> Noted:
    try:
        data, _, checksum = (place / NOTES).read_bytes().rstrip(b"\n").rpartition(b"\n")
    except FileNotFoundError:
        return {}
    if str(zlib.crc32(data)).encode() != checksum:
        raise DamagedIndex(f"{NOTES} is corrupt")
    return dict(json.loads(data))


def _files(place: Path) -> Iterator[str]:
    """Yield what Lance wrote; hidden files are its own business."""
    for dataset in _DATASETS:
        yield from sorted(file.relative_to(place).as_posix() for file in (place / dataset).rglob("*") if file.is_file())


def _summed(file: Path) -> list[int]:
    size = checksum = 0
    with file.open("rb") as data:
        while block := data.read(_BLOCK):
            size, checksum = size + len(block), zlib.crc32(block, checksum)
    return [size, checksum]
