"""Indexes that are kept up to date end equal to fresh ones, whatever happens to the files."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("watchfiles")

from assay.corpus.walk import walk
from assay.encode.hashed import HashedEncoder
from assay.search.folder_index import FolderIndex
from assay.serve.engine import Waits
from assay.serve.session import Session
from assay.serve.upkeep import Upkeep, UpkeepPace
from assay.serve.watcher import NoWatch, Watcher
from assay.settings import load

ENCODER = HashedEncoder("16")
QUICK = UpkeepPace(again_s=0.2)
PATIENCE_S = 20.0  # before all files are looked at whatever was told
SETTLES_S = 3.0  # after an update all files are looked at once more, which would find what nobody told


class Kept:
    """A root that is watched, and what was said about it."""

    def __init__(self, root: Path, location: Path) -> None:
        self.root, self.location = root, location
        self.reports: list[object] = []
        self.said: list[str] = []
        self.stop = threading.Event()

    def run(self, pace: UpkeepPace, watch: Callable = Upkeep) -> None:
        index = FolderIndex(self.root, self.location, ENCODER)
        watch([index], lambda _, report: self.reports.append(report), self.said.append, pace=pace).run(self.stop)

    def files(self) -> dict[str, list[str]]:
        return content(FolderIndex(self.root, self.location, ENCODER))

    def fresh(self) -> dict[str, list[str]]:
        place = self.location.with_name("fresh")
        shutil.rmtree(place, ignore_errors=True)
        index = FolderIndex(self.root, place, ENCODER)
        index.refresh()
        return content(index)

    def _up_to_date(self) -> bool:
        standing = FolderIndex(self.root, self.location, ENCODER).standing() if self.root.is_dir() else None
        return standing is not None and not standing.stale

    def ends_equal(self) -> None:
        """Wait until the index is up to date; then it has to be equal to a fresh one."""
        eventually(self._up_to_date)
        assert self.files() == self.fresh()


def content(index: FolderIndex) -> dict[str, object]:
    """Return all that search can see: chunks, their words in each field, and how often each word stands where."""
    snapshot = index.snapshot()
    living = sorted(set(range(snapshot.size)) - set(snapshot.dead.tolist()))
    chunks = {number: snapshot.chunk(number) for number in living}
    postings: dict[str, object] = {}
    for term in {term for part, _ in snapshot.parts for term in part.terms}:
        numbers, counts = snapshot.postings(term)
        if len(numbers):
            found = zip(numbers.tolist(), counts.tolist(), strict=True)
            postings[term] = {chunks[number].id: count for number, count in found}
    lengths = {chunk.id: snapshot.lengths[number].tolist() for number, chunk in chunks.items()}
    vectors = {chunk.id: snapshot.vectors(np.array([number])).tobytes() for number, chunk in chunks.items()}
    return {"chunks": {c.id: c for c in chunks.values()}, "postings": postings, "lengths": lengths, "vectors": vectors}


def eventually(holds: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while True:
        try:
            if holds():
                return
        except OSError:  # files come and go
            pass
        assert time.monotonic() < ends
        time.sleep(0.05)


@contextmanager
def watched(root: Path, pace: UpkeepPace = QUICK, watch: Callable = Upkeep) -> Iterator[Kept]:
    kept = Kept(root, root.parent / "index")
    thread = threading.Thread(target=kept.run, args=(pace, watch))
    thread.start()
    try:
        eventually(lambda: kept.reports or kept.said)
        yield kept
    finally:
        kept.stop.set()
        thread.join(20)
        assert not thread.is_alive()


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_each_kind_of_change_is_seen(project: Path):
    with watched(project) as kept:
        write(project, "mail/send.py", "def other():\n    return 1\n")
        kept.ends_equal()
        write(project, "new/deep/deeper/one.py", "def deep():\n    return 1\n")
        kept.ends_equal()
        time.sleep(SETTLES_S)
        write(project, "new/deep/deeper/two.py", "def deeper():\n    return 1\n")
        kept.ends_equal()
        (project / "new").rename(project / "renamed")
        kept.ends_equal()
        write(project, "renamed/deep/deeper/two.py", "def after_the_move():\n    return 1\n")
        kept.ends_equal()
        (project / "swap").write_text("def saved_atomically():\n    return 1\n")
        (project / "swap").replace(project / "renamed" / "deep" / "one.py")
        kept.ends_equal()
        shutil.rmtree(project / "renamed")
        kept.ends_equal()
        write(project, ".gitignore", "web/\n")
        kept.ends_equal()
        assert not kept.said
        assert {chunk.path for chunk in kept.files()["chunks"].values()} == {
            "mail/send.py",
            "mail/address.py",
            "README.md",
            ".gitignore",
        }


def test_a_folder_replaced_by_another_of_its_name_is_watched(project: Path):
    with watched(project) as kept:
        (project / "mail").rename(project.parent / "elsewhere")
        write(project, "mail/a.py", "def first():\n    return 1\n")
        kept.ends_equal()
        time.sleep(SETTLES_S)
        write(project, "mail/a.py", "def second():\n    return 1\n")
        kept.ends_equal()


def test_a_root_that_vanishes_and_returns(project: Path):
    with watched(project) as kept:
        moved = project.rename(project.parent / "moved")
        eventually(lambda: kept.said)
        assert "does not exist" in kept.said[0]
        moved.rename(project)
        write(project, "mail/back.py", "def back():\n    return 1\n")
        kept.ends_equal()
        shutil.rmtree(project)
        write(project, "mail/other.py", "def other():\n    return 1\n")
        kept.ends_equal()
        time.sleep(SETTLES_S)
        write(project, "mail/other.py", "def another():\n    return 1\n")
        kept.ends_equal()


def test_heavy_random_change_ends_equal_to_a_fresh_index(project: Path):
    chance = random.Random(11)
    with watched(project) as kept:
        for _ in range(6):
            for _ in range(150):
                folder = f"p{chance.randrange(5)}/q{chance.randrange(4)}"
                write(project, f"{folder}/f{chance.randrange(9)}.py", f"def f{chance.randrange(99)}():\n    return 1\n")
                if chance.random() < 0.1:
                    shutil.rmtree(project / f"p{chance.randrange(5)}", ignore_errors=True)
                if chance.random() < 0.05 and (project / "p1").exists():
                    shutil.rmtree(project / "p9", ignore_errors=True)
                    (project / "p1").rename(project / "p9")
            time.sleep(chance.uniform(0, 0.4))
        kept.ends_equal()


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True
    )


def test_a_branch_that_is_switched_to_and_fro(project: Path):
    git(project, "init", "--quiet", "--initial-branch=one")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "one")
    git(project, "checkout", "--quiet", "-b", "two")
    for number in range(200):
        write(project, f"many/part{number % 10}/file{number}.py", f"def many_{number}():\n    return {number}\n")
    (project / "mail" / "send.py").unlink()
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "two")
    with watched(project) as kept:
        for branch in ("one", "two", "one", "two"):
            git(project, "checkout", "--quiet", branch)
        kept.ends_equal()
        git(project, "checkout", "--quiet", "one")
        kept.ends_equal()


def test_what_is_ignored_wakes_nobody_up(project: Path):
    git(project, "init", "--quiet")
    write(project, ".gitignore", "build/\n*.log\n")
    write(project, "run.log", "0\n")
    write(project, "build/a.py", "x = 1\n")

    class Counting(Upkeep):
        looks = 0

        def _update(self, each: object) -> None:
            Counting.looks += 1
            super()._update(each)

    with watched(project, watch=Counting):
        time.sleep(3.5)  # what was written before it began settles
        before = Counting.looks
        for number in range(20):
            write(project, "build/a.py", f"x = {number}\n")
            write(project, "run.log", f"{number}\n")
            git(project, "add", ".")
            time.sleep(0.05)
        time.sleep(1.5)
        assert Counting.looks == before
        write(project, "mail/send.py", "x = 1\n")
        eventually(lambda: Counting.looks > before)


def test_an_index_in_its_own_root_does_not_wake_itself_up(project: Path):
    looks = []

    class Inside(Upkeep):
        def _update(self, each: object) -> None:
            looks.append(1)
            super()._update(each)

    kept = Kept(project, project / ".index")
    thread = threading.Thread(target=kept.run, args=(QUICK, Inside))
    thread.start()
    time.sleep(5)
    kept.stop.set()
    thread.join(20)
    assert 1 <= len(looks) <= 4


def test_where_the_system_watches_no_more_all_files_are_looked_at(project: Path):
    def refuse(*_: object) -> None:
        raise NoWatch("OS file watch limit reached")

    with watched(project, UpkeepPace(poll_s=0.1), partial(Upkeep, watch=refuse)) as kept:
        assert "looking at all files instead" in kept.said[0]
        assert "fs.inotify.max_user_watches" in kept.said[0]
        write(project, "new/one.py", "def one():\n    return 1\n")
        kept.ends_equal()
        assert len(kept.said) == 1


def test_a_watcher_says_that_a_folder_is_gone(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        Watcher([tmp_path], [str(tmp_path / "none")])


def test_what_goes_wrong_is_said_once_and_tried_again(project: Path):
    with watched(project) as kept:
        in_the_way(kept.location)
        write(project, "a.py", "def one():\n    return 1\n")
        eventually(lambda: any("is a file, and an index is a folder" in one for one in kept.said))
        time.sleep(1)
        assert len(kept.said) == len(set(kept.said)), "each thing once; a folder that is half gone is another one"
        kept.location.unlink()
        kept.ends_equal()


def in_the_way(folder: Path) -> None:
    """Put a file where an index is, whatever the watcher makes there meanwhile."""
    while not folder.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(IsADirectoryError):
            folder.write_text("in the way\n")


def test_a_server_sees_what_was_written_by_another(project: Path, tmp_path: Path):
    settings = load(options={"index.location": str(tmp_path / "index"), "encoder.spec": "hash:16"})
    session = Session({project: settings}, waits=Waits(fresh_s=0.0))
    with watched(project):
        first = session.place().engine.view()
        write(project, "mail/fetch.py", "def fetch_inbox():\n    return 1\n")
        eventually(lambda: "fetch_inbox" in symbols(session))
        assert session.place().engine.view().version != first.version


def symbols(session: Session) -> set[str]:
    snapshot = session.place().engine.view().workspace.snapshot
    return {snapshot.symbol(number) for number in range(snapshot.size) if number not in snapshot.dead}


def test_a_server_survives_a_damaged_index_and_says_so(project: Path, tmp_path: Path):
    from assay.serve.search_tools import status

    settings = load(options={"index.location": str(tmp_path / "index"), "encoder.spec": "hash:16"})
    session = Session({project: settings}, waits=Waits(fresh_s=0.0, refresh_s=30.0))
    assert "send_mail" in symbols(session)
    eventually(lambda: session.place().engine._verified)  # who reads a mapped file while it is cut off is killed
    segment = next((tmp_path / "index").glob("*.segment"))
    os.truncate(segment, 4096)
    assert "were written" in status(session, "").damage
    assert "send_mail" in symbols(session)
    found = status(session, "")
    assert (found.damage, "were written" in found.rebuilt, found.files) == ("", True, 4)


def test_a_server_reads_every_byte_of_what_it_is_to_serve(project: Path, tmp_path: Path):
    from assay.serve.search_tools import status

    settings = load(options={"index.location": str(tmp_path / "index"), "encoder.spec": "hash:16"})
    FolderIndex(project, tmp_path / "index", ENCODER).refresh()
    segment = next((tmp_path / "index").glob("*.segment"))
    data = bytearray(segment.read_bytes())
    data[-100] ^= 255
    segment.write_bytes(data)
    session = Session({project: settings}, waits=Waits(fresh_s=0.0, refresh_s=30.0))

    def rebuilt() -> bool:
        symbols(session)
        return "is corrupt in block" in status(session, "").rebuilt

    eventually(rebuilt)


def test_the_status_of_a_server_counts_stale_files(project: Path):
    from assay.serve.search_tools import status

    session = Session({project: load()})
    session.place().engine.view()
    write(project, "mail/more.py", "def more():\n    return 1\n")
    (project / "web" / "router.js").unlink()
    found = status(session, "")
    assert (found.added, found.changed, found.removed) == (1, 0, 1)
    assert found.stale == ["added: mail/more.py", "removed: web/router.js"]


def test_the_folders_of_a_walk_are_those_it_enters(project: Path):
    write(project, ".gitignore", "build/\n")
    write(project, "build/a.py", "x = 1\n")
    (project / "empty").mkdir()
    assert set(walk(project).folders) == {"", "mail/", "web/", "empty/"}
