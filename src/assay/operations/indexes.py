"""Find the root of a path, and build its encoder and index, neither opened nor refreshed yet."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import platformdirs

from assay import plugins
from assay.corpus.addresses import is_url, plain_name
from assay.corpus.remotes import clone, origin_of
from assay.corpus.worktrees import other_worktrees
from assay.encode.view import Reads
from assay.errors import InputError, MissingExtra, UnwritableIndex
from assay.io.digest import hex_digest
from assay.protocols import Encoder, is_quick
from assay.search.folder_index import FolderIndex, PublishedIndex
from assay.search.index_changes import Build
from assay.settings import Settings
from assay.store.folder import IndexFolder
from assay.store.index_location import BucketPlace, bucket_place, default_location, is_bucket, located
from assay.values import Chunk

DESCRIPTIONS = "descriptions.sqlite"
"""Where descriptions are kept in the user's cache, for all indexes."""

MEMORY = Path("/dev/shm")  # noqa: S108  the system's folder of files in memory


AnyIndex = FolderIndex
"""An index of one root, in a folder or in a bucket."""


def clone_of(url: str, *, refresh: bool = True, options: Sequence[str] = ()) -> Path:
    """Return the folder of the clone of a URL; `options` are those of git."""
    return clone(url, platformdirs.user_cache_path("assay") / "clones", refresh=refresh, options=options)


def root_of(path: str, *, refresh: bool = True, hint: bool = False) -> Path:
    """Return the folder of a path or of a git URL, or raise InputError; `hint`: the path followed a question."""
    if is_url(path):
        return clone_of(path, refresh=refresh)
    if is_bucket(path):
        raise InputError(f"'{path}' is a place in a bucket: give a folder, and the place with --index")
    root = Path(path)
    try:
        if not root.exists():
            quotes = " (a question of several words goes in quotes)" if hint else ""
            raise InputError(f"no such folder: '{path}'{quotes}")
        if not root.is_dir():
            raise InputError(f"'{path}' is a file: give its folder")
        next(os.scandir(root), None)
    except PermissionError as error:
        raise InputError(f"no permission to read the folder '{path}'") from error
    return root.resolve()


def location_of(root: Path, settings: Settings) -> Path:
    """Return the location of a root's index: that of the settings, or one in the user's cache."""
    if settings.index.location:
        return Path(located(settings.index.location, root))
    return default_location(root)


def encoder_of(settings: Settings) -> Encoder:
    """Return the encoder that the settings name; one that is slower than a look-up has a cache."""
    encoder: Encoder = plugins.make("encoder", settings.encoder.spec)
    if is_quick(encoder):
        return encoder
    from assay.encode.cached_encoder import CachedEncoder

    return CachedEncoder(encoder, platformdirs.user_cache_path("assay") / "vectors.sqlite")


def index_of(root: Path, settings: Settings) -> AnyIndex:
    """Return the index of a root, neither opened nor refreshed yet."""
    folder, encoder = _folder_of(root, settings), encoder_of(settings)
    if settings.index.refresh:
        return FolderIndex(root, folder, encoder, build_of(settings), _describe_by(settings.index.describe))
    return PublishedIndex(root, folder, encoder)


def _folder_of(root: Path, settings: Settings) -> IndexFolder:
    if not is_bucket(settings.index.location):
        if settings.index.location:
            return IndexFolder(location_of(root, settings))
        return IndexFolder(default_location(root), root=str(root), relatives=partial(_relatives, root))
    return _bucket_folder(root, bucket_place(settings.index.location), settings.index.cache_gb)


def _bucket_folder(root: Path, place: BucketPlace, cache_gb: float) -> IndexFolder:
    """Return the folder in a bucket of a root's index: of the name that was given, or of its repository."""
    if place.name:
        return shared_folder(place, cache_gb)
    if origin := origin_of(root):
        return shared_folder(place.of(origin), cache_gb, origin)
    here = f"the folder {root} of {socket.gethostname()}"
    return shared_folder(place.of(plain_name(root.name) or "root"), cache_gb, here)


def shared_folder(place: BucketPlace, cache_gb: float, origin: str = "") -> IndexFolder:
    """Return the folder of one repository in a bucket; with an origin, an index of another one is refused."""
    from assay.store.copies import LocalCopies, SharedPlace  # not for folders

    shelf = platformdirs.user_cache_path("assay") / "buckets"
    digest = hex_digest(str(place), 8)
    folder = shelf / f"{place.name.rpartition('/')[2][:40]}-{digest}"
    copies = LocalCopies(folder, shelf, int(cache_gb * 1e9))
    try:
        from assay.store.bucket import BucketBlobs
    except ModuleNotFoundError as error:
        raise MissingExtra(f"index '{place}'", str(error.name), "bucket") from error
    return IndexFolder(folder, SharedPlace(str(place), BucketBlobs(place), copies, origin))


def _relatives(root: Path) -> list[IndexFolder]:
    """Return the indexes, in the user's cache, of the same folder in other worktrees of its repository."""
    return [IndexFolder(default_location(each)) for each in other_worktrees(root)]


class PrunedIndex(NamedTuple):
    """An index that was removed, because its folder is gone."""

    root: str
    freed_bytes: int


def prune_indexes() -> list[PrunedIndex]:
    """Remove the indexes in the user's cache whose folders are gone, except those that are being written."""
    pruned = []
    for place in sorted(platformdirs.user_cache_path("assay").glob("*/")):
        folder = IndexFolder(place)
        root = folder.indexed_root()
        if root and not os.path.lexists(root) and not folder.is_kept():
            with suppress(BlockingIOError):
                pruned.append(PrunedIndex(root, folder.remove()))
    return pruned


def descriptions_file() -> Path:
    """Return the file that keeps descriptions."""
    return platformdirs.user_cache_path("assay") / DESCRIPTIONS


NO_DESCRIPTIONS = "none"


def _describe_by(author: str) -> Callable[[Sequence[Chunk]], list[Chunk]]:
    """Return the function that adds known descriptions to chunks: those of one chat, of any, or none."""

    def describe(chunks: Sequence[Chunk]) -> list[Chunk]:
        file = descriptions_file()
        if author == NO_DESCRIPTIONS or not file.exists():
            return list(chunks)
        from assay.operations.open_chat import chat_name  # and sqlite: only where there are descriptions
        from assay.search.descriptions import author_of, with_descriptions

        return with_descriptions(file, chunks, author_of(chat_name(author)) if author else "")

    return describe


def index_out_of_memory(root: Path, settings: Settings, refusal: UnwritableIndex) -> AnyIndex:
    """Return the index of a root in a folder that is removed when this process ends, in memory if the system can."""
    try:
        folder = tempfile.mkdtemp(prefix="assay-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
    except OSError:
        raise refusal from None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return index_of(root, replace(settings, index=replace(settings.index, location=folder)))


def build_of(settings: Settings) -> Build:
    """Return how an index is built, from the settings that affect it."""
    index = settings.index
    return Build(
        chunk_lines=index.chunk_lines,
        section_lines=index.section_lines,
        quantisation=index.quantisation,
        encoding=index.encoding,
        open_ignored=index.open_ignored,
        reads=cast(Reads, settings.encoder.reads),
    )


def index_key(settings: Settings) -> str:
    """Return what an index depends on besides the files: settings of one key can share an index."""
    key = [settings.encoder.spec, *build_of(settings).changes()]
    if settings.index.describe != NO_DESCRIPTIONS:
        key.append(f"describe {settings.index.describe or 'newest'}")
    return ", ".join(key)
