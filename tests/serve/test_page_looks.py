"""How the page looks: colours that can be read in both themes, on any width, by name, under its policy; in Firefox."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from marionette import Firefox
from waiting import until

pytestmark = pytest.mark.nightly  # the main path of the page is walked daily, in test_page

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"
EVERY_COLOUR = """() => {
  const make = (tag, name, ...inner) => {
    const made = document.createElement(tag);
    made.className = name;
    made.append(...inner);
    return made;
  };
  const sorts = ["", "keyword", "string", "number", "builtin", "name", "comment", "odd", "cut"];
  const piece = (sort, mark) => make("span", sort, mark === null ? "text" : make("mark", mark, "text"));
  const line = (stands, mark) => make("span", `line ${stands}`, ...sorts.map((sort) => piece(sort, mark)));
  const marks = [null, "", "differs"];
  const lines = ["", "only", "same", "like"].flatMap((stands) => marks.map((mark) => line(stands, mark)));
  const code = make("pre", "code", ...lines);
  const papers = ["hit", "columns"].map((paper) => make("div", paper, code.cloneNode(true)));
  const main = document.querySelector("main");
  for (const each of main.children) each.hidden = true; // not removed: late answers are still written there
  main.append(...papers);
}"""
"""Shows code of every colour on every paper that it may stand on, and nothing else."""

WIDTHS_OF_TABS = """() => {
  const lefts = [...document.querySelectorAll(".code.whole .line")].slice(0, 3).map((line, tabs) => {
    line.replaceChildren("\\t".repeat(tabs), "x");
    const range = document.createRange();
    range.selectNode(line.lastChild);
    return range.getBoundingClientRect().left;
  });
  return [lefts[1] - lefts[0], lefts[2] - lefts[1]];
}"""
BELOW_THE_BOX = """() => {
  scrollTo(0, 400);
  const edge = (name) => document.querySelector(name).getBoundingClientRect();
  return edge(".file-head").top <= edge("#searching").bottom;
}"""


def test_every_text_can_be_read_in_both_themes(visit, site):
    seen = visit(wrong="400")
    seen.until("document.querySelector('#facts').textContent")
    assert seen.least_contrasts() > 10
    seen.picture("serve-empty")
    seen.ask("create a directory if it does not exist")
    seen.first("make_folder")
    hits = seen.page.locator(".hit")
    hits.first.get_by_role("button", name="Why").click()
    hits.first.locator(".why summary").click()
    for place, mark in enumerate(("Right", "Wrong")):
        hits.nth(place).get_by_role("button", name=mark).click()
        hits.nth(place).get_by_role("checkbox").check()
    seen.page.locator("#labels").wait_for()
    assert seen.least_contrasts() > 30
    seen.picture("serve-answers")
    seen.page.locator("#tray").get_by_role("button", name="Compare").click()
    assert seen.least_contrasts() > 40
    seen.picture("serve-compare")
    (site.root / "assay-truth.jsonl").unlink()
    seen.page.goto(f"{site.address}?q=quantum+chromodynamics+lattice")
    seen.page.locator(".nearest .hit").first.wait_for()
    seen.least_contrasts()
    seen.ask("show the welcome banner")
    seen.first("render_banner")
    seen.least_contrasts()
    seen.page.locator("#help").click()
    seen.least_contrasts()
    seen.press("Escape")
    seen.answer("**/api/search?*", status=400, json={"error": "no such folder"})
    seen.ask("again")
    seen.page.get_by_role("alert").wait_for()
    seen.least_contrasts()
    seen.page.goto(f"{site.address}?file=shop/mail.py&line=5")
    seen.opened("mail.py")
    seen.press("b")
    seen.page.locator("button.who").wait_for()
    seen.press("h")
    seen.page.locator(".commits summary").click()
    seen.press("f")
    seen.page.keyboard.type("message")
    seen.page.get_by_text("2 of 3 lines").wait_for()
    assert seen.least_contrasts() > 20
    seen.picture("serve-file")
    seen.run(EVERY_COLOUR)
    assert seen.least_contrasts() > 60


def test_a_theme_is_kept_and_reduced_motion_respected(visit):
    seen = visit(color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = seen.run(paper)
    seen.page.locator("#theme").click()
    assert seen.run(paper) == light
    seen.page.locator("#theme").click()
    dark = seen.run(paper)
    assert dark != light
    assert seen.page.get_by_role("button", name="Theme: dark").is_visible()
    seen.page.reload()
    assert seen.run(paper) == dark
    seen.page.locator("#theme").click()
    assert seen.run(paper) == light
    seen.run("document.querySelector('#wait').hidden = false")
    moves = "getComputedStyle(document.querySelector('#wait'), '::before').animationName"
    assert seen.run(moves) == "going"
    seen.page.emulate_media(reduced_motion="reduce")
    assert seen.run(moves) == "none"


def test_the_page_never_scrolls_sideways(visit, site):
    seen = visit(FOLDERS, width=390, height=740)
    seen.page.get_by_text("Narrow down").wait_for()
    assert seen.page.locator("#facets button").first.is_hidden(), "counts are folded where there is no room"
    seen.page.get_by_text("Narrow down").click()
    assert seen.page.locator("#facets button").first.is_visible()
    for place in range(2):
        seen.page.get_by_role("checkbox", name="Compare").nth(place).check()
    seen.page.locator("#tray").get_by_role("button", name="Compare").click()
    boxes = [seen.page.locator("#compare article").nth(n).bounding_box() for n in (0, 1)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"], "below each other on a phone"
    assert seen.run("document.querySelector('#compare').scrollWidth") <= 390
    assert seen.page.locator("#compare .blank").filter(visible=True).count() == 0
    seen.press("Escape")
    seen.page.locator(".hit").first.get_by_role("button", name="Why").click()

    def fits(*widths: int) -> None:
        for width in widths:
            seen.page.set_viewport_size({"width": width, "height": 740})
            assert seen.run("document.documentElement.scrollWidth") <= width
            seen.picture(f"serve-{width}")

    fits(320, 360, 480, 760, 1280, 2400)
    seen.ask("show the welcome banner")
    seen.first("render_banner")
    fits(320, 480, 1280)
    seen.page.set_viewport_size({"width": 320, "height": 740})
    assert seen.run("document.querySelector('#query').getBoundingClientRect().width") > 250
    seen.page.goto(f"{site.address}?file=shop/report.py&line=40")
    seen.opened("report.py")
    fits(320, 480, 1280, 1800)
    assert seen.run(BELOW_THE_BOX), "no line shows between the box and the head of the file"
    first, second = seen.run(WIDTHS_OF_TABS)
    assert first == pytest.approx(second, abs=0.5), "tabs are as wide after a line number as after text"


def test_every_control_has_a_name(visit):
    seen = visit(FOLDERS)
    seen.first("make_folder")
    seen.page.locator(".hit").first.get_by_role("button", name="Why").click()
    tree = [line.strip() for line in seen.page.locator("body").aria_snapshot().splitlines()]
    assert not {"- button", "- link", "- textbox", "- checkbox"} & set(tree)
    for role, name in (("search", ""), ("main", ""), ("banner", ""), ("contentinfo", ""), ("navigation", "Views")):
        assert seen.page.get_by_role(role, name=name).count() >= 1, role
    assert seen.page.get_by_role("combobox", name="Search code by meaning").is_visible()
    assert seen.page.get_by_role("combobox", name="Open in").is_visible()
    seen.until("document.querySelector('#live').textContent.includes('answers')")


def test_the_policy_stops_foreign_scripts_and_styles(visit):
    seen = visit(wrong="Content Security Policy")
    for markup in ('<p style="color: red">x</p>', "<img src=x onerror='document.title=1'>"):
        seen.run("(markup) => document.body.insertAdjacentHTML('beforeend', markup)", markup)
    script = "const made = document.createElement('script'); made.textContent = 'document.title = 2'"
    seen.run(f"() => {{ {script}; document.body.append(made); }}")

    def all_are_stopped() -> bool:
        seen.page.wait_for_timeout(20)  # events of the page come in while it is waited for
        return sum("Content Security Policy" in each for each in seen.seen.complaints) >= 3

    until(all_are_stopped, "all three are stopped")
    assert seen.page.title() == "Assay"
    seen.seen.complaints.clear()


@pytest.mark.nightly
def test_the_main_path_works_in_firefox_by_keyboard(site, tmp_path: Path):
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no firefox on PATH: the page cannot be looked at in it")
    at = "document.activeElement.closest?.('.hit')?.querySelector('h2').textContent"
    firefox = Firefox(program, tmp_path)
    try:
        firefox.open(site.address)
        firefox.until("document.activeElement.id === 'query'")
        firefox.press("path lang:javas")
        firefox.until("document.querySelector('#completions li')?.textContent === 'javascript'")
        firefox.press("ArrowDown", "Enter")
        firefox.until("document.querySelector('.hit h2')?.textContent === 'matchRoute'")
        firefox.open(site.address + FOLDERS)
        firefox.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")
        firefox.until("document.querySelector('#live').textContent.includes('answers')")
        assert firefox.names("#query") == [("combobox", "Search code by meaning")]
        assert firefox.names(".hit")[0] == ("article", "make_folder")
        firefox.press("Enter", "x", "j", "x", "c")
        firefox.until("document.querySelectorAll('#compare[open] article').length === 2")
        firefox.press("Escape")
        firefox.until(f"{at} === 'ensure_folder'")
        firefox.press("Enter")
        firefox.until("document.querySelectorAll('.code.whole .chosen').length === 5")
        firefox.until("document.activeElement.getAttribute('aria-label') === 'Lines of folders.py'")
        assert firefox.names("#file")[0] == ("region", "folders.py")
        firefox.press("f", "mkdir")
        firefox.until("document.querySelectorAll('.sought').length > 0")
        firefox.press("Escape", "Escape", "b")
        firefox.until("document.querySelector('button.who')")
        firefox.press("Escape")
        firefox.until(f"{at} === 'ensure_folder'")
        assert firefox.run("document.documentElement.scrollWidth <= innerWidth")
    finally:
        firefox.close()
