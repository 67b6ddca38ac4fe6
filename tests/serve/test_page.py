"""The search page in a real browser, over a real server: ask, keep, page, explain, and find the way back."""

from __future__ import annotations

import json
import re
from importlib import resources
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from assay.assemble.queries import queries_of
from assay.errors import InputError
from assay.search.ranking import PARTS

NOTHING = {"root": "/x", "hits": [], "relevant": False, "stale": False, "cursor": ""}
FOLDERS = "?q=create+a+directory+if+it+does+not+exist"


def titles(seen) -> list[str]:
    return seen.page.locator(".hit h2").all_text_contents()


def until_first(seen, title: str) -> None:
    seen.until(f"document.querySelector('.hit h2')?.textContent === {json.dumps(title)}")


def given(seen) -> dict[str, list[str]]:
    return parse_qs(urlsplit(seen.page.url).query)


def test_it_answers_as_one_types_and_the_address_keeps_the_question(visit):
    seen = visit()
    assert seen.run("document.activeElement.id") == "query"
    assert seen.page.get_by_role("heading", name="What should the code do?").is_visible()
    seen.page.keyboard.type("deliver a message again")
    until_first(seen, "send_mail")
    assert given(seen) == {"q": ["deliver a message again"]}
    assert seen.page.title() == "deliver a message again · Assay"
    seen.page.reload()
    until_first(seen, "send_mail")
    assert seen.page.locator("#query").input_value() == "deliver a message again"


def test_back_and_forward_go_from_question_to_question(visit):
    seen = visit()
    seen.page.get_by_role("button", name="show the welcome banner").click()
    seen.page.locator(".hit").first.wait_for()
    seen.page.keyboard.press("Escape")
    seen.page.locator("#start").wait_for()
    seen.page.go_back()
    seen.page.locator(".hit").first.wait_for()
    assert seen.page.locator("#query").input_value() == "show the welcome banner"
    seen.page.go_back()
    seen.page.locator("#start").wait_for()
    seen.page.go_forward()
    seen.page.locator(".hit").first.wait_for()


def test_the_empty_page_says_what_is_indexed(visit, site):
    seen = visit(FOLDERS)
    until_first(seen, "make_folder")
    seen.page.keyboard.press("Escape")
    seen.until("document.querySelector('#facts').textContent.includes('units of code and prose')")
    assert seen.page.locator("#root-name").text_content() == site.root.name


def test_code_is_numbered_coloured_and_marked(visit):
    seen = visit(FOLDERS)
    until_first(seen, "make_folder")
    hit = seen.page.locator(".hit").first
    assert hit.locator(".line").first.get_attribute("data-n") == "5"
    assert hit.locator(".keyword").first.text_content() == "def"
    assert {"Create", "directory", "exist", "exists"} <= set(hit.locator("mark").all_text_contents())
    assert re.fullmatch(r"\d+%", hit.locator(".chance").inner_text().strip())


def test_filters_keep_and_are_taken_off(visit):
    seen = visit("?q=path")
    seen.page.locator(".hit").first.wait_for()
    seen.page.locator("#languages summary").click()
    seen.page.get_by_role("checkbox", name="javascript").check()
    seen.until("[...document.querySelectorAll('.hit .sort')].every((each) => each.textContent.includes('javascript'))")
    assert titles(seen) == ["matchRoute"]
    assert given(seen)["lang"] == ["javascript"]
    seen.page.reload()
    until_first(seen, "matchRoute")
    assert seen.page.locator("#languages summary").text_content() == "javascript"
    seen.page.get_by_role("button", name="Clear filters").click()
    seen.until("document.querySelectorAll('.hit').length > 1")
    assert "lang" not in given(seen)


def test_paths_kinds_and_prose_are_filters_too(visit):
    seen = visit(FOLDERS)
    until_first(seen, "make_folder")
    seen.page.locator("#paths").fill("docs/**")
    seen.until("[...document.querySelectorAll('.hit .place')].every((each) => each.textContent.startsWith('docs/'))")
    assert given(seen)["path"] == ["docs/**"]
    seen.page.locator("#paths").fill("")
    until_first(seen, "make_folder")
    seen.page.locator("#kinds summary").click()
    seen.page.get_by_role("checkbox", name="class").check()
    until_first(seen, "Store")
    seen.page.keyboard.press("Escape")
    seen.page.get_by_role("button", name="Clear filters").click()
    until_first(seen, "make_folder")
    seen.page.get_by_text("Docs", exact=True).click()
    until_first(seen, "Folders")
    assert given(seen)["mode"] == ["docs"]


def test_a_path_opens_in_the_editor_that_was_chosen(visit, site):
    seen = visit(FOLDERS)
    until_first(seen, "make_folder")
    link = seen.page.locator(".hit a.edit").first
    path = quote(f"{site.root}/shop/folders.py")
    assert link.get_attribute("href") == f"vscode://file{path}:5:1"
    for name, href in (
        ("cursor", f"cursor://file{path}:5:1"),
        ("zed", f"zed://file{path}:5"),
        ("idea", f"idea://open?file={path}&line=5"),
    ):
        seen.page.locator("#editor").select_option(name)
        seen.until(f"document.querySelector('.hit a.edit')?.getAttribute('href') === {json.dumps(href)}")
    seen.page.reload()
    until_first(seen, "make_folder")
    assert link.get_attribute("href").startswith("idea:")
    seen.page.locator("#editor").select_option("none")
    seen.until("document.querySelector('.hit a.path') && !document.querySelector('.hit a.edit')")


def test_only_on_the_machine_of_the_files_an_editor_is_offered(visit, site):
    seen = visit()
    told = {"roots": [{"path": str(site.root), "name": "x"}], "version": "1", "judge": "", "local": False}
    seen.page.route("**/api/roots", lambda route: route.fulfill(json=told))
    seen.page.goto(seen.page.url + FOLDERS)
    seen.page.locator(".hit").first.wait_for()
    assert seen.page.locator("a.edit").count() == 0
    assert seen.page.locator("#editor").is_hidden()


def test_an_odd_path_is_escaped_whole(visit):
    seen = visit(wrong="")
    href = seen.run(
        """async () => (await import("/page/editor.js")).linkTo("/a b/c&d", "x?#%'\\u202e.py\\" onclick=\\"1", 7)"""
    )
    assert href == "vscode://file/a%20b/c%26d/x%3F%23%25%27%E2%80%AE.py%22%20onclick%3D%221:7:1"
    drive = seen.run("""async () => (await import("/page/editor.js")).linkTo("C:\\\\code", "a\\\\b.py", 7)""")
    assert drive == "vscode://file/C%3A/code/a/b.py:7:1"


def test_why_shows_the_parts_of_the_score_the_weightiest_first(visit):
    seen = visit(FOLDERS)
    until_first(seen, "make_folder")
    why = seen.page.locator(".hit").first.get_by_role("button", name="Why")
    why.click()
    assert why.get_attribute("aria-expanded") == "true"
    shown = seen.page.locator(".why > ul .value").all_text_contents()
    sizes = [abs(float(value.replace("\u2212", "-"))) for value in shown]
    assert len(sizes) == 6
    assert sizes == sorted(sizes, reverse=True)
    assert seen.page.locator(".why details li").first.is_hidden()
    seen.page.locator(".why summary").click()
    assert seen.page.locator(".why details li").first.is_visible()
    why.click()
    assert seen.page.locator(".why").is_hidden()


def test_every_part_of_a_score_has_a_meaning():
    page = resources.files("assay.serve").joinpath("page/why.js").read_text("utf-8")
    assert [name for name in PARTS if not re.search(rf"^  {name}: \"", page, re.MULTILINE)] == []


def test_what_is_related_is_asked_for_and_left(visit):
    seen = visit(FOLDERS)
    until_first(seen, "make_folder")
    seen.page.locator(".hit").first.get_by_role("button", name="Related").click()
    seen.page.get_by_text("Related to").wait_for()
    assert given(seen)["near"] == ["shop/folders.py:5"]
    assert "make_folder" not in titles(seen)
    seen.page.get_by_role("button", name="Back to").click()
    until_first(seen, "make_folder")


def test_what_is_related_begins_at_its_top_and_back_is_where_one_was(visit):
    seen = visit("?q=price+of+a+part", height=500)
    seen.page.locator("#more").wait_for()
    seen.run("addEventListener('click', () => { window.left = scrollY }, { capture: true })")
    last = seen.page.locator(".hit").last
    for leave in (seen.page.go_back, lambda: seen.page.get_by_role("button", name="Back to").click()):
        last.get_by_role("button", name="Related").click()
        top = seen.run("left")
        assert top > 300
        seen.page.get_by_text("Related to").wait_for()
        seen.until("scrollY === 0")
        leave()
        seen.page.locator("#near").wait_for(state="hidden")
        seen.until(f"Math.abs(scrollY - {top}) < 200")


def test_the_menus_hold_what_the_index_holds(visit):
    seen = visit("?q=deliver+a+message")
    until_first(seen, "send_mail")
    languages = "[...document.querySelectorAll('#languages input')].map((each) => each.value).join()"
    seen.until(f"{languages} === 'javascript,markdown,python'")
    assert "class" in seen.run("[...document.querySelectorAll('#kinds input')].map((each) => each.value)")


def test_a_folder_that_is_not_served_is_said(visit, site):
    for below in ("?root=elsewhere", "?q=make+a+folder&root=elsewhere"):
        seen = visit(below)
        seen.page.get_by_text("no folder named 'elsewhere' is served here").wait_for()
        assert site.root.name in seen.page.get_by_role("alert").text_content()
        assert seen.page.locator(".hit").count() == 0


def test_a_question_without_a_word_is_answered_as_elsewhere(visit):
    seen = visit()
    seen.page.locator("#query").fill("???")
    seen.page.get_by_role("alert").wait_for()
    with pytest.raises(InputError) as refused:
        queries_of(["???"])
    assert seen.page.get_by_role("alert").text_content() == str(refused.value)
    seen.page.locator("#query").fill("")
    seen.page.get_by_role("alert").wait_for(state="hidden")


def test_of_several_repositories_one_is_asked_or_all(visit, site):
    seen = visit(wrong="404")
    roots = [{"path": str(site.root), "name": "shop"}, {"path": "/elsewhere/api", "name": "api"}]
    roots += [{"path": "/a/same", "name": "same"}, {"path": "/b/same", "name": "same"}]
    seen.page.route(
        "**/api/roots", lambda route: route.fulfill(json={"roots": roots, "version": "1", "judge": "me", "local": True})
    )
    seen.page.route("**/api/status?*", lambda route: route.fulfill(status=200, json={"indexed": False, "left_out": {}}))
    seen.page.reload()
    chosen = seen.page.get_by_role("combobox", name="Repository")
    assert chosen.locator("option").all_text_contents() == [
        "All repositories",
        "shop",
        "api",
        "/a/same",
        "/b/same",
    ]
    seen.page.route("**/api/search?*", lambda route: route.fulfill(json=NOTHING))
    seen.page.route("**/api/labels?*", lambda route: route.fulfill(json={"file": "", "queries": []}))
    with seen.page.expect_request("**/api/search?*") as asked:
        seen.page.goto(f"{site.address}?q=port&root=/b/same")
    assert parse_qs(urlsplit(asked.value.url).query)["path"] == ["/b/same"]
    assert chosen.input_value() == "/b/same"
    with seen.page.expect_request("**/api/search?*") as asked:
        chosen.select_option("api")
    assert parse_qs(urlsplit(asked.value.url).query)["path"] == ["/elsewhere/api"]
    assert given(seen)["root"] == ["api"]
    with seen.page.expect_request("**/api/search?*") as asked:
        chosen.select_option("All repositories")
    assert "path" not in parse_qs(urlsplit(asked.value.url).query)
    assert "root" not in given(seen)


def test_more_answers_come_after_those_that_are_there(visit):
    seen = visit("?q=price+of+a+part")
    seen.page.locator("#more").wait_for()
    first = titles(seen)
    seen.page.locator("#more").click()
    seen.until(f"document.querySelectorAll('.hit').length > {len(first)}")
    assert titles(seen)[: len(first)] == first
    assert len(set(titles(seen))) == len(titles(seen))
    assert seen.run("[...document.querySelectorAll('.hit')].indexOf(document.activeElement)") == len(first)


def test_a_long_answer_is_a_preview_until_all_of_it_is_wanted(visit):
    seen = visit("?q=add+up+the+sales+of+a+quarter")
    until_first(seen, "quarterly_report")
    hit = seen.page.locator(".hit").first
    assert hit.locator(".line").count() < 20
    hit.get_by_role("button", name="Show all 63 lines").click()
    assert hit.locator(".line").count() == 63
    hit.get_by_role("button", name="Show less").click()
    assert hit.locator(".line").count() < 20


def test_nothing_relevant_and_nothing_found_are_said(visit):
    seen = visit("?q=quantum+chromodynamics+lattice")
    seen.page.get_by_role("heading", name="Nothing relevant here").wait_for()
    assert "only the nearest" in seen.page.locator("#verdict").text_content()
    assert seen.page.locator("#hits.nearest .hit").count()
    seen.page.locator("#paths").fill("nowhere/**")
    seen.page.get_by_role("heading", name="Nothing found").wait_for()
    seen.page.get_by_role("button", name="Search without filters").click()
    seen.page.get_by_role("heading", name="Nothing relevant here").wait_for()


def test_another_language_is_said(visit):
    seen = visit("?q=" + quote("wo wird die Nachricht verschickt"))
    seen.page.locator("#verdict").get_by_text("Read as German: wo message sent.").wait_for()
    seen = visit("?q=" + quote("메일은 어디서 보내나요"))
    seen.page.locator("#verdict").get_by_text("Questions in Korean are not read: ask in English").wait_for()


def test_while_an_index_is_made_the_page_says_how_far_and_asks_again(visit):
    seen = visit(wrong="503")
    sentence, asked, made = "the index of 'shop' is being made, 10 of 20 files; ask again in a minute", [], []

    def answer(route) -> None:
        asked.append(route)
        if made:
            route.continue_()
        else:
            route.fulfill(status=503, headers={"Retry-After": "1"}, json={"error": sentence})

    seen.page.route("**/api/search?*", answer)
    seen.page.locator("#query").fill("send mail again")
    seen.page.locator("#wait").get_by_text("10 of 20 files; the answer follows").wait_for()
    made.append(True)
    refused = len(asked)
    until_first(seen, "send_mail")
    assert seen.page.locator("#wait").is_hidden()
    assert len(asked) == refused + 1


def test_an_answer_that_is_late_does_not_take_the_place_of_a_newer_one(visit):
    seen = visit()
    held = []
    seen.page.route(re.compile(r"query=old"), lambda route: held.append(route))  # noqa: PLW0108  Playwright marks it
    seen.page.locator("#query").fill("old question of a price")
    seen.page.locator("#query").fill("send mail again")
    until_first(seen, "send_mail")
    for route in held:
        route.continue_()
    seen.page.wait_for_timeout(300)
    assert titles(seen)[0] == "send_mail"


@pytest.mark.parametrize(("status", "told"), [(400, {"error": "no <b>such</b> folder"}), (500, "no JSON")])
def test_an_error_is_told_as_text(visit, status, told):
    seen = visit(wrong=str(status))
    seen.page.route("**/api/search?*", lambda route: route.fulfill(status=status, body=json.dumps(told)))
    seen.page.locator("#query").fill("anything")
    seen.page.get_by_role("alert").wait_for()
    text = seen.page.get_by_role("alert").text_content()
    assert text == (told["error"] if isinstance(told, dict) else "The server answered 500.")


def test_a_server_that_has_gone_is_told(visit):
    seen = visit(wrong="ERR_FAILED")
    seen.page.route("**/api/search?*", lambda route: route.abort())
    seen.page.locator("#query").fill("anything")
    seen.page.get_by_role("alert").wait_for()
    assert "still running" in seen.page.get_by_role("alert").text_content()


def test_how_long_each_answer_took_can_be_measured(visit):
    seen = visit("?q=warm+up")
    seen.page.locator(".hit").first.wait_for()
    seen.run("performance.clearMeasures()")
    for letter in "create":
        before = seen.run("performance.getEntriesByName('answered').length")
        seen.page.keyboard.type(letter)
        seen.until(f"performance.getEntriesByName('answered').length > {before}")
    assert all(each > 0 for each in seen.run("performance.getEntriesByName('answered').map((each) => each.duration)"))
