"""Answers side by side: what they share, what differs, and what only one of them has."""

from __future__ import annotations

from typing import Any

import pytest

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"


@pytest.fixture
def seen(visit):
    opened = visit(FOLDERS)
    opened.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")
    return opened


def compare(seen, count: int) -> Any:
    for place in range(count):
        seen.page.get_by_role("checkbox", name="Compare").nth(place).check()
    seen.page.get_by_role("button", name="Compare", exact=True).click()
    return seen.page.get_by_role("dialog", name="Side by side")


def aligned(seen, *texts: str) -> list[list[tuple[int, bool]]]:
    call = 'async (texts) => (await import("/page/diff.js")).aligned(texts)'
    rows = seen.run(call, [text.split("\n") for text in texts])
    return [[(cell["line"], cell["alone"]) for cell in row] for row in rows]


def test_two_answers_stand_beside_each_other(seen):
    dialog = compare(seen, 2)
    columns = dialog.locator("article")
    assert columns.locator("h3").all_text_contents() == ["make_folder", "ensure_folder"]
    common = dialog.locator(".line.same").all_text_contents()
    assert common.count('    """Create a directory if it does not exist."""') == 2
    assert columns.nth(0).locator("mark.differs").all_text_contents() == ["make_folder"]
    assert columns.nth(1).locator("mark.differs").all_text_contents() == ["ensure_folder"]
    assert "makedirs" in columns.nth(0).locator(".alone").text_content()
    assert "mkdir" in columns.nth(1).locator(".alone").text_content()
    assert "4 lines" not in columns.nth(0).text_content()
    assert "5 lines" in columns.nth(0).text_content()
    tops = [seen.page.locator(f"#compare article:nth-child({n}) pre").bounding_box()["y"] for n in (1, 2)]
    assert tops[0] == tops[1]


def test_rows_stay_beside_each_other_when_common_lines_are_hidden(seen):
    dialog = compare(seen, 3)
    assert dialog.locator("article").count() == 3
    dialog.get_by_role("checkbox", name="Hide common lines").check()
    assert dialog.locator(".line.same").filter(visible=True).count() == 0
    shown = [dialog.locator("article").nth(n).locator(".line").filter(visible=True).count() for n in range(3)]
    assert len(set(shown)) == 1


def test_a_fourth_is_refused_and_all_are_put_back(seen):
    boxes = seen.page.get_by_role("checkbox", name="Compare")
    for place in range(4):
        boxes.nth(place).click()
    assert [boxes.nth(place).is_checked() for place in range(4)] == [True, True, True, False]
    assert seen.page.locator("#tray li").count() == 3
    assert seen.page.locator("#tray [role=status]").text_content() == "Only 3 are compared at once: put one back first"
    seen.page.get_by_role("button", name="Put ensure_folder back").click()
    assert not boxes.nth(1).is_checked()
    seen.page.locator("#tray").get_by_role("button", name="Clear").click()
    assert seen.page.locator("#tray").is_hidden()
    assert seen.page.locator(".hit input:checked").count() == 0


def test_what_is_picked_outlives_the_question(seen):
    seen.page.get_by_role("checkbox", name="Compare").first.check()
    seen.page.locator("#query").fill("deliver a message again")
    seen.until("document.querySelector('.hit h2')?.textContent === 'send_mail'")
    assert compare(seen, 1).locator("h3").all_text_contents() == ["make_folder", "send_mail"]


def test_on_a_phone_they_stand_below_each_other(visit):
    seen = visit(FOLDERS, width=360, height=740)
    seen.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")
    compare(seen, 2)
    boxes = [seen.page.locator("#compare article").nth(n).bounding_box() for n in (0, 1)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    assert seen.run("document.querySelector('#compare').scrollWidth") <= 360
    assert seen.page.locator("#compare .blank").filter(visible=True).count() == 0


def test_alike_lines_are_aligned_and_the_others_packed(seen):
    rows = aligned(seen, "open(path)\none = 1\nread(path, text)", "open(path)\nuse it twice\nread(path, data)\nmore()")
    assert rows == [
        [(0, False), (0, False)],
        [(1, True), (1, True)],
        [(2, False), (2, False)],
        [(-1, False), (3, True)],
    ]


def test_every_line_stands_once_and_in_order(seen):
    texts = ["a b c\n\n}\nd e f\nx", "x\na b c\n}\n\n", "d e f\na b c d\nd e f\n\n\nq"]
    rows = aligned(seen, *texts)
    for at, text in enumerate(texts):
        assert [row[at][0] for row in rows if row[at][0] >= 0] == list(range(len(text.split("\n"))))


def test_lines_as_long_as_files_are_compared_in_no_time(seen):
    took = seen.run(
        """async () => {
          const diff = await import("/page/diff.js");
          const began = performance.now();
          const long = Array.from({length: 4000}, (_, at) => "word" + at).join(" ");
          diff.differences([long, long.replaceAll("7", "x")]);
          const lines = Array.from({length: 400}, (_, at) => "call(a" + at % 40 + ", b)");
          diff.aligned([lines, [...lines].reverse(), lines.slice(50)]);
          return performance.now() - began;
        }"""
    )
    assert took < 5000


def test_those_of_one_name_are_told_apart_by_their_place(seen):
    seen.run(
        """async () => {
          const {pick} = await import("/page/compare.js");
          const hit = {symbol: "run", start_line: 1, end_line: 2, text: "", kind: "function", language: "python"};
          pick({...hit, path: "a.py"}, "", true);
          pick({...hit, path: "b.py"}, "", true);
        }"""
    )
    names = seen.page.locator("#tray li").all_text_contents()
    assert [name[:-1].split() for name in names] == [["run", "a.py:1"], ["run", "b.py:1"]]
    seen.page.get_by_role("button", name="Put a.py:1 back").click()
    assert seen.page.locator("#tray li > bdi").all_text_contents() == ["run"]
