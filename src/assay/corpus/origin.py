"""A folder in, the name of its repository out that every machine gives it: where its checkout was cloned from."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from assay.corpus.git import answer
from assay.errors import InputError

_SCP = re.compile(r"(?:[^@/]+@)?([\w.-]+):(?!/{2})(.+)")
_OTHER = re.compile(r"[^\w.+~-]+", re.ASCII)


def origin_of(root: Path) -> str:
    """Return host and path of a checkout's origin, and of the folder in it that is meant; empty for what has none.

    No user, password, port, query, scheme or `.git` stands in it, so that one repository has one name however it was
    cloned. An origin that is a folder of some machine is none.
    """
    try:
        url = answer(root, "config", "--get", "remote.origin.url")
        below = answer(root, "rev-parse", "--show-prefix").strip("/") if url else ""
    except InputError:  # no git here
        return ""
    origin = normalized_origin(url)
    return "/".join(filter(None, (origin, plain_name(below)))) if origin else ""


def normalized_origin(url: str) -> str:
    """Return `github.com/owner/name` of any of the URLs that mean it; empty for what names no host.

    >>> normalized_origin("https://user:token@GitHub.com/owner/name.git")
    'github.com/owner/name'
    >>> normalized_origin("git@github.com:owner/name.git")
    'github.com/owner/name'
    >>> normalized_origin("/srv/git/name.git")
    ''
    """
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, path = parts.hostname or "", parts.path
        except ValueError:
            return ""
        if parts.scheme == "file":
            return ""
    elif found := _SCP.fullmatch(url):
        host, path = found[1].lower(), found[2]
    else:
        return ""
    host, path = plain_name(host), plain_name(path.strip("/").removesuffix(".git"))
    return f"{host}/{path}" if host and path else ""


def plain_name(text: str) -> str:
    """Return a path whose parts hold letters, digits and . _ + ~ - alone."""
    parts = (_OTHER.sub("-", part) for part in text.split("/"))
    return "/".join(part for part in parts if part.strip("."))
