"""How a hit is printed: its place, what it is, its lines, and nothing that moves the cursor."""

from __future__ import annotations

import re
from dataclasses import replace

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


def test_a_hit_is_its_place_what_it_is_and_its_lines():
    shown = answer.hit_text(HIT, lines(HIT.chunk), frozenset(), explain=True, clip=True)
    assert shown == (
        "a.py:3  function Mail.send\n"
        "    score 1.500 name +1.000 words +0.500\n"
        "     3  def send(to):\n"
        '     4      return f"{to}"\n'
    )


def test_editors_get_the_place_of_the_name():
    assert answer.quickfix(HIT, lines(HIT.chunk)) == "a.py:3:5:def send(to):\n"
    chunk = Chunk("1", "# é\n  @é\n  é = send\n", "python", "b c.py", 7, 9, "send", "constant", signature="é = send")
    assert answer.quickfix(Hit(chunk, 1.0), lines(chunk)) == "b c.py:9:8:  é = send\n"
    plain = Chunk("1", "\tno name\n", "", "c", 2, 2)
    assert answer.quickfix(Hit(plain, 1.0), lines(plain)) == "c:2:2:\tno name\n"


def test_colour_changes_no_character():
    for language in ("python", "no-such-language", ""):
        chunk = Chunk("1", 'x = """a\n\n\tsend [red]b[/red]\n', language, "a.py", 1, 3)
        hit = Hit(chunk, 1.0)
        plain = answer.hit_text(hit, lines(chunk), frozenset(), explain=True, clip=True)
        colored = answer.hit_text(hit, lines(chunk), terms_to_mark(["send"]), explain=True, clip=True, color=True)
        assert "\x1b[" in colored
        bare = re.sub(r"\x1b\[[\d;]*m", "", colored)
        assert [line.split() for line in bare.splitlines()] == [line.split() for line in plain.splitlines()]


def test_lines_left_out_are_seen():
    assert answer.with_gaps([(1, "a"), (2, "b"), (9, "c")]) == [(1, "a"), (2, "b"), (0, ""), (9, "c")]


def test_no_line_moves_the_cursor_or_fills_the_screen():
    chunk = Chunk("1", "\x1b[31mred\x07\r" + "x" * 500, "", "a.py", 1, 1)
    shown = answer.hit_text(Hit(chunk, 1.0), lines(chunk), frozenset(), explain=False, clip=True)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert max(map(len, shown.splitlines())) <= MAX_LINE_CHARS + 8
    assert "x" * 500 in answer.hit_text(Hit(chunk, 1.0), lines(chunk), frozenset(), explain=False, clip=False)


def test_the_place_is_where_the_unit_is_declared():
    chunk = Chunk("1", "# send: for letters\n@once\ndef send(to):\n", "python", "a.py", 3, 5, "send", "function")
    assert headline(replace(chunk, signature="def send(to)")) == "a.py:5  function send"


def test_a_later_part_of_a_unit_is_in_it():
    chunk = Chunk("1", "    try:\n", "python", "a.py", 9, 9, "send", "function", "Mail", signature="def send(to)")
    assert headline(chunk) == "a.py:9  in function Mail.send"


def test_of_many_names_a_few_are_shown_those_asked_for_first():
    chunk = Chunk("1", "A = 1\nB = 2\nC = 3\nRETRIES = 4\n", "python", "a.py", 1, 4, "A, B, C, RETRIES", "constant")
    assert headline(chunk, "how many retries") == "a.py:1  constant RETRIES, A, B and 1 more"


def test_a_name_stays_on_its_line():
    assert headline(Chunk("1", "x\n", "", "a\n\x1b[31m.py", 1, 1)) == "a\\n\\x1b[31m.py:1"


def test_an_explanation_is_short_and_adds_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = answer.score(Hit(HIT.chunk, 0.5, {f"part{number}": 1.0 + number for number in range(12)}))
    assert "2 others +3.000" in shown
    assert "part0" not in shown
    assert max(map(len, shown.split("\n"))) <= 60


def headline(chunk: Chunk, question: str = "") -> str:
    return answer.hit_text(Hit(chunk, 1.0), lines(chunk), terms_to_mark([question]), explain=False, clip=True).split(
        "\n", 1
    )[0]
