"""Install the distributions that programs lack into read-only folders that a sandbox imports from.

Only wheels: what an sdist brings would run while it is installed. Nothing of a wheel runs here either. The installer
sees of the environment what an index needs, credentials for it included, and nothing else.

A set of names is resolved once, and its lock is kept: the same command installs the same versions tomorrow, without
the network. The folder is named after the lock, this Python and this platform. A folder and not a virtual environment,
for there a `.pth` file of a wheel would run.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from platformdirs import user_cache_path

from assay.errors import AssayError, InputError
from assay.io.files import alone, write
from assay.io.processes import ProcessLimits, end_with, run_bounded
from assay.programs.modules.imports import Known, Needs, forkable, importable, known, needs, plain
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.values import Problem

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.protocols import Say


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


_MARKER = ".assay-overlay.json"
_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Overlay:
    """Distributions that lie in one folder."""

    folder: Path
    distributions: tuple[str, ...]
    """Each as `NAME==VERSION`, those that others need included."""


def store() -> Path:
    """Return where overlays lie when nobody says."""
    return user_cache_path("assay") / "overlays"


def overlay(
    names: Sequence[str], *, tool: Installer | None = None, place: Path | None = None, bounds: Bounds | None = None
) -> Overlay:
    """Return the folder with these distributions, made if it is not there; raise InstallRefused where it cannot be had.

    One process makes, the others wait for it and take what it made.
    """
    place, bounds = place or store(), bounds or Bounds()
    (place / "locks").mkdir(parents=True, exist_ok=True)
    with alone(place / "lock"):
        for left in place.glob("*.tmp"):
            _remove(left)
        tool = tool or installer()
        lock = _locked(place / "locks", sorted({plain(name) for name in names}), tool, bounds)
        return _install_overlay(place, lock, tool, bounds)


def key_of(lock: str) -> str:
    """Return the name of what a lock means for this Python on this platform."""
    return sha256("\0".join((lock, *_here())).encode()).hexdigest()[:32]


def versions(lock: str) -> tuple[str, ...]:
    """Return what a lock names, each as `NAME==VERSION`."""
    return tuple(sorted(f"{plain(name)}=={version}" for name, version in _PIN.findall(lock)))


def is_whole(folder: Path) -> bool:
    """Say whether an overlay is all there: its marker is written last, and counts the files and their bytes."""
    try:
        told = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
        return bool(told["key"] == folder.name and told["holds"] == _holds(folder))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _locked(folder: Path, names: list[str], tool: Installer, bounds: Bounds) -> Path:
    """Return the file with the lock of a set, resolved the first time it is asked for."""
    file = folder / f"{sha256(chr(0).join((*names, *_here())).encode()).hexdigest()[:32]}.txt"
    if file.exists():
        return file
    try:
        lock = tool.lock(names, bounds)
    except InstallRefused as refused:
        raise InstallRefused(f"{', '.join(names)} cannot be installed: {refused}") from refused
    write(file, lock)
    return file


def _install_overlay(place: Path, lock: Path, tool: Installer, bounds: Bounds) -> Overlay:
    """Return the overlay of a lock, installed beside its place and moved there when it is whole."""
    text = lock.read_text(encoding="utf-8")
    key = key_of(text)
    folder, fresh = place / key, place / f"{key}.tmp"
    made = Overlay(folder, versions(text))
    if is_whole(folder):
        return made
    _remove(folder)
    fresh.mkdir()
    try:
        tool.install(lock, fresh, bounds)
        marker = {"key": key, "distributions": made.distributions, "holds": _holds(fresh)}
        (fresh / _MARKER).write_text(json.dumps(marker, indent=1), encoding="utf-8")
    except BaseException as error:
        _remove(fresh)
        if isinstance(error, InstallRefused):
            raise InstallRefused(f"{', '.join(made.distributions)} cannot be installed: {error}") from error
        raise
    _protect(fresh)
    os.sync()
    fresh.rename(folder)
    return made


def _here() -> tuple[str, ...]:
    return (sys.implementation.cache_tag or "", platform.python_version(), sysconfig.get_platform())


def _holds(folder: Path) -> list[int]:
    """Return how many files there are, and their bytes, without the marker."""
    count = size = 0
    for place, _, files in os.walk(folder):
        for name in files:
            if name != _MARKER:
                count, size = count + 1, size + os.lstat(os.path.join(place, name)).st_size
    return [count, size]


def _protect(folder: Path) -> None:
    """Take the right to write from everything, and give everyone the right to read: programs are another user."""
    for place, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555 if os.stat(path).st_mode & 0o100 else 0o444)
        os.chmod(place, 0o555)  # noqa: S103  it is to be read


def _remove(folder: Path) -> None:
    """Delete a folder, read-only or not."""
    if not folder.exists():
        return
    for place, _, _ in os.walk(folder):
        os.chmod(place, 0o700)
    shutil.rmtree(folder)


_NAMED = 5


@dataclass(frozen=True, slots=True)
class EquippedRunner:
    """An open runner, and what is known of its modules."""

    runner: ProgramRunner
    missing: Mapping[str, str]
    """Modules that are imported and not there, with the distribution that brings each."""
    importable: tuple[str, ...]
    """What programs find there, `importable` says."""
    installed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@contextmanager
def install_missing_modules(  # noqa: PLR0913  each is one thing
    open_runner: Callable[..., AbstractContextManager[ProgramRunner]],
    reading: TaskFile,
    samples: Samples,
    say: Say,
    *,
    install: bool = False,
    allow: Path | None = None,
) -> Iterator[EquippedRunner]:
    """Open a runner in which programs find what they import, as far as that was asked for and is allowed."""
    if allow and not install:
        raise InputError("--allow FILE says what --install may install: give both")
    names = known(allow)
    with open_runner() as plain:
        found = needs(reading, samples.programs, plain, names)
        wanted = sorted({brings for brings in found.missing.values() if names.allows(brings)})
        if not install or not wanted:
            problems = _left_out(found, names) if install else ()
            yield EquippedRunner(plain, found.missing, importable(plain), problems=problems)
            return
    say(f"installing {', '.join(wanted)}")
    made, refused = _had(wanted)
    problems = (*_left_out(found, names), *refused)
    missing = {module: brings for module, brings in found.missing.items() if brings not in _names(made)}
    with open_runner(paths=(made.folder,)) as bare:
        common = forkable((name for name in found.common if name not in missing), bare)
    with open_runner(paths=(made.folder,), modules=common) as runner:
        yield EquippedRunner(runner, missing, importable(runner), made.distributions, problems)


def _had(names: list[str]) -> tuple[Overlay, list[Problem]]:
    """Install all of these; those that cannot be had alone are left out and told."""
    try:
        return overlay(names), []
    except InstallRefused as refused:
        if len(names) == 1:
            raise
        why = refused
    problems = []
    for name in names:
        try:
            overlay([name])
        except InstallRefused as alone:
            problems.append(Problem(name, str(alone)))
    if not problems:
        raise why
    left = [name for name in names if name not in {problem.where for problem in problems}]
    if not left:
        raise why
    return overlay(left), problems


def _left_out(found: Needs, names: Known) -> tuple[Problem, ...]:
    """Name what is not on the list of what may be installed."""
    refused = sorted({brings for brings in found.missing.values() if not names.allows(brings)})
    told = [
        Problem(name, "not on the list of what may be installed: name it in a file, --allow FILE") for name in refused
    ]
    if found.unknown:
        some = ", ".join(found.unknown[:_NAMED]) + (", …" if len(found.unknown) > _NAMED else "")
        modules = "1 module" if len(found.unknown) == 1 else f"{len(found.unknown):,} modules"
        what = f"{modules} of no known distribution, not installed: {some}"
        told.append(Problem("imports", f"{what}; --allow FILE takes lines MODULE = DISTRIBUTION"))
    return tuple(told)


def _names(made: Overlay) -> set[str]:
    return {pin.partition("==")[0] for pin in made.distributions}
