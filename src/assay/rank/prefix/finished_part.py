"""The beginning of a program to its finished part, closed so that it is Python: what is unfinished is cut off.

A statement is finished when its line has ended. Blocks that are still open get what Python wants: a `pass` where the
body has not begun, a `finally` for an open `try`. What is wrong in the finished part stays wrong.
"""

from __future__ import annotations

import tokenize
from dataclasses import dataclass
from io import StringIO
from typing import Final

from assay.rank.consensus.parsing import LONGEST

_SKIPPED: Final = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING})
_ENDS_EARLY: Final = ("EOF in multi-line", "unexpected EOF", "unterminated triple-quoted")
"""How a tokenizer says that a text ends too early."""
_ENDS_TRY: Final = frozenset({"except", "finally"})


@dataclass(slots=True)
class _Block:
    """A compound statement that is open."""

    word: str
    """The first of its line."""
    column: int
    space: str
    """What stands before that word."""
    is_begun: bool = False
    """Whether its body has a statement."""
    is_caught: bool = False
    """Whether an `except` or `finally` has followed a `try`."""


def finished_part(source: str) -> str:
    """Return what is finished of a program that may go on, as a program that can be parsed; empty if nothing is."""
    if len(source) > LONGEST:
        return ""
    scan, lines = _Scan(), StringIO(source, newline="").readlines()  # as Python counts them: a form feed ends none
    try:
        for token in tokenize.generate_tokens(iter(lines).__next__):
            scan.see(token, is_cut=not source.endswith("\n"))
    except (tokenize.TokenError, SyntaxError, ValueError) as error:
        if not _is_cut_off(error, len(lines)):
            return source
    finished = "".join(lines[: scan.finished])
    return finished + "".join(scan.closing()) if finished else ""


def _is_cut_off(error: Exception, lines: int) -> bool:
    """Say whether what cannot be read is merely what the program has not come to yet."""
    told, line = str(error.args[0]) if error.args else "", 0
    if isinstance(error, tokenize.TokenError) and len(error.args) > 1:
        line = error.args[1][0]
    return any(end in told for end in _ENDS_EARLY) or line >= lines


class _Scan:
    """Which lines are finished, and which blocks are open there."""

    def __init__(self) -> None:
        self.finished = 0
        """Lines of the source that are finished statements, and what stands between them."""
        self._blocks: list[_Block] = []
        self._line: list[tokenize.TokenInfo] = []

    def see(self, token: tokenize.TokenInfo, *, is_cut: bool) -> None:
        """Take the next token; a last line that was cut has no end of its own."""
        if token.type in _SKIPPED or token.type in {tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}:
            return
        if token.type != tokenize.NEWLINE:
            self._line.append(token)
        elif token.string or not is_cut:
            self._end(self._line, token.end[0] if token.string in {"\n", "\r\n"} else token.start[0])
            self._line = []

    def closing(self) -> list[str]:
        """Return the lines that close what is open."""
        found: list[str] = []
        for block in reversed(self._blocks):
            space = block.space
            if not block.is_begun and block.word == "match":
                found.append(f"{space} case _:\n{space}  pass\n")
            elif not block.is_begun:
                found.append(f"{space} pass\n" if block.word != "@" else f"{space}def _(): pass\n")
            if block.word == "try" and not block.is_caught:
                found.append(f"{space}finally:\n{space} pass\n")
        return found

    def _end(self, line: list[tokenize.TokenInfo], last: int) -> None:
        """Take a line that is finished; `last` is its number."""
        self.finished = last
        if not line:
            return
        word, column = line[0].string, line[0].start[1]
        self._leave(column, word)
        if self._blocks:
            self._blocks[-1].is_begun = True
        if word in {"@", "try"} or line[-1].string == ":":
            has_body = line[-1].string != ":" and word != "@"
            self._blocks.append(_Block(word, column, line[0].line[:column], is_begun=has_body))

    def _leave(self, column: int, word: str) -> None:
        """Close the blocks that a line at this column is not in; an `except` goes on with its `try`."""
        while self._blocks and self._blocks[-1].column >= column:
            block = self._blocks.pop()
            if block.column == column and block.word == "try" and word in _ENDS_TRY:
                block.is_caught = True
                block.word = "caught"
