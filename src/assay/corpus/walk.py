"""List the files of a folder that are worth indexing, and what was left out and why.

Ignored folders are never entered, so a walk costs what is kept; but what git tracks is kept whatever a rule says of its
name: `/server`, for a binary, is often written `server`, which is `cmd/server`, too. Symbolic links are not followed:
what they point to is either below the root already or not part of it. A `!` rule of `.assayignore` brings back what is
left out by its name. What git ignores, and files that usually hold keys, it brings back only where the user opens them:
the rules were written by whoever wrote the repository.
"""

from __future__ import annotations

import os
import re
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from errno import EINVAL
from hashlib import blake2b
from itertools import islice
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from typing import cast

from assay.corpus.languages import entries, table, words
from assay.corpus.walked_files import FileEntry, Skipped, Walk, as_utf8, entry_of
from assay.errors import InputError
from assay.io.files import read_regular

MAX_FILE_BYTES = 1_000_000
"""Larger files are data, not something that people wrote to be read."""
_PATIENCE_S = 5.0
"""What git may take in all to say what it tracks, whose settings a stranger may have written; half a million files take
it one second."""
_IGNORE_FILES = (".gitignore", ".assayignore")
_BY_GIT, _IN_IGNORED = "ignored by .gitignore", "in an ignored folder"


def walk(
    root: Path,
    *,
    known: Collection[str] = (),
    rules: str = "",
    largest_bytes: int = MAX_FILE_BYTES,
    open_ignored: bool = False,
) -> Walk:
    """List the files below a folder.

    `known` are paths that an earlier walk under the same `rules` kept: they are not matched again. When the rules
    turn out to be others, everything is. With `open_ignored`, rules of `.assayignore` may bring in files that git
    ignores, and those that usually hold keys.
    """
    _check(root)
    found = _Walker(root, frozenset(known) if rules else frozenset(), largest_bytes, open_ignored).walk()
    if known and rules and found.rules != rules:
        return _Walker(root, frozenset(), largest_bytes, open_ignored).walk()
    return found


@dataclass(frozen=True, slots=True)
class FolderLevel:
    """What one folder holds by itself, in order of names: folders that a walk would enter, its files, the rest."""

    folders: tuple[str, ...]
    """Paths from the root, without a `/` at their end."""
    files: tuple[FileEntry, ...]
    """Of any size."""
    skipped: tuple[Skipped, ...]
    """Files and folders that a walk leaves out by their name or kind, or because a rule ignores them."""


def folder_level(root: Path, folder: str = "", only: str = "", *, open_ignored: bool = False) -> FolderLevel | None:
    """Return what a folder below a root holds, or of it the entry of one name; None where a walk never comes there."""
    _check(root)
    return _Walker(root, frozenset(), sys.maxsize, open_ignored).level(folder, only)


def _check(root: Path) -> None:
    if not root.exists():
        raise InputError(f"{root} does not exist; give a folder to search")
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; give the folder that holds it")


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to enter, with the rules that hold in it, the strongest first."""

    path: str
    forces: tuple[IgnoreRules, ...]
    ignores: tuple[IgnoreRules, ...]
    is_ignored: bool = False
    """Whether only what is forced in or tracked is kept of it."""
    by_git: bool = False
    """Whether it is git that ignores it."""
    repository: str = ""
    """The folder whose repository it belongs to."""


class _Walker:
    def __init__(self, root: Path, known: frozenset[str], largest_bytes: int, open_ignored: bool) -> None:  # noqa: FBT001
        self.root, self.known, self.largest, self.open_ignored = root, known, largest_bytes, open_ignored
        self.prefix = str(root).rstrip("/") + "/"
        self.files: list[FileEntry] = []
        self.skipped: list[Skipped] = []
        self.folders: list[str] = []
        self.hash = blake2b(b"opened" if open_ignored else b"keys are left out", digest_size=16)
        self.repositories = {str(git_folder(root))}
        self.tracked: dict[str, frozenset[str]] = {}
        self.patience_s = _PATIENCE_S

    def walk(self) -> Walk:
        stack = [self._top()]
        while stack:
            stack.extend(self._enter(stack.pop()))
        self.files.sort(key=lambda entry: entry.path)
        self.skipped.sort(key=lambda skipped: skipped.path)
        return Walk(tuple(self.files), tuple(self.skipped), self.hash.hexdigest(), tuple(self.folders))

    def level(self, folder: str, only: str) -> FolderLevel | None:
        """Return what one folder holds; of those above it only what leads there is looked at."""
        here = self._top()
        for name in filter(None, folder.split("/")):
            inside = self._enter(here, name)
            found = next((one for one in inside if one.path == f"{here.path}{name}/"), None)
            if found is None:
                return None
            here = found
        self.files.clear()
        self.skipped.clear()
        folders = tuple(as_utf8(one.path.rstrip("/")) for one in reversed(self._enter(here, only)))
        by_path = attrgetter("path")
        return FolderLevel(folders, tuple(sorted(self.files, key=by_path)), tuple(sorted(self.skipped, key=by_path)))

    def _top(self) -> _Folder:
        """Return the root, with the rules that hold around it."""
        found = [self._rules(path, "", above) for path, above in around(self.root.absolute())]
        return _Folder("", (), tuple(filter(None, reversed(found))))

    def _rules(self, path: Path, base: str, above: str = "") -> IgnoreRules | None:
        try:
            data = _rules_in(path)
            self.hash.update(f"{len(data)} {base} {above} {path.name}\n".encode(errors="replace") + data)
            return compiled(data, base, above)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._skip(str(path), f"its rules cannot be read: {error.strerror}")
            return None

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(as_utf8(path), reason))

    def _enter(self, folder: _Folder, only: str = "") -> list[_Folder]:
        """Take the files of a folder, or one of them; return the folders in it to enter, the last in order first."""
        try:
            with os.scandir(self.prefix + folder.path) as entries:
                listed = list(entries)
        except OSError as error:
            self._skip(folder.path or ".", f"cannot be read: {error.strerror}")
            return []
        names = {entry.name for entry in listed}
        if folder.path and not folder.is_ignored and (reason := self._whole_reason(folder, names)):
            self._skip(folder.path, reason)
            return []
        self.folders.append(folder.path)
        here = self._with_rules(folder, names)
        inside: list[_Folder] = []
        for entry in listed if not only else [entry for entry in listed if entry.name == only]:
            try:
                self._take(entry, here, names, inside)
            except OSError as error:
                self._skip(folder.path + entry.name, f"cannot be read: {error.strerror}")
        inside.sort(key=lambda found: found.path, reverse=True)
        return inside

    def _with_rules(self, folder: _Folder, names: set[str]) -> _Folder:
        if ".git" in names and folder.path:
            folder = replace(folder, repository=folder.path)
        if names.isdisjoint(_IGNORE_FILES):
            return folder
        forces, ignores = folder.forces, folder.ignores
        for name in sorted(names.intersection(_IGNORE_FILES)):
            found = self._rules(self.root / folder.path / name, folder.path)
            if found is not None and name == ".gitignore":
                ignores = (found, *ignores)
            elif found is not None:
                forces = (found, *forces)
        return replace(folder, forces=forces, ignores=ignores)

    def _whole_reason(self, folder: _Folder, names: set[str]) -> str:
        """Say why a folder is left out by what is in it, or nothing."""
        name = folder.path.rstrip("/").rpartition("/")[2]
        if _BARE_REPOSITORY.issubset(names):
            return "a folder of tools"
        if _decision(folder.forces, folder.path, name + "/") is False:
            return ""
        if ".git" in names and (self.root / folder.path / ".git").is_file():
            repository = str(git_folder(self.root / folder.path))
            if repository in self.repositories:
                return "another checkout of a repository that is already searched"
            self.repositories.add(repository)
        return inside_reason(name, names)

    def _take(self, entry: os.DirEntry[str], here: _Folder, beside: set[str], inside: list[_Folder]) -> None:
        name = entry.name
        path = here.path + name
        if name in VERSION_CONTROL:  # a file in a worktree
            return
        if entry.is_symlink():
            self._skip(path, "a symbolic link")
        elif entry.is_dir(follow_symlinks=False):
            self._take_folder(path + "/", name, here, beside, inside)
        elif not entry.is_file(follow_symlinks=False):
            self._skip(path, "not a regular file")
        elif (path in self.known and not here.is_ignored) or self._keeps(path, name, here):
            stat = entry.stat(follow_symlinks=False)
            if stat.st_size > self.largest:
                self._skip(path, f"{stat.st_size / 1e6:.1f} MB, larger than {self.largest / 1e6:.1f} MB")
            else:
                self.files.append(entry_of(as_utf8(path), stat))

    def _take_folder(self, path: str, name: str, here: _Folder, beside: set[str], inside: list[_Folder]) -> None:
        reason = self._reason(path, name + "/", here, folder_reason(name, beside))
        if not reason:
            inside.append(replace(here, path=path, is_ignored=False, by_git=False))
        elif any(rules.opens(path) for rules in here.forces) or self._is_tracked(path, reason, here):
            by_git = here.by_git or reason in {_BY_GIT, _IN_IGNORED}
            inside.append(replace(here, path=path, is_ignored=True, by_git=by_git))
        else:
            self._skip(path, reason)

    def _ignored(self, path: str, name: str, here: _Folder) -> str:
        if here.is_ignored:
            return _IN_IGNORED
        return _BY_GIT if here.ignores and _decision(here.ignores, path, name) else ""

    def _reason(self, path: str, name: str, here: _Folder, by_name: str) -> str:
        """Say why a path is left out, by its name where no rule knows it; or nothing."""
        forced = _decision(here.forces, path, name)
        if forced is None:
            return by_name or self._ignored(path, name, here)
        if forced:
            return "ignored by .assayignore"
        if self.open_ignored:  # else no rule of the repository brings in what git ignores, or keys
            return ""
        return secret_reason(name) or self._ignored(path, name, replace(here, is_ignored=here.by_git))

    def _is_tracked(self, path: str, reason: str, here: _Folder) -> bool:
        """Say whether a path that git's rules leave out is in its repository all the same."""
        if reason not in {_BY_GIT, _IN_IGNORED}:
            return False
        top = here.repository
        if top not in self.tracked:
            began = time.monotonic()
            self.tracked[top] = _tracked_paths(self.root / top, self.patience_s)
            self.patience_s -= time.monotonic() - began
        return path[len(top) :] in self.tracked[top]

    def _keeps(self, path: str, name: str, here: _Folder) -> bool:
        reason = self._reason(path, name, here, file_reason(name) or secret_reason(name))
        if not reason or self._is_tracked(path, reason, here):
            return True
        self._skip(path, reason)
        return False


def _rules_in(path: Path) -> bytes:
    """Return what an ignore file holds, but not of a device or a pipe, which may never end and a link can lead to."""
    found = path.stat()
    if not S_ISREG(found.st_mode) or found.st_size > MAX_FILE_BYTES:
        raise OSError(EINVAL, f"no regular file of at most {MAX_FILE_BYTES / 1e6:.0f} MB")
    return path.read_bytes()


def _decision(rules: tuple[IgnoreRules, ...], path: str, name: str) -> bool | None:
    """Return what the strongest rules that know a path say: ignored, forced in, or nothing."""
    for some in rules:
        decided = some.decide(path, name)
        if decided is not None:
            return decided
    return None


def _tracked_paths(root: Path, patience_s: float) -> frozenset[str]:
    """Return the tracked files below a folder and the folders that hold them, these with a `/` at their end.

    Paths are relative to the folder. Nothing is tracked where there is no repository, or no git that answers: then
    rules alone decide, and what they leave out is named as ever.
    """
    from assay.corpus.git import reading  # nothing that a folder without ignored files needs

    if patience_s <= 0:
        return frozenset()
    try:
        with reading(root, "ls-files", "-z", timeout_s=patience_s) as printed:
            files = os.fsdecode(printed.read()).split("\0")
    except (InputError, OSError):
        return frozenset()
    folders = {file[: at + 1] for file in files for at, letter in enumerate(file) if letter == "/"}
    return frozenset(filter(None, files)) | folders


OWN_TRUTH, OWN_REPORTS = "assay-truth.jsonl", "assay-bench"
"""The ground truth of a root and the folder of its reports: they hold questions beside their answers."""
_TOOL_FOLDERS = words("""
    .git .hg .svn .jj .bzr node_modules bower_components jspm_packages __pycache__ site-packages .tox .nox .eggs
    .mypy_cache .pytest_cache .ruff_cache .hypothesis .ipynb_checkpoints .gradle .idea .next .nuxt .svelte-kit .turbo
    .parcel-cache .cache .terraform .dart_tool .bundle .stack-work .direnv elm-stuff Pods DerivedData .yarn .pnpm-store
    .bloop .metals .venv
""")
_INSIDE = table("""
    a cache: CACHEDIR.TAG; a virtual environment: pyvenv.cfg; vendored: vendor/modules.txt vendor/autoload.php
    build output: CMakeCache.txt obj/project.assets.json
""")
"""File → what a folder with that file is: any folder, or one of the name before it."""
_BESIDE = dict(
    entries("""
        target: Cargo.toml pom.xml build.sbt project.clj; build: build.gradle build.gradle.kts; deps: mix.exs
        dist: package.json setup.py pyproject.toml; vendor: go.mod composer.json Gemfile Cargo.toml
        _build: mix.exs dune-project; zig-out: build.zig; zig-cache: build.zig
    """)
)
"""Folder → the files beside it that say that a program wrote it."""
_LOCK_FILES = words("""
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.lock cargo.lock poetry.lock uv.lock
    pdm.lock pipfile.lock composer.lock gemfile.lock podfile.lock pubspec.lock mix.lock flake.lock go.sum go.work.sum
    gradle.lockfile packages.lock.json paket.lock cartfile.resolved package.resolved .terraform.lock.hcl
""")
_BINARY = table("""
    image: png jpg jpeg gif bmp ico icns webp tif tiff psd heic avif svg svgz eps; font: ttf otf woff woff2 eot
    sound or video: mp3 mp4 wav ogg flac mov avi mkv webm m4a aac; document: pdf doc docx xls xlsx ppt pptx odt ods
    archive: zip gz tgz bz2 xz zst lz4 7z rar tar jar war ear whl egg nupkg deb rpm apk dmg iso
    machine code: exe dll so dylib a o obj lib class pyc pyo pyd wasm bin dat node ko elf
    data: npy npz pkl pickle parquet arrow feather lance db sqlite sqlite3 mdb h5 hdf5 pt pth onnx safetensors gguf
    weights: tflite pb mo jks keystore p12 pfx der snap.gz lockb
""")
VERSION_CONTROL = words(".git .hg .svn")
"""What is never entered or read, whatever a rule says."""
_BARE_REPOSITORY = frozenset({"HEAD", "config", "objects", "refs"})
"""What is in the folder of a git repository without a checkout."""
_SECRET_NAMES = words("""
    .env .netrc .npmrc .pypirc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg .vault-token id_rsa id_dsa
    id_ecdsa id_ed25519 master.key credentials.json service-account.json terraform.tfstate
""")
_SECRET_ENDS = (".pem", ".key", ".ppk", ".kdbx", ".p8", ".keytab", ".tfvars", ".tfstate", ".tfstate.backup", ".env")
_PUBLIC_ENV = (".example", ".sample", ".template", ".dist", ".defaults", ".schema")
_GENERATED_NAMES = (".min.js", ".min.css", ".min.mjs", ".bundle.js", ".js.map", ".css.map", ".ts.map", ".mjs.map")
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
_MAX_POINTER_BYTES = 8192
"""Bytes of a file that says where a repository lies."""
_MAX_WORKTREES = 1000
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
        """Say whether a path is ignored, or nothing; a folder's path and name end with `/`."""
        below, name = _letters(self.above + path[len(self.base) :]), _letters(name)
        for ignores, by_name, by_path in self.groups:
            if (by_name and by_name.fullmatch(name)) or (by_path and by_path.fullmatch(below)):
                return ignores
        return None

    def opens(self, path: str) -> bool:
        """Say whether something below an ignored folder is forced in."""
        return bool(self.forced) and _letters(self.above + path[len(self.base) :]).rstrip("/") in self.forced


def _letters(path: str) -> str:
    """Write a path as git matches it: a letter for each byte, so that `?` and a class are a byte of a name."""
    return path if path.isascii() else os.fsencode(path).decode("latin-1")


def compiled(data: bytes, base: str = "", above: str = "") -> IgnoreRules | None:
    """Read an ignore file; nothing when it holds no pattern.

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
    """Leave out the spaces at the end of a line, but one behind a backslash."""
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
    """Return what matches any of some patterns; where one has several wildcards, in time linear in what it reads."""
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


def other_worktrees(folder: Path) -> list[Path]:
    """Return the same folder in the other worktrees of its repository.

    A `.git` can be a stranger's and lead anywhere: the repository has to name this worktree, and each other one it.
    """
    folder = folder.resolve()
    top = next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), folder)
    try:
        common = git_folder(top).resolve()
        pointers = list(islice((common / "worktrees").glob("*/gitdir"), _MAX_WORKTREES))
        tops = [common.parent] if common.name == ".git" else []
        tops += [(each.parent / _small_text(each).strip()).resolve().parent for each in pointers]
        others = [each for each in tops if each != top and git_folder(each).resolve() == common] if top in tops else []
        same = [each / folder.relative_to(top) for each in others]
        return [each for each in same if each.resolve() == each]  # through no link to a folder of another repository
    except (OSError, ValueError):
        return []


def _small_text(file: Path) -> str:
    return read_regular(file, _MAX_POINTER_BYTES).decode(errors="replace")


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


def folder_reason(name: str, beside: Collection[str]) -> str:
    """Say why a folder is left out by its name and the files beside it, or nothing."""
    if name in _TOOL_FOLDERS or name.endswith(".egg-info"):
        return "a folder of tools"
    if name == OWN_REPORTS:
        return "reports of a benchmark"
    if not words(_BESIDE.get(name, "")).isdisjoint(beside):
        return "vendored" if name in ("vendor", "deps") else "build output"
    return ""


def inside_reason(name: str, files: Collection[str]) -> str:
    """Say why a folder is left out by the files in it, or nothing."""
    for path, reason in _INSIDE.items():
        folder, _, file = path.rpartition("/")
        if file in files and folder in ("", name):
            return reason
    return ""


def secret_reason(name: str) -> str:
    """Say why a file is left out as one that usually holds keys or passwords, or nothing."""
    lowered = name.lower()
    is_environment = lowered.startswith(".env.") and not lowered.endswith(_PUBLIC_ENV)
    is_secret = is_environment or lowered in _SECRET_NAMES or lowered.endswith(_SECRET_ENDS)
    return "may hold keys or passwords" if is_secret else ""


def file_reason(name: str) -> str:
    """Say why a file is left out by its name, or nothing."""
    lowered = name.lower()
    extension = lowered.rpartition(".")[2]
    if extension in _BINARY and extension != lowered:
        return "binary"
    if lowered in _LOCK_FILES:
        return "a lock file"
    if name == OWN_TRUTH:
        return "a ground truth"
    return "minified" if lowered.endswith(_GENERATED_NAMES) else ""


def is_openable(reason: str) -> bool:
    """Say whether what an index leaves out may be opened: left out by its kind alone, not because somebody hides it."""
    return reason in {"binary", "a lock file", "minified"}
