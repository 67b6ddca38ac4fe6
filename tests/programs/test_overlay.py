"""Wheels made on the spot, installed from a folder: no network, and each way in which installing can go wrong."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.cage.open_cage import open_sandbox
from assay.errors import MissingExtra
from assay.programs.modules.install import Bounds, InstallRefused, Uv, bounded, environment, is_whole, overlay
from assay.programs.verdict import job_of, outcome_of
from assay.values import Call, Program, Task

sys.path.insert(0, str(Path(__file__).parent))
from wheels import sdist, wheel

from waiting import has_ended, until


def test_without_uv_the_extra_is_named_that_brings_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "uv", None)
    with pytest.raises(MissingExtra, match=r"--install needs uv: .*install"):
        Uv()


@pytest.fixture
def tool(tmp_path: Path):
    """The installer, which knows no index but a folder."""
    if not shutil.which("uv"):
        pytest.skip("no uv here")
    return Uv(options=["--no-index", "--find-links", str(tmp_path / "index")])


@pytest.fixture
def index(tmp_path: Path) -> Path:
    (tmp_path / "index").mkdir()
    return tmp_path / "index"


@pytest.fixture
def make(tmp_path: Path, tool):
    return lambda *names, **more: overlay(names, tool=tool, place=tmp_path / "overlays", **more)


class Unused:
    """An installer that must not be asked."""

    def lock(self, *asked):
        raise AssertionError(asked)

    install = lock


class Counted:
    """Stands for an installer, slowly."""

    def __init__(self) -> None:
        self.ran = 0

    def lock(self, names, _bounds):
        time.sleep(0.1)
        return "".join(f"{name}==1.0\n" for name in names)

    def install(self, _lock, target, _bounds):
        self.ran += 1
        (target / "thing.py").write_text("x = 1\n")
        time.sleep(0.1)


def value(folder: Path, source: str):
    """Return what `f()` of a program returns that imports from a folder."""
    task, program = Task("t", "", "f", tests=(Call((), None),)), Program("t", source, "p")
    with open_sandbox(workers=1, paths=[folder]) as sandbox:
        (ended,) = sandbox.run([job_of(task, program)])
    outcome = outcome_of(task, program, ended)
    return outcome.got or outcome.detail


def test_what_is_installed_once_can_be_imported_and_is_named_with_its_version(make, index: Path, tmp_path: Path):
    wheel(index, "thing", {"thing/__init__.py": "from other import x\n"}, needs=("other",))
    wheel(index, "other", {"other.py": "x = 42\n"}, version="2.3")
    made = make("Thing")
    assert made.distributions == ("other==2.3", "thing==1.0")
    assert value(made.folder, "import thing\ndef f(): return thing.x") == "42"
    wheel(index, "thing", {"thing.py": "x = 2\n"}, version="2.0")
    assert overlay(["THING"], tool=Unused(), place=tmp_path / "overlays") == made


def test_93_nothing_in_it_can_be_written_by_a_program_or_is_shared_with_a_cache(make, index: Path):
    wheel(index, "thing", {"thing/__init__.py": "x = 1\n"})
    made = make("thing")
    for place, _, files in os.walk(made.folder):
        for path in (place, *(os.path.join(place, name) for name in files)):
            assert not stat.S_IMODE(os.stat(path).st_mode) & 0o222, path
            assert os.path.isdir(path) or os.stat(path).st_nlink == 1, path
    assert list(made.folder.rglob("*.pyc")), "programs would compile it each time"
    source = (
        "import os, thing\nat = os.path.dirname(thing.__file__)\n"
        "def tried(*ways):\n    said = []\n    for way in ways:\n"
        "        try: way(); said.append('worked')\n        except OSError: said.append('refused')\n    return said\n"
        "def f(): return tried(lambda: open(thing.__file__, 'a'), lambda: open(at + '/new.py', 'w'),\n"
        "    lambda: os.chmod(at, 0o777), lambda: os.unlink(thing.__file__), lambda: os.rename(at, at + '2'))"
    )
    assert value(made.folder, source) == str(["refused"] * 5)
    assert is_whole(made.folder)


def test_89_the_setup_of_a_source_distribution_never_runs(make, index: Path, tmp_path: Path):
    sdist(index, "thing", f"open({str(tmp_path / 'ran')!r}, 'w').write('x')\n")
    with pytest.raises(InstallRefused, match="thing cannot be installed"):
        make("thing")
    assert not (tmp_path / "ran").exists()
    assert not list((tmp_path / "overlays").glob("*.tmp"))


def test_90_a_pth_file_does_not_run(make, index: Path):
    poison = "import builtins, os; builtins.POISONED = 1; os.environ['POISONED'] = '1'\n"
    wheel(index, "thing", {"thing.py": "x = 1\n", "thing.pth": poison})
    made = make("thing")
    assert (made.folder / "thing.pth").exists()
    source = (
        "import builtins, os, subprocess, sys, thing\n"
        "ask = 'import os, thing; print(os.environ.get(\"POISONED\"))'\n"
        "def f():\n"
        "    below = subprocess.run([sys.executable, '-c', ask], capture_output=True, text=True).stdout.strip()\n"
        "    return [hasattr(builtins, 'POISONED'), 'POISONED' in os.environ, below]"
    )
    assert value(made.folder, source) == "[False, False, 'None']"


def test_92_a_module_that_asks_the_network_when_it_is_imported_gets_none(make, index: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        text = (
            "import socket\ntry:\n"
            f"    socket.create_connection(('127.0.0.1', {port}), 1)\n    said = 'reached'\n"
            "except OSError: said = 'refused'\n"
        )
        wheel(index, "thing", {"thing.py": text})
        assert value(make("thing").folder, "import thing\ndef f(): return thing.said") == "'refused'"
        with pytest.raises(BlockingIOError):
            server.accept()


def test_94_a_wheel_with_another_hash_is_refused(make, index: Path, tmp_path: Path):
    wheel(index, "thing", {"thing.py": "x = 1\n"})
    made = make("thing")
    (lock,) = (tmp_path / "overlays" / "locks").glob("*.txt")
    text = lock.read_text()
    at = text.index("sha256:") + len("sha256:")
    lock.write_text(text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :])
    with pytest.raises(InstallRefused, match=r"thing==1\.0 cannot be installed"):
        make("thing")
    left = {path.name for path in (tmp_path / "overlays").iterdir()}
    assert left == {"lock", "locks", made.folder.name}


def test_95_one_installs_all_others_take_what_it_made_and_what_is_not_whole_is_made_again(tmp_path: Path):
    tool = Counted()
    with ThreadPoolExecutor(6) as pool:
        (made,) = set(pool.map(lambda _: overlay(["thing"], tool=tool, place=tmp_path), range(6)))
    assert tool.ran == 1
    os.chmod(made.folder, 0o755)
    (made.folder / "thing.py").unlink()
    (tmp_path / "left.tmp" / "deep").mkdir(parents=True)
    assert not is_whole(made.folder)
    assert overlay(["thing"], tool=tool, place=tmp_path) == made
    assert is_whole(made.folder)
    assert tool.ran == 2
    assert not (tmp_path / "left.tmp").exists()


def test_an_install_that_breaks_off_leaves_nothing_that_is_used(tmp_path: Path):
    class Broken(Counted):
        def install(self, lock, target, bounds):
            super().install(lock, target, bounds)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        overlay(["thing"], tool=Broken(), place=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"lock", "locks"}
    assert is_whole(overlay(["thing"], tool=Counted(), place=tmp_path).folder)


def test_an_installer_has_a_time_and_takes_its_children_along(tmp_path: Path):
    text = f"sleep 600 & echo $! > {shlex.quote(str(tmp_path / 'pid'))}; wait"
    with pytest.raises(InstallRefused, match="did not end within 3 s"):
        bounded(["/bin/sh", "-c", text], Bounds(seconds=3))
    process = int((tmp_path / "pid").read_text())
    until(lambda: has_ended(process), "the child of the installer ended")


def test_an_installer_may_fill_so_much_sees_no_secret_and_is_quoted_where_it_complains(tmp_path: Path):
    text = f"open({str(tmp_path / 'big')!r}, 'wb').write(bytes(3 << 20))"
    with pytest.raises(InstallRefused, match="more than 2 MB"):
        bounded([sys.executable, "-c", text], Bounds(size_mb=2), tmp_path)
    with pytest.raises(InstallRefused, match="no such thing"):
        bounded([sys.executable, "-c", "raise SystemExit('no such thing')"], Bounds())
    kept = {"PATH": "/bin", "HTTPS_PROXY": "p", "https_proxy": "p", "UV_INDEX_OURS_PASSWORD": "w"}
    secret = {"AWS_SECRET_ACCESS_KEY": "s", "HF_TOKEN": "s", "PYTHONPATH": "x", "UV_LINK_MODE": "hardlink"}
    secret |= {"LD_PRELOAD": "x"}
    assert environment({**kept, **secret}) == kept
