"""A folder to what git tracks below it: a rule that ignores a name says nothing about what was committed."""

from __future__ import annotations

import os
from pathlib import Path

from assay.corpus.git import reading
from assay.errors import InputError


def tracked_paths(root: Path, patience_s: float) -> frozenset[str]:
    """Return the tracked files below a folder and the folders that hold them, these with a `/` at their end.

    Paths are relative to the folder. Nothing is tracked where there is no repository, or no git that answers: then
    rules alone decide, and what they leave out is named as ever.
    """
    if patience_s <= 0:
        return frozenset()
    try:
        with reading(root, "ls-files", "-z", timeout_s=patience_s) as printed:
            files = os.fsdecode(printed.read()).split("\0")
    except (InputError, OSError):
        return frozenset()
    folders = {file[: at + 1] for file in files for at, letter in enumerate(file) if letter == "/"}
    return frozenset(filter(None, files)) | folders
