"""The page in a browser: keys vote, texts stay texts, nothing is loaded from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.judge.preference_ballot import read_votes
from assay.serve.ballot_server import BallotServer


@pytest.fixture
def seen(look, server: BallotServer):
    return opened(look, server)


def opened(look, server: BallotServer, **options: int):
    seen = look(server.address, **options)
    counted(seen, 0)
    return seen


def counted(seen, count: int) -> None:
    seen.until(
        f"document.querySelector('#count').textContent === '{count} of 5' && document.body.dataset.busy === 'false'"
    )


def at(seen, place: int) -> None:
    seen.until(f"document.body.dataset.at === '{place}' && document.body.dataset.busy === 'false'")


def test_keys_vote_go_back_and_finish(seen, server: BallotServer, tmp_path: Path):
    keys = seen.page.keyboard
    for done, key in enumerate("120"):
        keys.press(key)
        counted(seen, done + 1)
    keys.press("Backspace")
    at(seen, 2)
    keys.press("1")
    at(seen, 3)
    for done, key in enumerate("11", 4):
        keys.press(key)
        counted(seen, done)
    assert seen.page.locator("#end").is_visible()
    assert seen.page.locator("#codes").is_hidden()
    keys.press("Enter")
    seen.page.get_by_role("heading", name="Thank you.").wait_for()
    assert server.finished.wait(10)
    _, votes = read_votes(tmp_path / "votes.jsonl")
    assert len(votes) == 5
    assert all(vote["choice"] != "neither" and vote["seconds"] >= 0 for vote in votes)
    assert sum(vote["choice"] == vote["left"] for vote in votes) == 4


def test_buttons_vote_too(seen, tmp_path: Path):
    seen.page.locator("[data-side=right]").click()
    counted(seen, 1)
    (vote,) = read_votes(tmp_path / "votes.jsonl")[1]
    assert vote["choice"] != vote["left"]


def test_a_key_that_is_held_or_belongs_to_a_shortcut_votes_once_or_not(seen):
    keys = seen.page.keyboard
    keys.press("Control+1")
    keys.down("1")
    counted(seen, 1)
    for _ in range(3):
        keys.down("1")  # again while it is down: held
        seen.page.wait_for_timeout(200)
    keys.up("1")
    counted(seen, 1)


def test_texts_stay_texts_and_nothing_is_loaded(seen, server: BallotServer):
    assert seen.page.title() == "Which code answers better?"
    assert "<b>bold?</b> & $token" in seen.page.locator("#left").text_content()
    assert seen.page.locator("img, b").count() == 0
    assert seen.asked
    assert all(url.startswith((server.address, "data:")) for url in seen.asked)
    assert not seen.complaints


def test_a_server_that_has_gone_is_told_and_the_item_stays(seen, server: BallotServer):
    query = seen.page.locator("#query").text_content()
    server.shutdown()
    server.server_close()
    seen.page.keyboard.press("1")
    seen.page.locator("#problem").wait_for()
    assert seen.page.locator("#problem").text_content().startswith("Not saved")
    assert seen.page.locator("#query").text_content() == query


def test_it_fits_a_phone(look, server: BallotServer):
    seen = opened(look, server, width=390, height=844)
    assert seen.run("document.documentElement.scrollWidth") <= 390
