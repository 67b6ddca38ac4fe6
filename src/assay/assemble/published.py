"""A place in a bucket in, the indexes of the repositories that it holds out, as they are: no files need be here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import platformdirs

from assay.assemble.indexes import AnyIndex, encoder_of, index_of, root_of
from assay.errors import InputError
from assay.search.published_index import PublishedIndex
from assay.settings import Settings
from assay.store.bucket_place import bucket_place, is_bucket


def published(location: str, settings: Settings) -> list[tuple[str, PublishedIndex]]:
    """Return the name and the index of each repository in a place such as `s3://BUCKET/PREFIX`, sorted by name.

    They are read as they are: there need be no files here, and nothing is refreshed. A place may name one of them,
    `s3://BUCKET/PREFIX#NAME`. Raises InputError where there is none.
    """
    from assay.assemble.bucket_indexes import repositories_in, shared_folder  # and git: not for folders

    place = bucket_place(location)
    encoder, names = encoder_of(settings), repositories_in(place)
    if not names:
        raise InputError(f"there is no index in {place}: assay index PATH --index {place} makes one")
    folders = [(name, shared_folder(place.of(name), settings.index.cache_gb)) for name in names]
    return [(name, PublishedIndex(Path(name), folder, encoder)) for name, folder in folders]


def indexes_at(path: str, settings_of: Callable[[Path], Settings]) -> Sequence[tuple[str, AnyIndex]]:
    """Return the index of a folder or URL, or those in a place of a bucket, each with what to call it."""
    if is_bucket(path):
        return published(path, settings_of(Path(path)))
    root = root_of(path)
    return [(path, index_of(root, settings_of(root)))]


def published_roots(location: str, settings: Settings) -> dict[Path, Settings]:
    """Return a folder for each repository in a place, empty but for its name, with settings that read it as it is.

    For what serves folders: the folders lie in the user's cache.
    """
    from assay.assemble.bucket_indexes import repositories_in

    place, shelf = bucket_place(location), platformdirs.user_cache_path("assay") / "published"
    roots = {}
    for name in repositories_in(place):
        each = str(place.of(name))
        root = shelf / blake2b(each.encode(), digest_size=8).hexdigest() / name.rpartition("/")[2]
        root.mkdir(parents=True, exist_ok=True)
        roots[root.resolve()] = replace(settings, index=replace(settings.index, location=each, refresh=False))
    if not roots:
        raise InputError(f"there is no index in {place}: assay index PATH --index {place} makes one")
    return roots
