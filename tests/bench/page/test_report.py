"""The page as text: whole, alone, equal for equal results, and honest about what it leaves out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest

from assay.errors import InputError, StorageError

pytest.importorskip("matplotlib")

from assay.bench.report.bench_report import report_of
from assay.bench.results import as_text, read_results
from assay.bench.study import Experiment, SetView, combined
from assay.report.document import as_json_text, load_report
from assay.report.markup import join, stranger_text, tag
from assay.report.table import Mean
from assay.report.web_page import web_page, write_page


def report(results) -> str:
    return web_page(report_of(results))


def write_report(results, file: Path) -> None:
    write_page(report_of(results), file)


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
    return report(results)


def test_the_page_is_well_formed_and_needs_nothing_else(page):
    reader = Reader(page)
    assert not reader.open
    addresses = [
        told[key] for _, told in reader.tags for key in ("src", "href", "action", "data", "poster") if told.get(key)
    ]
    assert addresses
    assert all(address.startswith(("#", "data:,")) for address in addresses)
    assert not re.search(r"@import|url\((?!#)", page)
    assert not [told for _, told in reader.tags if any(key.startswith("on") for key in told)]


def test_every_link_inside_leads_somewhere_and_no_id_is_there_twice(page):
    tags = Reader(page).tags
    ids = [told["id"] for name, told in tags if "id" in told and name != "path"]
    own = [key for key in ids if not re.fullmatch(r"[mp][0-9a-f]{10}", key)]  # equal drawings share equal parts
    assert len(own) == len(set(own))
    every = {told["id"] for _, told in tags if "id" in told}
    assert {told["href"][1:] for _, told in tags if (told.get("href") or "").startswith("#")} <= every


def test_equal_results_give_equal_bytes(results, page):
    assert report(read_results(json.loads(as_text(results)), "it")) == page


def test_every_table_has_a_caption_and_heads_and_every_drawing_words(page):
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        assert re.match(r"<table[^>]*><caption><span>[^<]+", table), table[:200]
        assert 'scope="col"' in table
    drawings = re.findall(r"<svg [^>]*>", page)
    assert len(drawings) == 7
    assert all('role="img"' in drawing and 'aria-label="' in drawing for drawing in drawings)


def test_figures_of_the_first_table_are_those_of_the_results(results, page):
    study = Experiment(results)
    view = study.overviews[0]
    assert view == SetView("all test", "test", ("gin", "jsoup"))
    cells = [cell for cell in results.cells if cell.set in view.sets and cell.system == "assay"]
    values = [value for cell in cells for value in cell.values["line"]["nDCG@10"]]
    assert study.figure(view, "assay", "line", "nDCG@10").mean == pytest.approx(sum(values) / len(values))
    first = page[page.index("Quality: mean") : page.index("Cost, over")]
    assert f">{sum(values) / len(values):.3f}<" in first
    assert "All sets, unseen (test)" in first
    assert "All sets, tuned on (dev)" in first


def test_intervals_of_independent_sets_combine():
    alone = combined([(10, Mean(0.5, 0.4, 0.7)), (5, None)])
    assert (alone.mean, alone.low, alone.high) == pytest.approx((0.5, 0.4, 0.7))
    four = combined([(10, Mean(0.5, 0.4, 0.7))] * 4)
    assert (four.mean, four.low, four.high) == pytest.approx((0.5, 0.45, 0.6))
    assert combined([]) is None


def test_what_stands_against_a_figure_is_said_first(page):
    text = Reader(page).text
    assert "settings of semble were chosen on test sets" in text
    assert text.index("chosen on test sets") < text.index("Quality: mean")
    assert "timed out after 30 s" in text
    assert "2 problems" in text


def test_the_verdict_names_those_that_cannot_be_told_apart(results_of):
    close = report(results_of(systems={"one": 0.6, "two": 0.6}, queries=30))
    assert re.search(r"<title>(one|two) leads, but (one|two) cannot be told apart from it</title>", close)
    apart = report(results_of(systems={"one": 0.9, "two": 0.1}, queries=80))
    assert "<title>one is ahead of two</title>" in apart
    alone = report(results_of(systems={"one": 0.9}, sets={"click": ""}))
    assert "<title>one was measured on 40 queries</title>" in alone


def test_one_that_was_asked_less_is_not_called_best(results_of):
    results = results_of(systems={"strong": 0.95, "weak": 0.2})
    cells = tuple(cell for cell in results.cells if (cell.set, cell.system) != ("gin", "strong"))
    page = report(replace(results, cells=cells, comparisons=()))
    assert "<title>weak was measured on 80 queries</title>" in page
    assert "1 of 2 sets" in page


def test_nothing_measured_is_a_page_that_says_so(results_of):
    results = results_of(systems={})
    assert "<h1><bdi>Nothing was measured</bdi></h1>" in report(results)


def test_sets_of_documents_are_shown_by_file(results_of):
    results = results_of(sets={"texts": "test"})
    only = [
        replace(cell, figures={"file": cell.figures["file"]}, values={"file": cell.values["file"]})
        for cell in results.cells
    ]
    assert "by file over 40 queries" in Reader(report(replace(results, cells=tuple(only)))).text


def test_strangers_write_text_and_nothing_else(page, hostile):
    reader = Reader(page)
    assert not [name for name, _ in reader.tags if name in ("img", "b")]
    assert sum(name == "script" for name, _ in reader.tags) == 1
    assert hostile in "".join(reader.words)
    assert "\x1b" not in page
    assert "␛[31m" in page


def test_a_large_run_is_a_page_of_less_than_3_mb_that_says_what_it_leaves_out(results_of):
    systems = {f"system {place}": 0.2 + place / 20 for place in range(8)}
    page = report(results_of(sets={"large": "test"}, queries=500, systems=systems))
    assert len(page.encode()) < 3_000_000
    left = re.search(r"The ([\d,]+) that fewest systems missed are left out; results.json has them all", page)
    assert left
    told = int(re.search(r"([\d,]+) queries for which", page)[1])
    assert told == page.count("<details data-system") + int(left[1])


def test_a_report_is_read_as_it_was_written(results, page, tmp_path: Path):
    (tmp_path / "report.json").write_text(as_json_text(report_of(results)), "utf-8")
    assert load_report(tmp_path / "report.json") == report_of(results)
    assert web_page(load_report(tmp_path / "report.json")) == page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not a report: "),
        ("[]", "it is not a table"),
        ('{"title": "", "eyebrow": "", "facts": [], "sections": [{}]}', r"sections\[0\] has no 'key'"),
        ('{"title": "", "eyebrow": "", "facts": [], "sections": [], "format": 2}', "format 2, wanted 1"),
    ],
)
def test_what_is_not_a_report_says_where(tmp_path: Path, text: str, message: str):
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(InputError, match=message):
        load_report(tmp_path / "report.json")


def test_a_page_is_replaced_or_left_alone(results, page, tmp_path: Path):
    file = tmp_path / "report.html"
    file.write_text("old")
    write_report(results, file)
    assert file.read_text("utf-8") == page
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(StorageError, match="cannot write"):
        write_report(results, file / "report.html")  # below a file


def test_lone_surrogates_of_odd_paths_are_written(results_of, tmp_path: Path):
    results = results_of(systems={"one": 0.0}, sets={"click": ""}, queries=3)
    (cell,) = results.cells
    odd = replace(cell, answers=(*cell.answers[:2], ("src/\udc80.py:1-2",)))
    write_report(replace(results, cells=(odd,)), tmp_path / "report.html")
    assert "\\udc80.py" in (tmp_path / "report.html").read_text("utf-8")


def test_only_markup_is_markup():
    assert (
        tag("p", "<b>", tag("i", "&"), class_='"x"', hidden=True, title=None)
        == '<p class="&quot;x&quot;" hidden>&lt;b&gt;<i>&amp;</i></p>'
    )
    assert join(["a", "<"], ", ") == "a, &lt;"
    assert "…" in stranger_text("long " * 200)


@pytest.mark.parametrize("theme", [0, 1])
def test_every_colour_of_text_can_be_read(theme):
    style = (resources.files("assay.report") / "style.css").read_text("utf-8")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", re.findall(r":root \{(.*?)\}", style, re.DOTALL)[theme]))
    for name in ("ink", "muted", "accent", "bad", *(f"c{place}" for place in range(8))):
        for paper in ("paper", "raised") if name in ("ink", "muted", "accent") else ("paper",):
            assert contrast(colours[name], colours[paper]) >= 4.5, f"{name} on {paper}"
    assert contrast(colours["warn"], colours["warn-paper"]) >= 4.5


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 counts it."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
