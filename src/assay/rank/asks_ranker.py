"""The ranker `asks:PROVIDER:MODEL`: the best programs of `consensus`, ordered by how likely a model calls them right.

A model is expensive, and a right program is among the first twenty different texts of most tasks: so it is asked about
these alone, and they stay ahead of the others. The log-odds of its answer are added to the standardized score of
`consensus`: a model that is sure decides, and one that says the same of all leaves the order as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from assay.errors import InputError
from assay.llm.yes_no import LONGEST, YesNoOptions, ask_about_each, program_prompts, read_spec, spec_of, with_mean
from assay.protocols import Chat, Ranker
from assay.rank.rankers import best_first
from assay.values import Program, Ranked, Task


@dataclass(frozen=True, slots=True)
class RankingModels:
    """What gives the models that rankers ask."""

    chat: Callable[[str], Chat]
    """Called with the spec of a model."""
    in_flight: int = 1
    """Questions that are under way at once."""


class AsksRanker:
    """Orders the head of another ranker's order by how likely a model calls each program right."""

    def __init__(self, chat: Chat, first: Ranker, options: YesNoOptions, in_flight: int = 1) -> None:
        self._chat, self._first, self._options, self._in_flight = chat, first, options, in_flight

    @property
    def name(self) -> str:
        """The spec that makes it again."""
        return spec_of(self._chat.name, self._options)

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the place of each program, those first that the model was asked about."""
        text, given = task_text(task), self._first.rank(task, programs)
        head = _head(given, self._options.top)
        asked = [program_prompts(text, source, self._options.orders) for source in head]
        found = dict(zip(head, ask_about_each(self._chat, asked, self._in_flight), strict=True))
        scores = [*head.values()]
        mean, spread = (fmean(scores), pstdev(scores) or 1.0) if scores else (0.0, 1.0)
        odds = with_mean([*found.values()])
        keys = {
            source: (1, (score - mean) / spread + each)
            for (source, score), each in zip(head.items(), odds, strict=True)
        }
        of = [keys.get(each.program.source, (0, each.score)) for each in given]
        places = {key: float(place) for place, key in enumerate(sorted(set(of)))}
        return [_placed(each, found.get(each.program.source), places[key]) for each, key in zip(given, of, strict=True)]


def make_asks_ranker(argument: str, models: RankingModels, first: Ranker) -> AsksRanker:
    """Return the ranker of what follows `asks:`; it starts from the order of `first`."""
    spec, options = read_spec(argument, "orders", "top")
    return AsksRanker(models.chat(spec), first, options, models.in_flight)


def task_text(task: Task) -> str:
    """Return what a model is told of a task; one without a text cannot be judged."""
    if not task.prompt.strip():
        raise InputError(
            f"{task.id}: a model cannot judge programs for a task without its text; give --tasks FILE, or a prompt in "
            "each sample"
        )
    name = re.escape(task.entry_point)
    if not name or re.search(rf"\bdef\s+{name}\b|(?<!\w){name}\(", task.prompt):
        return task.prompt
    return f"{task.prompt}\n\nThe function that is called: {task.entry_point}"


def _head(given: Sequence[Ranked], most: int) -> dict[str, float]:
    """Return the first so many different texts, each with its score; a model would read the longest only in part."""
    found: dict[str, float] = {}
    for each in best_first(given):
        if len(found) < most and len(each.program.source) <= LONGEST:
            found.setdefault(each.program.source, each.score)
    return found


def _placed(given: Ranked, log_odds: float | None, place: float) -> Ranked:
    """Return a program with its place, how it fails as the first ranker says it, and what both said."""
    why = {"first": given.score} | ({} if log_odds is None else {"log_odds": log_odds})
    return Ranked(given.program, place, given.fault, given.line, why)
