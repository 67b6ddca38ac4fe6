"""Folders that are not ours are never written to, nor anything through a link."""

from pathlib import Path

import pytest

from assay.bench.experiment import claim_output
from assay.errors import InputError, StorageError
from assay.io import files
from assay.io.files import alone
from assay.runs.record import append_lines
from assay.store.catalog import Identity, Manifest


def state(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_folder_of_something_else_is_no_place_for_an_index(assay, project: Path, tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("a.segment", "b.catalog", "diary.md", ".gitignore"):
        (notes / name).write_text("mine")
    before = state(notes)
    for command in ("search", "index"):
        arguments = ["send mail", project] if command == "search" else [project]
        ran = assay(command, *arguments, "--index", notes)
        assert ran.status == 2
        assert f"{notes} is not an index of Assay" in ran.err
    assert state(notes) == before


def test_nothing_is_written_through_a_link_in_an_index_or_to_one(assay, project: Path, tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("lock", "manifest.json", ".gitignore"):
        place = tmp_path / f"index of {name}"
        place.mkdir()
        (place / name).symlink_to(precious)
        assay("index", project, "--index", place)
        assert precious.read_text() == "mine", name
    assert assay("index", project, "--index", tmp_path / "real").status == 0
    (tmp_path / "link").symlink_to(tmp_path / "real")
    before = state(tmp_path / "real")
    (project / "more.py").write_text("def more(): pass\n")
    ran = assay("index", project, "--index", tmp_path / "link")
    assert (ran.status, "symbolic link" in ran.err) == (2, True)
    assert state(tmp_path / "real") == before
    beside = [tmp_path / "real" / name for name in ("mine.segment", "mine.catalog", "mine.new")]
    for file in beside:
        file.write_text("mine")
    assert assay("index", project, "--index", tmp_path / "real").status == 0
    assert [file for file in beside if not file.exists()] == []


def test_a_manifest_names_no_file_outside_its_folder():
    for name in ("../../precious.segment", "/etc/passwd", "mine.segment", f"{'0' * 32}.segment/../../precious"):
        held = Manifest(1, Identity("e", 1, "s"), "", 0, (name,), f"{'0' * 32}.catalog")
        with pytest.raises(StorageError, match="not a file name of an index"):
            Manifest.parse(held.data)


def test_no_writer_follows_a_link(tmp_path: Path):
    target, link = tmp_path / "precious", tmp_path / "link"
    target.write_text("mine")
    link.symlink_to(target)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.json").symlink_to(target)

    def write_folder():
        with files.replacing_folder(tmp_path / "out") as beside:
            (beside / "results.json").write_text("theirs")

    def lock():
        with alone(link):
            pass

    for write in (lambda: files.write(link, "theirs"), lambda: append_lines(link, [{}]), write_folder, lock):
        with pytest.raises(StorageError, match="symbolic link"):
            write()
    with pytest.raises(StorageError, match="not a regular file"):
        files.write(Path("/dev/null"), "theirs")
    assert target.read_text() == "mine"
    with pytest.raises((StorageError, InputError)), alone(tmp_path / "out"):
        pass


def test_results_go_into_no_folder_of_something_else(project: Path, tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "diary.md").write_text("mine")
    with pytest.raises(StorageError, match=r"is not a folder of results: it holds 'diary.md'"):
        claim_output(out)
    (out / "diary.md").unlink()
    claim_output(out)
    (out / "runs").symlink_to(project)
    with pytest.raises(StorageError, match="symbolic link"):
        claim_output(out)
