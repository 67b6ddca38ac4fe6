"""The page for labels in a browser: keys label, a reason is written, tests are shown or not, texts stay texts."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread

import pytest

from assay.judge.label_ballot import LabelBallot, LabelSettings
from assay.judge.pairs import Pair
from assay.judge.past_records import verdicts
from assay.serve.ballot_server import BallotServer
from assay.types import Chunk, Query

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold?</b> & $token \u202eodd"
TESTS = {
    "reading": f"adds {HOSTILE}",
    "setup": "import math",
    "helpers": "from solution import add",
    "cases": [
        {"script": "assert add(1, 2) == 3", "state": "passed", "detail": "", "got": "", "expected": ""},
        {"script": "assert add(0, 0) == 1", "state": "failed", "detail": "", "got": "0", "expected": "1"},
    ],
    "error": "",
}


def pairs() -> list[Pair]:
    wide = "x" * 30_000
    codes = [f"def f{at}(x):\n    return x  # {HOSTILE}\n" for at in range(3)]
    codes.append(f"wide = '{wide}'\n" + "".join(f"line{at} = {at}\n" for at in range(400)))
    return [
        Pair(Query(f"q{at // 2}", f"how to {at // 2} {HOSTILE}"), Chunk(f"c{at}", each))
        for at, each in enumerate(codes)
    ]


class Session:
    """A person with the page open."""

    def __init__(self, look, folder: Path, *, tests: str = "", graded: bool = False, **options):
        settings = LabelSettings(person="ann", graded=graded, tests=tests)
        shown = {pair.digest: TESTS for pair in pairs()} if tests else {}
        self.ballot = LabelBallot(pairs(), folder, settings, tests=shown)
        self.look, self.options = look, options

    def __enter__(self):
        self.ballot.__enter__()
        self.server = BallotServer(self.ballot, "label")
        Thread(target=self.server.serve_forever, daemon=True).start()
        self.seen = self.look(self.server.address, **self.options)
        self.page = self.seen.page
        self.seen.until("document.body.dataset.busy === 'false'")
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.ballot.__exit__()

    def count(self, count: int) -> None:
        self.seen.until(f"document.querySelector('#count').textContent === '{count} of 4'")
        self.seen.until("document.body.dataset.busy === 'false'")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.seen.until("document.body.dataset.busy === 'false'")


def grades(folder: Path, person: str = "ann") -> list[int | None]:
    return [record["grade"] for record in verdicts(folder / f"{person}.jsonl")]


def test_keys_label_with_a_reason_go_back_and_finish(look, tmp_path: Path):
    with Session(look, tmp_path) as ann:
        ann.press("r")
        ann.page.keyboard.type("10 of u: it does")
        ann.press("Shift+Enter")
        ann.page.keyboard.type("<i>all</i> \u202eof it")
        ann.press("Enter")
        ann.count(0)
        ann.press("1")
        ann.count(1)
        assert ann.page.locator("#reason").input_value() == ""
        ann.press("0", "u")
        ann.count(3)
        ann.press("Backspace", "Backspace")
        assert ann.page.get_by_role("button", name="No match").get_attribute("aria-pressed") == "true"
        ann.press("Backspace")
        assert ann.page.locator("#reason").input_value() == "10 of u: it does\n<i>all</i> \u202eof it"
        ann.press("0")
        ann.count(3)
        assert ann.seen.run("document.body.dataset.at") == "3"
        ann.press("1")
        ann.page.get_by_role("heading", name="Every pair has your label.").wait_for()
        ann.press("Enter")
        ann.page.get_by_role("heading", name="Thank you").wait_for()
        assert ann.server.finished.wait(10)
    assert grades(tmp_path) == [0, None, 0, 1]
    first = list(verdicts(tmp_path / "ann.jsonl"))[2]
    assert first["reason"] == "10 of u: it does\n<i>all</i> \u202eof it"
    assert not ann.seen.complaints


def test_a_page_that_is_loaded_again_and_another_tab_go_on(look, tmp_path: Path):
    with Session(look, tmp_path) as ann:
        ann.press("1")
        ann.count(1)
        ann.page.reload()
        ann.count(1)
        other = look(ann.server.address)
        other.until("document.querySelector('#count').textContent === '1 of 4'")
        ann.press("1")
        other.page.keyboard.press("0")  # it still shows the pair that the first tab labelled
        other.until("document.querySelector('#count').textContent === '2 of 4'")
        other.page.keyboard.press("1")
        other.until("document.querySelector('#count').textContent === '3 of 4'")
    assert grades(tmp_path) == [1, 0, 1]
    with Session(look, tmp_path) as ann:
        ann.count(3)


def test_texts_stay_texts_and_long_ones_scroll_inside(look, tmp_path: Path):
    with Session(look, tmp_path, tests="shown") as ann:
        for place in range(4):
            assert ann.page.locator("main img, main b, main script").count() == 0
            assert "<b>bold?</b> & $token U+202Eodd" in ann.page.locator("#query").text_content()
            assert ann.seen.run("document.documentElement.scrollWidth <= innerWidth")
            assert ann.seen.run("document.documentElement.scrollHeight <= innerHeight")
            ann.press("1")
            ann.count(place + 1)
        assert ann.page.title() == "Does the code answer the query?"
        assert all(url.startswith((ann.server.address, "data:")) for url in ann.seen.asked)
    assert not ann.seen.complaints


@pytest.mark.parametrize("tests", ["shown", "hidden", ""])
def test_tests_are_shown_or_not(look, tmp_path: Path, tests: str):
    with Session(look, tmp_path, tests=tests) as ann:
        shown = ann.page.locator("#tests")
        assert shown.is_visible() == (tests == "shown")
        if tests == "shown":
            assert "assert add(0, 0) == 1" in shown.text_content()
            assert shown.locator(".failed").text_content() == "failed"
            assert "got 0, expected 1" in shown.text_content()
        ann.press("1")
        ann.count(1)
    record = next(verdicts(tmp_path / "ann.jsonl"))
    assert record["tests"] == tests
    assert bool(record["tests_hash"]) == bool(tests)


def test_grades_have_a_scale_of_their_own(look, tmp_path: Path):
    with Session(look, tmp_path, graded=True) as ann:
        assert ann.page.get_by_text("wants to be led here").is_visible()
        ann.press("2")
        ann.count(1)
        ann.page.get_by_role("button", name="Helps").click()
        ann.count(2)
    assert grades(tmp_path) == [2, 1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read_and_has_a_name(look, tmp_path: Path, theme: str):
    with Session(look, tmp_path, tests="shown", color_scheme=theme) as ann:
        assert ann.seen.least_contrasts() > 20
        ann.seen.picture(f"label-{theme}")
        tree = ann.page.locator("body").aria_snapshot().splitlines()
        assert [line for line in tree if line.strip() in {"- button", "- textbox", "- region"}] == []
        assert ann.page.get_by_role("textbox", name="Why?").is_visible()
        assert ann.page.get_by_role("progressbar", name="Labels").count() == 1
        ann.press("1", "0", "u", "1")
        ann.count(4)
        ann.seen.least_contrasts()
        ann.press("Backspace")
        ann.seen.least_contrasts()
        ann.seen.picture(f"label-back-{theme}")


@pytest.mark.parametrize("width", [320, 390, 760, 1024])
def test_it_fits_small_windows(look, tmp_path: Path, width: int):
    with Session(look, tmp_path, tests="shown", width=width, height=740) as ann:
        for place in range(4):
            assert ann.seen.run("document.documentElement.scrollWidth") <= width
            ann.seen.picture(f"label-{width}")
            ann.page.get_by_role("button", name="Match", exact=False).first.click()
            ann.count(place + 1)


def test_a_server_that_has_gone_is_told_and_the_reason_stays(look, tmp_path: Path):
    with Session(look, tmp_path) as ann:
        ann.page.locator("#reason").fill("because")
        ann.server.shutdown()
        ann.server.server_close()
        ann.page.get_by_role("button", name="No match").click()
        ann.page.locator("#problem").wait_for()
        assert ann.page.locator("#problem").text_content().startswith("Not saved")
        assert ann.page.locator("#reason").input_value() == "because"
    assert json.dumps(ann.seen.complaints).count("ERR_CONNECTION_REFUSED") == len(ann.seen.complaints)
