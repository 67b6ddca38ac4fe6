"""`assay doctor` looks at the index of a folder, too, and at every extra."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path

from assay.cli.doctor import _NOT_PARTS

ROOT = Path(__file__).parents[2]


def line(ran: object, name: str) -> str:
    return next(line for line in ran.out.splitlines() if line[5:].startswith(f"{name} "))


def test_the_index_of_a_folder_is_a_finding(assay: Callable, project: Path, tmp_path: Path):
    place = ("--index", tmp_path / "index")
    assert line(assay("doctor", project, *place), "index").startswith("ok   index     none of ")
    assay("index", project, *place)
    assert line(assay("doctor", project, *place), "index").endswith("4 files, whole, up to date")
    (project / "mail" / "send.py").unlink()
    ran = assay("doctor", project, *place)
    assert line(ran, "index").endswith("4 files, whole, 1 file stale, which the next search sees to")
    os.truncate(next((tmp_path / "index").glob("*.segment")), 50)
    ran = assay("doctor", project, *place)
    assert ran.status == 1
    assert line(ran, "index").startswith("BAD  index     of ")
    assert line(ran, "index").endswith(" rebuilds it")


def test_a_folder_that_is_not_there_is_bad(assay: Callable, tmp_path: Path):
    ran = assay("doctor", tmp_path / "none")
    assert (ran.status, "no such folder" in line(ran, "index")) == (1, True)


def test_every_extra_is_a_part_or_known_to_be_none():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {*_NOT_PARTS} < set(extras)
