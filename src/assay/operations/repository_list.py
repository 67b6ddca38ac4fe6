"""Read a list of repositories from a file, one a line; errors name every line that cannot be used.

A line is a folder or a URL, and behind it, if wanted, `branch=NAME`, `every=30m` and settings such as
`search.excerpt_lines=5`. A list of addresses that another program wrote is a list already, and a place with blanks in
it needs no quotes. A password in a URL may be `${VARIABLE}`; wherever it comes from, no message has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from assay.corpus.addresses import is_url, split_login, without_login
from assay.corpus.remotes import Mirror, is_branch, mirror_of
from assay.errors import AssayError, InputError
from assay.settings import Settings, changed

_OPTION = re.compile(r"\s+([a-z_]+(?:\.[a-z_]+)?)=(\S*)$")
_PASSWORD = re.compile(r"\w+://[^/@]*:[^@]*@")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SPAN = re.compile(r"(\d{1,9})(s|m|h|d)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_MIN_INTERVAL_S = 10
_OWN = ("branch", "every")
_MAX_LISTED_PROBLEMS = 10
_MAX_LIST_BYTES = 4_000_000
"""Bytes of a list that are read."""


@dataclass(frozen=True, slots=True)
class ListedRepository:
    """One line of a list."""

    place: str
    """A folder, absolute, or a URL without its login."""
    url: str = field(default="", repr=False)
    """The URL with its login, for git only; empty for a folder."""
    branch: str = ""
    every_s: float = 0.0
    """How often it is checked for changes; 0 if the line does not say."""
    changes: tuple[str, ...] = ()
    """Its own settings, as `section.key=value`."""
    line: int = 0

    def mirror(self, mirrors: Path) -> Mirror | None:
        """Return the folder of a URL's files; None for a folder, which has its own."""
        return mirror_of(self.url, mirrors, self.branch) if self.url else None

    def root(self, mirrors: Path) -> Path:
        """Return the folder with its files."""
        mirror = self.mirror(mirrors)
        return mirror.folder if mirror else Path(self.place)


def read_repositories(file: Path, mirrors: Path) -> tuple[ListedRepository, ...]:
    """Return the repositories in a file; raise InputError with every line that cannot be used, by file and line."""
    found, problems = usable_lines(file, mirrors)
    problems += _clashes(file, found, mirrors)
    if problems:
        more = f" (and {len(problems) - _MAX_LISTED_PROBLEMS} more)" if len(problems) > _MAX_LISTED_PROBLEMS else ""
        raise InputError("; ".join(problems[:_MAX_LISTED_PROBLEMS]) + more)
    if not found:
        raise InputError(f"{file} lists no repository: write one folder or URL per line")
    return tuple(found)


def usable_lines(file: Path, mirrors: Path) -> tuple[list[ListedRepository], list[str]]:
    """Return the usable lines of a file, and what is wrong with each of the others."""
    found: list[ListedRepository] = []
    problems: list[str] = []
    for number, text in _lines(file):
        try:
            each = _parse_line(text, number, file.absolute().parent)
            each.root(mirrors)
            found.append(each)
        except AssayError as error:
            problems.append(f"{file}:{number}: {error}")
    return found, problems


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_LIST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot read the list of repositories {file}: {why}") from error
    if len(data) > _MAX_LIST_BYTES:
        raise InputError(f"{file} is larger than {_MAX_LIST_BYTES:,} bytes: it is not a list of repositories")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


def _parse_line(text: str, line: int, base: Path) -> ListedRepository:
    place, options = _split(text)
    if unknown := [name for name in options if name not in _OWN and "." not in name]:
        raise InputError(f"unknown option '{unknown[0]}'; known: branch, every, or a setting such as search.limit=5")
    branch = options.get("branch", "")
    if "branch" in options and not is_branch(branch):
        raise InputError(f"'{branch}' is not the name of a branch")
    changes = tuple(f"{name}={value}" for name, value in options.items() if name not in _OWN)
    changed(Settings(), changes)
    if any(change.startswith(("index.location=", "index.refresh=")) for change in changes):
        raise InputError("index.location and index.refresh cannot be set here: each index has its own place")
    every_s = _seconds(options["every"]) if "every" in options else 0.0
    if is_url(place):
        url = _fill_variables(place)
        return ListedRepository(split_login(url)[0], url, branch, every_s, changes, line)
    if "://" in place or place.startswith("-"):
        raise InputError(f"'{without_login(place)}' is not a folder or a URL of https, http, ssh, git or file")
    if branch:
        raise InputError("branch is for URLs: a folder is searched as it is")
    return ListedRepository(str(_folder(place, base)), "", "", every_s, changes, line)


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Split a line into a place, which may contain blanks, and its options."""
    options: dict[str, str] = {}
    while found := _OPTION.search(text):
        name, value = found.groups()
        if name in options:
            raise InputError(f"'{name}' is given twice")
        options[name] = value
        text = text[: found.start()].rstrip()
    return text, dict(reversed(options.items()))


def _seconds(text: str) -> float:
    found = _SPAN.fullmatch(text)
    seconds = int(found[1]) * _SECONDS[found[2] or "s"] if found else 0
    if seconds < _MIN_INTERVAL_S:
        raise InputError(f"every={text}: expected {_MIN_INTERVAL_S} seconds or more, such as 90s, 30m, 2h or 1d")
    return float(seconds)


def _fill_variables(url: str) -> str:
    """Replace `${VARIABLE}` in the login of a URL by its value in the environment."""
    plain, login = split_login(url)
    if _PASSWORD.match(plain):
        if plain.startswith("http"):
            raise InputError("a login ends at the first /: write / as %2F in a password, and @ as %40 in a path")
        raise InputError("only a URL of https or http takes a password; of ssh, git asks your keys")
    if "${" in plain:
        raise InputError(f"'{plain}': ${{VARIABLE}} stands for a password only, as in https://NAME:${{VARIABLE}}@HOST")
    for name in _VARIABLE.findall(login):
        value = os.environ.get(name, "")
        if not value:
            raise InputError(f"the environment variable {name} is not set")
        login = login.replace(f"${{{name}}}", quote(value, safe=""))
    scheme, _, rest = plain.partition("://")
    return f"{scheme}://{login}@{rest}" if login else plain


def _folder(place: str, base: Path) -> Path:
    """Return the folder of a line, relative to that of the list; raise InputError if it is missing."""
    try:
        folder = base / Path(place).expanduser()
        with suppress(RuntimeError):  # a link that leads to itself
            return folder.resolve()
        return folder.absolute()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"'{place}' is not a folder: {error}") from error


def _clashes(file: Path, repositories: Iterable[ListedRepository], mirrors: Path) -> list[str]:
    """Return errors for lines that name the folder of another line, or one inside its files."""
    places: dict[Path, ListedRepository] = {}
    problems = []
    for each in repositories:
        root = each.root(mirrors)
        if root in places:
            problems.append(f"{file}:{each.line}: {each.place} is already in line {places[root].line}")
        places.setdefault(root, each)
    for root, each in places.items():
        around = next((places[above] for above in root.parents if above in places and each.url), None)
        if around:
            problems.append(f"{file}:{each.line}: {each.place} would be inside {around.place}, line {around.line}")
    return problems
