"""The ranker `chat:PROVIDER:MODEL`: the best programs of a cheaper ranker, ordered by what a model thinks of them.

A model is expensive, and a right program is among the first twenty different texts of most tasks: so it is asked about
these alone, and they stay ahead of the others. Its opinion is evidence beside the first ranker's: the log-odds of its
answer are added to the standardized score, so that a model that is sure decides, and one that says the same of all
leaves the order as it was. Programs and the task's text are untrusted: they are put between marks that they cannot
foresee.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from math import isfinite, isnan, log, nan
from statistics import fmean, pstdev
from typing import Any, Final
from urllib.parse import quote, unquote

from assay.errors import InputError
from assay.faults import Fault
from assay.llm.prompts import fill, load_prompt
from assay.llm.wrappers import ask_all
from assay.protocols import Chat, Ranker
from assay.rank.rankers import best_first
from assay.values import Program, Ranked, Reply, Task

_UNQUOTED: Final = ":/@,"


@dataclass(frozen=True, slots=True)
class ModelRankerOptions:
    """Which programs a model is asked about, and how."""

    top: int = field(default=20, metadata={"least": 1})
    """Different texts of a task, the best of the first ranker."""
    votes: int = field(default=1, metadata={"least": 1})
    """How often the same is asked; opinions are means."""
    weight: float = field(default=1.0, metadata={"least": 0})
    """What the model's log-odds count beside the standardized score of the first ranker."""
    first: str = "consensus"
    """The spec of the ranker whose best programs the model is asked about."""

    def __str__(self) -> str:
        """Return these options as a spec has them, without those that are as usual."""
        values = ((each, getattr(self, each.name)) for each in fields(self))
        return "&".join(
            f"{each.name}={quote(str(value), safe=_UNQUOTED)}" for each, value in values if value != each.default
        )


def model_spec(argument: str) -> tuple[str, ModelRankerOptions]:
    """Return the spec of the model and the options of the ranker."""
    chat, _, query = argument.partition("?")
    if not chat:
        raise InputError("the ranker 'chat' names no model; write chat:PROVIDER:MODEL, as in chat:ollama:qwen3")
    known = {each.name: each for each in fields(ModelRankerOptions)}
    own, others = dict[str, Any](), []
    for part in filter(None, query.split("&")):
        name, _, text = part.partition("=")
        if name in known:
            own[name] = _value(f"chat:{argument}", known[name], unquote(text))
        else:
            others.append(part)
    return f"{chat}?{'&'.join(others)}" if others else chat, ModelRankerOptions(**own)


def _value(spec: str, option: Field[Any], text: str) -> str | int | float:
    """Return the value of an option, checked."""
    if isinstance(option.default, str):
        return text
    least = option.metadata["least"]
    try:
        value: int | float = (int if isinstance(option.default, int) else float)(text)
    except ValueError as error:
        raise InputError(f"option '{option.name}' in '{spec}' is '{text}'; wanted a number") from error
    if not (isfinite(value) and value >= least):
        raise InputError(f"option '{option.name}' in '{spec}' is {text}; wanted {least} or more")
    return value


_EVEN: Final = 50


@dataclass(frozen=True, slots=True)
class ModelOpinion:
    """What a model thinks of one program."""

    chance: float = nan
    """How likely it is right; nan without an answer."""
    fault: Fault | None = None
    answers: int = 0


def pointwise(
    chat: Chat, task: Task, sources: Sequence[str], *, votes: int = 1, in_flight: int = 1
) -> list[ModelOpinion]:
    """Return what a model thinks of each program by itself, the mean of some votes."""
    text, template = task_text(task), load_prompt("pointwise", "assay.rank")
    prompts = [
        fill(template, {"task": text, "program": source}, vote, "program")
        for vote in range(1, votes + 1)
        for source in sources
    ]
    replies = list(ask_all(chat, prompts, in_flight))
    return [_opinion([reply for reply in replies[at :: len(sources)] if reply]) for at in range(len(sources))]


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


def _opinion(replies: Sequence[Reply]) -> ModelOpinion:
    """Return the mean of what was answered about one program, with the class that most answers name.

    An answer that contradicts itself, such as likely right and a TypeError, counts as none.
    """
    replies = [reply for reply in replies if (reply.value["fault"] == Fault.CORRECT) == (reply.value["right"] >= _EVEN)]
    if not replies:
        return ModelOpinion()
    chance = sum(reply.value["right"] for reply in replies) / (100 * len(replies))
    [(fault, _)] = Counter(reply.value["fault"] for reply in replies).most_common(1)
    return ModelOpinion(chance, Fault(fault), len(replies))


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
        head = _head(given, self._options.top)
        found = pointwise(self._chat, task, list(head), votes=self._options.votes, in_flight=self._in_flight)
        opinions = dict(zip(head, found, strict=True))
        blended = _blended(list(head.values()), found, self._options.weight)
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
