"""A whole file on the page: opened from an answer and closed again, read, searched, blamed, linked; by keyboard."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.nightly  # the main path of the page is walked daily, in test_page

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"
LINES_OF_FOLDERS = "document.activeElement.getAttribute('aria-label') === 'Lines of folders.py'"


def test_an_answer_opens_its_file_and_back_leads_to_it(visit):
    seen = visit(FOLDERS)
    seen.first("make_folder")
    before = sum("/api/search" in url for url in seen.seen.asked)
    seen.press("ArrowDown", "j", "Enter")
    seen.opened("folders.py")
    assert (seen.given()["file"], seen.given()["line"]) == (["shop/folders.py"], ["12-16"])
    seen.until("document.querySelectorAll('.code.whole .chosen').length === 5")
    seen.until(LINES_OF_FOLDERS)
    assert seen.page.locator("#found").is_hidden()
    assert seen.page.title() == "shop/folders.py · Assay"
    for leave in (lambda: seen.press("Escape"), seen.page.go_back):
        leave()
        seen.page.locator("#file").wait_for(state="hidden")
        seen.until("document.activeElement.closest('.hit')?.querySelector('h2').textContent === 'ensure_folder'")
        assert seen.page.locator(".hit").first.is_visible()
        seen.press("Enter")
        seen.opened("folders.py")
        seen.until(LINES_OF_FOLDERS)
    assert sum("/api/search" in url for url in seen.seen.asked) == before, "answers are not asked again"
    seen.press("/")
    seen.page.keyboard.type("jkbh")
    assert seen.page.locator("#query").input_value() == "jkbh", "letters are letters in the box"
    seen.page.locator("#file").wait_for(state="hidden")


def test_in_a_wide_window_the_file_is_beside_the_answers(visit):
    seen = visit(FOLDERS, width=1800)
    seen.first("make_folder")
    seen.press("ArrowDown", "Enter")
    seen.opened("folders.py")
    assert seen.page.locator(".hit").first.is_visible()
    seen.page.locator(".hit").nth(2).focus()
    seen.press("k")
    seen.until("location.search.includes('line=12-16')")
    assert seen.at() == "ensure_folder"
    seen.press("Escape")
    seen.page.locator("#file").wait_for(state="hidden")
    assert seen.at() == "ensure_folder"


def test_a_file_is_read_by_line_outline_and_tree(visit):
    seen = visit("?file=shop/mail.py&line=4")
    seen.opened("mail.py")
    seen.until("document.querySelector('.code.whole .chosen')?.dataset.n === '4'")
    assert seen.page.locator(".code.whole .line").count() == 10
    assert seen.page.locator(".code.whole .keyword").first.text_content() == "import"
    assert seen.focus() == "Lines of mail.py"
    assert "Line 4" in seen.page.locator(".code.whole").get_attribute("aria-description")
    lines = [line.strip() for line in seen.page.locator("#file").aria_snapshot().splitlines()]
    assert not {"- button", "- link", "- searchbox", "- tab"} & set(lines), "everything has a name"
    for role, name in (
        ("heading", "mail.py"),
        ("region", "mail.py"),
        ("region", "Lines of mail.py"),
        ("searchbox", "Find in file"),
        ("tab", "Outline"),
        ("tabpanel", "Outline"),
        ("button", "Close the file"),
        ("link", "GitHub"),
    ):
        assert seen.page.get_by_role(role, name=name, exact=True).count() == 1, (role, name)
    seen.press("j")
    seen.until("location.search.includes('line=5')")
    seen.until("document.querySelector('#live').textContent.includes('mail.py, 10 lines')")
    seen.press("l")
    current = seen.page.locator(".tree a[aria-current]")
    current.wait_for()
    assert current.text_content() == "mail.py"
    assert not [url for url in seen.seen.asked if "many" in url], "the tree is opened folder by folder"
    seen.page.locator(".tree summary", has_text="web").click()
    seen.page.locator(".tree a", has_text="router.js").click()
    seen.opened("router.js")
    assert seen.given()["file"] == ["web/router.js"]
    seen.page.go_back()
    seen.opened("mail.py")
    seen.press("l")
    seen.page.locator(".tree a", has_text="folders.py").click()
    seen.opened("folders.py")
    seen.page.get_by_role("tab", name="Outline").click()
    links = seen.page.locator(".outline a")
    links.first.wait_for()
    assert links.all_text_contents() == ["make_folder", "ensure_folder", "Store", "create"]
    links.nth(3).click()
    seen.until("document.querySelector('.code.whole .chosen')?.dataset.n === '22'")
    seen.until("document.querySelector('.outline [aria-current]')?.textContent === 'create'")
    assert seen.focus() == "Lines of folders.py"


def test_a_text_is_found_in_the_file(visit):
    seen = visit("?file=shop/report.py")
    seen.opened("report.py")
    seen.press("f")
    seen.page.keyboard.type("total_5")
    seen.page.get_by_text("1 of 11 lines").wait_for()
    assert seen.page.locator(".sought").count() == 11
    assert seen.page.locator(".line.at").get_attribute("data-n") == "8"
    seen.press("Enter")
    seen.page.get_by_text("2 of 11 lines").wait_for()
    assert seen.page.locator(".line.at").get_attribute("data-n") == "53"
    seen.press("Shift+Enter", "Shift+Enter")
    seen.page.get_by_text("11 of 11 lines").wait_for()
    seen.press("Escape")
    assert seen.page.locator(".sought").count() == 0
    seen.press("Escape")
    assert seen.focus() == "Lines of report.py"


def test_blame_history_and_the_permanent_link(visit, site):
    seen = visit("?file=shop/mail.py&line=5")
    seen.opened("mail.py")
    seen.press("b")
    who = seen.page.locator("button.who")
    who.wait_for()
    assert who.count() == 1
    who.click()
    seen.page.locator(".commits h2").wait_for()
    seen.press("h")
    seen.page.get_by_text("How send_mail came to be").wait_for()
    seen.page.locator(".commits summary").click()
    assert "+def send_mail" in seen.page.locator(".patch .added").first.text_content()
    seen.page.get_by_role("button", name="Blame").click()
    assert seen.page.locator(".who").count() == 0
    seen.page.goto(f"{site.address}?file=shop/mail.py&line=4-6")
    seen.opened("mail.py")
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.address.rstrip("/"))
    seen.press("y")
    seen.page.get_by_role("button", name="Copied").wait_for()
    copied = seen.run("navigator.clipboard.readText()")
    assert copied.startswith("https://github.com/shop/sons/blob/")
    assert copied.endswith("/shop/mail.py#L4-L6")
    assert "secret" not in seen.page.content()
    assert seen.page.get_by_role("link", name="GitHub").get_attribute("href").startswith("https://github.com/")


def test_a_name_leads_to_its_definition_and_callers(visit, site):
    caller = site.root / "shop/open.py"
    caller.write_text("from shop.folders import make_folder\n\n\ndef open_shop(path):\n    return make_folder(path)\n")
    try:
        seen = visit(FOLDERS)  # so that the file is in the index
        seen.first("make_folder")
        found = "fetch('/api/search?query=open_shop').then((told) => told.json()).then((told) => told.hits[0].symbol)"
        while seen.run(found) != "open_shop":
            seen.page.wait_for_timeout(50)
        seen.page.goto(f"{site.address}?file=shop/open.py&line=5")
        seen.opened("open.py")
        seen.press("d")
        seen.page.locator(".names button", has_text="make_folder").click()
        seen.page.locator(".names h3", has_text="Called").wait_for()
        links = seen.page.locator(".names a")
        assert [each.split(" ")[0] for each in links.all_text_contents()] == ["shop/folders.py:5", "shop/open.py:5"]
        links.first.click()
        seen.opened("folders.py")
        seen.until("document.querySelector('.code.whole .chosen')?.dataset.n === '5'")
        seen.page.locator(".code.whole [data-n='5'] .name").first.click()
        seen.page.locator(".names a", has_text="shop/open.py").wait_for()
    finally:
        caller.unlink()


def test_a_file_that_cannot_be_opened_is_reported(visit, site):
    seen = visit("?file=nothing.py", wrong="404")
    for path in ("nothing.py", "../../etc/passwd"):
        seen.page.goto(f"{site.address}?file={path}")
        seen.page.get_by_role("alert").wait_for()
        assert seen.page.locator(".code.whole").count() == 0
        assert "root:" not in seen.page.content()


MARKUP = "main img, main script, main b, main i, main svg"


def test_hostile_files_authors_and_messages_stay_text(visit, site):
    seen = visit("?file=shop/odd%20%E2%80%AEname.py&line=2")
    seen.until("document.querySelector('#file-title')")
    assert seen.page.locator("#file-title .odd").all_text_contents() == ["U+202E"]
    assert "<img src=x onerror=" in seen.page.locator(".code.whole").text_content()
    seen.press("b")
    seen.page.locator("button.who").first.wait_for()
    assert seen.page.locator(".who .odd").first.text_content() == "U+202E"
    seen.press("h")
    seen.page.locator(".commits summary").click()
    assert "<img src=x onerror=" in seen.page.locator(".commits").text_content()
    assert seen.page.locator(MARKUP).count() == 0
    assert "owned" not in seen.page.title()
    assert "\u202e" not in seen.page.locator("#file").inner_text()
    assert seen.run("document.documentElement.scrollWidth <= innerWidth")
    bad = {"host": "<b>host</b>", "file": "javascript:alert(1)//", "line": "#{start}", "lines": ""}
    links = {**bad, "commits": "javascript:alert(2)//"}
    told = {"root": "/x", "path": "a.py", "language": "</script>", "size": 1, "lines": 1, "start_line": 1, "text": ""}
    told |= {"complete": True, "truncated": False, "binary": False, "cut": {}, "links": links, "modified": False}
    told |= {"reason": "<i>x</i>", "styled": [[["k", "x"]]]}
    told["outline"] = [{"line": 1, "end_line": 1, "depth": 9**9, "kind": "<b>", "name": "<img src=x>"}]
    commit = {"id": "</a>", "author": "<b>", "date": "x", "subject": "<img src=x>", "body": "", "patch": "@@ <b>"}
    seen.answer("**/api/file?*", json=told)
    came = {"root": "", "path": "", "commits": [commit], "complete": False, "links": links}
    seen.answer("**/api/history?*", json=came)
    seen.page.goto(f"{site.address}?file=a.py&line=1")
    seen.page.locator(".code.whole .line").wait_for()
    seen.press("h")
    seen.page.locator(".commits h2").wait_for()
    assert seen.page.locator("[href^='javascript' i]").count() == 0
    assert seen.page.locator(MARKUP).count() == 0


def test_hostile_answers_stay_text(visit):
    seen = visit("?q=show+the+welcome+banner")
    seen.first("render_banner")
    hit = seen.page.locator(".hit").first
    code = hit.locator(".code")
    assert "<img src=x onerror=" in code.text_content()
    assert seen.page.title() == "show the welcome banner · Assay"
    odd = ["U+202E", "U+2066", "U+2069", "U+2066", "U+3164", "U+E0041"]
    assert hit.locator(".code .odd").all_text_contents() == odd
    assert hit.locator(".place .odd").all_text_contents() == ["U+202E"]
    assert "\u202e" not in hit.inner_text()
    for link in ("a.path", "a.edit"):
        assert "%E2%80%AE" in hit.locator(link).get_attribute("href")
    assert "こんにちは 世界" in code.text_content()
    assert "more characters" in hit.locator(".cut").text_content(), "a long line is cut, and scrolls inside"
    assert seen.run("document.documentElement.scrollWidth <= innerWidth")
    assert code.evaluate("code => { code.scrollLeft = 100; return code.scrollLeft; }") == 100
    seen.ask("<img src=x onerror=\"document.title='owned'\"> message")
    seen.until("document.title.startsWith('<img src=x')")
    hit.get_by_role("button", name="Related").click()
    seen.page.get_by_role("button", name="Back to").wait_for()
    assert "owned" not in seen.page.title()
    assert seen.page.locator(MARKUP).count() == 0
    wrong = {"path": "</title><script>alert(1)</script>", "start_line": 3, "end_line": 3, "score": 7}
    wrong |= {"symbol": "__proto__", "kind": '"><svg onload=alert(1)>', "language": "constructor", "text": ""}
    wrong |= {"styled": [[["constructor", "x"], ['k"><b>', "y"]], []], "complete": False}
    wrong["why"] = {"__proto__": 1.5, "<i>": -2}
    seen.answer("**/api/labels?*", json={"file": "", "queries": []})
    told = {"root": "javascript:alert(1)", "hits": [wrong], "relevant": True, "stale": True, "cursor": ""}
    seen.answer("**/api/search?*", body=json.dumps(told))
    seen.ask("odd")
    seen.first("__proto__")
    assert hit.locator(".line").first.text_content() == "xy"
    assert seen.page.locator(MARKUP).count() == 0
    assert seen.page.locator("a.path").count() == 0
    assert seen.page.locator("a.edit").count() == 0, "nor in an editor"
    assert "Files changed" in seen.page.locator("#verdict").text_content()


def test_a_long_answer_is_shown_in_steps(visit):
    seen = visit()
    hit = {"path": "huge.py", "start_line": 1, "end_line": 10_000, "score": 0.5, "symbol": "huge", "kind": "block"}
    hit |= {"language": "python", "text": "".join(f"line_{line} = {line}\n" for line in range(10_000))}
    told = {"root": "/x", "relevant": True, "stale": False, "cursor": ""}
    told["hits"] = [{**hit, "complete": True, "why": {}}]
    seen.answer("**/api/search?*", json=told)
    seen.answer("**/api/labels?*", json={"file": "x", "queries": []})
    seen.ask("line")
    seen.first("huge")
    lines = seen.page.locator(".line")
    assert lines.count() < 30
    seen.page.get_by_role("button", name="Show all 10,000 lines").click()
    assert lines.count() == 2000
    seen.page.get_by_role("button", name="Show 2,000 more of 8,000 lines").click()
    assert lines.count() == 4000
    assert lines.last.get_attribute("data-n") == "4000"
