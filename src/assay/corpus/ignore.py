"""Decide what `.gitignore` and `.assayignore` ignore, nested, with git's precedence.

`pathspec` reads the patterns. All those of one file that say the same become one regular expression; those
without a slash are matched against the bare name. Measured: a spec object asked for each path costs ten times more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from assay.io.files import read_regular

_REPEATED = re.compile(r"(?<!\\)[*+]")
_ANYWHERE = "^(?:.+/)?"
_FOLDER = "(?P<ps_d>/)"
_LARGEST_POINTER = 8192
"""Bytes of a file that says where a repository lies."""
_EXCLUDES_FILE = re.compile(r"^\s*excludesfile\s*=\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one ignore file, the last first, for paths below its folder."""

    base: str
    """The folder of the file relative to the root with a closing `/`, or nothing for the root itself."""
    above: str
    """For a file above the root: the root relative to its folder, with a closing `/`."""
    groups: tuple[tuple[bool, re.Pattern[str] | None, re.Pattern[str] | None], ...]
    """Whether a match ignores, what a bare name matches, what a path from the file's folder matches."""
    any_name: re.Pattern[str] | None
    any_path: re.Pattern[str] | None
    """All groups at once: what neither matches, nearly everything, needs no further look."""
    forced: frozenset[str]
    """Folders from the file's folder that hold something forced in."""

    def decide(self, path: str, name: str) -> bool | None:
        """Say whether a path is ignored, or nothing; a folder's path and name end with `/`."""
        named = self.any_name is not None and self.any_name.match(name)
        below = self.above + path[len(self.base) :] if self.any_path is not None else ""
        if not named and (self.any_path is None or not self.any_path.match(below)):
            return None
        for ignores, by_name, by_path in self.groups:
            if by_name is not None and by_name.match(name):
                return ignores
            if by_path is not None and by_path.match(below):
                return ignores
        return None

    def opens(self, path: str) -> bool:
        """Say whether something below an ignored folder is forced in."""
        return bool(self.forced) and (self.above + path[len(self.base) :]).rstrip("/") in self.forced


def compiled(text: str, base: str = "", above: str = "") -> IgnoreRules | None:
    """Read an ignore file; nothing when it holds no pattern."""
    groups: list[tuple[bool, list[str], list[str]]] = []
    forced: set[str] = set()
    for line in text.removeprefix("\ufeff").splitlines():
        pattern, ignores = _regex(line)
        if pattern is None or ignores is None:
            continue
        if not groups or groups[-1][0] is not ignores:
            groups.append((ignores, [], []))
        anywhere = pattern.startswith(_ANYWHERE)
        kind = groups[-1][1] if anywhere else groups[-1][2]
        kind.append(pattern[len(_ANYWHERE) :] if anywhere else pattern.lstrip("^"))
        if not ignores:
            forced.update(_folders(line))
    ready = tuple((ignores, _either(names), _either(paths)) for ignores, names, paths in reversed(groups))
    any_name = _either(pattern for _, names, _ in groups for pattern in names)
    any_path = _either(pattern for _, _, paths in groups for pattern in paths)
    return IgnoreRules(base, above, ready, any_name, any_path, frozenset(forced)) if ready else None


def _regex(line: str) -> tuple[str | None, bool | None]:
    if line.strip().lstrip("!") == "/":  # it names nothing, for git
        return None, None
    try:
        pattern, ignores = GitIgnoreSpecPattern.pattern_to_regex(line)
    except ValueError:  # git, too, passes over a pattern that it cannot read
        return None, None
    return (_of_entry(pattern) if isinstance(pattern, str) else None), ignores


def _of_entry(pattern: str) -> str:
    """Make a regular expression of `pathspec` match an entry itself and not what is below it: the walk prunes."""
    if pattern == _FOLDER:
        return _ANYWHERE + "[^/]+/$"
    if pattern.endswith("/"):  # what `folder/**` becomes: all below, but not the folder
        return pattern + "."
    return pattern.replace(f"(?:{_FOLDER}|$)", "/?$").replace(_FOLDER, "/$")


def _either(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """Return what matches any of some patterns; where one has several wildcards, in time linear in what it reads."""
    listed = list(patterns)
    joined = "|".join(f"(?:{pattern})" for pattern in listed)
    if any(len(_REPEATED.findall(pattern)) > 1 for pattern in listed):
        return _linear(joined)
    return re.compile(joined) if joined else None


def _linear(joined: str) -> re.Pattern[str]:
    import re2  # a few ms that most ignore files do not need

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 256 << 20
    return cast("re.Pattern[str]", re2.compile(joined, options))


def _folders(line: str) -> list[str]:
    """Return the folders above what a `!` pattern names, up to the first wildcard."""
    steps = line.strip().lstrip("!").strip("/").split("/")
    plain = next((at for at, step in enumerate(steps) if re.search(r"[*?\[]", step)), len(steps) - 1)
    return ["/".join(steps[:count]) for count in range(1, min(plain, len(steps) - 1) + 1)]


def around(root: Path) -> list[tuple[Path, str]]:
    """Return the ignore files outside the tree that hold for it, weakest first, each with the path down to the root."""
    found = [(path, "") for path in _global_files()]
    top = next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)
    if top is None:
        return found
    down = "" if top == root else root.relative_to(top).as_posix() + "/"
    found.append((git_folder(top) / "info" / "exclude", down))
    between = [folder for folder in reversed(root.parents) if folder == top or top in folder.parents]
    return found + [(folder / ".gitignore", root.relative_to(folder).as_posix() + "/") for folder in between]


def git_folder(top: Path) -> Path:
    """Return the folder that all worktrees of a repository share: `.git`, or what the file `.git` leads to."""
    git = top / ".git"
    if not git.is_file():
        return git
    try:
        target = top / _small_text(git).partition("gitdir:")[2].strip()
        common = target / "commondir"
        return (target / _small_text(common).strip()).resolve() if common.exists() else target.resolve()
    except (OSError, ValueError):
        return git


def _small_text(file: Path) -> str:
    return read_regular(file, _LARGEST_POINTER).decode(errors="replace")


def _global_files() -> list[Path]:
    home = Path("~").expanduser()
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    for config in (home / ".gitconfig", settings / "config"):
        try:
            match = _EXCLUDES_FILE.search(config.read_text(errors="replace"))
        except OSError:
            continue
        if match:
            return [Path(match[1].strip('"')).expanduser()]
    return [settings / "ignore"]
