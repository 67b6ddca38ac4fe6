"""The main paths of the page in Firefox, by keyboard alone, and what a screen reader is told there."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from marionette import Firefox

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"
AT = "document.activeElement.closest?.('.hit')?.querySelector('h2').textContent"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no firefox on PATH: the page cannot be looked at in it")
    browser = Firefox(program, tmp_path_factory.mktemp("firefox"))
    yield browser
    browser.close()


@pytest.fixture
def firefox(opened: Firefox, site, request: pytest.FixtureRequest) -> Iterator[Firefox]:
    """Return a window of the page at an answered question."""
    opened.resize(1280, 900)
    opened.open(site.address + FOLDERS)
    opened.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")
    yield opened
    if folder := os.environ.get("ASSAY_SCREENSHOTS"):
        (Path(folder) / f"firefox-{request.node.name}.png").write_bytes(base64.b64decode(opened.picture()))


def test_it_answers_as_one_types(firefox: Firefox, site):
    firefox.open(site.address)
    firefox.until("document.activeElement.id === 'query'")
    firefox.press("deliver a message again")
    firefox.until("document.querySelector('.hit h2')?.textContent === 'send_mail'")
    firefox.until("document.querySelector('#live').textContent.includes('answer')")


def test_a_file_is_opened_read_and_closed_by_keyboard(firefox: Firefox):
    firefox.press("Enter", "j")
    firefox.until(f"{AT} === 'ensure_folder'")
    firefox.press("Enter")
    firefox.until("document.querySelectorAll('.code.whole .chosen').length === 5")
    firefox.until("document.activeElement.getAttribute('aria-label') === 'Lines of folders.py'")
    firefox.press("f", "mkdir")
    firefox.until("document.querySelectorAll('.sought').length > 0")
    firefox.press("Escape", "Escape", "b")
    firefox.until("document.querySelector('button.who')")
    firefox.press("h")
    firefox.until("document.querySelector('.commits h2')")
    firefox.press("Escape")
    firefox.until(f"{AT} === 'ensure_folder'")
    firefox.run("history.forward()")
    firefox.until("document.querySelector('#file-title')?.textContent === 'folders.py'")
    firefox.run("history.back()")
    firefox.until("document.querySelector('#file').hidden")


def test_an_answer_is_marked_and_the_focus_stays(firefox: Firefox, site):
    firefox.press("Enter", "r")
    firefox.until("document.querySelector('.right').getAttribute('aria-pressed') === 'true'")
    assert firefox.run(AT) == "make_folder"
    firefox.press("r")
    firefox.until("document.querySelector('.right').getAttribute('aria-pressed') === 'false'")
    firefox.press("x", "j", "x", "c")
    firefox.until("document.querySelectorAll('#compare[open] article').length === 2")
    firefox.press("Escape")
    firefox.until(f"{AT} === 'ensure_folder'")
    (site.root / "assay-truth.jsonl").unlink(missing_ok=True)


def test_query_words_are_completed(firefox: Firefox, site):
    firefox.open(site.address)
    firefox.until("document.activeElement.id === 'query'")
    firefox.press("path lang:javas")
    firefox.until("document.querySelector('#completions li')?.textContent === 'javascript'")
    firefox.press("ArrowDown", "Enter")
    firefox.until("document.querySelector('#query').value === 'path lang:javascript '")
    firefox.until("document.querySelector('.hit h2')?.textContent === 'matchRoute'")


def test_what_a_screen_reader_is_told(firefox: Firefox):
    assert firefox.names("#query") == [("combobox", "Search code by meaning")]
    assert firefox.names("main > #found > h1")[0][0] == "heading"
    assert firefox.names(".hit")[0] == ("article", "make_folder")
    told = firefox.names("button, a[href], input, select")  # what is hidden has no role
    nameless = [role for role, name in told if not name and role != "none"]
    assert nameless == [], told
    firefox.press("Enter", "Enter")
    firefox.until("document.querySelector('.code.whole .chosen')")
    assert firefox.names(".code.whole") == [("region", "Lines of folders.py")]
    assert firefox.names("#file")[0] == ("region", "folders.py")
    assert firefox.names("[role=tab]:not([hidden])") == [("tab", "Outline"), ("tab", "Files")]
    firefox.until("document.querySelector('#live').textContent.includes('folders.py')")


@pytest.mark.parametrize("width", [480, 1280, 1800])
def test_the_page_never_scrolls_sideways(firefox: Firefox, site, width: int):
    firefox.resize(width, 800)
    firefox.open(f"{site.address}?file=shop/report.py&line=40")
    firefox.until("document.querySelector('.code.whole .chosen')")
    assert firefox.run("document.documentElement.scrollWidth <= innerWidth")
    firefox.open(site.address + FOLDERS)
    firefox.until("document.querySelector('.hit')")
    assert firefox.run("document.documentElement.scrollWidth <= innerWidth")
