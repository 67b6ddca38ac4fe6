"""`FILE:LINE` as somebody typed it, or as a compiler printed it, to a path below a root and a line."""

from __future__ import annotations

import re
from pathlib import Path

from assay.errors import InputError
from assay.store.place import is_bucket


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
