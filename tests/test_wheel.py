"""The wheel: what its metadata promises, what is in it, and that it runs without being installed first."""

from __future__ import annotations

import email.parser
import os
import subprocess
import sys
import tomllib
from email.message import Message
from pathlib import Path
from shutil import which
from zipfile import ZipFile

import pytest
from commands import manual_pages

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this tree."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    if not (ROOT / "src").is_dir():
        pytest.skip("there is no source here to build from")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("assay_code-*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.parser.Parser().parsestr(archive.read(name).decode())


def test_the_metadata_names_every_extra_and_says_what_a_package_index_shows(metadata: Message):
    extras = metadata.get_all("Provides-Extra") or []
    assert sorted(extras) == sorted(PROJECT["optional-dependencies"])
    for extra in extras:
        needed = [line for line in metadata.get_all("Requires-Dist") or [] if f"extra == '{extra}'" in line]
        assert len(needed) >= (1 if extra != "all" else 10), extra
    assert (metadata["Name"], metadata["License-Expression"]) == ("assay-code", "Apache-2.0")
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata["Summary"] == PROJECT["description"]
    assert "# Assay" in str(metadata.get_payload())


def test_the_wheel_has_the_package_its_data_and_the_manual(wheel: Path):
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "assay/py.typed" in names
    assert {Path(name).name for name in names if "share/man/man1/" in name} == {*manual_pages()}
    assert not [name for name in names if "tests/" in name or "__pycache__" in name]
    assert wheel.stat().st_size < 20 * 2**20


def test_it_runs_from_the_file(wheel: Path, project: Path):
    uv = which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        pytest.skip("uv is not installed")
    command = [uv, "tool", "run", "--offline", "--from", wheel, "assay", "search", "send a mail again", project]
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "XDG_CACHE_HOME"}}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if "Failed to initialize cache" in done.stderr:
        pytest.skip("uv has nowhere to keep what it unpacks")
    if done.returncode and "network" in done.stderr.lower():
        pytest.skip("uv has not cached the packages that assay needs, and tests use no network")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{project}/mail/send.py:")
