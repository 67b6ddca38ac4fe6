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
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from assay.errors import AssayError, InputError, MissingExtra
from assay.io.files import alone, write
from assay.io.processes import ProcessLimits, end_with, run_bounded
from assay.programs.modules.imports import Distributions, Needs, forkable, importable, needs, plain, read_distributions
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.values import Problem

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.protocols import Say


_PASSED = frozenset(
    """
    PATH HOME USER LANG TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME NETRC
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
    UV_INDEX UV_DEFAULT_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_INDEX_STRATEGY UV_FIND_LINKS UV_NO_INDEX UV_OFFLINE
    UV_CONFIG_FILE UV_NO_CONFIG UV_CACHE_DIR UV_KEYRING_PROVIDER UV_NATIVE_TLS UV_SYSTEM_CERTS UV_INSECURE_HOST
    UV_HTTP_TIMEOUT UV_EXCLUDE_NEWER
    """.split()
)
_OF_AN_INDEX = re.compile(r"UV_INDEX_\w+_(USERNAME|PASSWORD)")
_PRINTED_BYTES = 20_000_000
_MAX_ERROR_CHARS = 400


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one installation."""

    seconds: float = 120.0
    size_mb: int = 2048
    """Of what lies in the folder when it is done, and at any time before."""


class InstallRefused(InputError):
    """A set of distributions cannot be installed, for the reason of the installer."""


class Uv:
    """Runs uv from its cache first, and with the network only if that is not enough."""

    def __init__(self, command: Sequence[str] = (), options: Sequence[str] = ()) -> None:
        """Take the command of uv, and options for each of its commands, such as `--no-index`."""
        self._command = [*(command or _uv()), "pip"]
        self._options = ["--only-binary", ":all:", "--python", sys.executable, "--no-progress", "--quiet", *options]

    def lock(self, names: Sequence[str], bounds: Bounds) -> str:
        """Return requirements with versions and hashes, one for each distribution that a set needs."""
        return self._twice("compile - --generate-hashes --no-header --no-annotate", bounds, stdin="\n".join(names))

    def install(self, lock: Path, target: Path, bounds: Bounds) -> None:
        """Install the wheels of a lock into a folder; refuse one with another hash.

        Copy, for a link would be a way into the cache; compile, for what is read-only cannot be compiled later.
        """
        command = "install --require-hashes --no-deps --link-mode copy --compile-bytecode"
        self._twice(command, bounds, "--target", str(target), "-r", str(lock), target=target)

    def _twice(self, command: str, bounds: Bounds, *more: str, target: Path | None = None, stdin: str = "") -> str:
        whole = [*self._command, *command.split(), *more, *self._options]
        try:
            return bounded([*whole, "--offline"], bounds, target, stdin)
        except InstallRefused:
            return bounded(whole, bounds, target, stdin)


def _uv() -> list[str]:
    if path := shutil.which("uv"):
        return [path]
    if importlib.util.find_spec("uv"):
        return [sys.executable, "-P", "-m", "uv"]
    raise MissingExtra("--install", "uv", "install")


def bounded(command: Sequence[str], bounds: Bounds, target: Path | None = None, stdin: str = "") -> str:
    """Return the output of a command; raise InstallRefused if it fails or exceeds its limits."""

    def watch() -> None:
        if target and _count_and_size(target)[1] > bounds.size_mb << 20:
            raise InstallRefused(f"it takes more than {bounds.size_mb:,} MB")

    limits = ProcessLimits(bounds.seconds, _PRINTED_BYTES, watch, partial(end_with, os.getpid()))
    with TemporaryDirectory(prefix="assay-install-") as folder:
        try:
            ran = run_bounded(command, limits, cwd=folder, env=environment(os.environ), stdin=stdin.encode())
        except InstallRefused:
            raise
        except AssayError as error:
            raise InstallRefused(str(error)) from error
    if ran.status:
        printed = " ".join((ran.err or ran.out).split())
        raise InstallRefused(printed[-_MAX_ERROR_CHARS:] or f"it ended with {ran.status}")
    return ran.out


def environment(ours: os._Environ[str] | dict[str, str]) -> dict[str, str]:
    """Return the variables of an environment that an installer gets."""
    return {name: value for name, value in ours.items() if name.upper() in _PASSED or _OF_AN_INDEX.fullmatch(name)}


_MARKER = ".assay-overlay.json"
_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Overlay:
    """A folder of installed distributions."""

    folder: Path
    distributions: tuple[str, ...]
    """Each as `NAME==VERSION`, those that others need included."""


def overlay(
    names: Sequence[str], *, tool: Uv | None = None, place: Path | None = None, bounds: Bounds | None = None
) -> Overlay:
    """Return the folder with these distributions, installed if it is missing; raise InstallRefused if that fails.

    One process makes, the others wait for it and take what it made.
    """
    place, bounds = place or user_cache_path("assay") / "overlays", bounds or Bounds()
    (place / "locks").mkdir(parents=True, exist_ok=True)
    with alone(place / "lock"):
        for left in place.glob("*.tmp"):
            _remove(left)
        tool = tool or Uv()
        lock = _locked(place / "locks", sorted({plain(name) for name in names}), tool, bounds)
        return _install_overlay(place, lock, tool, bounds)


def is_whole(folder: Path) -> bool:
    """Say whether an overlay is complete: its marker, written last, has the count of files and bytes."""
    try:
        marker = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
        return bool(marker["key"] == folder.name and marker["holds"] == _count_and_size(folder))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _locked(folder: Path, names: list[str], tool: Uv, bounds: Bounds) -> Path:
    """Return the lock file of a set, resolved on first use."""
    file = folder / f"{_key(*names)}.txt"
    if not file.exists():
        try:
            write(file, tool.lock(names, bounds))
        except InstallRefused as refused:
            raise InstallRefused(f"{', '.join(names)} cannot be installed: {refused}") from refused
    return file


def _install_overlay(place: Path, lock: Path, tool: Uv, bounds: Bounds) -> Overlay:
    """Return the overlay of a lock, installed beside its place and moved there when complete."""
    text = lock.read_text(encoding="utf-8")
    key = _key(text)
    folder, fresh = place / key, place / f"{key}.tmp"
    made = Overlay(folder, tuple(sorted(f"{plain(name)}=={version}" for name, version in _PIN.findall(text))))
    if is_whole(folder):
        return made
    _remove(folder)
    fresh.mkdir()
    try:
        tool.install(lock, fresh, bounds)
        marker = {"key": key, "distributions": made.distributions, "holds": _count_and_size(fresh)}
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


def _key(*parts: str) -> str:
    """Return a name for this text, Python and platform."""
    here = (sys.implementation.cache_tag or "", platform.python_version(), sysconfig.get_platform())
    return sha256("\0".join((*parts, *here)).encode()).hexdigest()[:32]


def _count_and_size(folder: Path) -> list[int]:
    """Return how many files there are, and their bytes, without the marker."""
    count = size = 0
    for place, _, files in os.walk(folder):
        for name in set(files) - {_MARKER}:
            with suppress(OSError):  # while it is installed, files come and go
                count, size = count + 1, size + os.lstat(os.path.join(place, name)).st_size
    return [count, size]


def _protect(folder: Path) -> None:
    """Make all files read-only and readable for everyone, since programs run as another user."""
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
    """An open runner, with notes on its modules."""

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
    """Open a runner with the modules that programs import, if requested and allowed."""
    if allow and not install:
        raise InputError("--allow FILE says what --install may install: give both")
    names = read_distributions(allow)
    with open_runner() as plain:
        found = needs(reading, samples.programs, plain, names)
        wanted = sorted({brings for brings in found.missing.values() if names.allows(brings)})
        if not install or not wanted:
            problems = _left_out(found, names) if install else ()
            yield EquippedRunner(plain, found.missing, importable(plain), problems=problems)
            return
    say(f"installing {', '.join(wanted)}")
    made, refused = _install_all_possible(wanted)
    problems = (*_left_out(found, names), *refused)
    there = {pin.partition("==")[0] for pin in made.distributions}
    missing = {module: brings for module, brings in found.missing.items() if brings not in there}
    with open_runner(paths=(made.folder,)) as bare:
        common = forkable((name for name in found.common if name not in missing), bare)
    with open_runner(paths=(made.folder,), modules=common) as runner:
        yield EquippedRunner(runner, missing, importable(runner), made.distributions, problems)


def _install_all_possible(names: list[str]) -> tuple[Overlay, list[Problem]]:
    """Install all of these; report and leave out those that cannot be installed."""
    try:
        return overlay(names), []
    except InstallRefused:
        problems = []
        for name in names if len(names) > 1 else ():
            try:
                overlay([name])
            except InstallRefused as refused:
                problems.append(Problem(name, str(refused)))
        if not 0 < len(problems) < len(names):
            raise
    refused_names = {problem.where for problem in problems}
    return overlay([name for name in names if name not in refused_names]), problems


def _left_out(lacking: Needs, names: Distributions) -> tuple[Problem, ...]:
    """Report missing modules that may not be installed."""
    refused = sorted({brings for brings in lacking.missing.values() if not names.allows(brings)})
    why = "not on the list of what may be installed: name it in a file, --allow FILE"
    problems = [Problem(name, why) for name in refused]
    if lacking.unknown:
        some = ", ".join(lacking.unknown[:_NAMED]) + (", …" if len(lacking.unknown) > _NAMED else "")
        modules = "1 module" if len(lacking.unknown) == 1 else f"{len(lacking.unknown):,} modules"
        what = f"{modules} of no known distribution, not installed: {some}"
        problems.append(Problem("imports", f"{what}; --allow FILE takes lines MODULE = DISTRIBUTION"))
    return tuple(problems)
