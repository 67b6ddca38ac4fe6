"""How a hit is printed: its place, what it is, its lines, and nothing that moves the cursor."""

from __future__ import annotations

import re

import pytest

from assay.cli import hit_text as answer
from assay.io.terminal import MAX_LINE_CHARS
from assay.search.display import lines, terms_to_mark
from assay.values import Chunk, Hit

HIT = Hit(
    Chunk("1", 'def send(to):\n    return f"{to}"\n', "python", "a.py", 3, 4, "send", "function", "Mail"),
    1.5,
    {"words": 0.5, "name": 1.0, "nothing": 0.0},
)


def shown(hit: Hit, *, question: str = "", explain: bool = False, clip: bool = True, color: bool = False) -> str:
    return answer.hit_text(hit, lines(hit.chunk), terms_to_mark([question]), explain=explain, clip=clip, color=color)


def test_a_hit_is_its_place_its_kind_and_its_lines():
    assert shown(HIT, explain=True) == (
        "a.py:3  function Mail.send\n"
        "    score 1.500 name +1.000 words +0.500\n"
        "     3  def send(to):\n"
        '     4      return f"{to}"\n'
    )
    assert answer.with_gaps([(1, "a"), (2, "b"), (9, "c")]) == [(1, "a"), (2, "b"), (0, ""), (9, "c")]


def test_editors_get_the_place_of_the_name():
    assert answer.quickfix(HIT, lines(HIT.chunk)) == "a.py:3:5:def send(to):\n"
    chunk = Chunk("1", "# é\n  @é\n  é = send\n", "python", "b c.py", 7, 9, "send", "constant", signature="é = send")
    assert answer.quickfix(Hit(chunk, 1.0), lines(chunk)) == "b c.py:9:8:  é = send\n"
    plain = Chunk("1", "\tno name\n", "", "c", 2, 2)
    assert answer.quickfix(Hit(plain, 1.0), lines(plain)) == "c:2:2:\tno name\n"


@pytest.mark.parametrize("language", ["python", "no-such-language", ""])
def test_color_changes_no_character(language: str):
    hit = Hit(Chunk("1", 'x = """a\n\n\tsend [red]b[/red]\n', language, "a.py", 1, 3), 1.0)
    colored = shown(hit, question="send", explain=True, color=True)
    assert "\x1b[" in colored
    bare = re.sub(r"\x1b\[[\d;]*m", "", colored)
    assert [line.split() for line in bare.splitlines()] == [
        line.split() for line in shown(hit, explain=True).splitlines()
    ]


def test_no_line_moves_the_cursor_or_fills_the_screen():
    hit = Hit(Chunk("1", "\x1b[31mred\x07\r" + "x" * 500, "", "a.py", 1, 1), 1.0)
    assert not {"\x1b", "\x07"} & {*shown(hit)}
    assert max(map(len, shown(hit).splitlines())) <= MAX_LINE_CHARS + 8
    assert "x" * 500 in shown(hit, clip=False)


SEND, NAMES = "# send: for letters\n@once\ndef send(to):\n", "A = 1\nB = 2\nC = 3\nRETRIES = 4\n"
HEADLINES = {
    "the line of the declaration": (
        Chunk("1", SEND, "python", "a.py", 3, 5, "send", "function", signature="def send(to)"),
        "a.py:5  function send",
    ),
    "a later part": (
        Chunk("1", "    try:\n", "python", "a.py", 9, 9, "send", "function", "Mail", signature="def send(to)"),
        "a.py:9  in function Mail.send",
    ),
    "few of many names": (
        Chunk("1", NAMES, "python", "a.py", 1, 4, "A, B, C, RETRIES", "constant"),
        "a.py:1  constant RETRIES, A, B and 1 more",
    ),
    "a file name of two lines": (Chunk("1", "x\n", "", "a\n\x1b[31m.py", 1, 1), "a\\n\\x1b[31m.py:1"),
}


@pytest.mark.parametrize(("chunk", "headline"), HEADLINES.values(), ids=HEADLINES)
def test_the_first_line_names_the_unit(chunk: Chunk, headline: str):
    assert shown(Hit(chunk, 1.0), question="how many retries").split("\n", 1)[0] == headline


def test_an_explanation_is_short_and_adds_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = answer.score(Hit(HIT.chunk, 0.5, {f"part{number}": 1.0 + number for number in range(12)}))
    assert "2 others +3.000" in text
    assert "part0" not in text
    assert max(map(len, text.split("\n"))) <= 60
