"""Say what no search wants unless asked: folders of tools, vendored copies, binaries, lock files, keys.

A name alone decides only where it means one thing; `build`, `dist`, `target`, `vendor` need a witness.
"""

from __future__ import annotations

from collections.abc import Collection

from assay.corpus.grammars import table, words

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
