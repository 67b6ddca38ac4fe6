from __future__ import annotations

import re

import pytest

from assay.cli import text
from assay.cli.excerpt import asked, lines
from assay.types import Chunk, Hit

HIT = Hit(
    Chunk("1", 'def send(to):\n    return f"{to}"\n', "python", "a.py", 3, 4, "send", "function", "Mail"),
    1.5,
    {"words": 0.5, "name": 1.0, "nothing": 0.0},
)


def test_a_hit_is_its_place_what_it_is_and_its_lines():
    shown = text.plain(HIT, lines(HIT.chunk), explain=True, clip=True)
    assert shown == (
        "a.py:3  function Mail.send\n"
        "    score 1.500 name +1.000 words +0.500\n"
        "     3  def send(to):\n"
        '     4      return f"{to}"\n'
    )


@pytest.mark.parametrize("language", ["python", "no-such-language", ""])
def test_colour_changes_no_character(language: str):
    chunk = Chunk("1", 'x = """a\n\n\tsend [red]b[/red]\n', language, "a.py", 1, 3)
    hit = Hit(chunk, 1.0)
    plain = text.plain(hit, lines(chunk), explain=True, clip=True)
    colored = text.colored(hit, lines(chunk), asked(["send"]), explain=True, clip=True)
    assert "\x1b[" in colored
    bare = re.sub(r"\x1b\[[\d;]*m", "", colored)
    assert [line.split() for line in bare.splitlines()] == [line.split() for line in plain.splitlines()]


def test_lines_left_out_are_seen():
    assert text.with_gaps([(1, "a"), (2, "b"), (9, "c")]) == [(1, "a"), (2, "b"), (0, ""), (9, "c")]


def test_no_line_moves_the_cursor_or_fills_the_screen():
    chunk = Chunk("1", "\x1b[31mred\x07\r" + "x" * 500, "", "a.py", 1, 1)
    shown = text.plain(Hit(chunk, 1.0), lines(chunk), explain=False, clip=True)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert max(map(len, shown.splitlines())) <= text.WIDEST + 8
    assert "x" * 500 in text.plain(Hit(chunk, 1.0), lines(chunk), explain=False, clip=False)
