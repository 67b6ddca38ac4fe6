"""The URL of a repository and a folder in, that folder with the newest files of one branch out, whatever was there.

A mirror is a shallow clone at a place of its own, which is fetched again and again with nobody watching: each fetch has
a time limit, what a killed one left behind is put away, and what is no repository any more is cloned anew. A folder
that was not cloned here is never touched. One process at a time brings a mirror up to date. As in every clone, no hook,
submodule or filter of the repository runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from urllib.parse import urlsplit

from assay.corpus.clone import MARK, beside_of, new_clone
from assay.corpus.git import FetchLimits, answer, online
from assay.corpus.git_login import split_login, without_login
from assay.corpus.origin import normalized_origin, plain_name
from assay.errors import InputError
from assay.io.files import alone

FETCH = FetchLimits(600.0)
"""How long a fetch may take; a host that sends nothing for a minute is given up before."""
_BRANCH = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)))[\w][\w./+@-]*(?<![./])")
_LEFT = ("index.lock", "shallow.lock", "HEAD.lock", "config.lock", "packed-refs.lock")
_TIDY = ("-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false", "-c", "core.logAllRefUpdates=false")


@dataclass(frozen=True, slots=True)
class Mirror:
    """A repository elsewhere, and where its files are kept here."""

    url: str
    folder: Path
    branch: str = ""
    """Empty: the default branch of the repository, whichever that is."""

    @property
    def commit(self) -> str:
        """The commit whose files are here; empty without any."""
        return answer(self.folder, "rev-parse", "--verify", "--quiet", "HEAD") if self.folder.is_dir() else ""

    def update(self, limits: FetchLimits = FETCH) -> str:
        """Bring the files up to date and return their commit; raise InputError where the repository gives none."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with alone(self.folder.with_name(f".{self.folder.name}.lock")):
            for left in beside_of(self.folder):
                rmtree(left, ignore_errors=True)
            if self._is_there() and not self._is_whole():
                self._remove()
            if self._is_there():
                self._fetch(limits)
            else:
                new_clone(self.url, self.folder, branch=self.branch, limits=limits)
        commit = self.commit
        if not commit:
            raise InputError(f"cannot get {split_login(self.url)[0]}: it has no commit yet")
        return commit

    def _is_there(self) -> bool:
        """Say whether there is a clone of this program; refuse what somebody else keeps at its place."""
        if not self.folder.is_symlink() and not self.folder.exists():
            return False
        if (self.folder / ".git" / MARK).is_file():
            return True
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            return False
        raise InputError(
            f"'{self.folder}' is no mirror made by assay: move it away, or give another folder as --mirrors"
        )

    def _remove(self) -> None:
        """Remove the folder, whose mark is to be there until it is out of the way."""
        aside = Path(mkdtemp(dir=self.folder.parent, prefix=".clone-", suffix=f"-{self.folder.name}"))
        self.folder.rename(aside)
        rmtree(aside)

    def _is_whole(self) -> bool:
        """Say whether a repository of its own is here; a folder inside of another one would be taken for that one."""
        return (self.folder / ".git" / "HEAD").is_file() and (
            Path(answer(self.folder, "rev-parse", "--show-toplevel") or "/") == self.folder.resolve()
        )

    def _fetch(self, limits: FetchLimits) -> None:
        for name in _LEFT:
            (self.folder / ".git" / name).unlink(missing_ok=True)
        here = ("-C", str(self.folder), *_TIDY)
        wanted = self.branch or "HEAD"
        fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--force", "--", self.url)
        online(self.url, *here, *fetch, wanted, limits=limits)
        if answer(self.folder, "rev-parse", "FETCH_HEAD") != self.commit:  # the files are written before HEAD is
            online(self.url, *here, "reset", "--quiet", "--hard", "FETCH_HEAD", limits=limits)


def mirror_of(url: str, mirrors: Path, branch: str = "") -> Mirror:
    """Return the mirror of a URL below a folder of mirrors, at `HOST/PATH` as people know it, `@BRANCH` behind.

    Letter case counts in a path, for on some hosts it does. Raise InputError for what names no repository.
    """
    plain, _ = split_login(url)
    folder = mirrors / f"{_place(plain)}{_at(branch)}"
    if mirrors.resolve() not in folder.resolve().parents:
        raise InputError(f"'{folder}' leads out of the folder of the mirrors: remove the link")
    return Mirror(url, folder, branch)


def is_branch(name: str) -> bool:
    """Say whether a text may name a branch or a tag, rather than be an option or a pattern of git."""
    return _BRANCH.fullmatch(name) is not None


def _place(url: str) -> str:
    """Return host, port and path of a URL as parts of a path; a file of this machine is below `file`."""
    try:
        parts = urlsplit(url if "://" in url else "")
        port = parts.port
    except ValueError as error:
        raise InputError(f"'{without_login(url)}' is no URL: {without_login(str(error))}") from None
    if parts.scheme == "file" and (path := plain_name(parts.path.strip("/").removesuffix(".git"))):
        return f"file/{path}"
    host, _, path = normalized_origin(url).partition("/")
    if not path:
        raise InputError(f"'{without_login(url)}' names no repository: wanted a host and a path behind it")
    return f"{host}+{port}/{path}" if port else f"{host}/{path}"


def _at(branch: str) -> str:
    """Return what a branch adds to the name of a folder; no two add the same."""
    name = plain_name(branch).replace("/", "-")
    same = name if name == branch else f"{name}~{blake2b(branch.encode(), digest_size=4).hexdigest()}"
    return f"@{same}" if branch else ""


def meant_by(urls: Mapping[str, str], said: set[str]) -> list[str]:
    """Return the names of those URLs that mean a repository which somebody calls by some URLs, in whatever case."""
    wanted = {normalized_origin(url).casefold() for url in said} - {""}
    return [name for name, url in urls.items() if normalized_origin(url).casefold() in wanted]
