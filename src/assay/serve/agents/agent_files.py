"""Files of settings read and written whole: at once, with the rights and the owner they have, through symbolic links.

What is no ordinary text, and what its owner protected, is refused before anything is done.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from assay.errors import InputError

LARGEST_MB = 32


def resolved(file: Path) -> Path:
    """Return a path without symbolic links; one that leads in a circle stays, for reading it to say so."""
    return Path(os.path.realpath(file))


def refuse_leading_out(file: Path, project: Path) -> None:
    """Raise InputError for a file of a project that a symbolic link has outside of it: a stranger may have laid it."""
    if file.is_relative_to(project) and not resolved(file).is_relative_to(resolved(project)):
        raise InputError(
            f"{file} leads to {resolved(file)}, outside of the project: remove the link, or use --scope user"
        )


def read(file: Path) -> str | None:
    """Return the text of a file with its line ends, or None if there is none; what is no text is an error."""
    target = resolved(file)
    try:
        about = target.stat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder" if stat.S_ISDIR(about.st_mode) else "no ordinary file"
            raise InputError(f"{file} is {kind}, wanted a file of settings")
        if about.st_size > LARGEST_MB * 2**20:
            raise InputError(f"{file} has {about.st_size / 2**20:,.0f} MB, wanted at most {LARGEST_MB}")
        return target.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is no UTF-8 text (byte {error.start})") from error


def missing_folders(file: Path) -> list[Path]:
    """Return the folders that have to be made for a file, the innermost first."""
    return [folder for folder in resolved(file).parents if not folder.exists()]
