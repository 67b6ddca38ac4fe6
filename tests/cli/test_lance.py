"""`--index lance:URI` does what a folder does, and says what it cannot do."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

with_lance = pytest.mark.skipif(find_spec("lance") is None, reason="the extra `lance` is not installed")


@with_lance
def test_an_index_in_lance_finds_what_one_in_a_folder_finds(assay, project: Path, tmp_path: Path):
    answers = []
    for place in (f"lance:{tmp_path / 'lance'}", str(tmp_path / "folder")):
        assert assay("index", project, "--index", place).status == 0
        ran = assay("search", "send mail", project, "--index", place, "--format", "json", "--mode", "all")
        answers.append([(hit["path"], hit["start_line"], hit["score"]) for hit in json.loads(ran.out)["hits"]])
    assert answers[0] == answers[1]
    assert answers[0][0][0] == "mail/send.py"


@with_lance
def test_status_tells_what_an_index_in_lance_holds(assay, project: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = f"lance:{tmp_path / 'beside'}"
    assert assay("status", project, "--index", "lance:beside").status == 1
    indexed = json.loads(assay("index", project, "--index", "lance:beside", "--format", "json").out)
    facts = json.loads(assay("status", project, "--index", "lance:beside", "--format", "json").out)
    assert facts["location"] == indexed["roots"][0]["location"] == place
    assert (facts["files"], facts["chunks"]) == (indexed["files"], indexed["chunks"])
    assert facts["size_mb"] >= 0


@with_lance
def test_the_settings_of_a_root_may_name_lance(assay, project: Path):
    (project / "assay.toml").write_text('[index]\nlocation = "lance:.index"\n')
    assert assay("search", "send mail", project).status == 0
    assert (project / ".index" / "chunks.lance").exists() or (project / ".index" / "chunks").exists()


@with_lance
def test_what_looks_at_every_chunk_is_refused(assay, project: Path, tmp_path: Path):
    place = ("--index", f"lance:{tmp_path / 'lance'}")
    ran = assay("related", f"{project / 'mail/send.py'}:6", project, *place)
    assert (ran.status, "use an index in a folder" in ran.err) == (2, True)
    ran = assay("search", "mail", project, "--all-matches", *place)
    assert (ran.status, "use an index in a folder" in ran.err) == (2, True)


def test_a_place_must_be_named(assay, project: Path):
    ran = assay("index", project, "--index", "lance:")
    assert ran.status == 2
    assert "lance:PATH" in ran.err
