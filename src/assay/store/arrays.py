"""Named numpy arrays to one file and back by memory map: what every stored part of an index is written as.

One file and one map open in a tenth of the time of a folder of `.npy` files. A checksum guards the
header and the header knows the file's size, so what was cut off or garbled is found before it is read.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import DamagedIndex

Arrays = dict[str, NDArray[Any]]

_MAGIC = b"assay-1\n"
_FIXED = struct.Struct("<8sII")  # magic, bytes of the header, its checksum
_ALIGN = 64


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a new file; `sync` makes it last."""
    header, offsets, size = _header(arrays)
    with path.open("xb", buffering=0) as file:
        _write_all(file.fileno(), _FIXED.pack(_MAGIC, len(header), zlib.crc32(header)) + header)
        for offset, array in zip(offsets, arrays.values(), strict=True):
            os.lseek(file.fileno(), offset, os.SEEK_SET)
            if array.size:
                _write_all(file.fileno(), np.ascontiguousarray(array).data.cast("B"))
        file.truncate(size)


def sync(path: Path) -> None:
    """Wait until the disk has a file or a folder's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_arrays(path: Path) -> Arrays:
    """Map a file; raise FileNotFoundError when it is gone and DamagedIndex when it is not as written."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < _FIXED.size:
            raise DamagedIndex(f"{path.name} is cut off at {size} bytes")
        block = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    magic, length, checksum = _FIXED.unpack_from(block)
    header = block[_FIXED.size : _FIXED.size + length]
    if magic != _MAGIC or zlib.crc32(header) != checksum:
        raise DamagedIndex(f"{path.name} is garbled or of another format")
    about = json.loads(header)
    if about["size"] != size:
        raise DamagedIndex(f"{path.name} has {size} bytes, {about['size']} were written")
    return {name: _view(block, *place) for name, place in about["arrays"].items()}


def _header(arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, list[int], int]:
    """Lay the arrays out; return the header, where each array starts, and the size of it all."""
    places = {name: [array.dtype.str, list(array.shape), 0] for name, array in arrays.items()}
    spare = 24 * (len(places) + 1)  # room for the digits of offsets and size
    at = _aligned(_FIXED.size + len(json.dumps({"size": 0, "arrays": places})) + spare)
    offsets = []
    for place, array in zip(places.values(), arrays.values(), strict=True):
        place[2] = at
        offsets.append(at)
        at = _aligned(at + array.nbytes)
    return json.dumps({"size": at, "arrays": places}).encode(), offsets, at


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN


def _view(block: mmap.mmap, dtype: str, shape: list[int], offset: int) -> NDArray[Any]:
    count = prod(shape)
    if not count:
        return np.zeros(shape, dtype=dtype)
    return np.frombuffer(block, dtype=dtype, count=count, offset=offset).reshape(shape)


def _write_all(descriptor: int, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[: 1 << 30]) :]
