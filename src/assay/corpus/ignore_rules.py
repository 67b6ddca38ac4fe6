"""Compile the patterns of ignore files like git, and find the ignore files around a folder."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from errno import EINVAL
from pathlib import Path
from typing import cast

from assay.corpus.languages import table
from assay.corpus.worktrees import checkout_around, git_folder

_REPEATED = re.compile(r"(?<!\\)[*+]")
_ANYWHERE = re.compile(r"^/?\*\*+/(?=.)")
_POSIX = table(r"""
    0-9A-Za-z: alnum; A-Za-z: alpha; \t\x20: blank; \x00-\x1f\x7f: cntrl; 0-9: digit; !-.0-~: graph; a-z: lower
    \x20-.0-~: print; !-.\x3a-@\[-\x60{-~: punct; \t-\r\x20: space; A-Z: upper; 0-9A-Fa-f: xdigit
""")
"""Name → its characters without `/`, which no class of a pattern matches."""
_CLASS = rf"\[:(?:{'|'.join(_POSIX)}):\]"
_MEMBER = re.compile(rf"({_CLASS})|(\\.|.)(?:-(\\.|.))?")
_PIECE = re.compile(
    r"(?P<stuck>\A(?P<plain>[^*?[\\]*[^*?[\\/])\*\*+(?:(?P<below>/(?=.))|(?=/?$|\\/)))"
    r"|(?P<deep>(?<![^/])\*\*+/(?=.))|(?P<all>(?<![^/])\*\*+(?=/?$|\\/))|(?P<step>(?<![^/])\*(?=/|$))|(?P<some>\*+)"
    rf"|(?P<one>\?)|\[(?P<negated>[!^]?)(?P<members>\]?(?>\\.|{_CLASS}|(?!\[:[^]:]*:\])[^]\\])*+)\]"
    r"|\\(?!/$)(?P<escaped>.)|(?P<broken>[\[\\].*)|(?P<text>[^*?[\\]+)"
)
"""What a pattern of git is made of; `broken` begins what can match nothing.

git compares what stands before the first wildcard by itself: in `ab**/c`, `stuck`, the stars begin a pattern.
"""
_WRITTEN = {"deep": "(?:.*/)?", "all": ".+", "step": "[^/]+", "some": "[^/]*", "one": "[^/]", "broken": r"[^\s\S]"}
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
    forced: frozenset[str]
    """Folders from the file's folder that hold something forced in."""

    def decide(self, path: str, name: str) -> bool | None:
        """Say whether a path is ignored; None if no pattern matches; a folder's path and name end with `/`."""
        below, name = _letters(self.above + path[len(self.base) :]), _letters(name)
        for ignores, by_name, by_path in self.groups:
            if (by_name and by_name.fullmatch(name)) or (by_path and by_path.fullmatch(below)):
                return ignores
        return None

    def opens(self, path: str) -> bool:
        """Say whether a pattern forces in something below an ignored folder."""
        return bool(self.forced) and _letters(self.above + path[len(self.base) :]).rstrip("/") in self.forced


def _letters(path: str) -> str:
    """Turn a path into one character per byte, as git matches it: `?` and a class match one byte."""
    return path if path.isascii() else os.fsencode(path).decode("latin-1")


def compiled(data: bytes, base: str = "", above: str = "") -> IgnoreRules | None:
    """Compile an ignore file; None if it has no pattern.

    As for git, a line ends at a line feed, which one carriage return may precede; all others belong to the pattern.
    """
    groups: list[tuple[bool, list[str], list[str]]] = []
    forced: set[str] = set()
    for whole in (data.removeprefix(BOM_UTF8) + b"\n").replace(b"\r\n", b"\n").split(b"\n"):
        line = whole.partition(b"\0")[0].decode("latin-1")
        glob, ignores = _unspaced(line.removeprefix("!")), not line.startswith("!")
        if not glob or line.startswith("#"):
            continue
        if not groups or groups[-1][0] is not ignores:
            groups.append((ignores, [], []))
        name = _ANYWHERE.sub("", glob)
        by_path = "/" in name[:-1]
        regex = _PIECE.sub(_regex, glob.removeprefix("/") if by_path else name)
        (groups[-1][2] if by_path else groups[-1][1]).append(regex if glob.endswith("/") else regex + "/?")
        if not ignores:
            forced.update(_folders(glob))
    ready = tuple((ignores, _either(names), _either(paths)) for ignores, names, paths in reversed(groups))
    return IgnoreRules(base, above, ready, frozenset(forced)) if ready else None


def _unspaced(line: str) -> str:
    """Strip the spaces at the end of a line, but one behind a backslash."""
    kept = line.rstrip(" ")
    return line[: len(kept) + (len(kept) - len(kept.rstrip("\\"))) % 2]


def _regex(piece: re.Match[str]) -> str:
    """Write a piece of a pattern as a regular expression."""
    if plain := piece["plain"]:
        return re.escape(plain) + ("(?:.*/)?" if piece["below"] else ".*")
    kind = piece.lastgroup or ""
    if kind != "members":
        return _WRITTEN.get(kind) or re.escape(piece[kind])
    members = _MEMBER.findall(piece[kind])
    inside = "".join(_POSIX.get(name[2:-2]) or _range(low[-1], max(low[-1], high[-1:])) for name, low, high in members)
    return f"[^/{inside}]" if piece["negated"] else f"[{inside}]" if inside else _WRITTEN["broken"]


def _range(low: str, high: str) -> str:
    if low <= "/" <= high:
        return _range(low, ".") + _range("0", high)
    return f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""


def _either(patterns: Sequence[str]) -> re.Pattern[str] | None:
    """Return a matcher of any of some patterns; one with several wildcards matches in linear time."""
    joined = "|".join(f"(?:{pattern}$)" for pattern in patterns)  # re2 compiles many faster if each has its end
    if all(len(_REPEATED.findall(pattern)) <= 1 for pattern in patterns):
        return re.compile(joined, re.DOTALL) if joined else None
    import re2  # a few ms that most ignore files do not need

    options = re2.Options()
    options.log_errors, options.dot_nl, options.max_mem = False, True, 256 << 20
    try:
        return cast("re.Pattern[str]", re2.compile(joined, options))
    except re2.error as error:
        raise OSError(EINVAL, "patterns too large to match") from error


def _folders(glob: str) -> list[str]:
    """Return the folders above what a `!` pattern names, up to the first wildcard."""
    steps = glob.strip("/").split("/")
    plain = next((at for at, step in enumerate(steps) if re.search(r"[*?\[\\]", step)), len(steps) - 1)
    return ["/".join(steps[:count]) for count in range(1, min(plain, len(steps) - 1) + 1)]


def around(root: Path) -> list[tuple[Path, str]]:
    """Return the ignore files outside the tree that apply to it, weakest first, each with the path down to the root."""
    found = [(path, "") for path in _global_files()]
    top = checkout_around(root)
    if top is None:
        return found
    down = "" if top == root else root.relative_to(top).as_posix() + "/"
    found.append((git_folder(top) / "info" / "exclude", down))
    between = [folder for folder in reversed(root.parents) if folder == top or top in folder.parents]
    return found + [(folder / ".gitignore", root.relative_to(folder).as_posix() + "/") for folder in between]


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
