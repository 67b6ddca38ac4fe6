"""A ranker as a scorer of search hits: the query is the task, each chunk is a candidate program.

`ranker:consensus` under `search.reranker` puts hits in the order in which the ranker thinks them right. Scores are
comparable within one query only, as those of rankers are within a task.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

from assay.errors import InputError
from assay.protocols import Ranker
from assay.rank import specs
from assay.types import Chunk, Program, Query, Task


class RankerScorer:
    """How right a chunk is as an answer to a query, by a ranker of programs."""

    def __init__(self, ranker: str | Ranker = "consensus") -> None:
        if isinstance(ranker, str):
            if specs.executes(ranker):
                raise InputError(f"'ranker:{ranker}' would run what was found: a search takes rankers that only read")
            ranker = specs.ranker_of(ranker)
        self._ranker = ranker
        self.name = f"ranker:{ranker.name}"

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return one score a chunk; higher is better."""
        if not chunks:
            return []
        task = Task(query.id, query.text)
        programs = [Program(query.id, dedent(chunk.text), chunk.id) for chunk in chunks]
        return [ranked.score for ranked in self._ranker.rank(task, programs)]
