"""What a training run of a reranker does: with its lists and its base model, these values say everything."""

from __future__ import annotations

from dataclasses import dataclass

from assay.encode.train_settings import SplitSettings
from assay.settings import at_least

_COUNTS = ("layers", "together", "tokens", "candidates", "negatives", "depth", "epochs", "batch", "looks")


@dataclass(frozen=True, slots=True)
class RerankerSettings(SplitSettings):
    """Sizes, rates and splits; the defaults made the figures in the documentation."""

    layers: int = 6
    """The lowest layers of the base that are kept, and read question and text apart."""
    together: int = 1
    """Copies of the last of them that read both together, and are trained."""
    tokens: int = 80
    """Of question and text together."""
    candidates: int = 12
    """Wrong texts that are kept of a list: the first ones of the ranking."""
    negatives: int = 5
    """How many of them are read beside the right one, chosen anew in each epoch."""
    questions_a_source: int = 250
    chunks_a_source: int = 4000
    depth: int = 30
    """Hits of a judged question that are in its list."""
    judged_epochs: int = 4
    """How often a judged question is learned from in the time in which the others are once."""
    epochs: int = 1
    minutes: float = 0.0
    """The rate has fallen to nothing after this time, which ends the training; 0 leaves that to the epochs."""
    batch: int = 12
    """Lists."""
    rate: float = 2e-4
    warm: float = 0.05
    """The fraction of the training in which the rate rises."""
    decay: float = 0.01
    looks: int = 8
    """How often the held-out lists are looked at; the best model so far is what is kept."""
    evaluated: int = 120
    """Held-out lists that choose the model, judged ones first."""
    half: bool = False
    """Read apart in bfloat16, which is faster on processors that can."""

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        at_least(self, dict.fromkeys((*_COUNTS, "evaluated"), 1))
