"""Indexes that one process keeps for others, which only read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.assemble.indexes import location_of
from assay.serve.engine import StillIndexing, Waits
from assay.serve.keeper import Keeper
from assay.serve.session import Session
from assay.settings import Settings
from assay.store.manifest import MANIFEST

SHORT = Waits(first_s=0.1)


def keeper(root: Path, said: list[str]) -> Keeper:
    return Keeper(lambda: {root: Settings()}, lambda: 0.0, lambda: None, said.append, SHORT)


def test_who_only_reads_waits_for_the_index_and_never_makes_one(project: Path):
    said: list[str] = []
    reader = Session({project: Settings()}, waits=SHORT, kept=True)
    with pytest.raises(StillIndexing, match="is being made"):
        reader.place().engine.view()
    assert not (location_of(project, Settings()) / MANIFEST).exists()
    keeper(project, said).sweep()
    assert reader.place().engine.view().workspace.snapshot.state
    assert said == []


@pytest.mark.parametrize("manifest", ["older", "corrupt"])
def test_an_index_that_cannot_be_read_is_awaited_until_the_keeper_made_another(project: Path, manifest: str):
    said: list[str] = []
    keeper(project, said).sweep()
    file = location_of(project, Settings()) / MANIFEST
    text = json.dumps({**json.loads(file.read_text()), "format": 1}) if manifest == "older" else "{"
    file.write_text(text)
    reader = Session({project: Settings()}, waits=SHORT, kept=True)
    with pytest.raises(StillIndexing, match="is being made"):
        reader.place().engine.view()
    keeper(project, said).sweep()
    assert reader.place().engine.view().report.files == 4
    assert said == []


def test_trouble_is_told_once_and_is_over_when_it_is(project: Path, tmp_path: Path):
    said: list[str] = []
    away = tmp_path / "away"
    made = keeper(project, said)
    project.rename(away)
    for _ in range(2):
        made.sweep()
    assert len(said) == 1
    assert "trying again" in said[0]
    away.rename(project)
    made.sweep()
    assert Session({project: Settings()}, waits=SHORT, kept=True).place().engine.view().report.files == 4
