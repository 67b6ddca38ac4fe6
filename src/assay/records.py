"""What a run leaves behind: append-only lines of JSON, and the manifest that says how they came about.

Each record is one line, on disk before `append` returns; a line counts once its end is written.
A crash can only cut the last line: reading leaves it out, appending takes its place, and so a run
resumes where it was. One writer at a time.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from assay import __version__
from assay.errors import StorageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_GAP = re.compile(r"[\s,]*")


def append(file: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Add one line a record; they are on disk when this returns."""
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    try:
        with file.open("a+b") as lines:
            lines.truncate(_whole(lines))
            lines.write(text.encode("utf-8", "backslashreplace"))
            lines.flush()
            os.fsync(lines.fileno())
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}") from error


def read(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file in order; a file that is not there has none."""
    if not file.exists():
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                yield _record(line, f"{file}:{number}")


def listed(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the objects of a JSON list with the row of each; what is none is a text that says what it is instead.

    What stands before a broken one is not lost with it.
    """
    decode = json.JSONDecoder().raw_decode
    at, row, seen = text.index("[") + 1, 1, 0
    while True:
        at = _GAP.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        row, seen = row + text.count("\n", seen, at), at
        if text.startswith("]", at):
            return
        try:
            value, at = decode(text, at)
        except (ValueError, RecursionError) as error:
            yield row, f"no JSON: {error}; nothing after it is read"
            return
        yield row, value if isinstance(value, dict) else told(value)


def told(value: object) -> str:
    """Return what a JSON value is, for a message about one that is no object."""
    return f"{type(value).__name__} {str(value)[:40]!r}"


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


def write_manifest(folder: Path, settings: DataclassInstance, *, seed: int, corpus: Iterable[object] = ()) -> None:
    """Write the manifest of a run beside its results."""
    text = json.dumps(manifest(settings, seed=seed, corpus=corpus), indent=1)
    (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")


def digest(corpus: Iterable[object]) -> str:
    """Return a hash of the items of a corpus, the same in whatever order they come."""
    lines = sorted(repr(item).encode("utf-8", "backslashreplace") for item in corpus)
    return blake2b(b"\n".join(lines), digest_size=16).hexdigest()


def _versions() -> dict[str, str]:
    """Return the version of Assay and of each library that this process has loaded."""
    loaded = {name.partition(".")[0] for name in sys.modules}
    of_module = metadata.packages_distributions()
    names = {name for module in loaded & of_module.keys() for name in of_module[module]}
    return {"assay": __version__, **{name: metadata.version(name) for name in sorted(names - {"assay"})}}


def _whole(lines: BinaryIO) -> int:
    """Return how many bytes of a file are whole lines, reading from its end."""
    end = lines.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 65_536)
        lines.seek(start)
        newline = lines.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise StorageError(f"{where}: not JSON ({error}); take the line out to go on") from error
    if not isinstance(record, dict):
        raise StorageError(f"{where}: a JSON {type(record).__name__}, wanted an object; take the line out to go on")
    return record


def _memory_mb() -> int | None:
    """Return the size of this machine's memory, or None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (AttributeError, ValueError, OSError):
        return None
