"""Clone and update remote repositories, and link to their files on a code host.

Clones are shallow. One lies in the user's cache, one for each URL, so that its index is incremental as any other. A
mirror is at a place of its own, which is fetched again and again unattended: each fetch has a time limit, what a
killed one left behind is put away, and what is no repository any more is cloned anew. A folder that was not cloned here
is never touched. One process at a time brings a mirror up to date. No hook, submodule or filter of a repository runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from urllib.parse import quote, urlsplit

from assay.corpus.addresses import normalized_origin, plain_name, split_login, without_login
from assay.corpus.git import FetchLimits, answer, online
from assay.errors import InputError
from assay.io.digest import hex_digest
from assay.io.files import alone

MARK = "assay-clone"
"""A file in the .git of what was cloned here, and may be replaced."""


def clone(url: str, cache: Path, *, refresh: bool = True, options: Sequence[str] = ()) -> Path:
    """Return the folder of a URL's clone below a cache folder: cloned on first use, then updated.

    `options` are those of git.
    """
    name = re.sub(r"[^\w.-]+", "-", url.rstrip("/").rpartition("/")[2].removesuffix(".git"), flags=re.ASCII) or "root"
    folder = cache / f"{name}-{hex_digest(url, 8)}"
    if not folder.exists():
        new_clone(url, folder, options=options)
    elif refresh:
        online(url, "-C", str(folder), "fetch", "--quiet", "--depth=1", "origin", "HEAD", options=options)
        online(url, "-C", str(folder), "reset", "--quiet", "--hard", "FETCH_HEAD")
    return folder


def new_clone(
    url: str, folder: Path, *, branch: str = "", limits: FetchLimits | None = None, options: Sequence[str] = ()
) -> None:
    """Clone beside the folder and move it there, so that an interrupted clone is never used."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(dir=folder.parent, prefix=".clone-", suffix=f"-{folder.name}"))
    chosen = ["--branch", branch] if branch else []
    try:
        online(url, "clone", "--quiet", "--depth=1", *chosen, "--", url, str(beside), limits=limits, options=options)
        (beside / ".git" / MARK).touch()
        beside.rename(folder)
    finally:
        rmtree(beside, ignore_errors=True)


def beside_of(folder: Path) -> list[Path]:
    """Return the leftovers of killed clones beside a folder, if no clone is running."""
    return list(folder.parent.glob(f".clone-????????-{escape(folder.name)}"))


FETCH = FetchLimits(600.0)
"""How long a fetch may take; a host that sends nothing for a minute is given up before."""
_BRANCH = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)))[\w][\w./+@-]*(?<![./])")
_LEFT = ("index.lock", "shallow.lock", "HEAD.lock", "config.lock", "packed-refs.lock")
_TIDY = ("-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false", "-c", "core.logAllRefUpdates=false")


@dataclass(frozen=True, slots=True)
class Mirror:
    """A remote repository, and the folder of its files here."""

    url: str
    folder: Path
    branch: str = ""
    """Empty: the default branch of the repository, whichever that is."""

    @property
    def commit(self) -> str:
        """The commit whose files are here; empty without any."""
        return answer(self.folder, "rev-parse", "--verify", "--quiet", "HEAD") if self.folder.is_dir() else ""

    def update(self, limits: FetchLimits = FETCH) -> str:
        """Update the files and return their commit; raise InputError if the repository has none."""
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
        """Say whether there is a mirror; refuse a folder that is not one of ours."""
        if not self.folder.is_symlink() and not self.folder.exists():
            return False
        if (self.folder / ".git" / MARK).is_file():
            return True
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            return False
        raise InputError(f"'{self.folder}' is not a mirror of assay: move it away, or set another with --mirrors")

    def _remove(self) -> None:
        """Remove the folder; its mark file stays until it is moved out of the way."""
        aside = Path(mkdtemp(dir=self.folder.parent, prefix=".clone-", suffix=f"-{self.folder.name}"))
        self.folder.rename(aside)
        rmtree(aside)

    def _is_whole(self) -> bool:
        """Say whether the folder is a repository itself, not a folder inside another one."""
        return (self.folder / ".git" / "HEAD").is_file() and (
            Path(answer(self.folder, "rev-parse", "--show-toplevel") or "/") == self.folder.resolve()
        )

    def _fetch(self, limits: FetchLimits) -> None:
        for name in _LEFT:
            (self.folder / ".git" / name).unlink(missing_ok=True)
        here = ("-C", str(self.folder), *_TIDY)
        fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--force", "--", self.url)
        online(self.url, *here, *fetch, self.branch or "HEAD", limits=limits)
        if answer(self.folder, "rev-parse", "FETCH_HEAD") != self.commit:  # the files are written before HEAD is
            online(self.url, *here, "reset", "--quiet", "--hard", "FETCH_HEAD", limits=limits)


def mirror_of(url: str, mirrors: Path, branch: str = "") -> Mirror:
    """Return the mirror of a URL below a folder of mirrors, at `HOST/PATH`, with `@BRANCH` behind it.

    Letter case counts in a path, for on some hosts it does. Raise InputError unless it names a repository.
    """
    plain, _ = split_login(url)
    folder = mirrors / f"{_place(plain)}{_at(branch)}"
    if mirrors.resolve() not in folder.resolve().parents:
        raise InputError(f"'{folder}' points outside of the folder of mirrors: remove the link")
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
        raise InputError(f"invalid URL '{without_login(url)}': {without_login(str(error))}") from None
    if parts.scheme == "file" and (path := plain_name(parts.path.strip("/").removesuffix(".git"))):
        return f"file/{path}"
    host, _, path = normalized_origin(url).partition("/")
    if not path:
        raise InputError(f"'{without_login(url)}' does not name a repository: wanted a host and a path behind it")
    return f"{host}+{port}/{path}" if port else f"{host}/{path}"


def _at(branch: str) -> str:
    """Return the suffix of a branch for the name of a folder, unique for each branch."""
    name = plain_name(branch).replace("/", "-")
    same = name if name == branch else f"{name}~{hex_digest(branch, 4)}"
    return f"@{same}" if branch else ""


def meant_by(urls: Mapping[str, str], origins: set[str]) -> list[str]:
    """Return the names of the URLs that mean the same repository as one of some origins, ignoring case."""
    wanted = {normalized_origin(url).casefold() for url in origins} - {""}
    return [name for name, url in urls.items() if normalized_origin(url).casefold() in wanted]


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
    """Links of a code host to a folder of a commit, to lines of its files, and to commits."""

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


def origin_of(root: Path) -> str:
    """Return host and path of a checkout's origin, with the path of the folder in it; empty without an origin.

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


def host_links(root: Path) -> HostLinks | None:
    """Return the links of a checkout, or of a folder in one; None for an unknown host or without commits."""
    from assay.corpus.git_history import head  # which reads commits: not for a search

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
    """Return scheme and port of a web address; the port is kept only if the origin is a web address."""
    parts = urlsplit(origin) if origin.startswith(("http://", "https://")) else None
    try:
        port = f":{parts.port}" if parts and parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.scheme if parts else 'https'}://{host}{port}"
