"""Places in buckets to indexes: of a root that is indexed there, and of every repository that a place holds.

An index in a bucket is one in a folder whose files are copies: what searches, changes and verifies it is the same.
"""

from __future__ import annotations

import socket
from hashlib import blake2b
from pathlib import Path

import platformdirs

from assay.corpus.origin import origin_of, plain_name
from assay.errors import MissingExtra
from assay.store.catalog import MANIFEST
from assay.store.copies import LocalCopies, SharedPlace
from assay.store.folder import IndexFolder
from assay.store.place import BucketPlace


def bucket_folder(root: Path, place: BucketPlace, cache_gb: float) -> IndexFolder:
    """Return where the index of a root lies in a bucket: under the name that was given, else that of its repository."""
    if place.name:
        return shared_folder(place, cache_gb)
    if origin := origin_of(root):
        return shared_folder(place.of(origin), cache_gb, origin)
    here = f"the folder {root} of {socket.gethostname()}"
    return shared_folder(place.of(plain_name(root.name) or "root"), cache_gb, here)


def shared_folder(place: BucketPlace, cache_gb: float, origin: str = "") -> IndexFolder:
    """Return where one repository lies in a bucket; with an origin, an index of another one is refused."""
    shelf = platformdirs.user_cache_path("assay") / "buckets"
    digest = blake2b(str(place).encode(), digest_size=8).hexdigest()
    folder = shelf / f"{place.name.rpartition('/')[2][:40]}-{digest}"
    copies = LocalCopies(folder, shelf, int(cache_gb * 1e9))
    try:
        from assay.store.bucket import BucketBlobs
    except ModuleNotFoundError as error:
        raise MissingExtra(f"index '{place}'", str(error.name), "bucket") from error
    return IndexFolder(folder, SharedPlace(str(place), BucketBlobs(place), copies, origin))


def repositories_in(place: BucketPlace) -> list[str]:
    """Return the names of the repositories in a place, sorted; a place that names one holds that one."""
    try:
        from assay.store.bucket import names_in
    except ModuleNotFoundError as error:
        raise MissingExtra(f"'{place}'", str(error.name), "bucket") from error
    return [place.name] if place.name else names_in(place, MANIFEST)
