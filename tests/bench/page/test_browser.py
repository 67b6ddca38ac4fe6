"""The page in a real browser: it shows, stays silent, asks for nothing, and takes strangers' words for words."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from assay.bench.report.bench_report import report_of
from assay.report.web_page import write_page

images = pytest.importorskip("matplotlib.image")


@pytest.fixture(scope="module")
def file(results_of, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(report_of(results_of()), path)
    return path


def picture(seen, name: str):
    told = seen.page.screenshot()
    if folder := os.environ.get("ASSAY_SCREENSHOTS"):
        (Path(folder) / f"{name}.png").write_bytes(told)
    return images.imread(io.BytesIO(told))[:, :, :3]


def shown(seen, selector: str) -> int:
    return seen.page.locator(selector).filter(visible=True).count()


@pytest.mark.parametrize("script", [True, False])
def test_nothing_is_asked_for_and_nothing_goes_wrong(look, file, script):
    seen = look(file.as_uri(), script=script)
    assert [url for url in seen.asked if not url.startswith("data:,")] == [file.as_uri()]
    assert seen.complaints == []


def test_the_page_is_seen_in_light_and_dark_and_on_a_phone(look, file):
    brightness = {}
    for name, options in {
        "light": {},
        "dark": {"color_scheme": "dark"},
        "phone": {"width": 400, "height": 800},
    }.items():
        pixels = picture(look(file.as_uri(), **options), name)
        assert pixels.std() > 0.05, f"{name} is blank"
        brightness[name] = pixels.mean()
    assert brightness["light"] > 0.8
    assert brightness["dark"] < 0.3


@pytest.mark.parametrize("width", [360, 400, 800, 1280])
def test_the_page_never_scrolls_sideways(look, file, width):
    seen = look(file.as_uri(), width=width)
    assert seen.run("document.documentElement.scrollWidth") <= width


def test_what_strangers_wrote_stays_text(look, file, hostile):
    seen = look(file.as_uri())
    assert seen.page.title() == "assay leads, but semble cannot be told apart from it"
    assert seen.page.locator("img, b, main script, iframe, object").count() == 0
    assert hostile in seen.page.locator("#miss-list").text_content()


def test_the_policy_stops_what_the_page_did_not_bring(look, file):
    seen = look(file.as_uri())
    seen.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    seen.run(
        "var s = document.createElement('script'); s.textContent = 'document.title = 2'; document.body.append(s); null"
    )
    seen.run("new Promise(done => setTimeout(done, 100))")
    assert seen.page.title().startswith("assay leads")
    assert any("Content Security Policy" in each for each in seen.complaints)


def test_switches_show_one_table_and_without_a_script_all_are_there(look, file):
    seen = look(file.as_uri())
    panels = seen.page.locator(".panel[data-unit]").filter(visible=True)
    assert panels.count() == 1
    seen.page.locator("#switch input[value=file]").check()
    assert panels.get_attribute("data-unit") == "file"
    seen.page.locator("#view").select_option("2")
    assert "gin" in panels.locator("h3").text_content()
    still = look(file.as_uri(), script=False)
    assert shown(still, ".panel[data-unit]") == 24
    assert shown(still, "#switch, #miss-form") == 0
    assert shown(still, "#miss-list > details") > 100


def test_misses_are_filtered_by_word_and_system(look, file):
    seen = look(file.as_uri())
    text = seen.page.locator("#miss-text")
    assert shown(seen, "#miss-list > details") == 25
    text.fill("onerror SRC=x")
    count = shown(seen, "#miss-list > details")
    assert 0 < count <= 8
    assert seen.page.locator("#miss-count").text_content().startswith(str(count))
    text.fill("no such word")
    assert shown(seen, "#miss-list > details") == 0
    text.fill("")
    seen.page.locator("#miss-more").click()
    every = shown(seen, "#miss-list > details")
    seen.page.locator("#miss-system").select_option("2")
    assert 0 < shown(seen, "#miss-list > details") < every
    assert shown(seen, "#miss-list > details:not([data-system~='2'])") == 0


def test_a_large_page_opens_at_once(look, results_of, tmp_path):
    systems = {f"system {place}": 0.2 + place / 20 for place in range(8)}
    large = results_of(sets={"large": "test"}, queries=500, systems=systems)
    write_page(report_of(large), tmp_path / "large.html")
    write_page(report_of(results_of()), tmp_path / "small.html")
    loaded = "performance.getEntriesByType('navigation')[0].loadEventEnd"
    small, large = (look((tmp_path / f"{name}.html").as_uri()).run(loaded) for name in ("small", "large"))
    assert large < 25 * small, "four thousand answers against eight hundred"
