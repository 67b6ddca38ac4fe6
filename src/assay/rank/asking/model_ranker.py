"""The ranker `chat:PROVIDER:MODEL`: the best programs of a cheaper ranker, ordered by what a model thinks of them.

A model is dear, and a right program stands among the first twenty different texts of most tasks: so it is asked about
these alone, and they stay ahead of the others. Its opinion joins the first ranker's as evidence does: the log-odds of
what it says beside the standardized score, so that a model that is sure decides, and one that says the same of all
leaves the order as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, log
from statistics import fmean, pstdev
from typing import Final

from assay.protocols import Chat, Ranker
from assay.rank.asking.model_spec import ModelRankerOptions, model_spec
from assay.rank.asking.opinions import ASKED, ModelOpinion, ModelQuestions
from assay.rank.order import best_first
from assay.types import Program, Ranked, Task

LONGEST: Final = 20_000
"""Characters of a program that a model is asked about; a longer one stands behind those."""
_SUREST: Final = 0.02
"""What is left of doubt: no opinion is taken for more certain than that."""


@dataclass(frozen=True, slots=True)
class RankingModels:
    """What gives the models that rankers ask."""

    chat: Callable[[str], Chat]
    """Called with the spec of a model."""
    in_flight: int = 1
    """Questions that are under way at once."""


class ModelRanker:
    """Orders the head of another ranker's order by what a model thinks."""

    def __init__(self, chat: Chat, first: Ranker, options: ModelRankerOptions, in_flight: int = 1) -> None:
        self._chat, self._first, self._options, self._in_flight = chat, first, options, in_flight

    @property
    def name(self) -> str:
        """The spec that makes it again."""
        own = str(self._options)
        return f"chat:{self._chat.name}{('&' if '?' in self._chat.name else '?') + own if own else ''}"

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the place of each program, those first that the model was asked about."""
        given = self._first.rank(task, programs)
        head = _head(given, self._options.most)
        asking = ModelQuestions(self._chat, self._options.votes, self._in_flight)
        told = ASKED[self._options.way](asking, task, list(head))
        opinions = dict(zip(head, told, strict=True))
        blended = _blended(list(head.values()), told, self._options.weight)
        keys = {source: (1, score) for source, score in zip(head, blended, strict=True)}
        of = [keys.get(each.program.source, (0, each.score)) for each in given]
        places = {key: float(place) for place, key in enumerate(sorted(set(of)))}
        return [
            _joined(each, opinions.get(each.program.source), places[key]) for each, key in zip(given, of, strict=True)
        ]


def make_model_ranker(argument: str, models: RankingModels, ranker_of: Callable[[str], Ranker]) -> ModelRanker:
    """Return the ranker of what follows `chat:`; `ranker_of` gives the one whose order it starts from."""
    spec, options = model_spec(argument)
    return ModelRanker(models.chat(spec), ranker_of(options.first), options, models.in_flight)


def _head(given: Sequence[Ranked], most: int) -> dict[str, float]:
    """Return the first so many different texts, each with its score."""
    found: dict[str, float] = {}
    for each in best_first(given):
        if len(found) < most and len(each.program.source) <= LONGEST:
            found.setdefault(each.program.source, each.score)
    return found


def _blended(scores: Sequence[float], opinions: Sequence[ModelOpinion], weight: float) -> list[float]:
    """Return standardized scores with the log-odds of opinions added; a program without one has their mean."""
    if not scores:
        return []
    mean, spread = fmean(scores), pstdev(scores) or 1.0
    known = [_log_odds(each.chance) for each in opinions if not isnan(each.chance)]
    usual = fmean(known) if known else 0.0
    odds = [usual if isnan(each.chance) else _log_odds(each.chance) for each in opinions]
    return [(score - mean) / spread + weight * each for score, each in zip(scores, odds, strict=True)]


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, _SUREST), 1 - _SUREST)
    return log(bounded / (1 - bounded))


def _joined(given: Ranked, opinion: ModelOpinion | None, place: float) -> Ranked:
    """Return a program with its place, how it fails as the model says it, and what both said."""
    why = {"first": given.score}
    if opinion and opinion.answers:
        why |= {"model": opinion.chance, "answers": float(opinion.answers)}
    if opinion is None or opinion.fault is None:
        return Ranked(given.program, place, given.fault, given.line, why)
    line = given.line if given.fault == opinion.fault else -1
    return Ranked(given.program, place, opinion.fault, line, why)
