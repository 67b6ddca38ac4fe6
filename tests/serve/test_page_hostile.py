"""Code, paths and answers that want to be more than text: they stay text, and what could deceive is seen."""

from __future__ import annotations

import json

import pytest

BANNER = "?q=show+the+welcome+banner"


@pytest.fixture
def seen(visit):
    opened = visit(BANNER)
    opened.until("document.querySelector('.hit h2')?.textContent === 'render_banner'")
    return opened


def test_markup_is_text(seen):
    hit = seen.page.locator(".hit").first
    assert "<img src=x onerror=" in hit.locator(".code").text_content()
    assert seen.page.locator("main img, main script, main b").count() == 0
    assert seen.page.title() == "show the welcome banner · Assay"


def test_a_question_of_markup_is_text(visit):
    seen = visit()
    seen.page.locator("#query").fill("<img src=x onerror=\"document.title='owned'\"> message")
    seen.page.locator(".hit").first.wait_for()
    seen.page.locator(".hit").first.get_by_role("button", name="Related").click()
    seen.page.get_by_role("button", name="Back to").wait_for()
    assert seen.page.locator("main img").count() == 0
    assert "owned" not in seen.page.title()


def test_what_turns_text_around_or_does_not_show_is_written_out(seen):
    hit = seen.page.locator(".hit").first
    odd = ["U+202E", "U+2066", "U+2069", "U+2066", "U+3164", "U+E0041"]
    assert hit.locator(".code .odd").all_text_contents() == odd
    assert hit.locator(".place .odd").all_text_contents() == ["U+202E"]
    assert "\u202e" not in hit.inner_text()
    assert "%E2%80%AE" in hit.locator("a.path").get_attribute("href")
    assert "%E2%80%AE" in hit.locator("a.edit").get_attribute("href")
    assert "こんにちは 世界" in hit.locator(".code").text_content()


def test_a_long_line_scrolls_inside_and_is_cut(seen):
    hit = seen.page.locator(".hit").first
    assert "more characters" in hit.locator(".cut").text_content()
    assert seen.run("document.documentElement.scrollWidth <= innerWidth")
    code = hit.locator(".code")
    assert code.evaluate("code => { code.scrollLeft = 100; return code.scrollLeft; }") == 100


def test_an_answer_of_ten_thousand_lines_is_shown_in_steps(visit):
    seen = visit()
    text = "".join(f"line_{line} = {line}\n" for line in range(10_000))
    hit = {
        "path": "huge.py",
        "start_line": 1,
        "end_line": 10_000,
        "score": 0.5,
        "symbol": "huge",
        "kind": "block",
        "language": "python",
        "text": text,
        "complete": True,
        "why": {},
    }
    told = {"root": "/x", "hits": [hit], "relevant": True, "stale": False, "cursor": ""}
    seen.page.route("**/api/search?*", lambda route: route.fulfill(json=told))
    seen.page.route("**/api/labels?*", lambda route: route.fulfill(json={"file": "x", "queries": []}))
    seen.page.locator("#query").fill("line")
    seen.page.locator(".hit").wait_for()
    assert seen.page.locator(".line").count() < 30
    seen.page.get_by_role("button", name="Show all 10,000 lines").click()
    assert seen.page.locator(".line").count() == 2000
    seen.page.get_by_role("button", name="Show 2,000 more of 8,000 lines").click()
    assert seen.page.locator(".line").count() == 4000
    assert seen.page.locator(".line").last.get_attribute("data-n") == "4000"


def test_answers_of_odd_values_are_shown(visit):
    seen = visit()
    hit = {
        "path": "</title><script>alert(1)</script>",
        "start_line": 3,
        "end_line": 3,
        "score": 7,
        "symbol": "__proto__",
        "kind": '"><svg onload=alert(1)>',
        "language": "constructor",
        "text": "",
        "styled": [[["constructor", "x"], ['k"><b>', "y"]], []],
        "complete": False,
        "why": {"__proto__": 1.5, "<i>": -2},
    }
    told = {"root": "javascript:alert(1)", "hits": [hit], "relevant": True, "stale": True, "cursor": ""}
    seen.page.route("**/api/search?*", lambda route: route.fulfill(body=json.dumps(told)))
    seen.page.route("**/api/labels?*", lambda route: route.fulfill(json={"file": "", "queries": []}))
    seen.page.locator("#query").fill("odd")
    seen.page.locator(".hit").wait_for()
    assert seen.page.locator(".hit .line").first.text_content() == "xy"
    assert seen.page.locator("main script, main svg, main b, main i").count() == 0
    assert seen.page.locator("a.path").count() == 0
    assert seen.page.locator("a.edit").get_attribute("href").startswith("vscode://file/javascript%3Aalert")
    assert "Files changed" in seen.page.locator("#verdict").text_content()


def test_the_policy_stops_what_the_page_did_not_bring(visit):
    seen = visit(wrong="Content Security Policy")
    for markup in (
        '<p style="color: red">x</p>',
        "<img src=x onerror='document.title=1'>",
    ):
        seen.run("(markup) => document.body.insertAdjacentHTML('beforeend', markup)", markup)
    script = "const made = document.createElement('script'); made.textContent = 'document.title = 2'"
    seen.run(f"() => {{ {script}; document.body.append(made); }}")
    seen.page.wait_for_timeout(100)
    assert seen.page.title() == "Assay"
    assert sum("Content Security Policy" in each for each in seen.complaints) >= 3
    seen.complaints.clear()


def test_a_file_its_authors_and_their_messages_are_text(visit):
    seen = visit("?file=shop/odd%20%E2%80%AEname.py&line=2")
    seen.until("document.querySelector('#file-title')")
    assert seen.page.locator("#file-title .odd").all_text_contents() == ["U+202E"]
    assert "<img src=x onerror=" in seen.page.locator(".code.whole").text_content()
    seen.page.keyboard.press("b")
    seen.page.locator("button.who").first.wait_for()
    assert seen.page.locator(".who .odd").first.text_content() == "U+202E"
    seen.page.keyboard.press("h")
    seen.page.locator(".commits summary").click()
    assert "<img src=x onerror=" in seen.page.locator(".commits").text_content()
    assert seen.page.locator("main img, main script, main b").count() == 0
    assert "owned" not in seen.page.title()
    assert "\u202e" not in seen.page.locator("#file").inner_text()
    assert seen.run("document.documentElement.scrollWidth <= innerWidth")


def test_links_of_a_file_lead_to_the_web_alone(visit):
    seen = visit()
    told = {
        "root": "/x",
        "path": "a.py",
        "language": "</script>",
        "size": 1,
        "lines": 1,
        "start_line": 1,
        "text": "",
        "complete": True,
        "truncated": False,
        "binary": False,
        "cut": {},
        "outline": [{"line": 1, "end_line": 1, "depth": 9**9, "kind": "<b>", "name": "<img src=x>"}],
        "links": {
            "host": "<b>host</b>",
            "file": "javascript:alert(1)//",
            "line": "#{start}",
            "lines": "",
            "commits": "javascript:alert(2)//",
        },
        "modified": False,
        "reason": "<i>x</i>",
        "styled": [[["k", "x"]]],
    }
    commit = {"id": "</a>", "author": "<b>", "date": "x", "subject": "<img src=x>", "body": "", "patch": "@@ <b>"}
    seen.page.route("**/api/file?*", lambda route: route.fulfill(json=told))
    answer = {"root": "", "path": "", "commits": [commit], "complete": False, "links": told["links"]}
    seen.page.route("**/api/history?*", lambda route: route.fulfill(json=answer))
    seen.page.goto(seen.page.url + "?file=a.py&line=1")
    seen.page.locator(".code.whole .line").wait_for()
    seen.page.keyboard.press("h")
    seen.page.locator(".commits h2").wait_for()
    assert seen.page.locator("[href^='javascript' i]").count() == 0
    assert seen.page.locator("main img, main script, main b, main i").count() == 0
