"""What a training run of the ranking gives: the weights of one name, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass

from assay.search.ranking import Ranking, RankingName


@dataclass(frozen=True, slots=True)
class RankingFigure:
    """One measure with its 95% interval over queries."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """How one way of ordering does on one group of queries."""

    group: str
    """`all`, or a mode, a kind or a writer."""
    system: str
    queries: int
    figures: tuple[RankingFigure, ...]


@dataclass(frozen=True, slots=True)
class Ablation:
    """By how much each figure changes without a group of features, query by query."""

    group: str
    changes: tuple[RankingFigure, ...]


@dataclass(frozen=True, slots=True)
class TrainedRanking:
    """The ranking of one name, learned from everything, with figures of the cross-validation."""

    name: RankingName
    queries: int
    repositories: tuple[str, ...]
    figures: tuple[RankingFigure, ...]
    rejected: float | None
    """The fraction of queries put to a wrong repository that fall below the floor; None if there were none."""
    foreign_rejected: float | None
    """The same of queries that no repository answers."""
    ranking: Ranking
    ablations: tuple[Ablation, ...] = ()
    lists: tuple[SystemFigures, ...] = ()
    """How lists do by score alone and in the learned order, for each manner of truth."""
