"""Order candidate programs of one task, as a server is asked to."""

from __future__ import annotations

from assay.operations.requests import Candidates
from assay.operations.sizing import answer_type
from assay.rank.rankers import best_first, ranker_of
from assay.values import Program, Task


@answer_type
class PlacedCandidate:
    """A candidate program in its place."""

    index: int
    """Which of the programs that were given, from 0."""
    score: float
    """Comparable among these programs only."""
    fault: str
    """How it most likely fails, or correct; empty without an opinion."""
    line: int
    """Where it most likely breaks; -1 where no line is to blame."""


@answer_type
class Order:
    """Candidate programs, the most likely right one first; none was run."""

    ranker: str
    programs: list[PlacedCandidate]


def rank(request: Candidates) -> Order:
    """Return candidate programs for one task, best first, by reading them alone."""
    chosen = ranker_of()
    task = Task("task", request.prompt, request.entry_point)
    candidates = [Program(task.id, source, str(number)) for number, source in enumerate(request.programs)]
    placed = [
        PlacedCandidate(int(each.program.id), round(float(each.score), 4), str(each.fault or ""), each.line)
        for each in best_first(chosen.rank(task, candidates))
    ]
    return Order(chosen.name, placed)
