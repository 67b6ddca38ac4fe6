"""A whole file on the page: opened from an answer and closed again, read, searched, blamed, linked; by keyboard."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"
MAIL = "?file=shop/mail.py&line=4"


def given(seen) -> dict[str, list[str]]:
    return parse_qs(urlsplit(seen.page.url).query)


def press(seen, *keys: str) -> None:
    for key in keys:
        seen.page.keyboard.press(key)


def until_first(seen, title: str = "make_folder") -> None:
    seen.until(f"document.querySelector('.hit h2')?.textContent === '{title}'")


def until_open(seen, name: str) -> None:
    seen.until(f"document.querySelector('#file-title')?.textContent === '{name}'")


def focused(seen) -> str:
    return seen.run("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id")


def test_an_answer_opens_its_file_and_back_leads_to_it(visit):
    seen = visit(FOLDERS)
    until_first(seen)
    press(seen, "ArrowDown", "j", "Enter")
    until_open(seen, "folders.py")
    assert given(seen)["file"] == ["shop/folders.py"]
    assert given(seen)["line"] == ["12-16"]
    seen.until("document.querySelectorAll('.code.whole .chosen').length === 5")
    seen.until("document.activeElement.getAttribute('aria-label') === 'Lines of folders.py'")
    assert seen.page.locator("#found").is_hidden()
    assert seen.page.title() == "shop/folders.py · Assay"
    for leave in (lambda: press(seen, "Escape"), seen.page.go_back):
        leave()
        seen.page.locator("#file").wait_for(state="hidden")
        seen.until("document.activeElement.closest('.hit')?.querySelector('h2').textContent === 'ensure_folder'")
        assert seen.page.locator(".hit").first.is_visible()
        press(seen, "Enter")
        until_open(seen, "folders.py")
        seen.until("document.activeElement.getAttribute('aria-label') === 'Lines of folders.py'")


def test_answers_are_not_asked_again_when_a_file_is_closed(visit):
    seen = visit(FOLDERS)
    until_first(seen)
    before = sum("/api/search" in url for url in seen.asked)
    press(seen, "ArrowDown", "Enter")
    until_open(seen, "folders.py")
    press(seen, "Escape")
    seen.page.locator("#file").wait_for(state="hidden")
    assert sum("/api/search" in url for url in seen.asked) == before


def test_an_address_of_a_file_opens_it_at_its_line(visit):
    seen = visit(MAIL)
    until_open(seen, "mail.py")
    seen.until("document.querySelector('.code.whole .chosen')?.dataset.n === '4'")
    assert seen.page.locator(".code.whole .line").count() == 10
    assert seen.page.locator(".code.whole .keyword").first.text_content() == "import"
    assert focused(seen) == "Lines of mail.py"
    press(seen, "j")
    seen.until("location.search.includes('line=5')")
    seen.until("document.querySelector('#live').textContent.includes('mail.py, 10 lines')")


def test_the_outline_leads_to_its_lines_and_says_where_one_is(visit):
    seen = visit("?file=shop/folders.py&line=22")
    until_open(seen, "folders.py")
    links = seen.page.locator(".outline a")
    assert links.all_text_contents() == ["make_folder", "ensure_folder", "Store", "create"]
    seen.until("document.querySelector('.outline [aria-current]')?.textContent === 'create'")
    links.first.click()
    seen.until("document.querySelector('.code.whole .chosen')?.dataset.n === '5'")
    assert focused(seen) == "Lines of folders.py"


def test_a_text_is_found_in_the_file(visit):
    seen = visit("?file=shop/report.py")
    until_open(seen, "report.py")
    press(seen, "f")
    seen.page.keyboard.type("total_5")
    seen.page.get_by_text("1 of 11 lines").wait_for()
    assert seen.page.locator(".sought").count() == 11
    assert seen.page.locator(".line.at").get_attribute("data-n") == "8"
    press(seen, "Enter")
    seen.page.get_by_text("2 of 11 lines").wait_for()
    assert seen.page.locator(".line.at").get_attribute("data-n") == "53"
    press(seen, "Shift+Enter", "Shift+Enter")
    seen.page.get_by_text("11 of 11 lines").wait_for()
    press(seen, "Escape")
    assert seen.page.locator(".sought").count() == 0
    press(seen, "Escape")
    assert focused(seen) == "Lines of report.py"


def test_the_tree_is_opened_folder_by_folder(visit):
    seen = visit(MAIL)
    until_open(seen, "mail.py")
    press(seen, "t")
    current = seen.page.locator(".tree a[aria-current]")
    current.wait_for()
    assert current.text_content() == "mail.py"
    assert not [url for url in seen.asked if "many" in url]
    seen.page.locator(".tree summary", has_text="web").click()
    seen.page.locator(".tree a", has_text="router.js").click()
    until_open(seen, "router.js")
    assert given(seen)["file"] == ["web/router.js"]
    seen.page.go_back()
    until_open(seen, "mail.py")


def test_who_wrote_a_line_and_how_a_unit_came_to_be(visit):
    seen = visit("?file=shop/mail.py&line=5")
    until_open(seen, "mail.py")
    press(seen, "b")
    who = seen.page.locator("button.who")
    who.wait_for()
    assert who.count() == 1
    who.click()
    seen.page.locator(".commits h2").wait_for()
    press(seen, "h")
    seen.page.get_by_text("How send_mail came to be").wait_for()
    seen.page.locator(".commits summary").click()
    assert "+def send_mail" in seen.page.locator(".patch .added").first.text_content()
    seen.page.get_by_role("button", name="Blame").click()
    assert seen.page.locator(".who").count() == 0


def test_the_permanent_link_is_copied_by_one_key(visit, site):
    seen = visit("?file=shop/mail.py&line=4-6")
    until_open(seen, "mail.py")
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.address.rstrip("/"))
    press(seen, "y")
    seen.page.get_by_role("button", name="Copied").wait_for()
    copied = seen.run("navigator.clipboard.readText()")
    assert copied.startswith("https://github.com/shop/sons/blob/")
    assert copied.endswith("/shop/mail.py#L4-L6")
    assert "secret" not in seen.page.content()
    assert seen.page.get_by_role("link", name="GitHub").get_attribute("href").startswith("https://github.com/")


def test_at_a_wide_window_the_file_stands_beside_the_answers_and_follows(visit):
    seen = visit(FOLDERS, width=1800)
    until_first(seen)
    press(seen, "ArrowDown", "Enter")
    until_open(seen, "folders.py")
    assert seen.page.locator(".hit").first.is_visible()
    seen.page.locator(".hit").nth(2).focus()
    press(seen, "k")
    seen.until("location.search.includes('line=12-16')")
    assert seen.run("document.activeElement.querySelector('h2')?.textContent") == "ensure_folder"
    press(seen, "Escape")
    seen.page.locator("#file").wait_for(state="hidden")
    assert seen.run("document.activeElement.querySelector('h2')?.textContent") == "ensure_folder"


def test_letters_are_letters_in_the_box_after_a_file_was_followed(visit):
    seen = visit(FOLDERS)
    until_first(seen)
    seen.page.locator(".hit a.path").first.click()
    until_open(seen, "folders.py")
    press(seen, "/")
    seen.page.keyboard.type("jkbh")
    assert seen.page.locator("#query").input_value() == "jkbh"
    seen.page.locator("#file").wait_for(state="hidden")


@pytest.mark.parametrize("path", ["nothing.py", "../../etc/passwd", ".git/config", "shop"])
def test_what_cannot_be_opened_is_said(visit, path):
    seen = visit(f"?file={path}", wrong="404")
    seen.page.get_by_role("alert").wait_for()
    assert seen.page.locator(".code.whole").count() == 0
    assert "root:" not in seen.page.content()


@pytest.mark.parametrize("width", [320, 480, 1280, 1800])
def test_a_file_never_scrolls_the_page_sideways(visit, width):
    seen = visit("?file=shop/report.py&line=40", width=width, height=740)
    until_open(seen, "report.py")
    assert seen.run("document.documentElement.scrollWidth") <= width
    seen.picture(f"serve-file-{width}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_of_a_file_can_be_read(visit, theme):
    seen = visit("?file=shop/mail.py&line=5", color_scheme=theme)
    until_open(seen, "mail.py")
    press(seen, "b")
    seen.page.locator("button.who").wait_for()
    press(seen, "h")
    seen.page.locator(".commits summary").click()
    press(seen, "f")
    seen.page.keyboard.type("message")
    seen.page.get_by_text("2 of 3 lines").wait_for()
    assert seen.least_contrasts() > 20
    seen.picture(f"serve-file-{theme}")


def test_everything_of_a_file_has_a_name_for_who_cannot_see_it(visit):
    seen = visit(MAIL)
    until_open(seen, "mail.py")
    tree = seen.page.locator("#file").aria_snapshot()
    lines = [line.strip() for line in tree.splitlines()]
    assert not {"- button", "- link", "- searchbox", "- tab"} & set(lines)
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
    assert "Line 4" in seen.page.locator(".code.whole").get_attribute("aria-description")


def test_a_name_leads_to_its_definition_and_to_who_calls_it(visit, site):
    caller = site.root / "shop/open.py"
    caller.write_text("from shop.folders import make_folder\n\n\ndef open_shop(path):\n    return make_folder(path)\n")
    try:
        seen = visit(FOLDERS)  # so that the file is in the index
        until_first(seen)
        found = "fetch('/api/search?query=open_shop').then((told) => told.json()).then((told) => told.hits[0].symbol)"
        while seen.run(found) != "open_shop":
            seen.page.wait_for_timeout(100)
        seen.page.goto(f"{site.address}?file=shop/open.py&line=5")
        until_open(seen, "open.py")
        press(seen, "d")
        seen.page.locator(".names button", has_text="make_folder").click()
        seen.page.locator(".names h3", has_text="Called").wait_for()
        links = seen.page.locator(".names a")
        assert [each.split(" ")[0] for each in links.all_text_contents()] == ["shop/folders.py:5", "shop/open.py:5"]
        links.first.click()
        until_open(seen, "folders.py")
        seen.until("document.querySelector('.code.whole .chosen')?.dataset.n === '5'")
        seen.page.locator(".code.whole [data-n='5'] .name").first.click()
        seen.page.locator(".names a", has_text="shop/open.py").wait_for()
    finally:
        caller.unlink()
