"""What tests need that root runs as an ordinary user: an interpreter that anybody may run, and copies to read."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

NOBODYS = 64321
HERE = Path(__file__).parent
_OTHERS = ("/usr/local/bin/python3", "/usr/bin/python3", "/opt/python/bin/python3")


def interpreter() -> str:
    """Return a Python that an ordinary user may run; skip where there is none, or this is an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user")
    if python := reachable_interpreter():
        return python
    pytest.skip(f"an ordinary user may not run {sys.executable}, and there is no other Python 3.11")


@cache
def reachable_interpreter() -> str:
    """Return a Python that an ordinary user may run and that is new enough, this one if it is; nothing without one."""
    found = (python for python in (sys.executable, *_OTHERS) if _may_run(python) and _prefix_may_be_read(python))
    return next(found, "")


@contextmanager
def copies(*packages: str, beside: tuple[str, ...] = ()) -> Iterator[Path]:
    """Make a folder of an ordinary user's that holds the package, others of ours, and files of these tests."""
    folder = Path(tempfile.mkdtemp(prefix="ordinary-", dir="/var/tmp"))
    ignore = shutil.ignore_patterns("__pycache__", "data")
    try:
        for name in ("assay", "platformdirs", *packages):
            for place in _places(name):
                _copy(place, folder, ignore)
        for name in beside:
            _copy(HERE / name, folder, ignore)
        os.chown(folder, NOBODYS, NOBODYS)
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


def _copy(source: Path, folder: Path, ignore: Callable[[str, list[str]], set[str]]) -> None:
    if source.is_dir():
        shutil.copytree(source, folder / source.name, ignore=ignore)
    else:
        shutil.copy(source, folder)


def _places(name: str) -> Iterator[Path]:
    """Yield where a package lies, nothing where it is not installed: what needs it will say so."""
    found = importlib.util.find_spec(name)
    if found and found.origin:
        yield Path(found.origin).parent if found.submodule_search_locations else Path(found.origin)


def _may_run(path: str) -> bool:
    """Say whether any user may reach a file, through all folders on the way and behind links."""
    if not os.path.exists(path):
        return False
    places = [Path(path).resolve(), Path(path).absolute()]
    return all(part.stat().st_mode & 0o001 for place in places for part in (place, *place.parents))


def _prefix_may_be_read(python: str) -> bool:
    """Ask the interpreter itself, as that user, whether it starts and is new enough."""
    asked = [python, "-I", "-c", "import sys, json, ctypes; sys.exit(sys.version_info < (3, 11))"]
    done = subprocess.run(asked, user=NOBODYS, group=NOBODYS, extra_groups=[], cwd="/", check=False, env={},
                          capture_output=True)  # fmt: skip
    return done.returncode == 0
