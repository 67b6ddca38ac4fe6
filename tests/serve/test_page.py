"""The search page in a real browser, over a real server: ask, keep, explain, compare, mark, and find the way back."""

from __future__ import annotations

import json
import re
from importlib import resources
from urllib.parse import parse_qs, quote, urlsplit

from assay.search.ranking import PARTS

NOTHING = {"root": "/x", "hits": [], "relevant": False, "stale": False, "cursor": ""}
FOLDERS = "?q=create+a+directory+if+it+does+not+exist"
HIT = {"path": "a.py", "start_line": 1, "end_line": 1, "score": 0.2, "symbol": "a", "kind": "", "language": ""}
HIT |= {"text": "x\n", "why": {}, "complete": True}
FAILED = "Failed to load resource"


def test_answers_come_while_typing_and_the_address_keeps_the_question(visit, site):
    seen = visit()
    assert seen.focus() == "query"
    assert seen.page.get_by_role("heading", name="What should the code do?").is_visible()
    seen.page.keyboard.type("deliver a message again")
    seen.first("send_mail")
    assert seen.given() == {"q": ["deliver a message again"]}
    assert seen.page.title() == "deliver a message again · Assay"
    seen.page.reload()
    seen.first("send_mail")
    assert seen.page.locator("#query").input_value() == "deliver a message again"
    seen.press("Escape")
    seen.until("document.querySelector('#facts').textContent.includes('units of code and prose')")
    assert seen.page.locator("#root-name").text_content() == site.root.name
    seen.page.locator("#query").fill("create a directory")
    seen.page.locator(".hit").first.wait_for()
    seen.press("Escape")
    seen.page.locator("#start").wait_for()
    seen.page.go_back()
    seen.page.locator(".hit").first.wait_for()
    assert seen.page.locator("#query").input_value() == "create a directory"
    seen.page.go_forward()
    seen.page.locator("#start").wait_for()


ABORTED = """async (place) => {
  const { ask } = await import(place);
  const asking = new AbortController();
  const json = async () => { asking.abort(); throw new DOMException("", "AbortError"); };
  window.fetch = async () => ({ ok: true, status: 200, json, headers: new Headers() });
  return ask("/api/facets", {}, { signal: asking.signal }).catch((error) => error.name);
}"""


def test_filters_apply_and_are_removed(visit):
    seen = visit("?q=path", width=1000)
    seen.page.locator("#languages summary").click()
    languages = "[...document.querySelectorAll('#languages input')].map((each) => each.value).join()"
    seen.until(f"{languages} === 'javascript,markdown,python'")
    seen.page.get_by_role("checkbox", name="javascript").check()
    seen.until("[...document.querySelectorAll('.hit .sort')].every((each) => each.textContent.includes('javascript'))")
    assert (seen.titles(), seen.given()["lang"]) == (["matchRoute"], ["javascript"])
    seen.page.reload()
    seen.first("matchRoute")
    assert seen.page.locator("#languages summary").text_content() == "javascript"
    seen.page.get_by_role("button", name="Clear filters").click()
    seen.until("document.querySelectorAll('.hit').length > 1")
    assert "lang" not in seen.given()
    seen.page.set_viewport_size({"width": 1440, "height": 900})
    counted = seen.page.locator("#facets button", has_text="javascript")
    counted.wait_for()
    assert seen.page.locator("#facets h2").all_text_contents() == ["Language", "Kind"]
    counted.click()
    pressed = seen.page.locator("#facets button[aria-pressed=true]")
    pressed.wait_for()
    assert (seen.given()["q"], seen.titles()) == (["path lang:javascript"], ["matchRoute"])
    pressed.click()
    seen.until("document.querySelectorAll('.hit').length > 1")
    assert seen.given()["q"] == ["path"]
    seen.ask("create a directory if it does not exist")
    seen.first("make_folder")
    bottoms = seen.run("[...document.querySelectorAll('.hit .code')].map((e) => e.getBoundingClientRect().bottom)")
    assert sum(bottom <= 900 for bottom in bottoms) >= 4, "four answers fit a window of 1440 by 900"
    seen.page.set_viewport_size({"width": 1000, "height": 900})
    seen.page.locator("#paths").fill("docs/**")
    seen.until("[...document.querySelectorAll('.hit .place')].every((each) => each.textContent.startsWith('docs/'))")
    assert seen.given()["path"] == ["docs/**"]
    seen.page.locator("#paths").fill("")
    seen.first("make_folder")
    seen.page.locator("#kinds summary").click()
    seen.page.get_by_role("checkbox", name="class").check()
    seen.first("Store")
    seen.press("Escape")
    seen.page.get_by_role("button", name="Clear filters").click()
    seen.first("make_folder")
    seen.page.get_by_text("Docs", exact=True).click()
    seen.first("Folders")
    assert seen.given()["mode"] == ["docs"]


def test_query_words_and_paths_are_completed_as_one_types(visit):
    seen = visit("?q=path", wrong="400")  # half a word names nothing
    seen.page.locator(".hit").first.wait_for()
    seen.press("End")
    box = seen.page.get_by_role("combobox", name="Search code by meaning")
    seen.page.keyboard.type(" la")
    seen.until("!document.querySelector('#completions').hidden")
    assert seen.page.locator("#completions li bdi").all_text_contents() == ["lang:"]
    seen.press("ArrowDown", "Enter")
    seen.until("document.querySelectorAll('#completions li').length > 1")
    seen.page.keyboard.insert_text("javas")  # at once: `java`, on the way there, is a language that nothing is of
    seen.until("document.querySelector('#completions li')?.textContent === 'javascript'")
    assert seen.page.locator("#problem").is_hidden(), "half a query word is no error"
    assert seen.page.locator(".hit").first.is_visible()
    seen.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") == "completion-0"
    seen.press("Tab")
    assert (box.input_value(), box.get_attribute("aria-expanded")) == ("path lang:javascript ", "false")
    seen.first("matchRoute")
    seen.ask("")
    seen.page.keyboard.type("folder file:sh")
    seen.until("document.querySelector('#completions li')?.textContent === 'shop/'")
    seen.press("ArrowDown", "Enter")
    seen.until("document.querySelector('#completions li')?.textContent.startsWith('shop/folders.py')")
    seen.press("Escape")
    assert seen.page.locator("#completions").is_hidden()
    assert box.input_value() == "folder file:shop/"


def test_an_answer_is_code_that_opens_in_an_editor_and_says_why(visit, site):
    seen = visit(FOLDERS)
    seen.first("make_folder")
    hit = seen.page.locator(".hit").first
    assert hit.locator(".line").first.get_attribute("data-n") == "5"
    assert hit.locator(".keyword").first.text_content() == "def"
    assert {"Create", "directory", "exist", "exists"} <= set(hit.locator("mark").all_text_contents())
    assert re.fullmatch(r"\d+%", hit.locator(".chance").inner_text().strip())
    path = quote(f"{site.root}/shop/folders.py")
    assert seen.page.locator(".hit a.edit").first.get_attribute("href") == f"vscode://file{path}:5:1"
    link = '(await import("/page/editor.js")).linkTo'
    href = seen.run(f"""async () => {link}("/a b/c&d", "x?#%'\\u202e.py\\" onclick=\\"1", 7)""")
    assert href == "vscode://file/a%20b/c%26d/x%3F%23%25%27%E2%80%AE.py%22%20onclick%3D%221:7:1"
    drive = seen.run(f"""async () => {link}("C:\\\\code", "a\\\\b.py", 7)""")
    assert drive == "vscode://file/C%3A/code/a/b.py:7:1"
    for name, href in (
        ("cursor", f"cursor://file{path}:5:1"),
        ("zed", f"zed://file{path}:5"),
        ("idea", f"idea://open?file={path}&line=5"),
    ):
        seen.page.locator("#editor").select_option(name)
        seen.until(f"document.querySelector('.hit a.edit')?.getAttribute('href') === {json.dumps(href)}")
    seen.page.reload()
    seen.first("make_folder")
    assert seen.page.locator(".hit a.edit").first.get_attribute("href").startswith("idea:")
    seen.page.locator("#editor").select_option("none")
    seen.until("document.querySelector('.hit a.path') && !document.querySelector('.hit a.edit')")
    why = hit.get_by_role("button", name="Why")
    why.click()
    assert why.get_attribute("aria-expanded") == "true"
    shown = seen.page.locator(".why > ul .value").all_text_contents()
    sizes = [abs(float(value.replace("\u2212", "-"))) for value in shown]
    assert len(sizes) == 6
    assert sizes == sorted(sizes, reverse=True), "the weightiest first"
    assert seen.page.locator(".why details li").first.is_hidden()
    seen.page.locator(".why summary").click()
    assert seen.page.locator(".why details li").first.is_visible()
    why.click()
    assert seen.page.locator(".why").is_hidden()
    page = resources.files("assay.serve").joinpath("page/why.js").read_text("utf-8")
    assert [name for name in PARTS if not re.search(rf"^  {name}: \"", page, re.MULTILINE)] == []


def test_exact_texts_and_expressions_list_every_line_by_file(visit):
    seen = visit('?q="create a directory"')
    seen.page.get_by_role("heading", name="3 matches in 1 file").wait_for()
    (lines := seen.page.locator(".in-file")).locator("mark").last.wait_for()
    assert lines.locator("h2").all_text_contents() == ["shop/folders.py"]
    assert {text.lower() for text in lines.locator("mark").all_text_contents()} == {"create a directory"}
    lit = "[...document.querySelectorAll('#modes :checked, #ways [aria-pressed=true]')].map((e) => e.value || e.title)"
    assert seen.run(lit) == ["all", "Find the text letter by letter"]
    seen.press("ArrowDown", "Enter")
    seen.opened("folders.py")
    seen.press("Escape")
    seen.ask("folders /def (make|ensure)_/")
    seen.page.get_by_text("2 matches in 1 file below").wait_for()
    assert "".join(seen.page.locator("#hits .hit mark").all_text_contents()) == "def ensure_def make_"
    assert seen.run(lit) == ["code", "Find a regular expression (RE2)"]
    seen.ask("price_of_part")
    seen.page.get_by_role("button", name="Exact").click()
    seen.page.get_by_role("heading", name="30 matches in 30 files").wait_for()
    assert seen.given()["q"] == ['"price_of_part"']


def test_a_file_is_found_by_parts_of_its_name_and_a_name_by_its_beginning(visit):
    seen = visit()
    seen.press("Escape", "t")
    seen.page.keyboard.type("shop rep")
    seen.until("document.querySelectorAll('#finder li').length === 1")
    seen.press("Enter")
    seen.opened("report.py")
    seen.press("Control+p")
    seen.page.get_by_role("option", name="docs/guide.md").click()
    seen.opened("guide.md")
    assert seen.page.locator(".markdown h2").all_text_contents() == ["Folders"]
    seen.page.get_by_role("button", name="Source").click()
    assert seen.page.locator(".code.whole").is_visible()
    seen.page.locator("#query").click()
    seen.page.keyboard.type("quarter")
    seen.until("document.querySelector('#completions li')?.textContent === 'quarterly_report'")
    seen.press("ArrowDown", "Enter")
    seen.first("quarterly_report")


def test_an_answer_lists_the_others_of_its_group(visit, site):
    seen = visit()
    others = [{"path": "shop/mail.py", "start_line": 4, "end_line": 10, "symbol": "send_mail", "root": ""}]
    hit = {**HIT, "path": "shop/folders.py", "others": others, "more": ["+1 in Mail: send_mail:4"]}
    answer = {**NOTHING, "root": site.root.name, "hits": [hit, HIT], "relevant": True}
    seen.answer(re.compile(r"/api/search\?.*group=true"), json=answer)
    seen.ask("mail")
    more = seen.page.get_by_role("button", name="+1 in Mail: send_mail:4")
    more.wait_for()
    assert "null" not in seen.page.locator("#hits").text_content()
    assert (seen.page.locator(".hit .more").count(), more.get_attribute("aria-expanded")) == (1, "false")
    seen.press("ArrowDown", "m")
    assert more.get_attribute("aria-expanded") == "true"
    place = seen.page.get_by_role("link", name="shop/mail.py")
    seen.press("m")
    assert place.is_hidden()
    more.press("Enter")
    place.press("Enter")
    seen.opened("mail.py")


def test_related_code_is_shown_and_back_restores_the_place(visit):
    seen = visit("?q=price+of+a+part", height=500)
    seen.page.locator("#more").wait_for()
    first = seen.titles()
    seen.run("addEventListener('click', () => { window.left = scrollY }, { capture: true })")
    for leave in (seen.page.go_back, lambda: seen.page.get_by_role("button", name="Back to").click()):
        seen.page.locator(".hit").last.get_by_role("button", name="Related").click()
        top = seen.run("left")
        assert top > 300
        seen.page.get_by_text("Related to price_of_part_").wait_for()
        assert seen.given()["near"][0].startswith("many/part_")
        assert first[-1] not in seen.titles()
        seen.until("scrollY === 0")
        leave()
        seen.page.locator("#near").wait_for(state="hidden")
        seen.until(f"Math.abs(scrollY - {top}) < 200")
    seen.page.locator("#more").click()
    seen.until(f"document.querySelectorAll('.hit').length > {len(first)}")
    assert seen.titles()[: len(first)] == first
    assert len(set(seen.titles())) == len(seen.titles())
    assert seen.run("[...document.querySelectorAll('.hit')].indexOf(document.activeElement)") == len(first)
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
    assert (lines[0][0], lines[-1]) == (1, [13, 15]), "lines that tell come before what a docstring says"
    assert not any(start <= 3 < end for start, end in lines)


def test_one_repository_or_all_are_searched(visit, site):
    seen = visit(wrong=FAILED)
    named = ["All repositories", "shop", "api", "a/same", "b/same"]
    roots = [{"name": name, "folder": ""} for name in named[1:]]
    seen.answer("**/api/roots", json={"roots": roots, "version": "1", "judge": "me", "local": False})
    seen.answer("**/api/status?*", json={"indexed": False, "left_out": {}})
    seen.answer("**/api/labels?*", json={"file": "", "queries": []})
    seen.answer("**/api/search?*", json={**NOTHING, "hits": [HIT], "relevant": True})
    seen.page.reload()
    chosen = seen.page.get_by_role("combobox", name="Repository")
    chosen.locator("option").nth(len(named) - 1).wait_for(state="attached")
    assert chosen.locator("option").all_text_contents() == named

    def path_of(change) -> list[str] | None:
        with seen.page.expect_request("**/api/search?*") as asked:
            change()
        return parse_qs(urlsplit(asked.value.url).query).get("path")

    assert path_of(lambda: seen.page.goto(f"{site.address}?q=port&root=b/same")) == ["b/same"]
    assert chosen.input_value() == "b/same"
    seen.page.get_by_text("None is sure: the best is right in 20% of such cases.").wait_for()
    assert seen.page.locator("a.edit").count() == 0, "an editor is offered on the machine of the files alone"
    assert seen.page.locator("#editor").is_hidden()
    assert path_of(lambda: chosen.select_option("api")) == ["api"]
    assert seen.given()["root"] == ["api"]
    assert path_of(lambda: chosen.select_option("All repositories")) is None
    assert "root" not in seen.given()


def test_a_question_without_answers_says_why(visit, site):
    seen = visit("?q=quantum+chromodynamics+lattice", wrong=FAILED)
    verdict = seen.page.locator("#verdict")
    seen.page.get_by_role("heading", name="Nothing relevant here").wait_for()
    assert "only the nearest" in verdict.text_content()
    assert seen.page.locator("#hits.nearest .hit").count()
    seen.page.locator("#paths").fill("nowhere/**")
    seen.page.get_by_role("heading", name="Nothing found").wait_for()
    seen.page.get_by_role("button", name="Remove nowhere/**").click()
    seen.page.get_by_role("heading", name="Nothing relevant here").wait_for()
    seen.ask("mail lang:javascript file:mail")
    seen.page.get_by_text("Each of these filters leaves nothing:").wait_for()
    seen.page.get_by_role("button", name="Remove lang:javascript").click()
    seen.first("send_mail")
    seen.ask("wo wird die Nachricht verschickt")
    verdict.get_by_text("Read as German: wo message sent.").wait_for()
    seen.ask("메일은 어디서 보내나요")
    verdict.get_by_text("Questions in Korean are not read: ask in English").wait_for()
    alert = seen.page.get_by_role("alert")
    seen.ask("???")
    seen.page.locator("#start").wait_for()
    assert alert.is_hidden(), "what holds no word yet is no error"
    for below in ("?root=elsewhere", "?q=make+a+folder&root=elsewhere"):
        seen.page.goto(site.address + below)
        seen.page.get_by_text("no folder named 'elsewhere' is served here").wait_for()
        assert site.root.name in alert.text_content()
        assert seen.page.locator(".hit").count() == 0


def test_failures_are_shown_as_text_and_late_answers_dropped(visit):
    seen = visit(wrong=FAILED)
    sentence, asked, made = "the index of 'shop' is being made, 10 of 20 files; ask again in a minute", [], []

    def answer(route) -> None:
        asked.append(route)
        if made:
            route.continue_()
        else:
            route.fulfill(status=503, headers={"Retry-After": "1"}, json={"error": sentence})

    searches = "**/api/search?*"
    seen.page.route(searches, answer)
    seen.ask("send mail again")
    seen.page.locator("#wait").get_by_text("10 of 20 files; the answer follows").wait_for()
    made.append(True)
    refused = len(asked)
    seen.first("send_mail")
    assert seen.page.locator("#wait").is_hidden()
    assert len(asked) == refused + 1
    seen.page.unroute(searches)
    alert = seen.page.get_by_role("alert")
    for status, told, text in (
        (400, {"error": "no <b>such</b> folder"}, "no <b>such</b> folder"),
        (500, "no JSON", "The server answered 500."),
    ):
        seen.answer(searches, status=status, body=json.dumps(told))
        seen.ask(f"anything {status}")
        seen.until(f"document.querySelector('[role=alert]')?.textContent === {json.dumps(text)}")
        seen.page.unroute(searches)
    seen.page.route(searches, lambda route: route.abort())
    seen.ask("anything else")
    alert.get_by_text("still running").wait_for()
    seen.page.unroute(searches)
    held = []
    seen.page.route(re.compile(r"query=old"), lambda route: held.append(route))  # noqa: PLW0108  Playwright marks it
    seen.ask("old question of a price")
    seen.ask("create a directory if it does not exist")
    seen.first("make_folder")
    for route in held:
        route.continue_()
    seen.run("fetch('/api/search?query=latest').then((told) => told.text())")  # which is answered after those
    assert seen.titles()[0] == "make_folder"
    entries = "performance.getEntriesByType('resource').map((one) => one.name)"
    module = seen.run(f"{entries}.find((name) => /api\\.js/.test(name))")
    assert seen.run(ABORTED, module) == "AbortError", "whoever no longer wants an answer is told of no failure"
