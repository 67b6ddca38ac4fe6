"""Whatever ends a writer, and whoever reads meanwhile, an index is its last good version."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from assay.encode.vectors import HashedEncoder
from assay.errors import AssayError, StorageError
from assay.search import index_build
from assay.search.folder_index import FolderIndex
from assay.search.index_build import run_forked
from assay.search.index_changes import Build
from assay.store import folder as index_folder
from waiting import has_ended, until

ENCODER = HashedEncoder("16")
FILES = 12
LARGE = 220_000  # bytes: from here on the work is shared among processes


def write_generation(root, generation, size=200):
    """Give every file a text that names the generation."""
    for number in range(FILES):
        body = f"def unit_{number}():\n    'generation {generation}'\n"
        (root / f"file{number}.py").write_text(body + "    work()\n" * (size // FILES // 11))


def generations(snapshot):
    """Return the generations that a snapshot holds and how many files it has."""
    named = [int(found) for chunk in snapshot.living() for found in re.findall(r"generation (\d+)", chunk.text)]
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


def status_of(process):
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def index(root, tmp_path):
    return FolderIndex(root, tmp_path / "index", ENCODER)


def on_change(folder, do):
    """Have each step of this process that changes a folder announced, just before it: `do` gets its number."""
    steps = []

    def hook(event, arguments):
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if (writes or event in {"os.rename", "os.remove"}) and str(folder) in str(arguments[0]):
            steps.append(event)
            do(len(steps) - 1, event)

    sys.addaudithook(hook)


def test_a_writer_killed_at_any_step_leaves_the_last_good_version(root, index, tmp_path):
    write_generation(root, 0)
    index.refresh()
    notes = tmp_path / "steps"

    def write(generation, do):
        write_generation(root, generation)
        on_change(index.folder.location, do)
        FolderIndex(root, index.folder.location, ENCODER).refresh()

    def note(_, event):
        with notes.open("a") as file:
            file.write(f"{event}\n")

    with forked(lambda: write(1, note)) as process:
        assert status_of(process) == 0
    manifest = notes.read_text().split().index("os.rename")
    assert manifest > 3, "a segment and a catalog are written before the manifest takes its place"
    for turn, at in enumerate((manifest - 2, manifest - 1, manifest)):

        def kill(number, _, at=at):
            if number == at:
                os.kill(os.getpid(), signal.SIGKILL)

        with forked(lambda turn=turn, kill=kill: write(turn + 2, kill)) as process:
            assert status_of(process) == -signal.SIGKILL
        assert generations(index.snapshot()) == ({1}, FILES), "killed before the manifest, at any step"
    assert_good(root, index)


def assert_good(root, index, size=200):
    """The next refresh goes on from what is there, and clears what was left."""
    write_generation(root, 1000, size)
    assert index.refresh().rebuilt_because == ""
    assert generations(index.snapshot()) == ({1000}, FILES)
    assert not leftovers(index)


class EndedEncoder(HashedEncoder):
    """Encodes some files, one at a time, and then ends its process in one way or another."""

    left, end = 0, staticmethod(os.abort)

    def encode(self, texts, role):
        if not self.left:
            self.end()
        self.left -= 1
        return super().encode(texts, role)


def interrupt():
    raise KeyboardInterrupt


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("end", "related", "first", "second"), [(interrupt, 0, 8, 5), (kill, 0, 8, 5), (kill, 6, 4, 3)]
)
def test_an_interrupted_first_index_goes_on_from_what_was_done(  # noqa: PLR0917  a table
    root, index, tmp_path, monkeypatch, end, related, first, second
):
    """The first encodes so many files and the second the rest; of a related index six files need not be encoded."""
    monkeypatch.setattr(index_build, "KEEP_S", 0.0)
    relative = FolderIndex(tmp_path / "relative", tmp_path / "relative.index", ENCODER)
    relative.root.mkdir()
    write_generation(relative.root, 0)
    for number in range(related, FILES):
        (relative.root / f"file{number}.py").write_text("def other():\n    'generation 7'\n")
    (relative.root / "gone.py").write_text("def gone():\n    'generation 8'\n")
    if related:
        relative.refresh()

    def refresh(left):
        encoder = EndedEncoder("16")
        encoder.left, encoder.end = left, end
        folder = index_folder.IndexFolder(index.folder.location, relatives=lambda: [relative.folder])
        return FolderIndex(root, folder, encoder, Build(batch_bytes=1)).refresh()

    write_generation(root, 0)
    with forked(lambda: refresh(first)) as process:
        assert status_of(process)
    assert index.status() is None, "nobody reads what is not finished"
    write_generation(root, 0)  # all are touched, one that was done is changed, and one is gone
    (root / "file3.py").write_text("def unit_3():\n    'generation 0'\n    changed()\n")
    (root / "file4.py").unlink()
    assert refresh(second).rebuilt_because == ""
    assert generations(index.snapshot()) == ({0}, FILES - 1)
    assert not leftovers(index)
    fresh = FolderIndex(root, tmp_path / "fresh", ENCODER)
    fresh.refresh()
    assert sorted(index.snapshot().living(), key=str) == sorted(fresh.snapshot().living(), key=str)


STUCK_WRITER = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_reliability import FolderIndex, HashedEncoder
class Stuck(HashedEncoder):
    def encode(self, texts, role):
        beside = Path(sys.argv[4] + ".new")
        beside.write_text(str(os.getpid()))
        beside.rename(sys.argv[4])
        time.sleep(90)
FolderIndex(Path(sys.argv[2]), Path(sys.argv[3]), Stuck("16")).refresh()
"""


@pytest.mark.skipif(sys.platform != "linux" or os.cpu_count() == 1, reason="work is shared on Linux with several cores")
def test_workers_end_with_their_parent_in_the_middle_of_a_task(root, index, tmp_path):
    write_generation(root, 0, LARGE)
    index.refresh()
    write_generation(root, 1, LARGE)
    note, tests = tmp_path / "worker", Path(__file__).parent
    path = os.pathsep.join([str(tests.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    arguments = [str(tests), str(root), str(index.folder.location), str(note)]
    command = [sys.executable, "-c", STUCK_WRITER, *arguments]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}) as writer:
        until(note.exists, "a worker is at work")
        worker = int(note.read_text())
        assert worker != writer.pid
        writer.kill()
    until(lambda: has_ended(worker), "the worker has ended")
    assert generations(index.snapshot()) == ({0}, FILES)
    assert_good(root, index, LARGE)


def test_readers_beside_one_writer_see_whole_versions(root, index):
    write_generation(root, 0)
    index.refresh()
    last = 10

    def read():
        reader, seen = FolderIndex(root, index.folder.location, ENCODER), set()
        while last not in seen:
            found, files = generations(reader.snapshot())
            assert (len(found), files) == (1, FILES)
            seen |= found

    with forked(read) as one, forked(read) as other:
        for generation in range(1, last + 1):
            write_generation(root, generation)
            index.refresh()
        assert [status_of(process) for process in (one, other)] == [0, 0]


class Blocking(HashedEncoder):
    """Says that it is asked, and waits until it may go on."""

    asked, go = (-1, -1), (-1, -1)

    def encode(self, texts, role):
        os.write(self.asked[1], b"x")
        os.read(self.go[0], 1)
        return super().encode(texts, role)


class NoEncoder(HashedEncoder):
    """Encodes nothing."""

    def encode(self, texts, role):
        raise AssertionError(f"{len(texts)} texts of role {role} are encoded")


def test_a_second_writer_waits_and_uses_what_the_first_one_made(root, index, monkeypatch):
    write_generation(root, 1)
    at_lock, alone, first = threading.Event(), index_folder.alone, Blocking("16")
    monkeypatch.setattr(Blocking, "asked", os.pipe())
    monkeypatch.setattr(Blocking, "go", os.pipe())

    def lock(*arguments, **options):
        at_lock.set()
        return alone(*arguments, **options)

    with forked(lambda: FolderIndex(root, index.folder.location, first).refresh()) as writer:
        os.read(Blocking.asked[0], 1)
        monkeypatch.setattr(index_folder, "alone", lock)
        found = []
        second = FolderIndex(root, index.folder.location, NoEncoder("16"))
        waiting = threading.Thread(target=lambda: found.append(second.refresh()))
        waiting.start()
        assert at_lock.wait(60)
        os.write(Blocking.go[1], b"x" * 9)
        waiting.join()
        assert status_of(writer) == 0
    assert [report.files for report in found] == [FILES]
    assert generations(index.snapshot()) == ({1}, FILES)


DAMAGES = {
    "a truncated segment": lambda segment, _, __: os.truncate(segment, segment.stat().st_size // 2),
    "a corrupt segment": lambda segment, _, __: segment.write_bytes(b"?" * 100 + segment.read_bytes()[100:]),
    "no segment": lambda segment, _, __: segment.unlink(),
    "no catalog": lambda _, catalog, __: catalog.unlink(),
    "a broken manifest": lambda _, __, manifest: manifest.write_text('{"format": 1, "vers'),
    "an old format": lambda _, __, file: file.write_text(re.sub(r'"format": \d+', '"format": 0', file.read_text())),
}


def test_a_damaged_index_is_rebuilt_and_says_so(root, index):
    write_generation(root, 1)
    index.refresh()
    for name, damage in DAMAGES.items():
        manifest, folder = index.folder.open().manifest, index.folder.location
        damage(folder / manifest.segments[0], folder / manifest.catalog, folder / "manifest.json")
        again = FolderIndex(root, folder, ENCODER)
        why = again.refresh().rebuilt_because
        assert (bool(why), "\n" in why) == (True, False), name
        assert generations(again.snapshot()) == ({1}, FILES), name
        assert again.refresh().rebuilt_because == ""
        assert not leftovers(again), name


def test_a_full_disk_is_one_clear_line_and_the_index_as_before(root, index, tmp_path):
    write_generation(root, 1)
    index.refresh()
    write_generation(root, 2, 20_000)

    def write_with_little_room(room):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        with pytest.raises(StorageError, match=r"^no room left for the index in .*--index") as caught:
            FolderIndex(root, index.folder.location, ENCODER).refresh()
        assert "\n" not in str(caught.value)

    for room in (1_000, 8_000):
        with forked(lambda room=room: write_with_little_room(room)) as process:
            assert status_of(process) == 0
        assert generations(FolderIndex(root, index.folder.location, ENCODER).snapshot()) == ({1}, FILES)
        assert not leftovers(index)
    index.refresh()
    assert generations(index.snapshot()) == ({2}, FILES)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write the index in"):
        FolderIndex(root, tmp_path / "file" / "index", ENCODER).refresh()


def test_every_task_is_done_once_by_other_processes_whatever_its_size():
    done = list(run_forked(lambda number: (number, os.getpid()), range(50), 2))
    assert sorted(number for number, _ in done) == list(range(50))
    assert os.getpid() not in {process for _, process in done}
    assert [len(text) for text in run_forked(lambda text: text * 2, ["x" * 3_000_000] * 3, 2)] == [6_000_000] * 3


def test_the_error_of_a_worker_is_raised_here_and_one_that_is_killed_is_one_clear_line():
    def work(number):
        if number == 3:
            raise StorageError("no room")
        return number

    with pytest.raises(StorageError, match="no room") as caught:
        list(run_forked(work, range(6), 2))
    assert "in work" in str(caught.value.__cause__)
    with pytest.raises(AssayError, match="was killed"):
        list(run_forked(lambda _: os.kill(os.getpid(), signal.SIGKILL), range(4), 2))
