"""Read what was typed as places: `FILE:LINE`, and files as they open from here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.store.place import is_bucket

if TYPE_CHECKING:
    from assay.operations.read import ServedFile


def parsed_place(place: str) -> tuple[Path, int]:
    """Take `FILE:LINE` apart; a column or a range after the line, as compilers print them, is passed over."""
    found = re.fullmatch(r"(.+?):(\d+)(?:[:-]\d+)*:?", place)
    if not found or not int(found[2]):
        raise InputError(f"'{place}' is not a place: give FILE:LINE, such as src/main.py:12")
    return Path(found[1]), int(found[2])


def path_below(root: Path, file: Path, typed: str) -> str:
    """Return the path of a file as the index of a root has it."""
    if is_bucket(typed):
        return file.as_posix()
    if not file.is_file():
        raise InputError(f"no such file: '{file}'")
    absolute = file.resolve()
    if not absolute.is_relative_to(root):
        raise InputError(f"'{file}' is not below '{typed}': name its folder after FILE:LINE")
    return absolute.relative_to(root).as_posix()


def listed_files(paths: Sequence[str], globs: Sequence[str]) -> Iterator[tuple[str, ServedFile]]:
    """Yield the files at some places, by default the current folder, in order of their paths; each file once."""
    from assay.operations.read import files_of
    from assay.serve.session import Session
    from assay.settings import Settings

    seen = set[Path]()
    for typed in paths or (".",):
        place = Path(typed)
        if not place.exists():
            raise InputError(f"no such file or folder: '{typed}'")
        folder = place.parent if place.is_file() else place
        session = Session({folder.resolve(): Settings()})
        root, files = files_of(session, str(place.resolve()), globs)
        if place.is_file() and not files:
            if globs and files_of(session, str(place.resolve()), ())[1]:
                raise InputError(f"--file leaves '{typed}' out: name the file alone, or change the globs")
            raise InputError(f"'{typed}' is a file that no index would hold; assay status {folder} -v says why")
        for file in files:
            real = Path(root, file.entry.path)
            if real in seen:
                continue
            seen.add(real)
            below = real.relative_to(folder.resolve())
            yield (folder / below).as_posix(), file
