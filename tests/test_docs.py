"""What the documentation shows works: code runs, and the pages of commands are what the commands say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import asdict
from pathlib import Path

import pytest

from assay.cli.reference import pages
from assay.search.ranking import ALL_COLUMNS
from assay.settings import Settings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def blocks(language: str) -> list[object]:
    """Return the code blocks of a language; one whose fence says `norun` is left out."""
    found = ((page, match) for page in PAGES for match in BLOCK.finditer(page.read_text(encoding="utf-8")))
    return [
        pytest.param(match[3], id=f"{page.relative_to(ROOT)}-{number}")
        for number, (page, match) in enumerate(found)
        if match[1] == language and match[2] != "norun"
    ]


@pytest.mark.parametrize("code", blocks("python"))
def test_python_runs(code: str, project: Path):
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", blocks("sh"))
def test_shell_runs(code: str, project: Path):
    """Run each line in a project; a search that finds nothing would fail its line."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr


def test_the_pages_of_commands_are_what_the_commands_say():
    kept = {page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "cli").glob("*.md")}
    assert kept == pages(), "docs/cli is old: make docs"


def test_the_settings_that_are_documented_are_all_there_are():
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (documented,) = (match[3] for match in BLOCK.finditer(page) if match[1] == "toml")
    assert tomllib.loads(documented) == asdict(Settings())


def test_every_part_of_a_score_is_documented_in_order():
    assert documented_parts()[0] == [*ALL_COLUMNS, "together"]


def test_every_part_of_being_related_is_documented(assay, tmp_path: Path):
    (tmp_path / "a.py").write_text("def send_letter():\n    return post_letter()\n")
    (tmp_path / "b.py").write_text("def post_letter():\n    return 1\n")
    (tmp_path / "c.py").write_text("def write_home():\n    return send_letter()\n")
    hits = json.loads(assay("related", f"{tmp_path}/a.py:1", tmp_path, "--format", "json").out)["hits"]
    assert {name for hit in hits for name in hit["why"]} == set(documented_parts()[1])


def documented_parts() -> tuple[list[str], list[str]]:
    """Return the names in the two tables of docs/formats.md: the parts of a ranking, and of being related."""
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## What `why` holds")[2].partition("\n## ")[0]
    search, related = (re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) for table in section.split("| part | is |"))
    return search, related


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page}: {target}"
