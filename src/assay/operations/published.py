"""Open indexes in buckets, of one root or of every repository there.

An index in a bucket is one in a folder whose files are copies: what searches, changes and verifies it is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import platformdirs

from assay.errors import AssayError, InputError, MissingExtra
from assay.io.digest import hex_digest
from assay.operations.indexes import encoder_of, shared_folder
from assay.search.folder_index import PublishedIndex
from assay.settings import Settings
from assay.store.index_location import MANIFEST, BucketPlace, bucket_place


def _repositories_in(place: BucketPlace) -> list[str]:
    """Return the names of the repositories in a place, sorted; if the place names one, that one."""
    try:
        from assay.store.bucket import names_in
    except ModuleNotFoundError as error:
        raise MissingExtra(f"'{place}'", str(error.name), "bucket") from error
    names = [place.name] if place.name else names_in(place, MANIFEST)
    if not names:
        raise InputError(f"there is no index in {place}: assay index PATH --index {place} makes one")
    return names


_AT_ONCE = 16


def published(
    location: str, settings: Settings, keep: Callable[[list[str]], list[str]] = list
) -> list[tuple[str, PublishedIndex]]:
    """Return the name and the index of each repository in a place such as `s3://BUCKET/PREFIX`, sorted by name.

    They are read as they are: there need be no files here, and nothing is refreshed. A place may name one of them,
    `s3://BUCKET/PREFIX#NAME`; else those that `keep` leaves are meant. Raises InputError where a place holds none.
    """
    place, encoder = bucket_place(location), encoder_of(settings)
    folders = [(name, shared_folder(place.of(name), settings.index.cache_gb)) for name in keep(_repositories_in(place))]
    return [(name, PublishedIndex(Path(name), folder, encoder)) for name, folder in folders]


def fetch_ahead(indexes: Sequence[tuple[str, PublishedIndex]]) -> Iterator[tuple[str, PublishedIndex]]:
    """Yield indexes with their files fetched, several at a time: each takes round trips."""
    from concurrent.futures import ThreadPoolExecutor  # not for folders, whose status comes by here, too

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for start in range(0, len(indexes), _AT_ONCE):
            some = indexes[start : start + _AT_ONCE]
            list(pool.map(_fetch, some))
            yield from some


def _fetch(one: tuple[str, PublishedIndex]) -> None:
    with suppress(AssayError):  # who opens it says what is wrong with it
        one[1].last()


def published_roots(location: str, settings: Settings) -> dict[Path, Settings]:
    """Return a folder for each repository in a place, empty but for its name, with read-only settings.

    For what serves folders: the folders lie in the user's cache.
    """
    place, shelf = bucket_place(location), platformdirs.user_cache_path("assay") / "published"
    roots = {}
    for name in _repositories_in(place):
        each = str(place.of(name))
        root = shelf / hex_digest(each, 8) / name.rpartition("/")[2]
        root.mkdir(parents=True, exist_ok=True)
        roots[root.resolve()] = replace(settings, index=replace(settings.index, location=each, refresh=False))
    return roots
