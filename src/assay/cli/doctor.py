"""`assay doctor`: check what works here and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import __version__
from assay.cli.adapter import command
from assay.cli.options import SettingsOptions
from assay.errors import AssayError, counted
from assay.parameters import Options, argument, shared

if TYPE_CHECKING:
    from assay.operations.status import Status

_NOT_PARTS = ("all", "dev")

Finding = tuple[bool, str]
"""Whether the check passed, and what was found."""


class DoctorOptions(Options):
    """Options of `assay doctor`."""

    path: str = argument("[PATH]", default=".")
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(DoctorOptions, example="assay doctor")
def doctor(options: DoctorOptions) -> int:
    """Check that everything works here.

    Tries each part on its own, then a search in a folder made for it, and reads all of the index of PATH, where there
    is one. Exits 0 if all is well, 1 otherwise.
    """
    settings_options = options.settings_options
    checks: dict[str, Callable[[], Finding]] = {
        "assay": lambda: (True, f"{__version__}, Python {platform.python_version()}, {Path(sys.executable)}"),
        "machine": lambda: (True, f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"),
        "git": lambda: (True, shutil.which("git") or "not found; it is not needed to search"),
        "cache": _cache,
        "encoder": lambda: _encoder(settings_options),
        "search": _search,
        "index": lambda: _index(options.path, settings_options),
        "sandbox": _sandbox,
        "chat": _chat,
        "extras": _extras,
    }
    well = True
    for name, check in checks.items():
        try:
            good, found = check()
        except AssayError as error:
            good, found = False, str(error)
        except Exception as error:  # noqa: BLE001  whatever is wrong is the finding
            good, found = False, f"{type(error).__name__}: {error}"
        well = well and good
        click.echo(f"{'ok ' if good else 'BAD'}  {name:<10}{found}")
    return 0 if well else 1


def _cache() -> Finding:
    """Check that the default folder of indexes can be written."""
    from tempfile import TemporaryFile

    from platformdirs import user_cache_path

    folder = user_cache_path("assay", ensure_exists=True)
    with TemporaryFile(dir=folder):
        pass
    free_gb = shutil.disk_usage(folder).free / 1e9
    return free_gb > 1, f"{folder}, {free_gb:.0f} GB free"


def _encoder(settings_options: SettingsOptions) -> Finding:
    """Encode a word with the encoder."""
    from assay.operations.indexes import encoder_of

    encoder = encoder_of(settings_options.settings(Path.cwd()))
    vectors = encoder.encode(["parse the arguments"], "query")
    return bool(vectors.any()), f"{encoder.name}, {encoder.dimension} dimensions"


def _search() -> Finding:
    """Search a folder for its only right function."""
    from tempfile import TemporaryDirectory

    from assay.operations.face import search

    with TemporaryDirectory() as folder:
        root = Path(folder, "root")
        root.mkdir()
        for name in ("parse_date", "send_mail"):
            (root / f"{name}.py").write_text(f"def {name}(value):\n    return value\n")
        settings = {"index.location": str(Path(folder, "index"))}
        found = next((hit.symbol for hit in search("where are mails sent", root, settings=settings)), "nothing")
    return found == "send_mail", f"searched for send_mail, found {found}"


def _index(path: str, settings_options: SettingsOptions) -> Finding:
    """Read the index of a folder and compare it with the files; of a place in a bucket, read each index."""
    from assay.operations.local_roots import LocalRoots
    from assay.operations.open_roots import RootOpening
    from assay.operations.requests import StatusOf
    from assay.operations.status import status

    roots = LocalRoots([path], RootOpening(settings_options.settings))
    found = [_one_index(path, status(StatusOf(path=each.name), roots), settings_options) for each in roots.readers]
    return all(good for good, _ in found), "; ".join(text for _, text in found)


def _one_index(path: str, answer: Status, settings_options: SettingsOptions) -> Finding:
    from assay.search.retrievers import rebuild_command

    if answer.damage:
        rebuild = rebuild_command(path, settings_options.location)
        return False, f"of {answer.root} is corrupt: {answer.damage}; {rebuild} rebuilds it"
    if not answer.indexed:
        return True, f"none of {answer.root} yet; the first search builds it"
    stale = answer.added + answer.changed + answer.removed
    behind = f"{counted(stale, 'file')} stale; the next search updates the index"
    state = behind if stale else "up to date" if answer.compared else "read-only"
    return True, f"of {answer.root}: {counted(answer.files, 'file')}, whole, {answer.rebuild_because or state}"


def _sandbox() -> Finding:
    """Attack each kind of sandbox; report the one for programs, its guarantees, and why no stronger one works."""
    from assay.cage.control_group import describe
    from assay.cage.job import ISOLATING
    from assay.cage.open_cage import probe

    refused: list[str] = []
    for kind in ISOLATING:
        finding = probe(kind, fresh=True)
        if finding.holds:
            lines = [str(finding), *(f"  {each}" for each in (*kind.guarantees, describe())), *refused]
            break
        refused.append(f"not {finding}")
    else:
        container = "In a container, docs/howto/pod.md says what each kind needs."
        lines = ["none works here, so no program can be run", *refused, container]
    return True, f"\n{'':<15}".join(lines)


def _chat() -> Finding:
    """List the models that can be used as judges; nothing else needs one."""
    from assay.llm.endpoint import keys

    return True, ", ".join(f"{name}: {found}" for name, found in keys())


def _extras() -> Finding:
    """List the extras of this package with missing libraries."""
    from importlib.metadata import PackageNotFoundError, metadata

    from assay.extras import DISTRIBUTION, install_command
    from assay.plugins import missing

    try:
        extras = metadata(DISTRIBUTION).get_all("Provides-Extra") or []
        absent = [name for name in extras if name not in _NOT_PARTS and missing(name)]
    except PackageNotFoundError:
        return True, "unknown: this package is on the path, but not installed"
    return True, f"not installed: {', '.join(absent)} ({install_command('NAME')})" if absent else "all installed"
