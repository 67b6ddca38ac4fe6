"""Write files and folders atomically, and lock a file for one writer.

Content is written beside the file, under a name that nobody else has, brought to the disk and moved in place. A file
that is replaced keeps its rights, and its owner where the system lets it. Nothing is written through a symbolic link,
nor over what is not a regular file: in a repository either may have been put there by a stranger.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from shutil import rmtree
from typing import Any

from assay.errors import InputError, StorageError

NEW = ".new"
"""What the name of a file holds that is not in its place yet."""


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces another file at the end of the block.

    Not to be durable spares waiting for the disk, for what can be made again.
    """
    try:
        target = Path(os.path.realpath(path.parent)) / path.name
        refuse_special(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{target.stem[:100]}.{os.urandom(6).hex()}{NEW}{target.suffix}")
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if target.exists() else 0o666))
        try:
            yield beside
            _keep_rights(target, beside)
            if durable:
                sync(beside)
            beside.replace(target)
            if durable:
                sync(target.parent)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def check_writable(file: Path) -> None:
    """Refuse a path that must not be written: a protected file is refused even where it could be replaced."""
    target = Path(os.path.realpath(file))
    if target.exists() and not target.stat().st_mode & 0o222:
        raise InputError(f"{file} is write-protected: chmod u+w it, or change it by hand")
    above = next(folder for folder in target.parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(f"cannot write in {above}: it is not a folder, or its permissions forbid it")


def refuse_special(file: Path) -> None:
    """Raise StorageError for a path of anything but a regular file."""
    try:
        mode = file.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISLNK(mode):
        raise StorageError(f"{file} is a symbolic link: remove it, or give the path that it points to")
    if not stat.S_ISREG(mode):
        raise StorageError(f"{file} is not a regular file: give another path")


def read_regular(file: Path, most_bytes: int) -> bytes:
    """Return the bytes of a regular file; raise OSError for a link, a pipe, a device or a larger file."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        with open(descriptor, "rb", closefd=False) as opened:
            data = opened.read(most_bytes + 1)
    finally:
        os.close(descriptor)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes:,} bytes")
    return data


def claim_folder(folder: Path, is_ours: Callable[[str], bool], what: str, option: str) -> None:
    """Create a folder; refuse a symbolic link, and a folder with an entry whose name is not ours.

    `what` the folder is for and the `option` that names another stand in the StorageError.
    """
    other = f"give another place with {option}"
    if folder.is_symlink():
        raise StorageError(f"{folder} is a symbolic link: give the folder that it points to, or {other}")
    if not folder.is_dir():
        folder.mkdir(0o700, parents=True, exist_ok=True)
        return
    foreign = next((entry.name for entry in sorted(folder.iterdir()) if not is_ours(entry.name)), None)
    if foreign is not None:
        raise StorageError(f"{folder} is not {what}: it holds '{foreign}'; {other}")


def refuse_links_in(folder: Path) -> None:
    """Raise StorageError for a folder that is a symbolic link or contains one at any depth."""
    inside = (os.path.join(at, name) for at, folders, names in os.walk(folder) for name in (*folders, *names))  # noqa: PTH118
    for path in (folder, *map(Path, inside)):
        if path.is_symlink():
            raise StorageError(f"{path} is a symbolic link: remove it, or give another folder")


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder, whose files move to `path` at the end of the block if it succeeds.

    A folder that is not there yet appears at once. Of one that is there, files of the same names are replaced, each at
    once, after all of them are written; others stay.
    """
    path = Path(os.path.realpath(path))
    new = not path.is_dir()
    beside = (path.parent if new else path) / f".{path.name[:100]}.{os.urandom(6).hex()}{NEW}"
    try:
        beside.mkdir(parents=True)
        try:
            yield beside
            if new:
                beside.replace(path)
            else:
                _move_files(beside, path)
        finally:
            rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    except (InputError, StorageError) as error:
        raise type(error)(str(error).replace(str(beside), str(path))) from error


def _move_files(source: Path, target: Path) -> None:
    for file in sorted(each for each in source.rglob("*") if not each.is_dir()):
        place = target / file.relative_to(source)
        refuse_special(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        _keep_rights(place, file)
        file.replace(place)


def write(
    path: Path, parts: str | bytes | Iterable[str], *, errors: str = "backslashreplace", durable: bool = True
) -> None:
    """Write text, in one piece or several, or bytes; `errors="strict"` refuses text that is not UTF-8."""
    with replacing(path, durable=durable) as beside:
        if isinstance(parts, bytes):
            beside.write_bytes(parts)
            return
        try:
            with beside.open("w", encoding="utf-8", errors=errors, newline="") as file:
                file.writelines([parts] if isinstance(parts, str) else parts)
        except UnicodeEncodeError as error:
            raise InputError(f"cannot write {path}: a text holds bytes that are not UTF-8; write JSON lines") from error


def safe_name(text: str) -> str:
    """Turn a text, such as the spec of a judge, into a file name."""
    return "".join(letter if letter.isalnum() or letter in "-+" else "_" for letter in text)[:80]


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return JSON: letters stay letters, lone surrogates are escaped, and a number that is not finite is null."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_nulled(value), ensure_ascii=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode()


def _nulled(value: Any) -> Any:
    if isinstance(value, dict):
        return {_nulled(key): _nulled(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_nulled, value)]
    return None if isinstance(value, float) and not isfinite(value) else value


def write_json(path: Path, value: object, *, indent: int | None = 1) -> None:
    """Write one JSON value."""
    write(path, dumps(value, indent=indent) + "\n")


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines, one object a line."""
    write(path, (f"{dumps(row)}\n" for row in rows))


def sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _keep_rights(target: Path, beside: Path) -> None:
    """Give a new file the permissions and the owner of the one that it replaces."""
    with suppress(FileNotFoundError):
        about = target.stat()
        with suppress(OSError):
            os.chown(beside, about.st_uid, about.st_gid)
        beside.chmod(stat.S_IMODE(about.st_mode))


_POLL_INTERVAL_S = 0.01


@contextmanager
def alone(file: Path, *, busy: str = "", patience_s: float | None = None, is_folder: bool = False) -> Iterator[None]:
    """Hold the lock of a file, or of an existing folder; if another process holds it, wait, or refuse with `busy`.

    With a patience, wait no longer than that and then raise BlockingIOError.
    """
    try:
        flags = os.O_RDONLY if is_folder else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(file, flags | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}") from error
    try:
        if not is_folder and not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StorageError(f"{file} is not a regular file: remove it")
        try:
            _lock(descriptor, 0.0 if busy else patience_s)
        except BlockingIOError:
            if busy:
                raise InputError(busy) from None
            raise
        yield
    finally:
        os.close(descriptor)


def is_held(file: Path) -> bool:
    """Say whether a process holds the lock of a file."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _lock(descriptor: int, patience_s: float | None) -> None:
    if patience_s is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    ends = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= ends:
                raise
            time.sleep(_POLL_INTERVAL_S)
        else:
            return
