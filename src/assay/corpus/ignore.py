"""Decide what is left out by its name: by `.gitignore` and `.assayignore`, or because no search wants it unless asked.

Rules are nested, with git's precedence. `pathspec` reads the patterns. All those of one file that say the same become
one regular expression; those without a slash are matched against the bare name. Measured: a spec object asked for each
path costs ten times more. Without a rule, a name decides alone only where it means one thing; `build`, `dist`,
`target`, `vendor` need a witness.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from assay.corpus.languages import table, words
from assay.io.files import read_regular

OWN_TRUTH, OWN_REPORTS = "assay-truth.jsonl", "assay-bench"
"""The ground truth of a root and the folder of its reports: they hold questions beside their answers."""
_TOOL_FOLDERS = words("""
    .git .hg .svn .jj .bzr node_modules bower_components jspm_packages __pycache__ site-packages .tox .nox .eggs
    .mypy_cache .pytest_cache .ruff_cache .hypothesis .ipynb_checkpoints .gradle .idea .next .nuxt .svelte-kit .turbo
    .parcel-cache .cache .terraform .dart_tool .bundle .stack-work .direnv elm-stuff Pods DerivedData .yarn .pnpm-store
    .bloop .metals .venv
""")
_INSIDE = {
    "CACHEDIR.TAG": ("", "a cache"),
    "pyvenv.cfg": ("", "a virtual environment"),
    "CMakeCache.txt": ("", "build output"),
    "modules.txt": ("vendor", "vendored"),
    "autoload.php": ("vendor", "vendored"),
    "project.assets.json": ("obj", "build output"),
}
"""File → the folder's name (any, when empty) and what a folder with that file is."""
_BESIDE = {
    "target": words("Cargo.toml pom.xml build.sbt project.clj"),
    "build": words("build.gradle build.gradle.kts"),
    "dist": words("package.json setup.py pyproject.toml"),
    "vendor": words("go.mod composer.json Gemfile Cargo.toml"),
    "_build": words("mix.exs dune-project"),
    "deps": words("mix.exs"),
    "zig-out": words("build.zig"),
    "zig-cache": words("build.zig"),
}
_LOCK_FILES = words("""
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.lock cargo.lock poetry.lock uv.lock
    pdm.lock pipfile.lock composer.lock gemfile.lock podfile.lock pubspec.lock mix.lock flake.lock go.sum go.work.sum
    gradle.lockfile packages.lock.json paket.lock cartfile.resolved package.resolved .terraform.lock.hcl
""")
_BINARY = frozenset(
    table("""
        image: png jpg jpeg gif bmp ico icns webp tif tiff psd heic avif svg svgz eps
        font: ttf otf woff woff2 eot
        sound or video: mp3 mp4 wav ogg flac mov avi mkv webm m4a aac
        archive: zip gz tgz bz2 xz zst lz4 7z rar tar jar war ear whl egg nupkg deb rpm apk dmg iso
        document: pdf doc docx xls xlsx ppt pptx odt ods
        machine code: exe dll so dylib a o obj lib class pyc pyo pyd wasm bin dat node ko elf
        data: npy npz pkl pickle parquet arrow feather lance db sqlite sqlite3 mdb h5 hdf5 pt pth onnx safetensors gguf
        weights: tflite pb mo jks keystore p12 pfx der snap.gz lockb
    """)
)
VERSION_CONTROL = words(".git .hg .svn")
"""Folders that are never entered, whatever a rule says."""
_BARE_REPOSITORY = frozenset({"HEAD", "config", "objects", "refs"})
_SECRET_NAMES = words("""
    .env .netrc .npmrc .pypirc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg .vault-token id_rsa id_dsa
    id_ecdsa id_ed25519 master.key credentials.json service-account.json terraform.tfstate
""")
_SECRET_ENDS = (".pem", ".key", ".ppk", ".kdbx", ".p8", ".keytab", ".tfvars", ".tfstate", ".tfstate.backup", ".env")
_PUBLIC_ENV = (".example", ".sample", ".template", ".dist", ".defaults", ".schema")
_GENERATED_NAMES = (".min.js", ".min.css", ".min.mjs", ".bundle.js", ".js.map", ".css.map", ".ts.map", ".mjs.map")
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
    forced: frozenset[str]
    """Folders from the file's folder that hold something forced in."""

    def decide(self, path: str, name: str) -> bool | None:
        """Say whether a path is ignored, or nothing; a folder's path and name end with `/`."""
        below = self.above + path[len(self.base) :]
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
    return IgnoreRules(base, above, ready, frozenset(forced)) if ready else None


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


def _either(patterns: Sequence[str]) -> re.Pattern[str] | None:
    """Return what matches any of some patterns; where one has several wildcards, in time linear in what it reads."""
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    if all(len(_REPEATED.findall(pattern)) <= 1 for pattern in patterns):
        return re.compile(joined) if joined else None
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


def folder_reason(name: str, beside: Collection[str]) -> str:
    """Say why a folder is left out by its name and the files beside it, or nothing."""
    if name in _TOOL_FOLDERS or name.endswith(".egg-info"):
        return "a folder of tools"
    if name == OWN_REPORTS:
        return "reports of a benchmark"
    witnesses = _BESIDE.get(name)
    if witnesses and not witnesses.isdisjoint(beside):
        return "vendored" if name in ("vendor", "deps") else "build output"
    return ""


def is_bare_repository(files: Collection[str]) -> bool:
    """Say whether a folder with these entries is a git repository without a checkout."""
    return _BARE_REPOSITORY.issubset(files)


def inside_reason(name: str, files: Collection[str]) -> str:
    """Say why a folder is left out by the files in it, or nothing."""
    for file, (folder, reason) in _INSIDE.items():
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
