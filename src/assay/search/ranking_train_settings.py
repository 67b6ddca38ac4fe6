"""What a training run of the learned ranking does: with the judged queries and their corpora, these values say all."""

from __future__ import annotations

from dataclasses import dataclass

from assay.settings import at_least


@dataclass(frozen=True, slots=True)
class RankingTrainSettings:
    """Sizes, rates and folds; the defaults made the shipped weights."""

    encoder: str = "static:default"
    """The spec of the encoder whose cosines are learned with; one for bags of words, one for contextual encoders."""
    folds: int = 4
    """Groups that take turns in being held out, whole writers and whole repositories."""
    seeds: int = 4
    """Networks that are fitted side by side and averaged."""
    steps: int = 200
    batch: int = 160
    """Queries."""
    rate: float = 0.03
    hide: float = 0.1
    """The fraction of features that are hidden from a query at random while it is learned from."""
    hidden_code: int = 16
    hidden_docs: int = 8
    """Units of the hidden layer; 0 is a linear ranking."""
    decay_code: float = 0.1
    decay_docs: float = 1.0
    relevance_hidden: int = 16
    relevance_steps: int = 600
    relevance_rate: float = 0.01
    relevance_decay: float = 0.01
    """Of the network that tells answerable queries from foreign ones."""
    strangers: float = 0.25
    """What a query that another repository answers counts beside one that none does: some are answered here, too."""
    false_alarms: float = 0.05
    """The fraction of queries answered in the first five that may be told that nothing relevant was found."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        at_least(self, {"folds": 2, "seeds": 1, "steps": 1, "batch": 1})

    def hidden(self, mode: str) -> int:
        """Return how many hidden units the ranking of a mode has."""
        return self.hidden_docs if mode == "docs" else self.hidden_code

    def decay(self, mode: str) -> float:
        """Return the weight decay of a mode."""
        return self.decay_docs if mode == "docs" else self.decay_code
