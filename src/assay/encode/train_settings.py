"""What a training run of the static table does: with the pairs and the teacher, these values say everything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """Sizes, rates and weights; the defaults made the shipped table."""

    dimension: int = 256
    entries: int = 48_000
    """Words and pieces: 256 bytes each in the shipped table."""
    rarity: float = 1e-3
    """`a` of the weight `a / (a + p)` of a word with probability `p` (Arora et al. 2017, section 3)."""
    fit_texts: int = 44_000
    fit_characters: int = 260
    fit_epochs: int = 6
    fit_rate: float = 1e-3
    epochs: int = 2
    rate: float = 4e-3
    batch: int = 1024
    temperature: float = 0.05
    keep: float = 1.0
    """The weight of staying near the teacher while learning to search."""
    hide: float = 0.5
    """The share of pairs whose common words are hidden in the answer, so that meaning has to be learned."""
    held_out: tuple[str, ...] = ()
    """Sources that are only evaluated on, beside one in twelve of all others."""
    left_out: tuple[str, ...] = ()
    """Sources that were kept out of the pairs; only recorded."""
    evaluated: int = 1000
    seed: int = 0
