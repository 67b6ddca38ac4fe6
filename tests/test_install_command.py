"""Hold that the command which brings an extra fits how Assay was installed, and works."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import assay.extras as module
from assay.errors import MissingExtra
from assay.extras import install_command

GIT = {"url": "https://example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "12ab"}}
REQUIRES = ["numpy>=1", "watchfiles<2,>=1; extra == 'watch'", 'torch>=2; extra == "hf"']


def told(folder: Path, origin: dict | None, extra: str = "watch") -> list[str]:
    """Return what is to be installed where the metadata of Assay is this."""
    about = folder / "installed" / "assay_code-0.1.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    requires = "".join(f"Requires-Dist: {line}\n" for line in REQUIRES)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: assay-code\nVersion: 0.1\n{requires}")
    (about / "direct_url.json").write_text(json.dumps(origin or {}))
    code = f"from assay.extras import install_command as i; print(i({extra!r}))"
    source = Path(module.__file__).parents[1]
    path = os.pathsep.join([str(about.parent), str(source)])
    command, environment = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": path}
    words = shlex.split(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    return words[words.index("install") + 1 :]


def test_it_installs_from_where_assay_came(tmp_path: Path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    wheel = tmp_path / "assay-0.1-py3-none-any.whl"
    wheel.touch()
    assert told(tmp_path, {"url": folder.as_uri(), "dir_info": {}})[-1:] == [f"{folder}[watch]"]
    edited = {"url": folder.as_uri(), "dir_info": {"editable": True}}
    assert told(tmp_path, edited)[-2:] == ["--editable", f"{folder}[watch]"]
    assert told(tmp_path, {"url": wheel.as_uri(), "archive_info": {}})[-1:] == [f"{wheel}[watch]"]
    assert told(tmp_path, GIT)[-1:] == ["assay-code[watch] @ git+https://example.org/a.git@12ab"]
    assert told(tmp_path, None)[-1:] == ["assay-code[watch]"]


def test_libraries_are_named_where_that_place_is_gone_and_the_folder_that_one_stands_in_is_a_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gone = {"url": (tmp_path / "gone.whl").as_uri(), "archive_info": {}}
    assert told(tmp_path, gone)[-1:] == ["watchfiles<2,>=1"]
    assert told(tmp_path, gone, "hf,watch")[-2:] == ["watchfiles<2,>=1", "torch>=2"]
    monkeypatch.chdir(tmp_path)
    assert told(tmp_path, {"url": tmp_path.as_uri(), "dir_info": {}})[-1:] == [".[watch]"]


def test_it_speaks_to_this_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert install_command("watch").startswith(f"uv pip install --python {shlex.quote(sys.executable)} ")
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert install_command("watch").startswith("pip install ")
    monkeypatch.setenv("VIRTUAL_ENV", "/another")
    assert " -m pip install " in install_command("watch")


def test_the_command_works_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What stands in a message is run as it stands, but for what would reach the network."""
    monkeypatch.chdir(tmp_path)
    line = str(MissingExtra("this", "watchfiles", "watch")).partition(": ")[2]
    offline = ["--dry-run", "--no-deps", "--no-build-isolation", "--no-index"]
    if line.startswith("uv"):
        offline[-1] = "--offline"
    ran = subprocess.run([*shlex.split(line), *offline], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
