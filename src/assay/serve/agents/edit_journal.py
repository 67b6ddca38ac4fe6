"""What was done to a file of settings, so that it can be taken back: the pieces that were changed, and no more.

The rest of such a file may hold keys of other services, so no copy of it is kept. A piece and a hash of the text around
it are enough to restore a file byte for byte for as long as nobody else changes it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import platformdirs

from assay.errors import StorageError
from assay.io import files


@dataclass(frozen=True, slots=True)
class Step:
    """What stands at a place of the text with this hash, and what stood there before."""

    digest: str
    at: int
    added: str
    removed: str

    def undone(self, text: str) -> str | None:
        """Return the text as it was before, or None where it is not the text that this step left."""
        if _digest(text) != self.digest:
            return None
        return text[: self.at] + self.removed + text[self.at + len(self.added) :]


@dataclass(frozen=True, slots=True)
class EditRecord:
    """What was done to one file: the entry that stands there since, and what there was before."""

    file: str
    entry: dict[str, Any]
    was: Any = None
    """The entry of the same name that was replaced."""
    made: int = 0
    """How many of the keys above the entry are new."""
    new: bool = False
    """Whether the file is."""
    folders: tuple[str, ...] = ()
    """The folders that are, the innermost first."""
    step: Step | None = None
    """All that was written, taken together; None where somebody else changed the file between two edits."""

    def undone(self, text: str) -> str | None:
        """Return the text as it was before, or None where somebody else has changed it since."""
        return self.step.undone(text) if self.step else None


def step(before: str, after: str) -> Step:
    """Return what tells two texts apart as one piece."""
    at = _common(before, after)
    same = _common(before[at:][::-1], after[at:][::-1])
    return Step(_digest(after), at, after[at : len(after) - same], before[at : len(before) - same])


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    differing = (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return next(differing, min(len(one), len(other)))


def _digest(text: str) -> str:
    """Return a hash of a text."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def recall(file: Path) -> EditRecord | None:
    """Return what was done to a file, or None if nothing was, or nothing that can be read."""
    try:
        kept = json.loads(_place(file).read_text(encoding="utf-8"))
        step = kept["step"] and Step(**kept["step"])
        return EditRecord(**{**kept, "folders": tuple(kept["folders"]), "step": step})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def remember(record: EditRecord) -> None:
    """Keep what was done to a file."""
    place = _place(Path(record.file))
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write(place, json.dumps(asdict(record), ensure_ascii=False))
    except OSError as error:
        raise StorageError(
            f"cannot keep in {place.parent} what to undo ({error.strerror}); nothing was changed"
        ) from error


def forget(file: Path) -> None:
    """Keep nothing about a file any more."""
    _place(file).unlink(missing_ok=True)


def _place(file: Path) -> Path:
    name = hashlib.blake2b(os.fsencode(file), digest_size=12).hexdigest()
    return platformdirs.user_state_path("assay") / "installed" / f"{name}.json"
