"""Locate an index: in the user's cache, one for each root, or in a bucket.

prefix/repos/<name>/manifest.json      the one object of a repository that is ever replaced
prefix/repos/<name>/<uuid>.segment     as in a folder, byte for byte
prefix/repos/<name>/<uuid>.catalog
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from assay.errors import InputError
from assay.io.digest import hex_digest

SCHEMES = ("s3", "gs", "az")
REPOS = "repos"
MANIFEST = "manifest.json"
_URL = re.compile(r"(s3|gs|az)://([^/#]*)/?([^#]*)(?:#(.*))?", re.DOTALL)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NAME = re.compile(r"[\w.+~@-]+(/[\w.+~@-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """A bucket and a prefix in it, and the name of a repository, if one is given."""

    scheme: str
    bucket: str
    prefix: str = ""
    name: str = ""

    @property
    def whole(self) -> str:
        """Return bucket and prefix as users write them."""
        return f"{self.scheme}://{self.bucket}{f'/{self.prefix}' if self.prefix else ''}"

    def __str__(self) -> str:
        return f"{self.whole}#{self.name}" if self.name else self.whole

    @property
    def repos(self) -> str:
        """Return the prefix of the objects of all repositories."""
        return f"{self.prefix}/{REPOS}" if self.prefix else REPOS

    def of(self, name: str) -> BucketPlace:
        """Return the place of one repository."""
        return replace(self, name=name)


def is_bucket(location: str) -> bool:
    """Say whether a text names a place in a bucket rather than a folder."""
    return location.partition("://")[0] in SCHEMES and "://" in location


def bucket_place(location: str) -> BucketPlace:
    """Parse a location; raise InputError unless it names a bucket, with a valid prefix and name."""
    found = _URL.fullmatch(location)
    if found is None or not _BUCKET.fullmatch(found[2]):
        raise InputError(f"'{location}' does not name a bucket: give s3://BUCKET/PREFIX (or gs://, az://)")
    scheme, bucket, prefix, name = found.groups()
    prefix = prefix.strip("/")
    if prefix and not _parts_are_names(prefix):
        raise InputError(f"'{location}': a prefix has letters, digits and . _ - + ~ @ between slashes")
    if name is not None and not _parts_are_names(name):
        raise InputError(f"'{location}': the name after # has letters, digits and . _ - + ~ @ between slashes")
    return BucketPlace(scheme, bucket, prefix, name or "")


def _parts_are_names(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and not any(part.strip(".") == "" for part in text.split("/"))


_MAX_NAME_CHARS = 40


def located(location: str, folder: Path) -> str:
    """Return the location of an index that was named relative to a folder; one in a bucket is absolute."""
    if is_bucket(location):
        return str(bucket_place(location))
    return str(folder / Path(location).expanduser())


def holds_many(location: str) -> bool:
    """Say whether a location can hold the indexes of several roots, each under its own name."""
    return is_bucket(location) and not bucket_place(location).name


def default_location(root: Path) -> Path:
    """Return a folder named after the root and a hash of its path, which makes the name unique."""
    whole = str(root.resolve())
    digest = hex_digest(whole, 8)
    name = re.sub(r"[^\w.-]+", "-", root.resolve().name, flags=re.ASCII)[:_MAX_NAME_CHARS] or "root"
    return Path(platformdirs.user_cache_dir("assay")) / f"{name}-{digest}"


def past_location(root: Path) -> Path:
    """Return the folder of facts that the commits of a root give about its files, beside their index."""
    place = default_location(root)
    return place.with_name(f"{place.name}.past")


def history_location(root: Path) -> Path:
    """Return the folder of the index of a root's commits, beside that of its files."""
    place = default_location(root)
    return place.with_name(f"{place.name}.history")
