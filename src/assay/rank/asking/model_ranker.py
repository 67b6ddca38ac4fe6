"""The ranker `chat:PROVIDER:MODEL`: the best programs of a cheaper ranker, ordered by what a model thinks of them.

A model is expensive, and a right program is among the first twenty different texts of most tasks: so it is asked about
these alone, and they stay ahead of the others. Its opinion is evidence beside the first ranker's: the log-odds of its
answer are added to the standardized score, so that a model that is sure decides, and one that says the same of all
leaves the order as it was. Programs and the task's text are untrusted: they are put between marks that they cannot
foresee. Two programs are compared in both orders; where the answers differ, or one is missing, it is a tie.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import permutations
from math import isfinite, isnan, log, nan
from statistics import fmean, pstdev
from typing import Any, Final
from urllib.parse import quote, unquote

from assay.errors import InputError, nearest
from assay.faults import Fault
from assay.llm.prompts import fill, load_prompt
from assay.llm.wrappers import ask_all
from assay.protocols import Chat, Ranker
from assay.rank.rankers import best_first
from assay.values import Program, Prompt, Ranked, Reply, Task

WAYS: Final = {"pointwise": 20, "pairwise": 5}
"""How a model may be asked, with how many programs of a task it is asked about where nothing else is said."""
_UNQUOTED: Final = ":/@,"


@dataclass(frozen=True, slots=True)
class ModelRankerOptions:
    """Which programs a model is asked about, and how."""

    way: str = "pointwise"
    """Each program by itself, or every two of them in both orders."""
    top: int = field(default=0, metadata={"least": 1})
    """Different texts of a task, the best of the first ranker; 0 is as many as suits the way."""
    votes: int = field(default=1, metadata={"least": 1})
    """How often the same is asked; opinions are means."""
    weight: float = field(default=1.0, metadata={"least": 0})
    """What the model's log-odds count beside the standardized score of the first ranker."""
    first: str = "consensus"
    """The spec of the ranker whose best programs the model is asked about."""

    @property
    def most(self) -> int:
        """The number of different texts that the model is asked about."""
        return self.top or WAYS[self.way]

    def __str__(self) -> str:
        """Return these options as a spec has them, without those that are as usual."""
        usual = ModelRankerOptions()
        named = ((each.name, getattr(self, each.name)) for each in fields(self))
        said = ((name, value) for name, value in named if value != getattr(usual, name))
        return "&".join(f"{name}={quote(str(value), safe=_UNQUOTED)}" for name, value in said)


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
            own[name] = _value(f"chat:{argument}", name, unquote(text))
        else:
            others.append(part)
    return f"{chat}?{'&'.join(others)}" if others else chat, ModelRankerOptions(**own)


def _value(spec: str, name: str, text: str) -> str | int | float:
    """Return the value of an option, checked."""
    usual = getattr(ModelRankerOptions(), name)
    least = {each.name: each.metadata.get("least", 0) for each in fields(ModelRankerOptions)}[name]
    if name == "way" and text not in WAYS:
        raise InputError(f"option 'way' in '{spec}': unknown way '{text}'; {nearest(text, list(WAYS))}")
    if isinstance(usual, str):
        return text
    try:
        value: int | float = type(usual)(text)
    except ValueError as error:
        raise InputError(f"option '{name}' in '{spec}' is '{text}'; wanted a number") from error
    if not (isfinite(value) and value >= least):
        raise InputError(f"option '{name}' in '{spec}' is {text}; wanted {least} or more")
    return value


_ROOM: Final = "assay.rank.asking"
_POINTS: Final = {"first": (1.0, 0.0), "second": (0.0, 1.0), "neither": (0.5, 0.5)}

_EVEN: Final = 50


@dataclass(frozen=True, slots=True)
class ModelOpinion:
    """What a model thinks of one program."""

    chance: float = nan
    """How likely it is right, or of the games against others, the fraction won; nan without an answer."""
    fault: Fault | None = None
    answers: int = 0


@dataclass(frozen=True, slots=True)
class ModelQuestions:
    """How a model is asked."""

    chat: Chat
    votes: int = 1
    in_flight: int = 1
    """Questions that are under way at once."""

    def ask(self, prompts_of: Callable[[int], Sequence[Prompt]]) -> list[list[Reply | None]]:
        """Return the replies of each vote to its prompts."""
        rounds = [prompts_of(vote) for vote in range(1, self.votes + 1)]
        replies = iter(ask_all(self.chat, [prompt for each in rounds for prompt in each], self.in_flight))
        return [[next(replies) for _ in each] for each in rounds]


def pointwise(asking: ModelQuestions, task: Task, sources: Sequence[str]) -> list[ModelOpinion]:
    """Return what a model thinks of each program by itself."""
    text = task_text(task)

    def prompts(vote: int) -> list[Prompt]:
        return [_prompt("pointwise", {"task": text, "program": source}, vote, "program") for source in sources]

    votes = asking.ask(prompts)
    return [_opinion([reply for reply in of_one if reply]) for of_one in zip(*votes, strict=True)]


def pairwise(asking: ModelQuestions, task: Task, sources: Sequence[str]) -> list[ModelOpinion]:
    """Return which part of its games each program wins: every two are compared, in both orders."""
    text = task_text(task)
    games = list(permutations(range(len(sources)), 2))

    def prompts(vote: int) -> list[Prompt]:
        texts = ({"task": text, "first": sources[one], "second": sources[other]} for one, other in games)
        return [_prompt("pairwise", each, vote, "pair") for each in texts]

    points = [list[float]() for _ in sources]
    for vote in asking.ask(prompts):
        said = dict(zip(games, vote, strict=True))
        for one, other in games:
            if one < other and (ends := _ends(said[one, other], said[other, one])):
                points[one].append(ends[0])
                points[other].append(ends[1])
    return [ModelOpinion(sum(each) / len(each), answers=len(each)) if each else ModelOpinion() for each in points]


ASKED: Final[Mapping[str, Callable[[ModelQuestions, Task, Sequence[str]], list[ModelOpinion]]]] = {
    "pointwise": pointwise,
    "pairwise": pairwise,
}
"""How a model may be asked, by name."""


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


def _prompt(name: str, texts: Mapping[str, str], vote: int, about: str) -> Prompt:
    return fill(load_prompt(name, _ROOM), texts, vote, about)


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


def _ends(one_first: Reply | None, other_first: Reply | None) -> tuple[float, float] | None:
    """Return the points of two programs from both orders: a tie where these differ, nothing without both answers."""
    if one_first is None or other_first is None:
        return None
    ahead, behind = _POINTS[one_first.value["better"]], _POINTS[other_first.value["better"]][::-1]
    return ahead if ahead == behind else _POINTS["neither"]


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
