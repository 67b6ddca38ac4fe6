"""The page from the keyboard, answers side by side, and from a mark on the page to a measurement on it."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

pytestmark = pytest.mark.nightly  # the main path of the page is walked daily, in test_page

COMMAND = "assay bench assay-truth.jsonl --corpus ."
FOLDERS = "?q=create+a+directory+if+it+does+not+exist"


@pytest.fixture
def seen(visit):
    opened = visit(FOLDERS, wrong="409")
    opened.first("make_folder")
    return opened


def test_every_key_works_and_none_while_typing(seen, site):  # noqa: PLR0915
    box, dialog, tray = seen.page.locator("#query"), seen.page.locator("dialog[open]"), seen.page.locator("#tray")
    places = []
    for key in ("Enter", "j", "ArrowDown", "k", "ArrowUp"):
        seen.press(key)
        places.append(seen.at())
    assert places == ["make_folder", "ensure_folder", "Store", "ensure_folder", "make_folder"]
    seen.press("k")
    assert seen.run("document.activeElement.id") == "query"
    seen.press("ArrowDown", "?")
    assert seen.page.get_by_role("dialog", name="Keys").is_visible()
    seen.press("x", "Escape")
    assert (dialog.count(), tray.is_hidden()) == (0, True)
    seen.page.get_by_role("button", name="Keyboard shortcuts").click()
    assert seen.page.get_by_role("dialog", name="Keys").is_visible()
    seen.press("Escape")
    seen.page.locator(".hit").first.focus()
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.address.rstrip("/"))
    seen.press("y")
    seen.page.get_by_role("button", name="Copied").wait_for()
    assert seen.run("navigator.clipboard.readText()") == "shop/folders.py:5"
    seen.press("n")
    seen.page.get_by_text("Related to").wait_for()
    seen.page.go_back()
    seen.first("make_folder")
    seen.page.locator(".hit").first.focus()
    seen.press("c")
    assert dialog.count() == 0, "nothing is picked yet"
    seen.press("x", "j", "x", "c")
    assert seen.page.locator("#compare[open] article").count() == 2
    seen.press("Escape")
    assert (dialog.count(), seen.at()) == (0, "ensure_folder")
    tray.get_by_role("button", name="Clear").click()
    seen.press("/")
    assert seen.run("document.activeElement.id") == "query"
    seen.ask("")
    seen.page.keyboard.type("/ jk ox? crew")
    assert (box.input_value(), dialog.count(), tray.is_hidden()) == ("/ jk ox? crew", 0, True)
    seen.ask("add up the sales of a quarter")
    seen.first("quarterly_report")
    first = seen.page.locator(".hit").first
    assert first.locator(".line").count() < 20, "a preview"
    seen.press("ArrowDown", "a")
    assert first.locator(".line").count() == 63
    first.get_by_role("button", name="Show less").click()
    assert first.locator(".line").count() < 20
    first.get_by_role("button", name="Show all 63 lines").click()
    assert first.locator(".line").count() == 63
    first.focus()
    seen.press("e")
    assert first.locator(".why").is_visible()
    seen.press("e")
    assert first.locator(".why").is_hidden()
    seen.press("/", "Escape")
    seen.page.locator("#start").wait_for()
    assert (box.input_value(), seen.run("document.activeElement.id")) == ("", "query")
    seen.press("Escape")
    assert seen.run("document.activeElement === document.body")


def test_tab_reaches_every_control_with_visible_focus(seen):
    reached = []
    told = "e => [e.id || e.name || e.textContent.trim().slice(0, 20), parseFloat(getComputedStyle(e).outlineWidth)]"
    for _ in range(24):
        seen.press("Tab")
        reached.append(seen.page.locator(":focus").evaluate(told))
    names = [name for name, _ in reached]
    assert {"mode", "paths", "Why", "Related", "Copy path", "Right", "Wrong"} <= set(names)
    bare = [name for name, outline in reached if not outline and name != "mode"]  # its label has the outline
    assert bare == []


def aligned(seen, *texts: str) -> list[list[tuple[int, bool]]]:
    call = 'async (texts) => (await import("/page/diff.js")).aligned(texts)'
    rows = seen.run(call, [text.split("\n") for text in texts])
    return [[(cell["line"], cell["alone"]) for cell in row] for row in rows]


def test_answers_are_compared_side_by_side(seen):
    boxes, tray = seen.page.get_by_role("checkbox", name="Compare"), seen.page.locator("#tray")
    press = seen.page.get_by_role("button", name="Compare", exact=True)
    dialog = seen.page.get_by_role("dialog", name="Side by side")
    columns = dialog.locator("article")
    for place in range(2):
        boxes.nth(place).check()
    press.click()
    assert columns.locator("h3").all_text_contents() == ["make_folder", "ensure_folder"]
    common = dialog.locator(".line.same").all_text_contents()
    assert common.count('    """Create a directory if it does not exist."""') == 2
    for at, (name, alone) in enumerate((("make_folder", "makedirs"), ("ensure_folder", "mkdir"))):
        assert columns.nth(at).locator("mark.differs").all_text_contents() == [name]
        assert alone in columns.nth(at).locator(".alone").text_content()
        assert "· 5 lines ·" in columns.nth(at).text_content()
    tops = [seen.page.locator(f"#compare article:nth-child({n}) pre").bounding_box()["y"] for n in (1, 2)]
    assert tops[0] == tops[1]
    seen.press("Escape")
    for place in (2, 3):
        boxes.nth(place).click()
    assert [boxes.nth(place).is_checked() for place in range(4)] == [True, True, True, False], "a fourth is refused"
    assert tray.locator("li").count() == 3
    assert tray.locator("[role=status]").text_content() == "Only 3 are compared at once: put one back first"
    press.click()
    dialog.get_by_role("checkbox", name="Hide common lines").check()
    assert dialog.locator(".line.same").filter(visible=True).count() == 0
    shown = [columns.nth(n).locator(".line").filter(visible=True).count() for n in range(3)]
    assert len(set(shown)) == 1, "rows stay beside each other"
    seen.press("Escape")
    seen.page.get_by_role("button", name="Put ensure_folder back").click()
    assert not boxes.nth(1).is_checked()
    tray.get_by_role("button", name="Clear").click()
    assert tray.is_hidden()
    assert seen.page.locator(".hit input:checked").count() == 0
    boxes.first.check()
    seen.ask("deliver a message again")
    seen.first("send_mail")
    boxes.first.check()
    press.click()
    assert columns.locator("h3").all_text_contents() == ["make_folder", "send_mail"], "what is picked outlives it"
    seen.press("Escape")
    tray.get_by_role("button", name="Clear").click()
    seen.run(
        """async () => {
          const {pick} = await import("/page/compare.js");
          const hit = {symbol: "run", start_line: 1, end_line: 2, text: "", kind: "function", language: "python"};
          pick({...hit, path: "a.py"}, "", true);
          pick({...hit, path: "b.py"}, "", true);
        }"""
    )
    names = tray.locator("li").all_text_contents()
    assert [name[:-1].split() for name in names] == [["run", "a.py:1"], ["run", "b.py:1"]]
    seen.page.get_by_role("button", name="Put a.py:1 back").click()
    assert seen.page.locator("#tray li > bdi").all_text_contents() == ["run"]


def test_similar_lines_are_aligned_and_every_line_shown_once(seen):
    rows = aligned(seen, "open(path)\none = 1\nread(path, text)", "open(path)\nuse it twice\nread(path, data)\nmore()")
    assert rows == [
        [(0, False), (0, False)],
        [(1, True), (1, True)],
        [(2, False), (2, False)],
        [(-1, False), (3, True)],
    ]
    texts = ["a b c\n\n}\nd e f\nx", "x\na b c\n}\n\n", "d e f\na b c d\nd e f\n\n\nq"]
    rows = aligned(seen, *texts)
    for at, text in enumerate(texts):
        assert [row[at][0] for row in rows if row[at][0] >= 0] == list(range(len(text.split("\n"))))
    long = "\n".join(f"call(a{at}, b)" for at in range(1500))  # too many pairs of lines to look at
    rows = aligned(seen, long, f"first\n{long}")
    assert [[line for line, _ in row] for row in rows] == [[at, at] for at in range(1500)] + [[-1, 1500]]


@pytest.fixture
def forgotten(site):
    """Leave no judgment behind."""
    yield
    (site.root / "assay-truth.jsonl").unlink(missing_ok=True)


def marked(seen) -> list[list[str]]:
    return seen.run("[...document.querySelectorAll('.grades')].map((g) => [...g.children].map((b) => b.ariaPressed))")


def judgments(site) -> list[dict[str, Any]]:
    file = site.root / "assay-truth.jsonl"
    lines = map(json.loads, file.read_text("utf-8").splitlines()) if file.exists() else ()
    return [line for line in lines if line["type"] == "judgment"]


@pytest.mark.usefixtures("forgotten")
def test_marks_are_kept_shown_and_withdrawn(seen, site):
    first, second = (seen.page.locator(".hit").nth(place) for place in (0, 1))
    labels = seen.page.locator("#labels")
    first.focus()
    seen.press("r")
    seen.page.get_by_text("marked right; r takes it back").wait_for()
    assert seen.page.locator("#said").get_attribute("aria-live") == "polite"
    labels.get_by_text("1 judgment of 1 question").wait_for()
    second.get_by_role("button", name="Wrong").click()
    labels.get_by_text("2 judgments of 1 question").wait_for()
    assert COMMAND in labels.text_content()
    assert {(each["target"], each["grade"], each["judge"]) for each in judgments(site)} == {
        ("shop/folders.py::make_folder", 1, "reader"),
        ("shop/folders.py::ensure_folder", 0, "reader"),
    }
    seen.page.goto(f"{site.address}?q=Create++a+directory+if+it+does+not+exist")  # the same words
    labels.wait_for()
    assert marked(seen)[:3] == [["true", "false"], ["false", "true"], ["false", "false"]]
    seen.page.goto(f"{site.address}?q=a+directory")
    seen.page.locator(".hit").first.wait_for()
    assert not any("true" in each for each in marked(seen)), "another question"
    seen.page.goto(f"{site.address}?view=bench")
    seen.page.get_by_text("No report yet").wait_for()
    assert seen.page.locator(".command code").text_content() == COMMAND
    seen.page.get_by_role("link", name="Search").click()
    seen.page.goto(site.address + FOLDERS)
    seen.first("make_folder")
    labels.wait_for()
    second.get_by_role("button", name="Right").click()
    seen.until("document.querySelectorAll('.right[aria-pressed=true]').length === 2")
    first.get_by_role("button", name="Right").click()
    second.get_by_role("button", name="Right").click()
    labels.wait_for(state="hidden")
    assert judgments(site) == []
    (site.root / "assay-truth.jsonl").write_text("no ground truth\n")
    first.get_by_role("button", name="Right").click()
    seen.page.get_by_role("alert").wait_for()
    assert seen.page.get_by_role("alert").text_content().startswith("Not saved: ")
    assert marked(seen)[0] == ["false", "false"], "it is not shown as saved"


@pytest.mark.nightly  # the whole bench, which draws its report
@pytest.mark.usefixtures("forgotten")
def test_marks_are_measured_and_the_report_is_shown(seen, site, assay, monkeypatch):
    pytest.importorskip("matplotlib")
    seen.page.locator(".hit").first.get_by_role("button", name="Right").click()
    seen.page.locator("#labels").get_by_text("1 judgment of 1 question").wait_for()
    monkeypatch.chdir(site.root)
    ran = assay(*COMMAND.split()[1:])
    assert ran.status == 0, ran.err
    seen.page.get_by_role("link", name="Bench").click()
    seen.page.locator("#reports a").click()
    seen.page.locator("figure svg").first.wait_for()
    assert "1.000" in seen.page.locator("tbody tr").first.text_content()
    assert seen.run("origin") == "null", "it shares nothing with the page"
    seen.page.locator("#switch").wait_for()  # its own script has run
    seen.page.go_back()
    seen.page.locator("#reports a").wait_for()
    shutil.rmtree(site.root / "assay-bench")


def until_found_at(seen, line: int) -> None:
    ask = "fetch('/api/search?query=make_folder').then((told) => told.json()).then((told) => told.hits[0].start_line)"
    while seen.run(ask) != line:
        seen.page.wait_for_timeout(50)


@pytest.mark.usefixtures("forgotten")
def test_a_mark_follows_its_code(seen, site):
    file = site.root / "shop/folders.py"
    before = file.read_text("utf-8")
    seen.page.locator(".hit").first.get_by_role("button", name="Right").click()
    seen.page.locator("#labels").wait_for()
    try:
        file.write_text("# one\n# two\n" + before, "utf-8")
        until_found_at(seen, 7)
        seen.page.reload()
        seen.first("make_folder")
        assert seen.page.locator(".hit .line").first.get_attribute("data-n") == "7"
        seen.page.locator("#labels").wait_for()
        assert marked(seen)[0] == ["true", "false"]
        seen.page.locator(".hit").first.get_by_role("button", name="Right").click()
        seen.page.locator("#labels").wait_for(state="hidden")
        assert judgments(site) == []
    finally:
        file.write_text(before, "utf-8")
        until_found_at(seen, 5)
