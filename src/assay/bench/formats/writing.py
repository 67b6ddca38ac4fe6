"""Lines or JSON to a file, whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from assay.bench.formats.found import about_file
from assay.bench.truth import Truth
from assay.errors import InputError

_QUOTED = re.compile(r'[",\r\n]')


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, each with its end, beside the file and move them there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", newline="", dir=path.parent, delete=False) as file:
            beside = Path(file.name)
            try:
                file.writelines(lines)
            except BaseException:
                file.close()
                beside.unlink()
                raise
        beside.chmod(0o644)
        beside.replace(path)
    except UnicodeEncodeError as error:
        raise InputError(f"cannot write {path}: a text holds bytes that are no UTF-8; write it as jsonl") from error
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def dumps(value: object, *, indent: int | None = None) -> str:
    """Return JSON that can be written as UTF-8, with letters as they are wherever that is possible."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def csv_row(cells: Iterable[str]) -> str:
    """Return a row of CSV; Python's own writer leaves a lone carriage return bare, and no reader takes that."""
    return ",".join('"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell for cell in cells) + "\n"


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line."""
    write_lines(path, (dumps(record) + "\n" for record in records))


def write_listed(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON list with an object a line."""
    rows = [dumps(record) for record in records]
    write_lines(path, ("[\n", ",\n".join(rows), "\n]\n"))


def write_about(truth: Truth, path: Path) -> None:
    """Write what a ground truth speaks of beside its file; where nobody said, what an earlier one said goes."""
    about: dict[str, Any] = {"repo": truth.repository, "commit": truth.commit, "hidden": list(truth.hidden)}
    known = {key: value for key, value in about.items() if value}
    if known:
        write_lines(about_file(path), [dumps(known, indent=1) + "\n"])
    else:
        about_file(path).unlink(missing_ok=True)
