"""Query words on the page: counted, pressed, completed; examples of the repository; answers that fit a screen."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"


def given(seen) -> dict[str, list[str]]:
    return parse_qs(urlsplit(seen.page.url).query)


def press(seen, *keys: str) -> None:
    for key in keys:
        seen.page.keyboard.press(key)


def options(seen) -> list[str]:
    return seen.page.locator("#completions li bdi").all_text_contents()


def test_four_answers_fit_a_window_of_1440_by_900(visit):
    seen = visit(FOLDERS, width=1440, height=900)
    seen.page.locator("#facets section").first.wait_for()
    bottoms = seen.run("[...document.querySelectorAll('.hit .code')].map((e) => e.getBoundingClientRect().bottom)")
    assert sum(bottom <= 900 for bottom in bottoms) >= 4


def test_lines_that_tell_come_before_what_a_docstring_says(visit):
    seen = visit()
    lines = seen.run(
        """async () => {
          const { telling } = await import("/page/code.js");
          const { wordsOf } = await import("/page/words.js");
          const made = [[["nd", "@wraps"]], [["k", "def "], ["nf", "get"]], [["s", '\\"\\"\\"Fetch a page.']]];
          for (const text of [">>> get(retry=3)", "retry when it fails"]) made.push([["s", text]]);
          for (let n = 0; n < 8; n += 1) made.push([["", `    other_${n}()`]]);
          made.push([["k", "for "], ["", "attempt in retries:"]], [["", "    fails += 1"]]);
          return telling(made, wordsOf("retry when it fails"));
        }"""
    )
    assert lines[0][0] == 1
    assert lines[-1] == [13, 15]
    assert not any(start <= 3 < end for start, end in lines)


def test_what_was_found_is_counted_and_a_press_keeps_to_it(visit):
    seen = visit("?q=path", width=1440)
    javascript = seen.page.locator("#facets button", has_text="javascript")
    javascript.wait_for()
    assert seen.page.locator("#facets h2").all_text_contents() == ["Language", "Kind"]
    javascript.click()
    seen.until("[...document.querySelectorAll('.hit .sort')].every((each) => each.textContent.includes('javascript'))")
    assert given(seen)["q"] == ["path lang:javascript"]
    assert seen.page.locator(".hit h2").all_text_contents() == ["matchRoute"]
    pressed = seen.page.locator("#facets button[aria-pressed=true]")
    pressed.wait_for()
    pressed.click()
    seen.until("document.querySelectorAll('.hit').length > 1")
    assert given(seen)["q"] == ["path"]


def test_counts_are_folded_where_there_is_no_room_beside_the_answers(visit):
    seen = visit("?q=path", width=390, height=844)
    seen.page.get_by_text("Narrow down").wait_for()
    assert seen.page.locator("#facets button").first.is_hidden()
    seen.page.get_by_text("Narrow down").click()
    assert seen.page.locator("#facets button").first.is_visible()


def test_keys_and_values_are_completed_as_one_types(visit):
    seen = visit(wrong="400")  # half a word names nothing
    seen.page.keyboard.type("path la")
    seen.until("!document.querySelector('#completions').hidden")
    assert options(seen) == ["lang:"]
    press(seen, "ArrowDown", "Enter")
    seen.until("document.querySelectorAll('#completions li').length > 1")
    seen.page.keyboard.type("javas")
    seen.until("document.querySelector('#completions li')?.textContent === 'javascript'")
    press(seen, "ArrowDown")
    box = seen.page.get_by_role("combobox", name="Search code by meaning")
    assert box.get_attribute("aria-activedescendant") == "completion-0"
    press(seen, "Tab")
    assert box.input_value() == "path lang:javascript "
    assert box.get_attribute("aria-expanded") == "false"
    seen.until("document.querySelector('.hit h2')?.textContent === 'matchRoute'")


def test_paths_are_completed_folder_by_folder(visit):
    seen = visit()
    seen.page.keyboard.type("folder file:sh")
    seen.until("document.querySelector('#completions li')?.textContent === 'shop/'")
    press(seen, "ArrowDown", "Enter")
    seen.until("document.querySelector('#completions li')?.textContent.startsWith('shop/folders.py')")
    press(seen, "Escape")
    assert seen.page.locator("#completions").is_hidden()
    assert seen.page.get_by_role("combobox", name="Search code by meaning").input_value() == "folder file:shop/"


def test_half_a_query_word_is_no_error(visit):
    seen = visit("?q=create+a+directory", wrong="400")
    seen.page.locator(".hit").first.wait_for()
    press(seen, "End")
    seen.page.keyboard.type(" lang:pyth")
    seen.until("document.querySelector('#completions li')?.textContent === 'python'")
    assert seen.page.locator("#problem").is_hidden()
    assert seen.page.locator(".hit").first.is_visible()


def test_examples_are_of_the_repository_and_are_answered_by_it(visit):
    seen = visit()
    examples = seen.page.locator("#examples button")
    examples.first.wait_for()
    texts = examples.all_text_contents()
    assert "create a directory if it does not exist" in texts
    examples.first.click()
    seen.page.locator(".hit").first.wait_for()
    assert seen.page.locator("#query").input_value() == texts[0]


def test_a_doubtful_best_answer_is_said(visit):
    seen = visit()
    hit = {"path": "a.py", "start_line": 1, "end_line": 1, "score": 0.2, "symbol": "a", "kind": "", "language": ""}
    hit |= {"text": "x\n", "why": {}, "complete": True}
    told = {"root": "/x", "hits": [hit], "relevant": True, "stale": False, "cursor": ""}
    seen.page.route("**/api/search?*", lambda route: route.fulfill(json=told))
    seen.page.route("**/api/labels?*", lambda route: route.fulfill(json={"file": "", "queries": []}))
    seen.page.keyboard.type("anything")
    seen.page.get_by_text("None is sure: the best is right in 20% of such cases.").wait_for()
