"""What a reranker is trained on: a question, the texts that the ranking put first for it, and which are right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QuestionList:
    """One question with its candidates, in the order of the ranking; the source is the unit of every split."""

    question: str
    texts: tuple[str, ...]
    """The views of the candidates."""
    targets: tuple[float, ...]
    """How good an answer each is, 0 for wrong ones."""
    scores: tuple[float, ...]
    """The logit of what the ranking gives each."""
    source: str
    kind: str
    """`doc` for a sentence of documentation, `judged` for a question of a truth, `given` for a pair of a file."""
