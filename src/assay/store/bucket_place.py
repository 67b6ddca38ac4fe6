"""`s3://bucket/prefix#name` in, its parts out: which bucket, what every name in it begins with, which repository.

prefix/repos/<name>/manifest.json      the one object of a repository that is ever replaced
prefix/repos/<name>/<uuid>.segment     as in a folder, byte for byte
prefix/repos/<name>/<uuid>.catalog
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from assay.errors import InputError

SCHEMES = ("s3", "gs", "az")
REPOS = "repos"
_URL = re.compile(r"(s3|gs|az)://([^/#]*)/?([^#]*)(?:#(.*))?", re.DOTALL)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NAME = re.compile(r"[\w.+~@-]+(/[\w.+~@-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """A bucket and a prefix in it, and the repository that is meant there, if one is named."""

    scheme: str
    bucket: str
    prefix: str = ""
    name: str = ""

    @property
    def whole(self) -> str:
        """Return bucket and prefix as people give them."""
        return f"{self.scheme}://{self.bucket}{f'/{self.prefix}' if self.prefix else ''}"

    def __str__(self) -> str:
        return f"{self.whole}#{self.name}" if self.name else self.whole

    @property
    def repos(self) -> str:
        """Return what the names of all objects of all repositories begin with."""
        return f"{self.prefix}/{REPOS}" if self.prefix else REPOS

    def of(self, name: str) -> BucketPlace:
        """Return the place of one repository."""
        return replace(self, name=name)


def is_bucket(location: str) -> bool:
    """Say whether a text names a place in a bucket rather than a folder."""
    return location.partition("://")[0] in SCHEMES and "://" in location


def bucket_place(location: str) -> BucketPlace:
    """Read a location; raise InputError for what names no bucket, or no name that can be one."""
    found = _URL.fullmatch(location)
    if found is None or not _BUCKET.fullmatch(found[2]):
        raise InputError(f"'{location}' names no bucket: give s3://BUCKET/PREFIX (or gs://, az://)")
    scheme, bucket, prefix, name = found.groups()
    prefix = prefix.strip("/")
    if prefix and not _parts_are_names(prefix):
        raise InputError(f"'{location}': a prefix has letters, digits and . _ - + ~ @ between slashes")
    if name is not None and not _parts_are_names(name):
        raise InputError(f"'{location}': the name after # has letters, digits and . _ - + ~ @ between slashes")
    return BucketPlace(scheme, bucket, prefix, name or "")


def _parts_are_names(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and not any(part.strip(".") == "" for part in text.split("/"))
