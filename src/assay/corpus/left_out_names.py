"""Decide by its name why a file or a folder is left out: generated, a lock, a secret, or not text."""

from __future__ import annotations

from collections.abc import Collection

from assay.corpus.languages import entries, table, words

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
BARE_REPOSITORY = frozenset({"HEAD", "config", "objects", "refs"})
"""What is in the folder of a git repository without a checkout."""
_SECRET_NAMES = words("""
    .env .netrc .npmrc .pypirc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg .vault-token id_rsa id_dsa
    id_ecdsa id_ed25519 master.key credentials.json service-account.json terraform.tfstate
""")
_SECRET_ENDS = (".pem", ".key", ".ppk", ".kdbx", ".p8", ".keytab", ".tfvars", ".tfstate", ".tfstate.backup", ".env")
_PUBLIC_ENV = (".example", ".sample", ".template", ".dist", ".defaults", ".schema")
_MINIFIED_ENDS = (".min.js", ".min.css", ".min.mjs", ".bundle.js", ".js.map", ".css.map", ".ts.map", ".mjs.map")


def folder_reason(name: str, beside: Collection[str]) -> str:
    """Say why a folder is left out by its name and the files beside it; empty if it is not."""
    if name in _TOOL_FOLDERS or name.endswith(".egg-info"):
        return "a folder of tools"
    if name == OWN_REPORTS:
        return "reports of a benchmark"
    if not words(_BESIDE.get(name, "")).isdisjoint(beside):
        return "vendored" if name in ("vendor", "deps") else "build output"
    return ""


def inside_reason(name: str, files: Collection[str]) -> str:
    """Say why a folder is left out by the files in it; empty if it is not."""
    for path, reason in _INSIDE.items():
        folder, _, file = path.rpartition("/")
        if file in files and folder in ("", name):
            return reason
    return ""


def secret_reason(name: str) -> str:
    """Say why a file is left out as one that usually holds keys or passwords; empty if it is not."""
    lowered = name.lower()
    is_environment = lowered.startswith(".env.") and not lowered.endswith(_PUBLIC_ENV)
    is_secret = is_environment or lowered in _SECRET_NAMES or lowered.endswith(_SECRET_ENDS)
    return "may hold keys or passwords" if is_secret else ""


def file_reason(name: str) -> str:
    """Say why a file is left out by its name; empty if it is not."""
    lowered = name.lower()
    extension = lowered.rpartition(".")[2]
    if extension in _BINARY and extension != lowered:
        return "binary"
    if lowered in _LOCK_FILES:
        return "a lock file"
    if name == OWN_TRUTH:
        return "a ground truth"
    return "minified" if lowered.endswith(_MINIFIED_ENDS) else ""


def is_openable(reason: str) -> bool:
    """Say whether a file outside the index may be opened: if only its kind is the reason, not a wish to hide it."""
    return reason in {"binary", "a lock file", "minified"}
