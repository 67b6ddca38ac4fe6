"""A ranker that sees no more of each program than its beginning, as if it were still being written.

A wrapper with the protocol of what it wraps, so that everything that measures rankers measures how early they know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Final

from assay.protocols import Ranker
from assay.types import Program, Ranked, Task

_TOKEN: Final = re.compile(r"\w+|[^\w\s]|\n")


class SeenRanker:
    """The order of a ranker that saw a fraction of the tokens of each program."""

    def __init__(self, ranker: Ranker, fraction: float) -> None:
        self._ranker, self.fraction = ranker, fraction
        self.told: dict[str, list[Ranked]] = {}
        """What was said of the programs of each task last."""

    @property
    def ranker(self) -> str:
        """The name of the ranker inside."""
        return self._ranker.name

    @property
    def name(self) -> str:
        """The ranker and the fraction."""
        return f"{self._ranker.name} at {self.fraction:g}"

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return what the ranker thinks of the beginnings, said of the whole programs."""
        told = self._ranker.rank(task, [self._seen(each, task.prompt) for each in programs])
        whole = [replace(each, program=program) for each, program in zip(told, programs, strict=True)]
        self.told[task.id] = whole
        return whole

    def _seen(self, program: Program, prompt: str) -> Program:
        """Return the beginning of a program, without a log-probability, which is known of the whole alone."""
        source = beginning_of(program.source, self.fraction, prompt)
        return replace(program, source=source, logprob=program.logprob if self.fraction >= 1 else None)


def beginning_of(source: str, fraction: float, prompt: str = "") -> str:
    r"""Return a fraction of the tokens of a program (words, signs, ends of lines), after a prompt that it begins with.

    >>> beginning_of("def f(x):\n    return x\n", 0.5)
    'def f(x)'
    """
    given = len(prompt) if prompt and source.startswith(prompt) else 0
    tokens = list(_TOKEN.finditer(source, given))
    count = ceil(fraction * len(tokens))
    return source if count >= len(tokens) else source[: tokens[count - 1].end() if count else given]
