"""From a mark on the page to a measurement on the page: right and wrong become ground truth, and are measured."""

from __future__ import annotations

import json

import pytest

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"


@pytest.fixture(autouse=True)
def forgotten(site):
    """Leave no judgment behind."""
    yield
    (site.root / "assay-truth.jsonl").unlink(missing_ok=True)


def opened(visit, below: str = FOLDERS):
    seen = visit(below)
    seen.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")
    return seen


def marked(seen) -> list[list[str]]:
    told = "[...document.querySelectorAll('.grades')].map((g) => [...g.children].map((b) => b.ariaPressed))"
    return seen.run(told)


def judgments(site) -> list[dict[str, object]]:
    file = site.root / "assay-truth.jsonl"
    lines = map(json.loads, file.read_text("utf-8").splitlines()) if file.exists() else ()
    return [line for line in lines if line["type"] == "judgment"]


def test_a_mark_is_kept_shown_again_and_taken_back(visit, site):
    seen = opened(visit)
    first, second = (seen.page.locator(".hit").nth(place) for place in (0, 1))
    first.get_by_role("button", name="Right").click()
    seen.page.locator("#labels").get_by_text("1 judgment of 1 question").wait_for()
    second.get_by_role("button", name="Wrong").click()
    seen.page.locator("#labels").get_by_text("2 judgments of 1 question").wait_for()
    assert "assay bench assay-truth.jsonl --corpus ." in seen.page.locator("#labels").text_content()
    assert {(each["target"], each["grade"], each["judge"]) for each in judgments(site)} == {
        ("shop/folders.py::make_folder", 1, "reader"),
        ("shop/folders.py::ensure_folder", 0, "reader"),
    }
    seen.page.reload()
    seen.page.locator("#labels").wait_for()
    assert marked(seen)[:3] == [["true", "false"], ["false", "true"], ["false", "false"]]
    second.get_by_role("button", name="Right").click()
    seen.until("document.querySelectorAll('.right[aria-pressed=true]').length === 2")
    first.get_by_role("button", name="Right").click()
    second.get_by_role("button", name="Right").click()
    seen.page.locator("#labels").wait_for(state="hidden")
    assert judgments(site) == []


def test_keys_mark_too_and_a_question_is_known_by_its_words(visit, site):
    seen = opened(visit)
    seen.page.keyboard.press("ArrowDown")
    seen.page.keyboard.press("r")
    seen.page.get_by_text("marked right; r takes it back").wait_for()
    assert seen.page.locator("#said").get_attribute("aria-live") == "polite"
    seen.page.locator("#labels").wait_for()
    again = opened(visit, "?q=Create++a+directory+if+it+does+not+exist")
    assert marked(again)[0] == ["true", "false"]
    other = visit("?q=a+directory")
    other.page.locator(".hit").first.wait_for()
    assert not any("true" in each for each in marked(other))
    seen.page.keyboard.press("r")
    seen.page.locator("#labels").wait_for(state="hidden")
    assert judgments(site) == []


def test_what_cannot_be_saved_is_told_and_not_shown_as_saved(visit, site):
    seen = visit(FOLDERS, wrong="409")
    seen.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")
    (site.root / "assay-truth.jsonl").write_text("no ground truth\n")
    seen.page.locator(".hit").first.get_by_role("button", name="Right").click()
    seen.page.get_by_role("alert").wait_for()
    assert seen.page.get_by_role("alert").text_content().startswith("Not saved: ")
    assert marked(seen)[0] == ["false", "false"]


def test_marks_are_measured_and_the_report_is_shown(visit, site, assay, monkeypatch):
    pytest.importorskip("matplotlib")
    empty = visit("?view=bench")
    empty.page.get_by_text("No report yet").wait_for()
    command = empty.page.locator(".command code").text_content().split()
    seen = opened(visit)
    seen.page.locator(".hit").first.get_by_role("button", name="Right").click()
    seen.page.locator("#labels").wait_for()
    assert command == seen.page.locator("#labels code").text_content().split()
    monkeypatch.chdir(site.root)
    ran = assay(*command[1:])
    assert ran.status == 0, ran.err
    seen.page.get_by_role("link", name="Bench").click()
    seen.page.locator(".report table").first.wait_for()
    assert seen.page.locator(".report caption, .report figcaption").count() > 3
    assert "1.000" in seen.page.locator(".report tbody tr").first.text_content()
    assert seen.page.locator(".report td small").first.text_content().startswith("[")
    assert seen.run("getComputedStyle(document.querySelector('.report thead tr:last-child th')).position") == "sticky"
    plot = seen.page.locator(".plot img").first
    plot.scroll_into_view_if_needed()
    seen.until("document.querySelector('.plot img').naturalWidth > 0")
    seen.page.reload()
    seen.page.locator(".report table").first.wait_for()
    phone = visit("?view=bench", width=360, height=740)
    phone.page.locator(".report table").first.wait_for()
    assert phone.run("document.documentElement.scrollWidth") <= 360
    seen.page.get_by_role("link", name="Search").click()
    seen.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")


def until_found_at(seen, line: int) -> None:
    asked = "fetch('/api/search?query=make_folder').then((told) => told.json()).then((told) => told.hits[0].start_line)"
    for _ in range(100):
        if seen.run(asked) == line:
            return
        seen.page.wait_for_timeout(100)
    raise AssertionError(f"make_folder is not found at line {line}")


def test_a_mark_stays_with_its_code_when_lines_are_added_above(visit, site):
    file = site.root / "shop/folders.py"
    before = file.read_text("utf-8")
    seen = opened(visit)
    seen.page.locator(".hit").first.get_by_role("button", name="Right").click()
    seen.page.locator("#labels").wait_for()
    try:
        file.write_text("# one\n# two\n" + before, "utf-8")
        until_found_at(seen, 7)
        again = opened(visit)
        assert again.page.locator(".hit .line").first.get_attribute("data-n") == "7"
        assert marked(again)[0] == ["true", "false"]
        again.page.locator(".hit").first.get_by_role("button", name="Right").click()
        again.page.locator("#labels").wait_for(state="hidden")
        assert judgments(site) == []
    finally:
        file.write_text(before, "utf-8")
        until_found_at(seen, 5)
