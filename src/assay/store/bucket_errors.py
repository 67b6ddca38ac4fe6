"""What a bucket's server or the way to it refused in, one sentence with the next step out; no secret stands in it.

An access error says nothing about the index: nothing here is damage, and nothing proposes to rebuild or remove.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.errors import StorageError, UnwritableIndex
from assay.store.bucket_place import BucketPlace

_CODE = re.compile(r"<Code>(\w+)</Code>|\"code\": ?\"(\w+)\"")
_STATUS = re.compile(r"status code: (\d{3})|status: (\d{3})")
_ENDPOINT = re.compile(r"https?://[^/\s,?]+")
CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_SERVICE_ACCOUNT",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
"""The variables that hold them, by the scheme of a place."""
_ALLOW = {"s3": "AWS_ALLOW_HTTP", "gs": "GOOGLE_ALLOW_HTTP", "az": "AZURE_ALLOW_HTTP"}
_METADATA = ("169.254.169.254", "169.254.170.2", "metadata.google.internal", "metadata/identity")
_UNKNOWN_KEYS = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthenticationFailed", "ExpiredToken")
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")
_REGIONS = ("BareRedirect", "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException")


@dataclass(frozen=True, slots=True)
class _Refusal:
    """What a request came back with."""

    text: str
    kind: str
    """The name of the error's class."""

    @property
    def code(self) -> str:
        """Return the server's own word for it."""
        found = _CODE.search(self.text)
        return (found[1] or found[2]) if found else ""

    @property
    def status(self) -> int:
        """Return the status of its answer; 0 without one."""
        found = _STATUS.search(self.text)
        return int(found[1] or found[2]) if found else 0

    def names(self, *words: str) -> bool:
        """Say whether one of some words stands in it."""
        return any(word in self.text for word in words)


def is_missing_bucket(error: BaseException) -> bool:
    """Say whether it is the bucket that is not there, and not what was asked for in it."""
    return _Refusal(str(error), "").names(*_NO_BUCKET)


def access_error(error: BaseException, place: BucketPlace, *, writing: bool = False) -> StorageError:
    """Return what to say about a request that failed."""
    refusal = _Refusal(str(error), type(error).__name__)
    said = f"{place}: {_sentence(refusal, place, writing=writing)}"
    refused = writing and (refusal.kind == "PermissionDeniedError" or refusal.status == 403)
    return UnwritableIndex(said) if refused and refusal.code not in _UNKNOWN_KEYS else StorageError(said)


def _sentence(refusal: _Refusal, place: BucketPlace, *, writing: bool) -> str:
    """Return the first of the sentences that holds, from the plainest cause to what is left."""
    keys, at = CREDENTIALS[place.scheme], _endpoint(refusal)
    denied = refusal.kind == "PermissionDeniedError" or refusal.status == 403
    bad_keys = refusal.code in _UNKNOWN_KEYS or refusal.kind == "UnauthenticatedError"
    code = refusal.code or (f"status {refusal.status}" if refusal.status else refusal.kind)
    verb = "write" if writing else "read or list"
    allow = _ALLOW[place.scheme]
    causes = (
        (refusal.names(*_NO_BUCKET), f"there is no bucket '{place.bucket}' at {at}; check its name, or create it"),
        (
            refusal.names("BadScheme", "builder error"),
            f"{at} is plain http, which is refused; use https, or set {allow}=true if that is meant",
        ),
        (
            refusal.names(*_METADATA),
            f"no credentials were found; set {keys} (they are read from the environment alone)",
        ),
        (refusal.names(*_REGIONS), "the bucket is in another region; set AWS_REGION to the bucket's own"),
        (bad_keys, f"the credentials were not accepted ({code}); check {keys}"),
        (
            denied,
            f"these credentials may not {verb} here (403); ask whoever owns the bucket, or give others in {keys}",
        ),
        (
            refusal.names("kind: Timeout", "TimedOut", "operation timed out"),
            f"no answer from {at} in time; check the endpoint and the network, and try again",
        ),
        (
            refusal.names("kind: Connect", "dns error", "error sending request"),
            f"cannot reach {at}; check the endpoint (AWS_ENDPOINT_URL) and the network",
        ),
    )
    left = f"the request failed ({code}) at {at}; try again later"
    return next((sentence for holds, sentence in causes if holds), left)


def _endpoint(refusal: _Refusal) -> str:
    """Return the server that was asked, without path and query: those may hold a signature."""
    found = _ENDPOINT.search(refusal.text)
    return found[0].rpartition("@")[2] if found and "@" in found[0] else found[0] if found else "the server"
