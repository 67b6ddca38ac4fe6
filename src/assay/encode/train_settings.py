"""What a training run of the static table does: with the pairs and what it learns from, these values say everything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What each training of a table has: its width, the stage that learns to search, and what is only evaluated on."""

    held_out: tuple[str, ...] = ()
    """Sources that are only evaluated on."""
    held_out_one_in: int = 12
    """How many of the other sources one is held out of; 0 holds out the named ones alone."""
    left_out: tuple[str, ...] = ()
    """Sources that were kept out; only recorded."""
    evaluated: int = 1000
    """Pairs of the held-out sources at most."""
    seed: int = 0
    dimension: int = 256
    epochs: int = 2
    rate: float = 4e-3
    batch: int = 1024
    temperature: float = 0.05
    keep: float = 1.0
    """The weight of staying near the teacher while learning to search."""
    hide: float = 0.5
    """The share of pairs whose common words are hidden in the answer, so that meaning has to be learned."""


@dataclass(frozen=True, slots=True)
class TrainSettings(TableSettings):
    """A table distilled from a teacher; the defaults made the first step of the shipped one."""

    entries: int = 48_000
    """Words and pieces: 256 bytes each in the shipped table."""
    rarity: float = 1e-3
    """`a` of the weight `a / (a + p)` of a word with probability `p` (Arora et al. 2017, section 3)."""
    fit_texts: int = 44_000
    fit_characters: int = 260
    fit_epochs: int = 6
    fit_rate: float = 1e-3


@dataclass(frozen=True, slots=True)
class JoinSettings(TableSettings):
    """Word vectors of another model joined to a table; the defaults made the second step of the shipped one."""

    weight: float = 0.7
    """How long a word's vector of the other model is beside the table's own row of it."""
    ridge: float = 5.0
    """The penalty of the map by which words that the other model does not know get a vector from the table's."""
    read_pairs: int = 22_000
    """Pairs whose sums choose the directions that are kept, and are stayed near while learning to search."""
    epochs: int = 1
    rate: float = 2e-3
