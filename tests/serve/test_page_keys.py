"""The page from the keyboard: every key does what the dialog of keys says, and none of them while somebody types."""

from __future__ import annotations

import pytest

FOLDERS = "?q=create+a+directory+if+it+does+not+exist"


@pytest.fixture
def seen(visit):
    opened = visit(FOLDERS)
    opened.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")
    return opened


def at(seen) -> str | None:
    return seen.run("document.activeElement.closest?.('.hit')?.querySelector('h2').textContent ?? null")


def press(seen, *keys: str) -> None:
    for key in keys:
        seen.page.keyboard.press(key)


def test_keys_move_between_the_box_and_the_answers(seen):
    press(seen, "Enter")
    assert at(seen) == "make_folder"
    press(seen, "j")
    assert at(seen) == "ensure_folder"
    press(seen, "ArrowDown")
    assert at(seen) == "Store"
    press(seen, "k", "ArrowUp")
    assert at(seen) == "make_folder"
    press(seen, "k")
    assert seen.run("document.activeElement.id") == "query"
    press(seen, "ArrowDown", "/")
    assert seen.run("document.activeElement.id") == "query"


def test_letters_are_letters_in_the_box(seen):
    seen.page.locator("#query").fill("")
    seen.page.keyboard.type("/ jk ox? crew")
    assert seen.page.locator("#query").input_value() == "/ jk ox? crew"
    assert seen.page.locator("dialog[open]").count() == 0
    assert seen.page.locator("#tray").is_hidden()


def test_escape_clears_the_box_and_then_leaves_it(seen):
    press(seen, "Escape")
    seen.page.locator("#start").wait_for()
    assert seen.page.locator("#query").input_value() == ""
    assert seen.run("document.activeElement.id") == "query"
    press(seen, "Escape")
    assert seen.run("document.activeElement === document.body")


def test_an_answer_is_expanded_and_explained_by_key(visit):
    seen = visit("?q=add+up+the+sales+of+a+quarter")
    seen.until("document.querySelector('.hit h2')?.textContent === 'quarterly_report'")
    first = seen.page.locator(".hit").first
    press(seen, "ArrowDown", "a")
    assert first.locator(".line").count() == 63
    press(seen, "a")
    assert first.locator(".line").count() < 20
    press(seen, "e")
    assert first.locator(".why").is_visible()
    press(seen, "e")
    assert first.locator(".why").is_hidden()


def test_what_is_related_and_what_was_asked_before(seen):
    press(seen, "ArrowDown", "n")
    seen.page.get_by_text("Related to").wait_for()
    seen.page.go_back()
    seen.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")


def test_a_place_is_copied(visit, site):
    seen = visit(FOLDERS)
    seen.until("document.querySelector('.hit h2')?.textContent === 'make_folder'")
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.address.rstrip("/"))
    press(seen, "ArrowDown", "y")
    seen.page.get_by_role("button", name="Copied").wait_for()
    assert seen.run("navigator.clipboard.readText()") == "shop/folders.py:5"


def test_answers_are_picked_and_compared(seen):
    press(seen, "ArrowDown", "c")
    assert seen.page.locator("dialog[open]").count() == 0
    press(seen, "x", "j", "x", "c")
    assert seen.page.locator("#compare[open] article").count() == 2
    press(seen, "Escape")
    assert seen.page.locator("dialog[open]").count() == 0
    assert at(seen) == "ensure_folder"


def test_the_keys_are_told(seen):
    press(seen, "Enter", "?")
    assert seen.page.get_by_role("dialog", name="Keys").is_visible()
    press(seen, "x", "Escape")
    assert seen.page.locator("dialog[open]").count() == 0
    assert seen.page.locator("#tray").is_hidden()
    seen.page.get_by_role("button", name="Keyboard shortcuts").click()
    assert seen.page.get_by_role("dialog", name="Keys").is_visible()


def test_tab_reaches_everything_in_order_and_focus_is_seen(seen):
    reached = []
    for _ in range(24):
        press(seen, "Tab")
        told = (
            "e => [e.id || e.name || e.textContent.trim().slice(0, 20), parseFloat(getComputedStyle(e).outlineWidth)]"
        )
        reached.append(seen.page.locator(":focus").evaluate(told))
    names = [name for name, _ in reached]
    for name in ("mode", "paths", "Why", "Related", "Copy path", "Right", "Wrong"):
        assert name in names
    bare = [name for name, outline in reached if not outline and name != "mode"]  # its label has the outline
    assert bare == []
