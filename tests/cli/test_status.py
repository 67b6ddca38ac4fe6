"""`assay status` notices whatever happened to an index or to the files since, and says what to do."""

from __future__ import annotations

import json
import os
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from shlex import quote, split

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.encode.vectors import HashedEncoder
from assay.search.folder_index import FolderIndex

FLIPS = 12


@pytest.fixture
def place(project: Path, tmp_path: Path, assay: Callable) -> Path:
    """Return the index of the project, of several segments."""
    place = tmp_path / "index"
    assert assay("index", project, "--index", place).status == 0
    (project / "mail" / "new.py").write_text("def fetch(box):\n    return box.all()\n" * 40)
    assert assay("index", project, "--index", place).status == 0
    return place


@pytest.fixture
def status(assay: Callable, project: Path) -> Callable:
    return lambda place, *options: assay("status", project, "--index", place, *options)


def kept(place: Path) -> list[Path]:
    """Return the files of an index that hold something; `.gitignore` is for git alone."""
    files = (file for file in place.rglob("*") if file.is_file() and file.stat().st_size)
    return sorted(file for file in files if file.name != ".gitignore")


def test_index_counts_files_and_changes(assay: Callable, project: Path):
    assert assay("index", project).out.startswith(f"{project}: 4 files, ")
    (project / "web" / "router.js").unlink()
    ran = assay("index", project)
    assert ran.status == 0
    assert ran.out.startswith(f"{project}: 3 files, ")
    assert "(1 removed)" in ran.out
    assert json.loads(assay("index", project, "--format", "json").out)["files"] == 3


def test_an_intact_index_is_reported_as_intact(status: Callable, place: Path):
    ran = status(place)
    assert (ran.status, ran.err) == (0, "")
    lines = (
        r"encoder   static:default@\w+",
        r"format    folder \d+",
        r"updated   20\d\d-",
        "whole     yes",
        "stale     no file",
    )
    assert [line for line in lines if not re.search(f"^{line}", ran.out, re.MULTILINE)] == []
    facts = json.loads(status(place, "--format", "json").out)
    assert (facts["whole"], facts["indexed"], facts["damage"], facts["files"]) == (True, True, "", 5)


def test_files_decoded_by_guess_are_counted_and_named(assay: Callable, status: Callable, place: Path, project: Path):
    (project / "rest.c").write_bytes("/* подсчитать остаток на складе */\nint rest(int a);\n".encode("cp1251"))
    assert assay("index", project, "--index", place).status == 0
    assert "noted     1 file: decoded by guess\n" in status(place).out
    assert "            rest.c: decoded by guess as cp1251\n" in status(place, "-v").out
    facts = json.loads(status(place, "--format", "json").out)
    assert (facts["noted"], facts["notes"]) == ({"decoded by guess": 1}, ["rest.c: decoded by guess as cp1251"])
    assert "rest.c" in assay("search", '"остаток"', project).out
    options = ("--set", "index.encoding=cp1251")
    assert assay("index", project, "--index", place, *options).status == 0
    assert "noted" not in status(place, *options).out


def test_a_missing_index_is_status_1(assay: Callable, status: Callable, project: Path, tmp_path: Path):
    ran = assay("status", project)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"assay: no index of '{project}' yet: assay index {quote(str(project))}\n"
    for place in (tmp_path / "none", tmp_path):
        ran = status(place)
        assert (ran.status, ran.out) == (1, "")
        assert f"assay index {quote(str(project))} --index {quote(str(place))}" in ran.err
    assert json.loads(status(tmp_path / "none", "--format", "json").out)["indexed"] is False
    assert not (tmp_path / "none").exists()


def damaged(ran: object, name: str = "") -> None:
    assert (ran.status, ran.out) == (2, ""), name
    assert ran.err.startswith("assay: the index of ")
    assert ran.err.count("\n") == 1
    assert re.search(r"; assay index .+ --index .+ rebuilds it$", ran.err.rstrip()), ran.err


def test_each_truncated_corrupt_or_missing_file_is_noticed(project: Path, status: Callable, place: Path):
    names = [file.name for file in kept(place)]
    assert "manifest.json" in names
    assert len([name for name in names if name.endswith(".segment")]) == 2
    chance = random.Random(3)
    for file in kept(place):
        data = file.read_bytes()
        for size in (0, len(data) - 1):
            file.write_bytes(data[:size])
            damaged(status(place), f"{file.name} at {size}")
        for at in {0, len(data) - 1, *(chance.randrange(len(data)) for _ in range(FLIPS))}:
            garbled = bytearray(data)
            garbled[at] ^= 1 << chance.randrange(8)
            file.write_bytes(garbled)
            assert FolderIndex(project, place, HashedEncoder()).check(), f"{file.name} at {at}"
        damaged(status(place), file.name)
        if file.name != "manifest.json":
            file.unlink()
            damaged(status(place), file.name)
        file.write_bytes(data)
    assert status(place).status == 0


def test_a_damaged_index_is_rebuilt_by_the_command_that_is_named(assay: Callable, status: Callable, place: Path):
    for suffix in (".segment", ".catalog", ".json"):
        file = next(file for file in kept(place) if file.name.endswith(suffix))
        data = bytearray(file.read_bytes())
        data[-2] ^= 1
        file.write_bytes(data)
        step = split(status(place).err.partition("; assay ")[2].partition(" rebuilds")[0])
        ran = assay(*step)
        assert (ran.status, "rebuilt" in ran.err, status(place).status) == (0, True, 0)
    os.truncate(next(place.glob("*.segment")), 100)
    ran = status(place, "--format", "json")
    facts = json.loads(ran.out)
    assert (ran.status, facts["whole"], "100 bytes" in facts["damage"]) == (2, False, True)


def test_a_newer_format_and_a_file_as_index_are_refused(assay: Callable, status: Callable, place: Path):
    manifest = place / "manifest.json"
    manifest.write_text(re.sub(r'"format": \d+', '"format": 99', manifest.read_text()))
    ran = status(place)
    damaged(ran)
    assert "format 99, newer than" in ran.err
    ran = status(manifest)
    assert (ran.status, "is a file, and an index is a folder: give another place with --index" in ran.err) == (2, True)
    assert assay("search", "send mail", place.parent / "postbox", "--index", manifest).status == 2


def test_stale_files_are_counted_and_named(assay: Callable, status: Callable, project: Path, place: Path):
    (project / "mail" / "send.py").write_text("def send():\n    return 2\n")
    (project / "mail" / "more.py").write_text("def more():\n    return 3\n")
    (project / "web" / "router.js").unlink()
    os.utime(project / "README.md", (1, 1))  # touched, and the same
    (project / "photo.png").write_bytes(b"\x89PNG\0\0")
    ran = status(place)
    assert ran.status == 0
    assert f"root      {project}\n" in ran.out
    for what in ("added", "changed", "removed"):
        assert f"stale     1 file {what} since" in ran.out
    assert "mail/more.py" not in ran.out
    assert "            mail/more.py\n" in status(place, "-v").out
    facts = json.loads(status(place, "--format", "json").out)
    assert facts["stale"] == ["added: mail/more.py", "changed: mail/send.py", "removed: web/router.js"]
    assert [facts[what] for what in ("added", "changed", "removed")] == [1, 1, 1]
    assay("search", "send", project, "--index", place)
    assert "stale     no file" in status(place).out


NAMES = st.sampled_from(["a.py", "b.py", "lib/c.py", "d.md", "e.bin"])
TEXTS = st.sampled_from([b"", b"x = 1\n", b"y = 2\n", b"\0\1", b"def f():\n    pass\n" * 30])


@settings(max_examples=30)
@given(st.dictionaries(NAMES, TEXTS), st.dictionaries(NAMES, st.none() | TEXTS), st.booleans())
def test_what_is_stale_is_what_the_next_refresh_changes(before: dict, after: dict, ignored: bool):  # noqa: FBT001
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        (root / "lib").mkdir(parents=True)
        index = FolderIndex(root, Path(folder) / "index", HashedEncoder("16"))
        for files in (before, after):
            for name, data in files.items():
                (root / name).unlink(missing_ok=True) if data is None else (root / name).write_bytes(data)
            if files is after and ignored:
                (root / ".gitignore").write_text("b.py\n")
            stale = index.standing().stale if files is after else None
            changed = index.refresh().changed
            assert stale is None or stale == changed
            assert not index.standing().stale


def test_every_file_is_indexed_or_left_out(project: Path, status: Callable, place: Path, assay: Callable):
    (project / "big.py").write_text("x = 1\n" * 200_000)
    (project / "made.py").write_text("# Code generated by a tool. DO NOT EDIT.\n")
    for name in ("photo.txt", "zoo.txt"):
        (project / name).write_bytes(b"\0\1\2")
    (project / "tiny.min.js").write_text("var a=1;" * 500)
    (project / ".gitignore").write_text("secret*\n")
    (project / "secret.py").write_text("x = 1\n")
    (project / "link.py").symlink_to("big.py")
    (project / "copy.py").write_bytes((project / "mail" / "new.py").read_bytes())
    assay("index", project, "--index", place)
    facts = json.loads(status(place, "--format", "json").out)
    left_out = dict(each.split(": ", 1) for each in facts["examples"])
    assert sum(facts["left_out"].values()) == len(left_out)
    assert all(left_out.values())
    index = FolderIndex(project, place, HashedEncoder())
    snapshot = index.folder.open().snapshot()
    indexed = {snapshot.path(number) for number in range(snapshot.size) if number not in snapshot.dead}
    files = {file.relative_to(project).as_posix() for file in project.rglob("*") if not file.is_dir()}
    assert files == indexed | left_out.keys()
    assert not indexed & left_out.keys()
    plain, verbose = status(place).out, status(place, "-v").out
    counts = [int(count) for count in re.findall(r"^left out  (\d+) files?: ", plain, re.MULTILINE)]
    assert counts[0] > 1, "the most frequent reason comes first"
    assert counts == sorted(counts, reverse=True)
    assert "photo.txt" not in plain
    assert "\n            photo.txt: " in verbose


def test_another_encoder_needs_another_index(assay: Callable, project: Path, place: Path):
    ran = assay("status", project, "--index", place, "--encoder", "hash:32")
    assert ran.status == 0
    assert re.search(r"encoder   static:default", ran.out)
    assert "stale     all of it: it was built with static:default" in ran.out


def test_a_search_rebuilds_a_corrupt_index_with_a_note(assay: Callable, project: Path, place: Path):
    for file in place.glob("*.segment"):
        data = bytearray(file.read_bytes())
        for text in (b"server", b"message", b"def "):
            data = data.replace(text, b"\xff" * len(text))
        file.write_bytes(data)
    ran = assay("search", "send mail", project, "--index", place, "--limit", "10")
    assert ran.status == 0
    assert ".segment is corrupt in block 0" in ran.err
    again = assay("search", "send mail", project, "--index", place, "--limit", "10")
    assert (again.status, again.out, again.err) == (0, ran.out, "")
