"""Manual pages are what the commands say, and what `man` and mandoc accept."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

from assay.cli.manual import manual_pages
from assay.cli.reference import pages

MAN = Path(__file__).parents[2] / "man"


def test_the_pages_are_what_the_commands_say():
    assert {file.name: file.read_text(encoding="utf-8") for file in MAN.glob("*.1")} == manual_pages(), "make docs"


def test_each_page_of_the_reference_has_one_of_the_manual():
    assert set(manual_pages()) == {"assay.1"} | {
        f"assay-{Path(name).stem}.1" for name in pages() if name != "README.md"
    }


@pytest.mark.skipif(which("mandoc") is None, reason="mandoc is not installed")
def test_mandoc_finds_nothing_wrong():
    command = ["mandoc", "-T", "lint", "-W", "warning", *sorted(MAN.glob("*.1"))]
    said = subprocess.run(command, check=False, capture_output=True, text=True).stdout.splitlines()
    assert [line for line in said if "missing date" not in line] == [], "a date would change with every build"


@pytest.mark.skipif(which("man") is None or which("groff") is None, reason="man and groff are not installed")
def test_man_shows_a_page_without_warnings():
    command = ["man", "--warnings", "-l", MAN / "assay-search.1"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    )
    assert done.stderr == ""
    assert "assay-search - Find code by meaning" in done.stdout
    assert "-k, --limit N" in done.stdout
