"""Indexes that are kept up to date end equal to fresh ones, whatever happens to the files."""

from __future__ import annotations

import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("watchfiles")

from assay.corpus.walk import walk
from assay.encode.vectors import HashedEncoder
from assay.operations.requests import StatusOf
from assay.operations.status import status
from assay.search.folder_index import FolderIndex, IndexReport
from assay.serve.reader import Waits
from assay.serve.session import Session
from assay.serve.watcher import Changes, NoWatch, Watcher
from assay.serve.writer import Pace, Writer, WrittenRoot
from assay.settings import load
from git_repositories import WHO, git
from waiting import until

ENCODER = HashedEncoder("16")
TOLD = Pace(again_s=0.2, longest_s=0.2, idle_s=1e9)
"""Nothing is looked at but what the system told of, and what went wrong."""


class Kept:
    """A root that is watched, what was told of it, how often it was looked at, and what was said about it."""

    def __init__(self, root: Path, location: Path) -> None:
        self.root, self.location = root, location
        self.reports: list[object] = []
        self.said: list[str] = []
        self.told: list[set[str]] = []
        self.looks = 0
        self.stop = threading.Event()

    def run(self, polling: Pace, watch: Callable | None) -> None:
        kept = self

        class Counted(WrittenRoot):
            def _refresh(self) -> IndexReport:
                kept.looks += 1
                return super()._refresh()

        class Heard(Watcher):
            def wait(self, *given: object) -> set[str]:
                paths = super().wait(*given)
                kept.told.append(paths)
                return paths

        index = FolderIndex(self.root, self.location, ENCODER)
        changes = Changes(self.said.append, watch or Heard, polling)
        news = lambda _, report: self.reports.append(report)  # noqa: E731
        with index.keeping():
            roots = [Counted(self.root, lambda: index, TOLD)]
            Writer(roots, self.said.append, on_news=news).run(changes.wait, self.stop)
        changes.close()

    def hears(self, path: str) -> None:
        """Write a file, and wait until the watcher was told of it and is asked again."""
        write(self.root, path, "x = 1\n")
        at = until(lambda: next((n for n, all_ in enumerate(self.told, 1) if f"{self.root}/{path}" in all_), 0), path)
        until(lambda: len(self.told) > at, "the watcher is asked again")

    def files(self) -> dict[str, object]:
        return content(FolderIndex(self.root, self.location, ENCODER))

    def fresh(self) -> dict[str, object]:
        place = self.location.with_name("fresh")
        shutil.rmtree(place, ignore_errors=True)
        index = FolderIndex(self.root, place, ENCODER)
        index.refresh()
        return content(index)

    def _up_to_date(self) -> bool:
        with suppress(OSError):  # files come and go
            standing = FolderIndex(self.root, self.location, ENCODER).standing() if self.root.is_dir() else None
            return standing is not None and not standing.stale
        return False

    def ends_equal(self) -> None:
        """Wait until the index is up to date; then it has to be equal to a fresh one."""
        until(self._up_to_date, "the index is up to date")
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


@contextmanager
def watched(
    root: Path, polling: Pace = TOLD, watch: Callable | None = None, place: Path | None = None
) -> Iterator[Kept]:
    kept = Kept(root, place or root.parent / "index")
    thread = threading.Thread(target=kept.run, args=(polling, watch))
    thread.start()
    try:
        until(lambda: kept.reports or kept.said, "it was looked at once")
        yield kept
    finally:
        kept.stop.set()
        thread.join(60)
        assert not thread.is_alive()


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def rename(root: Path, old: str, new: str) -> None:
    (root / old).replace(root / new)


CHANGES = [
    lambda root: write(root, "mail/send.py", "def other():\n    return 1\n"),
    lambda root: write(root, "new/deep/deeper/one.py", "def deep():\n    return 1\n"),
    lambda root: write(root, "new/deep/deeper/two.py", "def deeper():\n    return 1\n"),
    lambda root: rename(root, "new", "renamed"),
    lambda root: write(root, "renamed/deep/deeper/two.py", "def after_the_move():\n    return 1\n"),
    lambda root: write(root, "swap", "def saved_atomically():\n    return 1\n"),
    lambda root: rename(root, "swap", "renamed/deep/one.py"),
    lambda root: shutil.rmtree(root / "renamed"),
    lambda root: write(root, ".gitignore", "web/\n"),
]


def test_each_kind_of_change_is_seen(project: Path):
    with watched(project) as kept:
        for change in CHANGES:
            change(project)
            kept.ends_equal()
        assert not kept.said
        paths = {chunk.path for chunk in kept.files()["chunks"].values()}
        assert paths == {"mail/send.py", "mail/address.py", "README.md", ".gitignore"}


def test_a_replaced_folder_or_root_is_watched_and_a_missing_one_reported(project: Path):
    with watched(project) as kept:
        (project / "mail").rename(project.parent / "elsewhere")
        write(project, "mail/a.py", "def first():\n    return 1\n")
        kept.ends_equal()
        write(project, "mail/a.py", "def second():\n    return 1\n")
        kept.ends_equal()
        moved = project.rename(project.parent / "moved")
        until(lambda: kept.said, "a word about the root")
        assert "does not exist" in kept.said[0]
        moved.rename(project)
        write(project, "mail/back.py", "def back():\n    return 1\n")
        kept.ends_equal()
        shutil.rmtree(project)
        write(project, "mail/other.py", "def other():\n    return 1\n")
        kept.ends_equal()
        write(project, "mail/other.py", "def another():\n    return 1\n")
        kept.ends_equal()


def test_random_changes_and_other_branches_end_equal_to_a_fresh_index(project: Path):
    chance = random.Random(11)
    git(project, "init", "--quiet", "--initial-branch=one")
    git(project, "add", ".")
    git(project, *WHO, "commit", "--quiet", "-m", "one")
    git(project, "checkout", "--quiet", "-b", "two")
    for number in range(40):
        write(project, f"many/part{number % 5}/file{number}.py", f"def many_{number}():\n    return {number}\n")
    (project / "mail" / "send.py").unlink()
    git(project, "add", ".")
    git(project, *WHO, "commit", "--quiet", "-m", "two")
    with watched(project) as kept:
        for branch in ("one", "two", "one", "two"):
            git(project, "checkout", "--quiet", branch)
        kept.ends_equal()
        git(project, "checkout", "--quiet", "one")
        kept.ends_equal()
        for _ in range(150):
            folder = f"p{chance.randrange(5)}/q{chance.randrange(4)}"
            write(project, f"{folder}/f{chance.randrange(9)}.py", f"def f{chance.randrange(99)}():\n    return 1\n")
            if chance.random() < 0.1:
                shutil.rmtree(project / f"p{chance.randrange(5)}", ignore_errors=True)
            if chance.random() < 0.05 and (project / "p1").exists():
                shutil.rmtree(project / "p9", ignore_errors=True)
                (project / "p1").rename(project / "p9")
        kept.ends_equal()


def test_ignored_files_and_the_index_itself_trigger_nothing(project: Path):
    git(project, "init", "--quiet")
    write(project, ".gitignore", "build/\n*.log\n")
    for name in ("one.log", "two.log", "build/a.py"):
        write(project, name, "x = 0\n")
    (project / "empty").mkdir()
    assert set(walk(project).folders) == {"", "mail/", "web/", "empty/"}
    with watched(project, place=project / ".index") as kept:
        kept.hears("one.log")
        before = kept.looks
        write(project, "build/a.py", "x = 1\n")
        git(project, "add", ".")
        kept.hears("two.log")
        assert kept.looks == before <= 3
        assert not any("build" in path or ".git/" in path for paths in kept.told for path in paths)
        write(project, "mail/send.py", "x = 1\n")
        until(lambda: kept.looks > before, "what counts is looked at")


def test_without_watches_all_files_are_polled(project: Path):
    def refuse(*_: object) -> None:
        raise NoWatch("OS file watch limit reached")

    with watched(project, Pace(idle_s=0.1, least_s=0.0, fraction=1.0), refuse) as kept:
        assert "looking at all files instead" in kept.said[0]
        assert "fs.inotify.max_user_watches" in kept.said[0]
        write(project, "new/one.py", "def one():\n    return 1\n")
        kept.ends_equal()
        assert len(kept.said) == 1
    with pytest.raises(FileNotFoundError):
        Watcher([project], [str(project / "none")])


def test_a_problem_is_reported_once_and_retried(project: Path):
    with watched(project) as kept:
        while not kept.location.is_file():  # whatever the watcher makes there meanwhile
            shutil.rmtree(kept.location, ignore_errors=True)
            with suppress(IsADirectoryError):
                kept.location.write_text("in the way\n")
        write(project, "a.py", "def one():\n    return 1\n")
        until(lambda: any("is a file, and an index is a folder" in one for one in kept.said), "a word about it")
        so_far = kept.looks
        until(lambda: kept.looks >= so_far + 3, "three more tries")
        assert len(kept.said) == len(set(kept.said)), "each thing once; a folder that is half gone is another one"
        kept.location.unlink()
        kept.ends_equal()


def symbols(session: Session) -> set[str]:
    snapshot = session.place().reader.view().workspace.snapshot
    return {snapshot.symbol(number) for number in range(snapshot.size) if number not in snapshot.dead}


@pytest.fixture
def session(project: Path) -> Session:
    settings = load(options={"index.location": str(project.parent / "index"), "encoder.spec": "hash:16"})
    return Session({project: settings}, waits=Waits(fresh_s=0.0, refresh_s=60.0))


def test_a_server_sees_the_index_of_another_process(project: Path, session: Session):
    with watched(project):
        first = session.place().reader.view()
        write(project, "mail/fetch.py", "def fetch_inbox():\n    return 1\n")
        until(lambda: "fetch_inbox" in symbols(session), "the new function is found")
        assert session.place().reader.view().version != first.version


def test_a_server_survives_and_reports_a_damaged_index(session: Session, tmp_path: Path):
    assert "send_mail" in symbols(session)
    os.truncate(next((tmp_path / "index").glob("*.segment")), 4096)
    assert "were written" in status(StatusOf(), session).damage
    assert "send_mail" in symbols(session)
    found = status(StatusOf(), session)
    assert (found.damage, "were written" in found.rebuilt, found.files) == ("", True, 4)


def test_a_server_verifies_every_byte_of_its_index(project: Path, session: Session, tmp_path: Path):
    FolderIndex(project, tmp_path / "index", ENCODER).refresh()
    segment = next((tmp_path / "index").glob("*.segment"))
    data = bytearray(segment.read_bytes())
    data[-100] ^= 255
    segment.write_bytes(data)
    until(lambda: symbols(session) and "is corrupt in block" in status(StatusOf(), session).rebuilt, "it was rebuilt")
