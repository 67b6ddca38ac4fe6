"""The page of a report: whole, alone, equal for equal results, honest, and safe from what strangers wrote.

It is read as text, and looked at in a real browser.
"""

from __future__ import annotations

import io
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from assay.errors import StorageError

pytest.importorskip("matplotlib")

from assay.bench.bench_report import report_of
from assay.bench.results_file import as_text, read_results
from assay.bench.results_view import ResultsView, SetView, combined
from assay.io.fields import read_value
from assay.report.document import Mean, Paragraph, Report, Section, as_json_text, words
from assay.report.web_page import web_page, write_page

VOID = {"meta", "link", "input", "br", "col", "wbr"}


class Reader(HTMLParser):
    """Collects tags, addresses, ids and text, and sees whether every tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open.pop() == name, f"</{name}> closes nothing"

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def results(results_of):
    return results_of()


@pytest.fixture(scope="module")
def page(results):
    return web_page(report_of(results))


@pytest.fixture(scope="module")
def reader(page):
    return Reader(page)


def test_the_page_is_well_formed_and_needs_nothing_else(page, reader):
    assert not reader.open
    addresses = [
        told[key] for _, told in reader.tags for key in ("src", "href", "action", "data", "poster") if told.get(key)
    ]
    assert addresses
    assert all(address.startswith(("#", "data:,")) for address in addresses)
    assert not re.search(r"@import|url\((?!#)", page)
    assert not [told for _, told in reader.tags if any(key.startswith("on") for key in told)]
    ids = [told["id"] for name, told in reader.tags if "id" in told and name != "path"]
    own = [key for key in ids if not re.fullmatch(r"[mp][0-9a-f]{10}", key)]  # equal drawings share equal parts
    assert len(own) == len(set(own))
    every = {told["id"] for _, told in reader.tags if "id" in told}
    assert {told["href"][1:] for _, told in reader.tags if (told.get("href") or "").startswith("#")} <= every


def test_every_table_has_a_caption_and_heads_and_every_drawing_words(page):
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        assert re.match(r"<table[^>]*><caption><span>[^<]+", table), table[:200]
        assert 'scope="col"' in table
    drawings = re.findall(r"<svg [^>]*>", page)
    assert len(drawings) == 7
    assert all('role="img"' in drawing and 'aria-label="' in drawing for drawing in drawings)


def test_figures_of_the_first_table_are_those_of_the_results(results, page):
    study = ResultsView(results)
    view = study.overviews[0]
    assert view == SetView("all test", "test", ("gin", "jsoup"))
    cells = [cell for cell in results.cells if cell.set in view.sets and cell.system == "assay"]
    values = [value for cell in cells for value in cell.values["line"]["nDCG@10"]]
    assert study.figure(view, "assay", "line", "nDCG@10").mean == pytest.approx(sum(values) / len(values))
    first = page[page.index("Quality: mean") : page.index("Cost, over")]
    assert f">{sum(values) / len(values):.3f}<" in first
    assert "All sets, unseen (test)" in first
    assert "All sets, tuned on (dev)" in first
    for sets, wanted in (([(10, Mean(0.5, 0.4, 0.7)), (5, None)], (0.5, 0.4, 0.7)),
                         ([(10, Mean(0.5, 0.4, 0.7))] * 4, (0.5, 0.45, 0.6))):  # fmt: skip
        found = combined(sets)
        assert (found.mean, found.low, found.high) == pytest.approx(wanted)
    assert combined([]) is None


def test_the_title_is_the_verdict_and_sets_of_documents_are_shown_by_file(results_of):
    close = report_of(results_of(systems={"one": 0.6, "two": 0.6}, queries=30)).title
    assert re.fullmatch(r"(one|two) leads, but (one|two) cannot be told apart from it", close)
    assert report_of(results_of(systems={"one": 0.9, "two": 0.1}, queries=80)).title == "one is ahead of two"
    alone = report_of(results_of(systems={"one": 0.9}, sets={"click": ""}))
    assert alone.title == "one was measured on 40 queries"
    results = results_of(systems={"strong": 0.95, "weak": 0.2})
    cells = tuple(cell for cell in results.cells if (cell.set, cell.system) != ("gin", "strong"))
    asked_less = report_of(replace(results, cells=cells, comparisons=()))  # who was asked less is not called best
    assert asked_less.title == "weak was measured on 80 queries"
    assert "1 of 2 sets" in as_json_text(asked_less)
    results = results_of(sets={"texts": "test"})
    parts = [{name: {"file": getattr(cell, name)["file"]} for name in ("figures", "values")} for cell in results.cells]
    cells = tuple(replace(cell, **part) for cell, part in zip(results.cells, parts, strict=True))
    assert "by file over 40 queries" in as_json_text(report_of(replace(results, cells=cells)))


def test_strangers_write_text_and_caveats_come_first(page, reader, hostile):
    assert not [name for name, _ in reader.tags if name in ("img", "b")]
    assert sum(name == "script" for name, _ in reader.tags) == 1
    assert hostile in "".join(reader.words)
    assert "\x1b" not in page
    assert "␛[31m" in page
    assert "U+202Eevil" in page
    assert "\u202e" not in page
    odd = words("<b>'\"").parts[0]
    shown = web_page(Report("<i>", "", (), (Section("a", "", (Paragraph((odd, replace(odd, text="long " * 200))),)),)))
    assert "<title>&lt;i&gt;</title>" in shown
    assert '<bdi dir="auto" class="said">&lt;b&gt;&#39;&#34;</bdi>' in shown
    assert "long …</bdi>" in shown
    text = reader.text
    assert "settings of semble were chosen on test sets" in text
    assert text.index("chosen on test sets") < text.index("Quality: mean")
    assert "timed out after 30 s" in text
    assert "2 problems" in text


def test_a_large_run_is_a_page_of_less_than_3_mb_that_says_what_it_leaves_out(results_of):
    systems = {f"system {place}": 0.05 + place / 20 for place in range(4)}
    page = web_page(report_of(results_of(sets={"large": "test"}, queries=600, systems=systems)))
    assert len(page.encode()) < 3_000_000
    left = re.search(r"The ([\d,]+) that fewest systems missed are left out; results.json has them all", page)
    told = int(re.search(r"([\d,]+) queries for which", page)[1])
    assert told == page.count("<details data-system") + int(left[1])


def test_equal_results_and_a_report_that_is_read_again_give_equal_reports(results):
    report = report_of(results)
    assert report_of(read_results(json.loads(as_text(results)), "it")) == report
    assert read_value(Report, json.loads(as_json_text(report))) == report


def test_a_page_is_replaced_or_left_alone_and_holds_odd_names(results_of, tmp_path: Path):
    file = tmp_path / "report.html"
    file.write_text("old")
    nothing = report_of(results_of(systems={}))
    write_page(nothing, file)
    assert file.read_text("utf-8") == web_page(nothing)
    assert "<h1><bdi>Nothing was measured</bdi></h1>" in file.read_text("utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(StorageError, match="cannot write"):
        write_page(nothing, file / "report.html")  # below a file
    results = results_of(systems={"one": 0.0}, sets={"click": ""}, queries=3)
    (cell,) = results.cells
    odd = replace(cell, answers=(*cell.answers[:2], ("src/\udc80.py:1-2",)))
    write_page(report_of(replace(results, cells=(odd,))), file)
    assert "\\udc80.py" in file.read_text("utf-8")


@pytest.fixture(scope="module")
def file(page, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page, "utf-8")
    return path


def picture(seen, name: str):
    told = seen.page.screenshot()
    if folder := os.environ.get("ASSAY_SCREENSHOTS"):
        (Path(folder) / f"{name}.png").write_bytes(told)
    from matplotlib import image

    pixels = image.imread(io.BytesIO(told))[:, :, :3]
    assert pixels.std() > 0.05, f"{name} is blank"
    return pixels


def shown(seen, selector: str) -> int:
    return seen.page.locator(selector).filter(visible=True).count()


def test_the_page_is_seen_in_light_and_dark_and_never_scrolls_sideways(look, file):
    seen = look(file.as_uri())
    assert picture(seen, "light").mean() > 0.8
    assert seen.least_contrasts() > 5
    seen.page.emulate_media(color_scheme="dark")
    assert picture(seen, "dark").mean() < 0.3
    assert seen.least_contrasts() > 5
    for width in (360, 400, 800, 1280):
        seen.page.set_viewport_size({"width": width, "height": 800})
        assert seen.run("document.documentElement.scrollWidth") <= width
    assert [url for url in seen.asked if not url.startswith("data:,")] == [file.as_uri()]
    assert seen.complaints == []


def test_what_strangers_wrote_stays_text_and_the_policy_stops_what_the_page_did_not_bring(look, file, hostile):
    seen = look(file.as_uri())
    assert seen.page.title() == "assay leads, but semble cannot be told apart from it"
    assert seen.page.locator("img, b, main script, iframe, object").count() == 0
    assert hostile in seen.page.locator("#miss-list").text_content()
    seen.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    seen.run(
        "var s = document.createElement('script'); s.textContent = 'document.title = 2'; document.body.append(s); null"
    )
    seen.run("new Promise(done => setTimeout(done, 100))")
    assert seen.page.title().startswith("assay leads")
    assert any("Content Security Policy" in each for each in seen.complaints)


def test_switches_show_one_table_misses_are_filtered_and_without_a_script_all_is_there(look, file):
    seen = look(file.as_uri())
    panels = seen.page.locator(".panel[data-unit]").filter(visible=True)
    assert panels.count() == 1
    seen.page.locator("#switch input[value=file]").check()
    assert panels.get_attribute("data-unit") == "file"
    seen.page.locator("#view").select_option("2")
    assert "gin" in panels.locator("h3").text_content()

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
    still = look(file.as_uri(), script=False)
    assert still.complaints == []
    assert shown(still, ".panel[data-unit]") == 24
    assert shown(still, "#switch, #miss-form") == 0
    assert shown(still, "#miss-list > details") > 100
