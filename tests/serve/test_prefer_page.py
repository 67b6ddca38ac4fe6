"""The page in a browser: keys vote, texts stay texts, nothing is loaded from elsewhere."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from assay.judge.prefer import read_votes
from assay.serve.prefer import PreferServer


def look(browser: Any, server: PreferServer) -> None:
    browser.events.clear()
    browser.call("Page.navigate", url=server.address)
    until(browser, "document.querySelector('#query')?.textContent")


def until(browser: Any, expression: str) -> None:
    """Wait until something is so in the page."""
    for _ in range(1000):  # a busy machine takes its time
        if browser.run(f"Boolean({expression})"):
            return
        time.sleep(0.05)
    raise AssertionError(expression)


def press(browser: Any, key: str, text: str = "") -> None:
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" else "")


def counted(browser: Any, count: int) -> None:
    until(browser, f"document.querySelector('#count').textContent === '{count} of 5' && !busy")


def test_keys_vote_go_back_and_finish(browser, server: PreferServer, tmp_path: Path):
    look(browser, server)
    for done, key in enumerate("120"):
        press(browser, key, key)
        counted(browser, done + 1)
    press(browser, "Backspace")
    until(browser, "state.at === 2 && !busy")
    press(browser, "1", "1")
    until(browser, "state.at === 3 && !busy")
    for done, key in enumerate("11", 4):
        press(browser, key, key)
        counted(browser, done)
    assert browser.run("document.querySelector('#end').hidden") is False
    assert browser.run("document.querySelector('#codes').hidden") is True
    press(browser, "Enter")
    assert server.finished.wait(10)
    until(browser, "document.querySelector('#end h1').textContent === 'Thank you.'")
    _, votes = read_votes(tmp_path / "votes.jsonl")
    assert len(votes) == 5
    assert all(vote["choice"] != "neither" and vote["seconds"] >= 0 for vote in votes)
    assert sum(vote["choice"] == vote["left"] for vote in votes) == 4


def test_buttons_vote_too(browser, server: PreferServer, tmp_path: Path):
    look(browser, server)
    browser.run("document.querySelector('[data-side=right]').click()")
    counted(browser, 1)
    (vote,) = read_votes(tmp_path / "votes.jsonl")[1]
    assert vote["choice"] != vote["left"]


def test_a_key_that_is_held_or_belongs_to_a_shortcut_votes_once_or_not(browser, server: PreferServer):
    look(browser, server)
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="1", text="1", modifiers=2)
    press(browser, "1", "1")
    counted(browser, 1)
    for _ in range(3):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="1", text="1", autoRepeat=True)
        time.sleep(0.2)
    counted(browser, 1)


def test_texts_stay_texts_and_nothing_is_loaded(browser, server: PreferServer):
    look(browser, server)
    assert browser.run("document.title") == "Which code answers better?"
    assert "<b>bold?</b> & $token" in browser.run("document.querySelector('#left').textContent")
    assert browser.run("document.querySelectorAll('img, b').length") == 0
    asked = [event["request"]["url"] for event in browser.told("Network.requestWillBeSent")]
    assert asked
    assert all(url.startswith((server.address, "data:")) for url in asked)
    errors = browser.told("Log.entryAdded", "Runtime.exceptionThrown")
    assert not errors, errors


def test_a_server_that_has_gone_is_told_and_the_item_stays(browser, server: PreferServer):
    look(browser, server)
    query = browser.run("document.querySelector('#query').textContent")
    server.shutdown()
    server.server_close()
    press(browser, "1", "1")
    until(browser, "!document.querySelector('#problem').hidden")
    assert browser.run("document.querySelector('#problem').textContent").startswith("Not saved")
    assert browser.run("document.querySelector('#query').textContent") == query


def test_it_fits_a_phone(browser, server: PreferServer):
    browser.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    look(browser, server)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    browser.call("Emulation.clearDeviceMetricsOverride")
