"""Whatever ends a writer, and whoever reads meanwhile, an index is its last good version."""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from assay.encode.hashed import HashedEncoder
from assay.errors import StorageError
from assay.search.folder_index import FolderIndex

ENCODER = HashedEncoder("16")
FILES = 12
KILLS = 100
READERS = 16
LARGE = 220_000  # bytes: from here on the work is shared among processes


def write_generation(root, generation, size=200):
    """Give every file a text that names the generation."""
    for number in range(FILES):
        body = f"def unit_{number}():\n    'generation {generation}'\n"
        (root / f"file{number}.py").write_text(body + "    work()\n" * (size // FILES // 11))


def generations(snapshot):
    """Return the generations that a snapshot holds and how many files it has."""
    dead = set(snapshot.dead.tolist())
    texts = [snapshot.chunk(number).text for number in range(snapshot.size) if number not in dead]
    named = [int(found) for text in texts for found in re.findall(r"generation (\d+)", text)]
    return set(named), len(named)


def leftovers(index):
    """Return what lies in an index's folder without belonging to its version."""
    names = {entry.name for entry in index.folder.location.iterdir()}
    return names - index.folder.open().manifest.files - {"manifest.json", "lock", ".gitignore"}


@contextmanager
def forked(work):
    """Run `work` in a process of its own, which is gone afterwards."""
    process = os.fork()
    if not process:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def index(root, tmp_path):
    return FolderIndex(root, tmp_path / "index", ENCODER)


def test_a_writer_killed_at_any_moment_leaves_the_last_good_version(root, index):
    write_generation(root, 0)
    index.refresh()
    chance = random.Random(7)
    for start in range(0, KILLS * 1000, 1000):

        def write(start=start):
            for generation in range(start + 1, start + 1000):
                write_generation(root, generation)
                FolderIndex(root, index.folder.location, ENCODER).refresh()

        with forked(write) as process:
            time.sleep(chance.uniform(0.0, 0.06))
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        assert_good(root, index, start)


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_reliability import ENCODER, LARGE, FolderIndex, write_generation
root, location, start = Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
for generation in range(start + 1, start + 1000):
    write_generation(root, generation, LARGE)
    FolderIndex(root, location, ENCODER).refresh()
"""


def test_a_writer_with_workers_killed_at_any_moment_does_so_too(root, index):
    write_generation(root, 0, LARGE)
    index.refresh()
    chance = random.Random(8)
    for start in range(0, KILLS // 10 * 1000, 1000):
        arguments = [str(Path(__file__).parent), str(root), str(index.folder.location), str(start)]
        with subprocess.Popen([sys.executable, "-c", WRITER, *arguments], stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(chance.uniform(0.0, 0.4))
            writer.kill()
        assert_good(root, index, start, LARGE)


def assert_good(root, index, least, size=200):
    """What is there is one whole version and not older than it was; the next refresh goes on from it."""
    found, files = generations(index.snapshot())
    assert len(found) == 1, "half of a change is visible"
    assert files == FILES
    assert found.pop() >= least, "a version that was good is lost"
    write_generation(root, least + 1000, size)
    assert index.refresh().rebuilt_because == ""
    assert generations(index.snapshot()) == ({least + 1000}, FILES)
    assert not leftovers(index)


def test_many_readers_beside_one_writer_see_whole_versions(root, index):
    write_generation(root, 0)
    index.refresh()
    stop = root.parent / "stop"

    def read():
        seen = set()
        reader = FolderIndex(root, index.folder.location, ENCODER)
        while not stop.exists():
            found, files = generations(reader.snapshot())
            assert len(found) == 1
            assert files == FILES
            seen |= found
            time.sleep(0.02)  # readers that never rest would only show how fair the system is
        assert len(seen) > 1, "never saw a new version"

    with ExitStack() as stack:
        readers = [stack.enter_context(forked(read)) for _ in range(READERS)]
        for generation in range(1, 31):
            write_generation(root, generation)
            index.refresh()
        stop.touch()
        assert [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in readers] == [0] * READERS


def test_a_second_writer_waits_and_uses_what_the_first_one_made(root, index):
    write_generation(root, 1)
    ready, go = os.pipe(), os.pipe()

    def first():
        writer = FolderIndex(root, index.folder.location, ENCODER)
        with writer.folder.writing():
            os.write(ready[1], b"x")
            os.read(go[0], 1)
        writer.refresh()

    with forked(first):
        os.read(ready[0], 1)
        started = time.monotonic()

        def second():
            FolderIndex(root, index.folder.location, ENCODER).refresh()
            assert time.monotonic() - started > 0.2

        with forked(second) as waiting:
            time.sleep(0.25)
            os.write(go[1], b"x")
            assert os.waitstatus_to_exitcode(os.waitpid(waiting, 0)[1]) == 0
    assert generations(index.snapshot()) == ({1}, FILES)


def _truncate(index, manifest):
    path = index.folder.location / manifest.segments[0]
    os.truncate(path, path.stat().st_size // 2)


def _garble(index, manifest):
    path = index.folder.location / manifest.segments[0]
    path.write_bytes(b"?" * 100 + path.read_bytes()[100:])


def _remove(index, manifest):
    (index.folder.location / manifest.segments[0]).unlink()


def _remove_catalog(index, manifest):
    (index.folder.location / manifest.catalog).unlink()


def _break_manifest(index, _manifest):
    (index.folder.location / "manifest.json").write_text('{"format": 1, "vers')


def _age(index, _manifest):
    path = index.folder.location / "manifest.json"
    path.write_text(re.sub(r'"format": \d+', '"format": 0', path.read_text()))


@pytest.mark.parametrize("damage", [_truncate, _garble, _remove, _remove_catalog, _break_manifest, _age])
def test_a_damaged_index_is_rebuilt_and_says_so(root, index, damage):
    write_generation(root, 1)
    index.refresh()
    damage(index, index.folder.open().manifest)
    again = FolderIndex(root, index.folder.location, ENCODER)
    report = again.refresh()
    assert report.rebuilt_because
    assert "\n" not in report.rebuilt_because
    assert generations(again.snapshot()) == ({1}, FILES)
    assert again.refresh().rebuilt_because == ""
    assert not leftovers(again)


@pytest.mark.parametrize("room", [1_000, 8_000, 40_000])
def test_a_full_disk_is_one_clear_line_and_the_index_as_before(root, index, room):
    write_generation(root, 1)
    index.refresh()

    def write_with_little_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        write_generation(root, 2, LARGE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        with pytest.raises(StorageError, match=r"^no room left for the index in .*--index") as caught:
            FolderIndex(root, index.folder.location, ENCODER).refresh()
        assert "\n" not in str(caught.value)

    with forked(write_with_little_room) as process:
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert generations(FolderIndex(root, index.folder.location, ENCODER).snapshot()) == ({1}, FILES)
    assert not leftovers(index)
    index.refresh()
    assert generations(index.snapshot()) == ({2}, FILES)


def test_a_place_that_cannot_be_written_is_one_clear_line(root, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write the index in"):
        FolderIndex(root, tmp_path / "file" / "index", ENCODER).refresh()


SLOW_WRITER = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_reliability import FolderIndex, HashedEncoder
class Slow(HashedEncoder):
    def encode(self, texts, role):
        Path(sys.argv[4]).write_text(str(os.getpid()))
        time.sleep(0.5)
        return super().encode(texts, role)
FolderIndex(Path(sys.argv[2]), Path(sys.argv[3]), Slow("16")).refresh()
"""


@pytest.mark.skipif(sys.platform != "linux" or os.cpu_count() == 1, reason="work is shared on Linux with several cores")
def test_workers_end_with_their_parent(root, index, tmp_path):
    write_generation(root, 1, LARGE)
    note = tmp_path / "worker"
    arguments = [str(Path(__file__).parent), str(root), str(index.folder.location), str(note)]
    with subprocess.Popen([sys.executable, "-c", SLOW_WRITER, *arguments]) as writer:
        assert _soon(lambda: note.exists() and note.read_text())
        worker = int(note.read_text())
        assert worker != writer.pid
        writer.kill()
    assert _soon(lambda: not _runs(worker))


def _soon(happens):
    until = time.monotonic() + 20
    while not (found := happens()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def _runs(process):
    try:
        with open(f"/proc/{process}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
