"""CodeSearchNet's corpus files: a function a JSON line with `url`, `code`, `language`, plain or gzipped (read only).

The files are `python_train_0.jsonl.gz` and so on; naming one reads it, naming a folder those in it and in its folders:
`jsonl/train` is one split and `jsonl` is all. They have no ids: a function is called by its URL below the host,
`owner/name/blob/COMMIT/path#L1-L9`, so that annotations find it. Functions without documentation are not in these
files; rows of the dump that has all of them say `function` for `code`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from assay.errors import InputError
from assay.io import rows
from assay.io.rows import plain
from assay.truth.formats.gathered import Gathered, Glimpse
from assay.truth.ground_truth import Truth, TruthFile
from assay.types import Chunk, Problem

_HOST = "https://github.com/"
_URL = re.compile(r"https?://github\.com/([^#?]+/blob/[^#?]+#L\d+(?:-L?\d+)?)")
_FILE = re.compile(r"\w+_(train|valid|test)_\d+\.jsonl")
_TEXTS = ("code", "function")
_COLUMNS = ("url", "language", "partition", *_TEXTS)


def fits(seen: Glimpse) -> bool:
    """Say whether a file looks like this, or a folder holds such files."""
    if seen.path.is_dir():
        return bool(_files(seen.path))
    return "url" in seen.keys and bool(seen.keys & set(_TEXTS)) and bool(seen.keys & {"func_name", "identifier"})


def read(path: Path) -> TruthFile:
    """Read the functions of a file or folder; nothing is asked and nothing is judged there."""
    found = Gathered(path)
    for file in _files(path) if path.is_dir() else [path]:
        for row, function in _functions(file, found.problems):
            found.document(row, function, file=file)
    return found.reading(about={})


def losses(truth: Truth) -> NoReturn:
    """Refuse to write."""
    raise InputError(f"'{truth.name}' cannot be written as CodeSearchNet's corpus, which is read only; write jsonl")


def write(truth: Truth, path: Path) -> NoReturn:  # noqa: ARG001  as every format has it
    """Refuse to write."""
    losses(truth)


def functions(path: Path, problems: list[Problem]) -> Iterator[Chunk]:
    """Yield the functions of a file or folder one by one; nothing but problems is held."""
    for file in _files(path) if path.is_dir() else [path]:
        for _, function in _functions(file, problems):
            yield function


def _files(folder: Path) -> list[Path]:
    """Return the files of a corpus below a folder, those of a split together and in the order of their numbers."""
    every = (file for pattern in ("*.jsonl*", "*/*.jsonl*") for file in folder.glob(pattern))
    found = [file for file in every if _FILE.fullmatch(plain(file).name)]
    return sorted(found, key=lambda file: (file.parent, len(file.name), file.name))


def _functions(file: Path, problems: list[Problem]) -> Iterator[tuple[int, Chunk]]:
    for row, record in rows.objects(file, problems, _COLUMNS):
        url, language = record.get("url"), record.get("language", "")
        code = next((record[name] for name in _TEXTS if isinstance(record.get(name), str)), "")
        name = id_of(url) if isinstance(url, str) else ""
        if not name:
            problems.append(
                Problem(rows.place(file, row), f"url {url!r:.80}, wanted {_HOST}OWNER/NAME/blob/COMMIT/PATH#L1")
            )
        elif not code.strip() or not isinstance(language, str):
            problems.append(Problem(rows.place(file, row), "no code, wanted text under code or function"))
        else:
            yield row, Chunk(name, code, language.lower(), path=name)


def id_of(url: str) -> str:
    """Return what a function is called: its URL below the host, empty where that is none."""
    found = _URL.fullmatch(url.strip())
    return found[1] if found else ""
