"""Read which folders a command serves or watches from what was named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.cli.options import SettingsOptions
from assay.errors import InputError
from assay.operations.indexes import root_of
from assay.settings import Settings
from assay.store.place import holds_many, is_bucket


def folders_of(roots: Sequence[str], chosen: SettingsOptions, verb: str) -> list[Path]:
    """Return the folders that were named, each once, without one the current folder; one index is of one of them."""
    folders = list(dict.fromkeys(map(root_of, roots or (".",))))
    if chosen.location and len(folders) > 1 and not holds_many(chosen.location):
        raise InputError(f"--index names one index, and several paths were given: {verb} them one by one")
    return folders


def served_roots(roots: Sequence[str], chosen: SettingsOptions) -> dict[Path, Settings]:
    """Return the roots to serve with their settings: folders, and those that stand for what is in a bucket."""
    folders = folders_of([path for path in roots if not is_bucket(path)], chosen, "serve") if _any_folder(roots) else []
    served = {root: chosen.settings(root) for root in folders}
    for place in filter(is_bucket, roots):
        from assay.operations.published import published_roots

        served |= published_roots(place, chosen.settings(Path(place)))
    return served


def _any_folder(roots: Sequence[str]) -> bool:
    return not roots or not all(map(is_bucket, roots))
