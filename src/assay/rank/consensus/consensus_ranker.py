"""The ranker `consensus`, its parts as rankers of their own, and its way with programs that are still being written.

Nothing runs and nothing is learned: a static gate, how central a program is among the others, and a price of likeness.
The parts of `why` add up to the score. The order of the programs never counts, and a program that comes twice was
sampled twice. A fault that the gate does not find is not guessed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from typing import Final
from warnings import catch_warnings

import numpy as np

from assay.errors import InputError
from assay.rank.consensus.crowd import Numbers, PoolFacts, look_at, prices
from assay.rank.consensus.syntax import LONGEST
from assay.values import Program, Ranked, Task

GATE: Final = 20.0
"""What passing the gate is worth."""
CENTRAL: Final = 6.0
UNLIKE: Final = 4.0
"""The price of being like a program that comes before."""


class ConsensusRanker:
    """Ranks without running: `consensus`, or for programs that are still being written `consensus:?unfinished`."""

    def __init__(self, spec: str = "") -> None:
        if spec not in {"", "?unfinished"}:
            raise InputError(f"unknown ranker 'consensus:{spec}'; use consensus or consensus:?unfinished")
        self.name = f"consensus:{spec}" if spec else "consensus"
        self._are_finished = not spec

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return how likely each program is right, in their order."""
        if not programs:
            return []
        read = list(programs) if self._are_finished else [_finished(each) for each in programs]
        seen = look_at(task, read, are_finished=self._are_finished)
        parts = _parts(seen)
        place = {source: at for at, source in enumerate(seen.sources)}
        places = [place[each.source] for each in read]
        return [
            Ranked(program, sum(parts[at].values()), seen.facts[at].fault, seen.facts[at].line, parts[at])
            for program, at in zip(programs, places, strict=True)
        ]


def _parts(seen: PoolFacts) -> list[dict[str, float]]:
    """Return what each score is the sum of."""
    of: dict[str, Numbers] = {"gate": GATE * seen.passing.astype(np.float64), "central": CENTRAL * seen.central}
    of["unlike"] = -prices(of["gate"] + of["central"], seen.held, UNLIKE)
    return [{name: float(values[at]) for name, values in of.items()} for at in range(len(seen.sources))]


class _PartRanker:
    """A ranker that scores the different programs of a pool by what can be seen in them."""

    def __init__(self, name: str, score: Callable[[PoolFacts], Numbers]) -> None:
        self.name = name
        self._score = score

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the score of each program, in their order."""
        if not programs:
            return []
        seen = look_at(task, programs)
        scores = dict(zip(seen.sources, self._score(seen).tolist(), strict=True))
        return [Ranked(program, scores[program.source]) for program in programs]


class GateRanker(_PartRanker):
    """`gate`: 1 for a program that nothing shows to fail, else 0."""

    def __init__(self) -> None:
        super().__init__("gate", lambda seen: seen.passing.astype(np.float64))


class CentralityRanker(_PartRanker):
    """`centrality`: how central a program is among the others."""

    def __init__(self) -> None:
        super().__init__("centrality", lambda seen: seen.central)


def _finished(program: Program) -> Program:
    return replace(program, source=finished_part(program.source))


def finished_part(source: str) -> str:
    """Return the statements of a program that are finished, with open blocks closed so that it can be parsed.

    A statement is finished when its line has ended. What is wrong in the finished part stays wrong.
    """
    lines = StringIO(source, newline="").readlines() if len(source) <= LONGEST else []
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines.pop()
    while lines:
        try:
            with catch_warnings(action="ignore"):
                ast.parse("".join(lines))
            return "".join(lines)
        except SyntaxError as error:
            shorter = _closed(lines, error.msg, error.lineno or 0)
        except (ValueError, RecursionError, MemoryError):
            shorter = None
        if shorter is None:
            return source
        lines = shorter
    return ""


def _closed(lines: list[str], message: str, line: int) -> list[str] | None:
    """Return lines without the statement that is not finished, or with an open block closed; None if they are wrong."""
    if "was never closed" in message or "unterminated triple-quoted" in message:
        return lines[: line - 1]
    if found := re.search(r"expected an indented block after '?(\w+).* on line (\d+)", message):
        at = int(found[2])
        header = lines[at - 1]
        space = header[: len(header) - len(header.lstrip())]
        closing = [] if found[1] in {"match", "case"} else [header, f"{space} pass\n"]
        return None if _has_code(lines[at:]) else [*lines[: at - 1], *closing]
    if "expected 'except' or 'finally' block" in message:
        for at in range(len(lines) - 1, -1, -1):
            space = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            if lines[at].lstrip().startswith("try") and all(_is_within(each, space) for each in lines[at + 1 :]):
                return [*lines, f"{space}finally:\n", f"{space} pass\n"]
    last = max((at for at, each in enumerate(lines) if _has_code([each])), default=0)
    return lines[:last] if lines[last].lstrip().startswith("@") else None


def _has_code(lines: Sequence[str]) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


def _is_within(line: str, space: str) -> bool:
    return not _has_code([line]) or (line.startswith(space) and line[len(space) : len(space) + 1].isspace())
