"""Keep the records, the settings and the journal of a run so that it can be interrupted and resumed.

A run is a file of JSON lines that only grows, and its settings: beside it in a manifest, or in its first line. A line
counts once its end is on disk; a crash can only cut the last one, which reading leaves out and appending replaces. One
process writes at a time. What is there is not asked again; lines of other settings are never mixed in and never
dropped: that is refused, in one wording, and `--fresh` moves them aside.

So the same steps lead to the same end: after a crash nothing is paid twice, and what was done is told again from its
records with nobody asked. In memory stands only where the steps lie in the file.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, fields
from functools import cache
from importlib import metadata
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, Self

from assay import __version__
from assay.errors import InputError, StorageError
from assay.extras import DISTRIBUTION
from assay.io.digest import hex_digest
from assay.io.files import alone, dumps, refuse_special, replacing, write_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def manifest(settings: DataclassInstance, *, seed: int, corpus: Iterable[object] = ()) -> dict[str, Any]:
    """Return what is needed to repeat a run: settings, versions, seed, a hash of the corpus, hardware."""
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
    """Write the manifest of a run to a file, atomically."""
    write_json(file, manifest(settings, seed=seed, corpus=corpus))


def digest(corpus: Iterable[object]) -> str:
    """Return a hash of the items of a corpus, independent of their order."""
    lines = sorted(repr(item).encode("utf-8", "backslashreplace") for item in corpus)
    return hex_digest(b"\n".join(lines))


@cache
def code_stamp() -> str:
    """Return a stamp of the running code and of the weights and prompts shipped with it."""
    return f"{__version__} {stamp_of(Path(__file__).parents[1])}"


def stamp_of(folder: Path) -> str:
    """Return a hash of the files of a folder and their times, without Python's caches."""
    held = (file for file in folder.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    files = sorted((str(file.relative_to(folder)), file.stat().st_mtime_ns) for file in held)
    return hex_digest(repr(files), 8)


def _versions() -> dict[str, str]:
    """Return the versions of Assay and of each installed library that it or an extra needs.

    Which of them a run has loaded says nothing: systems and programs run in processes of their own.
    """
    try:
        needed = {re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in metadata.requires(DISTRIBUTION) or ()}
    except metadata.PackageNotFoundError:  # run from its sources: nobody wrote down what it needs
        needed = set()
    needed.discard(DISTRIBUTION)
    return {"assay": __version__, **{name: found for name in sorted(needed) if (found := _version(name))}}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _memory_mb() -> int | None:
    """Return the size of this machine's memory; None if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (AttributeError, ValueError, OSError):
        return None


_MANIFEST, _LOCK, _OLD = ".manifest.json", ".lock", ".old"


def append_lines(file: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Add one line a record; they are on disk when this returns."""
    raw = b"".join(map(_line, lines))
    refuse_special(file)
    try:
        with file.open("a+b") as held:
            held.truncate(_whole(held))
            held.write(raw)
            held.flush()
            os.fsync(held.fileno())
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}") from error


def rewrite(file: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Replace the content of a file by these lines, atomically."""
    with replacing(file) as beside, beside.open("wb") as held:
        held.writelines(map(_line, lines))


def _line(record: Mapping[str, Any]) -> bytes:
    return f"{dumps(record)}\n".encode()


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file in order; a missing file has none."""
    if not file.exists():
        return
    try:
        lines = file.open("rb")
    except OSError as error:
        raise StorageError(f"cannot read {file}: {error.strerror}") from error
    with lines:
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise StorageError(f"{file}:{number}: not JSON ({error}); take the line out to go on") from error
                if not isinstance(record, dict):
                    kind = type(record).__name__
                    raise StorageError(f"{file}:{number}: a JSON {kind}, wanted an object; take the line out to go on")
                yield record


def is_begun(file: Path) -> bool:
    """Say whether a file has a complete line."""
    return next(read_lines(file), None) is not None


class Batches:
    """A file to which lines are added in batches, since each write waits for the disk; the rest is written at the end.

    A crash of the machine costs at most so many lines or seconds of work; use it in a `with`.
    """

    def __init__(
        self, file: Path, *, lines: int = 64, seconds: float = 2.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._file, self._lines, self._seconds, self._clock = file, lines, seconds, clock
        self._waiting: list[Mapping[str, Any]] = []
        self._written = clock()

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line; write the waiting ones if they are many or old."""
        self._waiting.append(line)
        if len(self._waiting) >= self._lines or self._clock() - self._written > self._seconds:
            self.flush()

    def flush(self) -> None:
        """Write the waiting lines."""
        if self._waiting:
            append_lines(self._file, self._waiting)
            self._waiting.clear()
        self._written = self._clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.flush()


def sole_writer(file: Path, option: str = "--out") -> AbstractContextManager[None]:
    """Hold the lock of a run's one writer, or refuse if another process holds it; a killed writer releases it."""
    return alone(_lock_of(file), busy=f"another run writes to {file}: wait for its end, or give another {option}")


def among_writers(file: Path) -> AbstractContextManager[None]:
    """Hold the lock for a short write, after waiting for other writers."""
    return alone(_lock_of(file))


def start_fresh(file: Path, option: str = "--out") -> None:
    """Move a run with its companion files to `FILE.old`, replacing an older one."""
    ends = ("", _MANIFEST)
    if not any(file.with_name(file.name + end).exists() for end in ends):
        return
    with sole_writer(file, option):
        for end in ends:
            old = file.with_name(f"{file.name}{_OLD}{end}")
            old.unlink(missing_ok=True)
            if (held := file.with_name(file.name + end)).exists():
                held.replace(old)


def manifest_of(file: Path) -> Path:
    """Return the path of the manifest of a run."""
    return file.with_name(file.name + _MANIFEST)


def begin(file: Path, settings: DataclassInstance, what: str, *, seed: int = 0, corpus: Iterable[object] = ()) -> None:
    """Begin or continue a run: refuse lines of other settings, then write the manifest.

    `what` the lines are, for the message; `corpus` is what the run is about, of which the manifest has a hash.
    """
    if is_begun(file):
        before = stored_settings(file)
        if before is None:
            raise InputError(
                f"{file} holds {what}, and {manifest_of(file).name} beside it lacks their settings: "
                "give another --out, or --fresh"
            )
        refuse(file, what, _differences(settings, before))
    write_manifest(manifest_of(file), settings, seed=seed, corpus=corpus)


def stored_settings(file: Path) -> dict[str, Any] | None:
    """Return the settings in the manifest of a run; None without one."""
    try:
        settings = json.loads(manifest_of(file).read_text(encoding="utf-8"))["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return settings if isinstance(settings, dict) else None


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the names of settings that differ, compared as JSON."""
    old, new = (json.loads(json.dumps(each)) for each in (before, now))
    return sorted(name for name in new if old.get(name) != new[name])


def refuse(file: Path, what: str, names: Iterable[str], *, option: str = "--out") -> None:
    """Raise InputError if any settings differ, since the lines are of another run."""
    if names := list(names):
        raise InputError(
            f"{file} holds {what} of another run: {', '.join(names)} differ; give another {option}, or --fresh"
        )


def hash_of(text: str) -> str:
    """Return the hash of a text that results depend on."""
    return hex_digest(text)


def _whole(lines: BinaryIO) -> int:
    """Return how many bytes of a file are complete lines, reading from its end."""
    end = lines.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 65_536)
        lines.seek(start)
        newline = lines.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _differences(settings: DataclassInstance, before: Mapping[str, Any]) -> list[str]:
    """Return the names of settings that differ, with the change if it is short."""
    now = asdict(settings)
    changes = {each.name: each.metadata["changes"] for each in fields(settings) if "changes" in each.metadata}
    found = []
    for name in differing(before, now):
        old, new = before.get(name), now[name]
        how = changes[name](old, new) if name in changes and old and new else _change(old, new)
        found.append(f"{name} ({how})" if how else name)
    return found


_MAX_SHOWN_CHARS = 24
"""Of a setting; a hash has more."""


def _change(old: Any, new: Any) -> str:
    """Describe the change of a setting, or of each in a group; empty for long values, such as hashes."""
    if isinstance(old, dict) and isinstance(new, dict):
        return ", ".join(f"{name} {_change(old[name], new[name])}" for name in differing(old, new) if name in old)
    shown = all(isinstance(each, str | int | float) and len(str(each)) <= _MAX_SHOWN_CHARS for each in (old, new))
    return f"{old}, now {new}" if shown else ""


def _lock_of(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.with_name(file.name + _LOCK)


Record = Mapping[str, Any]
RecordFilter = Callable[[int, Record], bool]
"""Called with the number of a line and its record: whether it is a step that may be found."""


class Steps(Protocol):
    """A store of the steps of a run."""

    def get(self, key: str) -> Record | None:
        """Return the step of a key; None if it is not there yet."""

    def put(self, *steps: Record) -> None:
        """Keep steps; they are safe when this returns."""


class NoSteps:
    """A store that keeps nothing: for single questions, and for work that is recorded elsewhere."""

    def get(self, key: str) -> Record | None:  # noqa: ARG002
        """Return None."""
        return None

    def put(self, *steps: Record) -> None:
        """Drop steps."""


class Journal:
    """A file to which many threads append; waiting records are written together."""

    def __init__(self, file: Path, is_wanted: RecordFilter) -> None:
        """Index the steps of a file that pass a filter; each has its `key`."""
        self.file = file
        self._at = {key: place for place, key in places(file, is_wanted)}
        self._lock, self._writing = Lock(), Lock()
        self._waiting: list[Record] = []

    def get(self, key: str) -> Record | None:
        """Return the step of a key that was on disk when this was opened."""
        place = self._at.get(key)
        return None if place is None else json.loads(line_at(self.file, place))

    def put(self, *steps: Record) -> None:
        """Append records; they are on disk when this returns, written by this or another thread."""
        with self._lock:
            self._waiting.extend(steps)
        with self._writing:
            with self._lock:
                batch, self._waiting = self._waiting, []
            if batch:
                append_lines(self.file, batch)


def line_at(file: Path, place: int) -> bytes:
    """Return the line at an offset of a file."""
    with file.open("rb") as lines:
        lines.seek(place)
        return lines.readline()


def places(file: Path, is_wanted: RecordFilter) -> Iterator[tuple[int, str]]:
    """Yield the offset and the key of each step of a file."""
    if not file.exists():
        return
    place = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                try:
                    record = json.loads(line)
                    if is_wanted(number, record):
                        yield place, record["key"]
                except (ValueError, KeyError, TypeError) as error:
                    raise StorageError(f"{file}:{number}: no record ({error!r}); take the line out to go on") from error
            place += len(line)


_MAX_LISTED_CHANGES = 5


def version_changes(before: Sequence[str], now: Sequence[str]) -> str:
    """Describe which distributions were added, were removed or have another version."""
    old, new = (dict(text.split("==", 1) for text in each) for each in (before, now))
    both = sorted(old.keys() & new.keys())
    found = [f"{name} {old[name]} is now {new[name]}" for name in both if old[name] != new[name]]
    found += [f"{name} {new[name]} was not there" for name in sorted(new.keys() - old.keys())]
    found += [f"{name} {old[name]} is gone" for name in sorted(old.keys() - new.keys())]
    more = f", and {len(found) - _MAX_LISTED_CHANGES:,} more" if len(found) > _MAX_LISTED_CHANGES else ""
    return ", ".join(found[:_MAX_LISTED_CHANGES]) + more
