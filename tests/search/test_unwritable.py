"""Where an index cannot be written, answers come from its last version and say that they are stale."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.errors import StorageError
from assay.operations.hits import as_text
from assay.operations.joint_answer import joint_answer
from assay.operations.joint_search import joint_searches
from assay.operations.requests import Search
from assay.operations.search import search
from assay.operations.workspace import Workspace, open_workspace
from assay.serve.reader import Waits
from assay.serve.session import Session
from assay.settings import Settings, load
from assay.values import Query

QUERY = Query("", "open box")


@contextmanager
def full(_location: Path) -> Iterator[None]:
    """Let nothing be written to any file, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@contextmanager
def read_only(location: Path) -> Iterator[None]:
    """Let nothing be written to an index; root is refused only where its lock cannot be one."""
    lock, mode = location / "lock", location.stat().st_mode
    lock.unlink(missing_ok=True)
    lock.mkdir()
    location.chmod(0o500)
    try:
        yield
    finally:
        location.chmod(mode)
        lock.rmdir()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "box.py").write_text("def open_box(name):\n    return name\n")
    return tmp_path / "root"


@pytest.fixture
def settings(root: Path, tmp_path: Path) -> Settings:
    """Return the settings of an index that is there."""
    made = load(options={"index.location": str(tmp_path / "index"), "encoder.spec": "hash:16"})
    open_workspace(root, made)
    return made


def answer(workspace: Workspace) -> tuple[list[str], bool]:
    """Return the names that are found, and whether the answer is stale."""
    found = joint_answer(joint_searches([workspace]), [QUERY], 5, rooted=False)
    return [hit.chunk.symbol for hit in found.hits], found.stale


@pytest.mark.parametrize("refused", [full, read_only])
def test_the_last_version_answers_and_says_that_it_is_stale(root, settings, tmp_path, refused):
    with refused(tmp_path / "index"):
        assert answer(open_workspace(root, settings)) == (["open_box"], False), "nothing changed"
    (root / "box.py").write_text("def close_box(name):\n    return name\n")
    with refused(tmp_path / "index"):
        held = open_workspace(root, settings)
        assert answer(held) == (["open_box"], True)
        assert "--index" in held.report.unwritten
        with pytest.raises(StorageError, match="--index"):
            open_workspace(root, settings, check_all=True)
        again, report = held.refresh()
        assert (again is held, report.stale) == (True, True)
    fresh, report = held.refresh()
    assert (answer(fresh), report.stale) == ((["close_box"], False), False)


def test_a_server_says_so_until_it_can_write_again(root, settings, tmp_path):
    session = Session({root: settings}, waits=Waits(fresh_s=0.0, refresh_s=60.0))

    def asked():
        found = search(Search("open box"), session)
        return [hit.symbol for hit in found.hits], found.stale, "not in the index" in as_text(found)

    assert asked() == (["open_box"], False, False)
    (root / "box.py").write_text("def close_box(name):\n    return name\n")
    with full(tmp_path / "index"):
        assert asked() == (["open_box"], True, True)
    assert asked() == (["close_box"], False, False)


@pytest.mark.usefixtures("settings")
def test_the_command_says_so_in_text_and_json(assay: Callable, root, tmp_path):
    chosen = ("--index", str(tmp_path / "index"), "--set", "encoder.spec=hash:16")
    (root / "box.py").write_text("def close_box(name):\n    return name\n")
    with read_only(tmp_path / "index"):
        plain = assay("search", "open box", root, *chosen)
        assert (plain.status, "function open_box" in plain.out) == (0, True)
        assert "files of" in plain.err
        assert "changed, and this is from before" in plain.err
        found = json.loads(assay("search", "open box", root, *chosen, "--format", "json").out)
        assert found["stale"]
        assert assay("index", root, *chosen).status == 2
    found = json.loads(assay("search", "close box", root, *chosen, "--format", "json").out)
    assert not found["stale"]


def test_without_any_version_nothing_answers_and_the_folder_of_an_index_is_private(root, tmp_path):
    location = tmp_path / "deep" / "index"
    settings = load(options={"index.location": str(location), "encoder.spec": "hash:16"})
    with full(tmp_path), pytest.raises(StorageError, match="no room left"):
        open_workspace(root, settings)
    open_workspace(root, settings)
    assert location.stat().st_mode & 0o777 == 0o700
