"""The page in a real browser: it shows, stays silent, asks for nothing, and takes strangers' words for words."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path

import pytest

from assay.bench.page.report import write_report

images = pytest.importorskip("matplotlib.image")


@pytest.fixture(scope="module")
def file(results_of, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(results_of(), path)
    return path


def picture(browser, name: str):
    told = base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"])
    if folder := os.environ.get("ASSAY_SCREENSHOTS"):
        (Path(folder) / f"{name}.png").write_bytes(told)
    return images.imread(io.BytesIO(told))[:, :, :3]


def shown(browser, selector: str) -> int:
    return browser.run(f"[...document.querySelectorAll({selector!r})].filter(e => e.checkVisibility()).length")


def choose(browser, selector: str, value: str) -> None:
    browser.run(
        f"""{{
            const field = document.querySelector({selector!r});
            field.value = {value!r};
            for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, {{bubbles: true}}));
        }}"""
    )


@pytest.mark.parametrize("script", [True, False])
def test_nothing_is_asked_for_and_nothing_goes_wrong(browser, file, script):
    browser.open(file, script=script)
    asked = [event["request"]["url"] for event in browser.told("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:,")] == [file.as_uri()]
    assert browser.told("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled") == []


def test_the_page_is_seen_in_light_and_dark_and_on_a_phone(browser, file):
    brightness = {}
    for name, options in {"light": {}, "dark": {"dark": True}, "phone": {"width": 400, "height": 800}}.items():
        browser.open(file, **options)
        seen = picture(browser, name)
        assert seen.std() > 0.05, f"{name} is blank"
        brightness[name] = seen.mean()
    assert brightness["light"] > 0.8
    assert brightness["dark"] < 0.3


@pytest.mark.parametrize("width", [360, 400, 800, 1280])
def test_the_page_never_scrolls_sideways(browser, file, width):
    browser.open(file, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_what_strangers_wrote_stays_text(browser, file, hostile):
    browser.open(file)
    assert browser.run("document.title") == "assay leads, but semble cannot be told apart from it"
    assert browser.run("document.querySelectorAll('img, b, main script, iframe, object').length") == 0
    assert hostile in browser.run("document.querySelector('#miss-list').textContent")


def test_the_policy_stops_what_the_page_did_not_bring(browser, file):
    browser.open(file)
    browser.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    browser.run(
        "var s = document.createElement('script'); s.textContent = 'document.title = 2'; document.body.append(s)"
    )
    browser.run("new Promise(done => setTimeout(done, 100))")
    assert browser.run("document.title").startswith("assay leads")


def test_switches_show_one_table_and_without_a_script_all_are_there(browser, file):
    browser.open(file)
    assert shown(browser, ".panel[data-unit]") == 1
    browser.run("document.querySelector('#switch input[value=file]').click()")
    assert (
        browser.run("[...document.querySelectorAll('.panel[data-unit]')].find(e => e.checkVisibility()).dataset.unit")
        == "file"
    )
    choose(browser, "#view", "2")
    assert "gin" in browser.run(
        "[...document.querySelectorAll('.panel[data-unit] h3')].find(e => e.checkVisibility()).textContent"
    )
    browser.open(file, script=False)
    assert shown(browser, ".panel[data-unit]") == 24
    assert shown(browser, "#switch, #miss-form") == 0
    assert shown(browser, "#miss-list > details") > 100


def test_misses_are_filtered_by_word_and_system(browser, file):
    browser.open(file)
    assert shown(browser, "#miss-list > details") == 25
    choose(browser, "#miss-text", "onerror SRC=x")
    count = shown(browser, "#miss-list > details")
    assert 0 < count <= 8
    assert browser.run("document.querySelector('#miss-count').textContent").startswith(str(count))
    choose(browser, "#miss-text", "no such word")
    assert shown(browser, "#miss-list > details") == 0
    choose(browser, "#miss-text", "")
    browser.run("document.querySelector('#miss-more').click()")
    every = shown(browser, "#miss-list > details")
    choose(browser, "#miss-system", "2")
    assert 0 < shown(browser, "#miss-list > details") < every
    assert shown(browser, "#miss-list > details:not([data-systems~='2'])") == 0


def test_a_large_page_opens_at_once(browser, results_of, tmp_path):
    systems = {f"system {place}": 0.2 + place / 20 for place in range(8)}
    write_report(results_of(sets={"large": "test"}, queries=500, systems=systems), tmp_path / "large.html")
    browser.open(tmp_path / "large.html")
    assert browser.run("performance.getEntriesByType('navigation')[0].loadEventEnd") < 5000
