"""A checkout to where its code host shows a file of a commit: permanent links, of the hosts whose form is known.

Only `https` and `http` addresses come out, whatever the origin says; user names, passwords and tokens in it do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from assay.corpus.git import answer
from assay.corpus.git_history import head
from assay.corpus.origin import normalized_origin
from assay.errors import InputError

_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_AS_GITHUB, _AS_GITLAB = ("#L{start}", "#L{start}-L{end}"), ("#L{start}", "#L{start}-{end}")
_FORMS = (
    (re.compile(r"(?:^|\.)github\."), "GitHub", "blob/{}", _AS_GITHUB, "commit"),
    (re.compile(r"(?:^|\.)gitlab\."), "GitLab", "-/blob/{}", _AS_GITLAB, "-/commit"),
    (re.compile(r"(?:^|\.)(?:gitea|forgejo)\.|^codeberg\.org$"), "Gitea", "src/commit/{}", _AS_GITHUB, "commit"),
    (re.compile(r"^bitbucket\.org$"), "Bitbucket", "src/{}", ("#lines-{start}", "#lines-{start}:{end}"), "commits"),
)
"""Which names a host has, what it is, the folder of files of a commit, a line and lines, the folder of commits."""


@dataclass(frozen=True, slots=True)
class HostLinks:
    """How a code host names a folder of a commit, lines of a file in it, and commits."""

    host: str
    """`GitHub`, `GitLab`, `Gitea` or `Bitbucket`."""
    folder: str
    """A path in the checkout is added, each part of it escaped."""
    line: str
    """What names a line of a file, with `{start}`."""
    lines: str
    """What names several, with `{start}` and `{end}`."""
    commits: str
    """The id of a commit is added."""
    commit: str
    """HEAD."""

    def of_file(self, path: str) -> str:
        """Return the address of a file of the checkout at HEAD."""
        return self.folder + quote(path, safe="/")


def host_links(root: Path) -> HostLinks | None:
    """Return the links of a checkout, or of a folder in one; None where its host is not known or no commit is there."""
    try:
        commit = head(root)
        url = answer(root, "config", "--get", "remote.origin.url") if commit else ""
        below = answer(root, "rev-parse", "--show-prefix") if url else ""
    except InputError:  # no git here
        return None
    return links_of(url, commit, below) if url else None


def links_of(origin: str, commit: str, below: str = "") -> HostLinks | None:
    """Return the links of an origin's URL at a commit, for paths below a folder of the repository.

    >>> links_of("git@github.com:owner/name.git", "c0ffee").of_file("src/a b.py")
    'https://github.com/owner/name/blob/c0ffee/src/a%20b.py'
    >>> links_of("javascript:alert(1)", "c0ffee") is None
    True
    """
    host, _, name = normalized_origin(origin).partition("/")
    form = next((form for form in _FORMS if form[0].search(host)), None)
    if form is None or not name or not _HOST.fullmatch(host):
        return None
    _, title, folder, (line, lines), commits = form
    base = f"{_scheme_and_port(origin, host)}/{quote(name)}"
    inside = quote(below, safe="/")
    return HostLinks(title, f"{base}/{folder.format(commit)}/{inside}", line, lines, f"{base}/{commits}/", commit)


def _scheme_and_port(origin: str, host: str) -> str:
    """Return the beginning of an address: a port is the web's only where the origin was of the web."""
    parts = urlsplit(origin) if origin.startswith(("http://", "https://")) else None
    try:
        port = f":{parts.port}" if parts and parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.scheme if parts else 'https'}://{host}{port}"
