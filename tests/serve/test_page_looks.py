"""How the page looks: colours that can be read, in both themes, on any width, by name for who cannot see them."""

from __future__ import annotations

import pytest

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"
THEMES = ("light", "dark")


EVERY_COLOUR = """(theme) => {
  document.documentElement.dataset.theme = theme;
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
  document.querySelector("main").replaceChildren(...papers);
}"""
"""Shows code of every colour on every paper that it may stand on."""


def ready(seen, title: str = "make_folder"):
    seen.until(f"document.querySelector('.hit h2')?.textContent === '{title}'")
    return seen


@pytest.mark.parametrize("theme", THEMES)
def test_every_text_can_be_read(visit, site, theme):
    seen = visit(color_scheme=theme)
    seen.until("document.querySelector('#facts').textContent")
    assert seen.least_contrasts() > 10
    seen.picture(f"serve-empty-{theme}")
    seen.page.locator("#query").fill("create a directory if it does not exist")
    ready(seen)
    hits = seen.page.locator(".hit")
    hits.first.get_by_role("button", name="Why").click()
    hits.first.locator(".why summary").click()
    hits.nth(0).get_by_role("button", name="Right").click()
    hits.nth(1).get_by_role("button", name="Wrong").click()
    for place in range(2):
        hits.nth(place).get_by_role("checkbox").check()
    seen.page.locator("#labels").wait_for()
    assert seen.least_contrasts() > 30
    seen.picture(f"serve-answers-{theme}")
    seen.page.locator("#tray").get_by_role("button", name="Compare").click()
    assert seen.least_contrasts() > 40
    seen.picture(f"serve-compare-{theme}")
    (site.root / "assay-truth.jsonl").unlink()


@pytest.mark.parametrize("theme", THEMES)
def test_what_is_dimmed_odd_or_wrong_can_be_read_too(visit, theme):
    seen = visit("?q=quantum+chromodynamics+lattice", color_scheme=theme, wrong="400")
    seen.page.locator(".nearest .hit").first.wait_for()
    seen.least_contrasts()
    seen.picture(f"serve-nothing-{theme}")
    seen.page.locator("#query").fill("show the welcome banner")
    ready(seen, "render_banner")
    seen.least_contrasts()
    seen.page.locator("#help").click()
    seen.least_contrasts()
    seen.page.keyboard.press("Escape")
    seen.page.route("**/api/search?*", lambda route: route.fulfill(status=400, json={"error": "no such folder"}))
    seen.page.locator("#query").fill("again")
    seen.page.get_by_role("alert").wait_for()
    seen.least_contrasts()


def test_every_colour_of_code_can_be_read_on_every_paper(visit):
    seen = visit()
    seen.until("document.querySelector('#facts').textContent")
    for theme in THEMES:
        seen.run(EVERY_COLOUR, theme)
        assert seen.least_contrasts() > 60


def test_a_theme_is_chosen_and_kept(visit):
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


@pytest.mark.parametrize("width", [320, 360, 480, 760, 1280, 2400])
def test_the_page_never_scrolls_sideways(visit, width):
    seen = ready(visit(FOLDERS, width=width, height=740))
    seen.page.locator(".hit").first.get_by_role("button", name="Why").click()
    seen.page.get_by_role("checkbox", name="Compare").first.check()
    assert seen.run("document.documentElement.scrollWidth") <= width
    seen.picture(f"serve-{width}")
    seen.page.locator("#query").fill("show the welcome banner")
    ready(seen, "render_banner")
    assert seen.run("document.documentElement.scrollWidth") <= width
    assert seen.run("document.querySelector('#query').getBoundingClientRect().width") > 250


def test_everything_that_can_be_used_has_a_name(visit):
    seen = ready(visit(FOLDERS))
    seen.page.locator(".hit").first.get_by_role("button", name="Why").click()
    tree = seen.page.locator("body").aria_snapshot()
    assert [
        line for line in tree.splitlines() if line.strip() in {"- button", "- link", "- textbox", "- checkbox"}
    ] == []
    for role, name in (("search", ""), ("main", ""), ("banner", ""), ("contentinfo", ""), ("navigation", "Views")):
        assert seen.page.get_by_role(role, name=name).count() >= 1, role
    assert seen.page.get_by_role("combobox", name="Search code by meaning").is_visible()
    assert seen.page.get_by_role("combobox", name="Open in").is_visible()
    seen.until("document.querySelector('#live').textContent.includes('answers')")


def test_nothing_moves_for_those_who_want_stillness(visit):
    seen = visit(reduced_motion="reduce")
    seen.run("document.querySelector('#wait').hidden = false")
    assert seen.run("getComputedStyle(document.querySelector('#wait'), '::before').animationName") == "none"
    moving = visit()
    moving.run("document.querySelector('#wait').hidden = false")
    assert moving.run("getComputedStyle(document.querySelector('#wait'), '::before').animationName") == "going"
