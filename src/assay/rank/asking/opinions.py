"""Some programs of one task to what a model thinks of each: asked about each alone, or about every two of them.

Programs and the task's text are texts of strangers: they stand between marks that they cannot foresee. Two programs are
asked about in both orders, and where the answers differ, or one is missing, nobody has won: what stands first gains
nothing by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import nan
from typing import Final

from assay.errors import InputError
from assay.faults import Fault
from assay.llm.prompts import fill, load_prompt
from assay.llm.wrappers import ask_all
from assay.protocols import Chat
from assay.types import Prompt, Reply, Task

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
