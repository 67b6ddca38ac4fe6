"""List the files of typed paths that an index would hold, as they open from here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.errors import InputError
from assay.serve.read_tools import ServedFile, files_of
from assay.serve.session import Session
from assay.settings import Settings


def listed_files(paths: Sequence[str], globs: Sequence[str]) -> Iterator[tuple[str, ServedFile]]:
    """Yield the files at some places, by default the current folder, in order of their paths; each file once."""
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
                raise InputError(f"--path leaves '{typed}' out: name the file alone, or change the globs")
            raise InputError(f"'{typed}' is a file that no index would hold; assay status {folder} -v says why")
        for file in files:
            real = Path(root, file.entry.path)
            if real in seen:
                continue
            seen.add(real)
            below = real.relative_to(folder.resolve())
            yield (folder / below).as_posix(), file
