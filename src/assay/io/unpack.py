"""A path to the bytes that stand there: of a file or a pipe, plain, gzipped or packed with zstd, as blocks of lines.

What is packed is told by its first bytes, whatever the file is called. A pipe can be read once, and readers look
twice: what it says is kept in a temporary file for as long as this process runs. How much a packed file may hold is
bounded, and so is a line. Text is UTF-8, with a byte order mark or without; UTF-16 is refused, and so is nothing.
"""

from __future__ import annotations

import atexit
import gzip
import io
import os
import stat
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkstemp
from typing import Any, BinaryIO

from assay.errors import InputError, MissingExtra

MOST_BYTES = 8 * 10**9
"""What a packed file or a pipe may hold: a million documents of 8 KB."""
LONGEST_LINE = 1 << 28
LONGEST_TEXT = 2 * 10**9
"""Bytes of what has to be in memory at once, such as one JSON list."""
_BLOCK = 1 << 20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ENDINGS = (".gz", ".zst")


def plain(path: Path) -> Path:
    """Return what a file would be called if it were not packed: its ending and its stem say what it is."""
    return path.with_suffix("") if path.suffix.lower() in _ENDINGS else path


def head(path: Path, most: int = 1 << 16) -> bytes:
    """Return the first bytes of a file, unpacked, without a byte order mark."""
    with unpacked(path) as file:
        return file.read(most).removeprefix(BOM_UTF8)


def whole(path: Path) -> bytes:
    """Return all of a text, unpacked, without a byte order mark."""
    with unpacked(path) as file:
        data = file.read(LONGEST_TEXT + 1)
    if len(data) > LONGEST_TEXT:
        raise InputError(f"{path} is one text of more than {LONGEST_TEXT // 10**9} GB: write it as JSON lines")
    return _text(path, data)


def blocks(path: Path) -> Iterator[bytes]:
    """Yield a text in blocks of whole lines, unpacked, without a byte order mark."""
    seen, blank, size = False, True, 0
    with unpacked(path) as file:
        while block := file.read(_BLOCK):
            if not block.endswith(b"\n"):
                block += file.readline(LONGEST_LINE)
            size += len(block)
            if len(block) >= LONGEST_LINE:
                raise InputError(f"{path} has a line of more than {LONGEST_LINE >> 20} MB: it is not a file of rows")
            if size > MOST_BYTES:
                _refuse_larger(path)
            block = block if seen else _text(path, block, whole=False)
            seen, blank = True, blank and not block.strip()
            yield block
    if blank:
        raise InputError(f"{path} is empty")


def on_disk(path: Path) -> Path:
    """Return a file with the bytes of a path, unpacked, for a reader that has to move about in it."""
    with _raw(path) as (file, magic):
        packed = magic.startswith((_GZIP, _ZSTD))
        return _copied(path, os.fstat(file.fileno()).st_mtime_ns) if packed else _standing(path)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file for its bytes, unpacked; whatever keeps them from being read is one error that says so."""
    packed = "gzip"
    try:
        with _raw(path) as (raw, magic), ExitStack() as stack:
            file: Any = raw
            if magic.startswith(_GZIP):
                file = io.BufferedReader(stack.enter_context(gzip.GzipFile(fileobj=raw)), _BLOCK)
            elif magic == _ZSTD:
                packed = "zstd"
                file = stack.enter_context(_zstd(path, raw))
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is a damaged {packed} file: {error}; fetch it again") from error
    except OSError as error:
        if packed == "zstd" and error.errno is None:
            raise InputError(f"{path} is a damaged zstd file: {error}; fetch it again") from error
        raise _unreadable(path, error) from error


def _zstd(path: Path, raw: BinaryIO) -> BinaryIO:
    try:
        from assay.io.parquet import unpacked_zstd
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("assay"):
            raise
        raise MissingExtra(f"reading {path.name}", error.name, "bench") from error
    return unpacked_zstd(raw)


@contextmanager
def _raw(path: Path) -> Iterator[tuple[io.BufferedReader, bytes]]:
    try:
        file = _standing(path).open("rb")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    with file:
        yield file, file.peek(len(_ZSTD))[: len(_ZSTD)]


def _standing(path: Path) -> Path:
    """Return a file that can be read twice: the path itself, or a copy of what a pipe says."""
    path = Path("/dev/stdin") if str(path) == "-" else path
    about = path.stat()
    pipe = stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode)
    terminal = stat.S_ISCHR(about.st_mode) and path.name == "stdin" and os.isatty(0)
    return _copy_pipe(path, about.st_dev, about.st_ino) if pipe or terminal else path


@cache
def _copy_pipe(path: Path, *_: int) -> Path:
    """Copy what a pipe says to a file of this process."""
    with path.open("rb") as pipe:
        return _temporary(path, pipe)


@cache
def _copied(path: Path, *_: int) -> Path:
    """Unpack a file into one of this process."""
    with unpacked(path) as file:
        return _temporary(path, file)


def _temporary(path: Path, file: BinaryIO) -> Path:
    descriptor, name = mkstemp(prefix="assay-")
    atexit.register(_remove, Path(name), os.getpid())
    with os.fdopen(descriptor, "wb") as copy:
        while block := file.read(_BLOCK):
            copy.write(block)
            if copy.tell() > MOST_BYTES:
                _refuse_larger(path)
    return Path(name)


def _remove(file: Path, process: int) -> None:
    if os.getpid() == process:  # a fork has the file and not the right to it
        file.unlink(missing_ok=True)


def _refuse_larger(path: Path) -> None:
    raise InputError(f"{path} holds more than {MOST_BYTES // 10**9} GB: split it")


def _text(path: Path, data: bytes, *, whole: bool = True) -> bytes:
    """Return the beginning of a text without its mark; refuse what is none."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise InputError(f"{path} is UTF-16, wanted UTF-8: convert it, as with iconv -f UTF-16 -t UTF-8")
    data = data.removeprefix(BOM_UTF8)
    if whole and not data.strip():
        raise InputError(f"{path} is empty")
    return data


def _unreadable(path: Path, error: Exception) -> InputError:
    """Return what is to be said of a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"no such file or folder: '{path}'")
    if isinstance(error, IsADirectoryError):
        return InputError(f"'{path}' is a folder, wanted a file")
    return InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}")
