"""Keep blobs under a prefix of a bucket, through obstore: S3 and compatible stores, Google Cloud Storage, Azure.

Every wait is bounded: a server that does not answer is reported within seconds. An access error says nothing about the
index: nothing here is damage, nothing proposes to rebuild or remove, and no message holds a secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotModifiedError, PreconditionError
from obstore.store import AzureStore, GCSStore, S3Store

from assay.errors import InputError, StorageError, UnwritableIndex
from assay.store.catalog import BlobEntry, Overtaken, TaggedBytes
from assay.store.index_location import BucketPlace

_CODE = re.compile(r"(?:<Code>|\"code\": ?\")(\w+)")
_STATUS = re.compile(r"status(?: code)?: (\d{3})")
_ENDPOINT = re.compile(r"(https?://[^/\s,?]+)")
CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_SERVICE_ACCOUNT",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
"""The variables that hold them, by the scheme of a place."""
_METADATA = ("169.254.169.254", "169.254.170.2", "metadata.google.internal", "metadata/identity")
_UNKNOWN_KEYS = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthenticationFailed", "ExpiredToken")
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")
_REGIONS = ("BareRedirect", "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException")


def is_missing_bucket(error: BaseException) -> bool:
    """Say whether the bucket itself is missing, rather than an object in it."""
    return any(word in str(error) for word in _NO_BUCKET)


def access_error(error: BaseException, place: BucketPlace, *, writing: bool = False) -> StorageError:
    """Return the error for a failed request: the first cause that applies, from the most specific one on."""
    text, kind = str(error), type(error).__name__
    own_code, status = _first(_CODE, text), _first(_STATUS, text)
    code = own_code or (f"status {status}" if status else kind)
    keys, allow = CREDENTIALS[place.scheme], f"{_STORES[place.scheme][1]}ALLOW_HTTP"
    denied = kind == "PermissionDeniedError" or status == "403"
    # without path and query: these may hold a signature
    at = _first(_ENDPOINT, text).rpartition("@")[2] or "the server"
    verb = "write" if writing else "read or list"
    not_accepted = f"the credentials were not accepted ({code}); check {keys}"

    def says(*words: str) -> bool:
        return any(word in text for word in words)

    causes = (
        (says(*_NO_BUCKET), f"there is no bucket '{place.bucket}' at {at}; check its name, or create it"),
        (
            says("BadScheme", "builder error"),
            f"{at} is plain http, which is refused; use https, or set {allow}=true to allow it",
        ),
        (says(*_METADATA), f"no credentials were found; set {keys} (they are read only from the environment)"),
        (says(*_REGIONS), "the bucket is in another region; set AWS_REGION to the bucket's own"),
        (own_code in _UNKNOWN_KEYS or kind == "UnauthenticatedError", not_accepted),
        (denied, f"these credentials may not {verb} here (403); ask whoever owns the bucket, or give others in {keys}"),
        (
            says("kind: Timeout", "TimedOut", "operation timed out"),
            f"no answer from {at} in time; check the endpoint and the network, and try again",
        ),
        (
            says("kind: Connect", "dns error", "error sending request"),
            f"cannot reach {at}; check the endpoint (AWS_ENDPOINT_URL) and the network",
        ),
        (True, f"the request failed ({code}) at {at}; try again later"),
    )
    sentence = next(sentence for holds, sentence in causes if holds)
    is_unwritable = writing and denied and own_code not in _UNKNOWN_KEYS
    return (UnwritableIndex if is_unwritable else StorageError)(f"{place}: {sentence}")


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


_STORES: dict[str, tuple[Callable[..., Any], str]] = {
    "s3": (S3Store, "AWS_"),
    "gs": (GCSStore, "GOOGLE_"),
    "az": (AzureStore, "AZURE_"),
}
_TIMES = {"connect_timeout": "3s", "read_timeout": "10s", "timeout": "120s"}
_RETRIES = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=8),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=2), "base": 2},
}


class BucketBlobs:
    """The objects of one repository in a bucket."""

    def __init__(self, place: BucketPlace) -> None:
        self.place = place
        self._store = _store(place)
        self._prefix = f"{place.repos}/{place.name}/"

    def get(self, name: str, cached: TaggedBytes | None = None) -> TaggedBytes | None:
        """Return the bytes of a name, or `cached` itself if it is unchanged; None if there are none."""
        options: Any = {"if_none_match": cached.tag.partition("\n")[0]} if cached else {}
        with _naming_refusals(self.place):
            try:
                found = obstore.get(self._store, self._prefix + name, options=options)
                return TaggedBytes(bytes(found.bytes()), _tag(found.meta))
            except NotModifiedError:
                return cached
            except FileNotFoundError as error:
                if is_missing_bucket(error):
                    raise
                return None

    def get_range(self, name: str, start: int, stop: int) -> bytes:
        """Return some bytes, fewer at the end; raise FileNotFoundError where nothing is."""
        with _naming_refusals(self.place):
            try:
                return bytes(obstore.get_range(self._store, self._prefix + name, start=start, end=stop))
            except FileNotFoundError as error:
                raise FileNotFoundError(2, "no such object", name) from error

    def put(self, name: str, file: Path) -> None:
        """Keep a file's bytes under a name, all of them or none."""
        with _naming_refusals(self.place, writing=True):
            obstore.put(self._store, self._prefix + name, file)

    def put_if(self, name: str, data: bytes, replaces: TaggedBytes | None) -> TaggedBytes:
        """Replace exactly these bytes, or create the object for None; raise Overtaken if it has changed."""
        with _naming_refusals(self.place, writing=True):
            try:
                made = obstore.put(self._store, self._prefix + name, data, mode=_mode(replaces))
            except (AlreadyExistsError, PreconditionError) as error:
                raise Overtaken(f"{self.place}: another writer was first; try again") from error
            except FileNotFoundError as error:
                if is_missing_bucket(error):
                    raise
                raise Overtaken(f"{self.place}: it was removed meanwhile; try again") from error
        return TaggedBytes(data, _tag(made))

    def list(self) -> Sequence[BlobEntry]:
        """List all entries."""
        now = datetime.now(UTC)
        with _naming_refusals(self.place):
            found = obstore.list_with_delimiter(self._store, self._prefix.rstrip("/"))["objects"]
        return [
            BlobEntry(each["path"].rpartition("/")[2], each["size"], (now - each["last_modified"]).total_seconds())
            for each in found
        ]

    def delete(self, names: Iterable[str]) -> None:
        """Remove some names, whether they are there or not."""
        with _naming_refusals(self.place, writing=True):
            obstore.delete(self._store, [self._prefix + name for name in names])


def names_in(place: BucketPlace, manifest: str) -> list[str]:
    """Return the names of the repositories that have a manifest in a place, sorted."""
    with _naming_refusals(place):
        found = [each["path"] for some in obstore.list(_store(place), place.repos) for each in some]
    inside, end = f"{place.repos}/", f"/{manifest}"
    return sorted(path[len(inside) : -len(end)] for path in found if path.startswith(inside) and path.endswith(end))


@contextmanager
def _naming_refusals(place: BucketPlace, *, writing: bool = False) -> Iterator[None]:
    """Turn refusals into errors with a cause and a next step; a missing object is left to the caller."""
    try:
        yield
    except (BaseError, OSError) as error:
        if isinstance(error, FileNotFoundError) and not is_missing_bucket(error):
            raise
        raise access_error(error, place, writing=writing) from None  # its text holds requests and their answers


def _store(place: BucketPlace) -> Any:
    variables = _STORES[place.scheme][1]
    return _opened(place.scheme, place.bucket, tuple((k, v) for k, v in os.environ.items() if k.startswith(variables)))


@cache
def _opened(scheme: str, bucket: str, environment: tuple[tuple[str, str], ...]) -> Any:
    """Return a client of a bucket, which keeps connections; its settings come from the environment."""
    kind, variables = _STORES[scheme]
    allow_http = dict(environment).get(f"{variables}ALLOW_HTTP", "").lower() in ("1", "true", "yes")
    try:
        return kind(bucket, client_options={**_TIMES, "allow_http": allow_http}, retry_config=_RETRIES)
    except (BaseError, ValueError, TypeError) as error:
        advice = f"check {CREDENTIALS[scheme]} in the environment, and the other variables {variables}…"
        raise InputError(f"{scheme}://{bucket} cannot be opened: {advice}") from error


def _mode(replaces: TaggedBytes | None) -> Any:
    if replaces is None:
        return "create"
    e_tag, _, version = replaces.tag.partition("\n")
    return {"e_tag": e_tag, **({"version": version} if version else {})}


def _tag(about: Any) -> str:
    """Return the tag of a conditional put: an ETag, and for Google a generation."""
    return f"{about.get('e_tag') or ''}\n{about.get('version') or ''}"
