"""A set of distributions to a lock with hashes, and a lock to a folder: by uv where there is one, by pip where not.

Only wheels: what an sdist brings would run while it is installed. Nothing of a wheel runs here either. The installer
sees of the environment what an index needs, credentials for it included, and nothing else.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from assay.errors import AssayError, InputError
from assay.io.parent_death import end_with
from assay.io.processes import ProcessLimits, run_bounded

_KEPT = frozenset(
    """
    PATH HOME USER LANG TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME NETRC
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
    UV_INDEX UV_DEFAULT_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_INDEX_STRATEGY UV_FIND_LINKS UV_NO_INDEX UV_OFFLINE
    UV_CONFIG_FILE UV_NO_CONFIG UV_CACHE_DIR UV_KEYRING_PROVIDER UV_NATIVE_TLS UV_SYSTEM_CERTS UV_INSECURE_HOST
    UV_HTTP_TIMEOUT UV_EXCLUDE_NEWER
    PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_NO_INDEX PIP_CONFIG_FILE PIP_CACHE_DIR PIP_CERT
    PIP_CLIENT_CERT PIP_PROXY PIP_TRUSTED_HOST PIP_KEYRING_PROVIDER PIP_DEFAULT_TIMEOUT
    """.split()
)
_OF_AN_INDEX = re.compile(r"UV_INDEX_\w+_(USERNAME|PASSWORD)")
_PRINTED_BYTES = 20_000_000
_TOLD = 400


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one install may take."""

    seconds: float = 120.0
    size_mb: int = 2048
    """Of what lies in the folder when it is done, and at any time before."""


class InstallRefused(InputError):
    """A set of distributions cannot be had, with what the installer says about it."""


class Installer(Protocol):
    """What finds versions and installs them."""

    def lock(self, names: Sequence[str], bounds: Bounds) -> str:
        """Return requirements with versions and hashes, one for each distribution that the set needs."""

    def install(self, lock: Path, target: Path, bounds: Bounds) -> None:
        """Put what a lock names into a folder; a wheel with another hash is refused."""


def installer(options: Sequence[str] = ()) -> Installer:
    """Return uv, or pip where there is no uv; `options` go to each of its commands, as `--no-index`."""
    path = shutil.which("uv")
    if path or importlib.util.find_spec("uv"):
        return Uv([path] if path else [sys.executable, "-P", "-m", "uv"], options)
    if importlib.util.find_spec("pip"):
        return Pip([sys.executable, "-P", "-m", "pip"], options)
    raise InputError("--install needs uv or pip, and neither is here: pip install uv")


class Uv:
    """What lies in the cache is taken without network; only where that is not enough the network is asked."""

    def __init__(self, command: Sequence[str], options: Sequence[str] = ()) -> None:
        self._command = [*command, "pip"]
        self._options = ["--only-binary", ":all:", "--python", sys.executable, "--no-progress", "--quiet", *options]

    def lock(self, names: Sequence[str], bounds: Bounds) -> str:
        """Resolve a set of names."""
        command = ["compile", "-", "--generate-hashes", "--no-header", "--no-annotate", *self._options]
        return self._twice(command, bounds, given="\n".join(names))

    def install(self, lock: Path, target: Path, bounds: Bounds) -> None:
        """Copy, for a link would be a way into the cache; compile, for what is read-only cannot be compiled later."""
        command = ["install", "--target", str(target), "--require-hashes", "--no-deps", "--link-mode", "copy"]
        self._twice([*command, "--compile-bytecode", "-r", str(lock), *self._options], bounds, target)

    def _twice(self, command: Sequence[str], bounds: Bounds, target: Path | None = None, given: str = "") -> str:
        whole = [*self._command, *command]
        try:
            return bounded([*whole, "--offline"], bounds, target, given)
        except InstallRefused:
            return bounded(whole, bounds, target, given)


class Pip:
    """Slower by a factor of ten, and always asks the index."""

    def __init__(self, command: Sequence[str], options: Sequence[str] = ()) -> None:
        self._command = [*command, "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        self._options = ["--only-binary", ":all:", *options]

    def lock(self, names: Sequence[str], bounds: Bounds) -> str:
        """Resolve a set of names, and write down what would be installed."""
        with TemporaryDirectory(prefix="assay-report-") as folder:
            report = Path(folder, "report.json")
            command = ["--dry-run", "--ignore-installed", "--report", str(report), *self._options, *names]
            bounded([*self._command, *command], bounds)
            found = json.loads(report.read_text(encoding="utf-8"))["install"]
        return "".join(sorted(map(_pinned, found)))

    def install(self, lock: Path, target: Path, bounds: Bounds) -> None:
        """Install what the lock names and nothing that it does not."""
        command = ["--target", str(target), "--require-hashes", "--no-deps", "-r", str(lock), *self._options]
        bounded([*self._command, *command], bounds, target)


def _pinned(item: dict[str, Any]) -> str:
    about, archive = item["metadata"], item["download_info"]["archive_info"]
    before_23_1 = archive.get("hash", "").removeprefix("sha256=")
    digest = archive.get("hashes", {"sha256": before_23_1})["sha256"]
    return f"{about['name']}=={about['version']} --hash=sha256:{digest}\n"


def bounded(command: Sequence[str], bounds: Bounds, target: Path | None = None, given: str = "") -> str:
    """Return what a command prints; one that takes too long, writes too much or fails raises InstallRefused."""

    def watch() -> None:
        if target and size_mb(target) > bounds.size_mb:
            raise InstallRefused(f"it takes more than {bounds.size_mb:,} MB")

    limits = ProcessLimits(bounds.seconds, _PRINTED_BYTES, watch, partial(end_with, os.getpid()))
    with TemporaryDirectory(prefix="assay-install-") as folder:
        try:
            ran = run_bounded(command, limits, cwd=folder, env=environment(os.environ), stdin=given.encode())
        except InstallRefused:
            raise
        except AssayError as error:
            raise InstallRefused(str(error)) from error
    if ran.status:
        raise InstallRefused(" ".join((ran.err or ran.out).split())[-_TOLD:] or f"it ended with {ran.status}")
    return ran.out


def environment(ours: os._Environ[str] | dict[str, str]) -> dict[str, str]:
    """Return what of an environment an installer gets."""
    return {name: value for name, value in ours.items() if name.upper() in _KEPT or _OF_AN_INDEX.fullmatch(name)}


def size_mb(folder: Path) -> float:
    """Return how much the files in a folder take."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return total / 2**20
