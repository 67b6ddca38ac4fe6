"""Have a model write a question about a unit of code, and another one grade whether the unit answers it.

What can be checked without a model is checked first, and a question that fails is requested again with the reason. The
unit's lines are those of the pair, whatever a reply says. Its verdicts are those of a judge, so campaigns, records,
budgets and replays work as for any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import ChatError
from assay.judge.agents import spent, without_answer
from assay.judge.pairs import Pair
from assay.judge.session import PairSession
from assay.judge.verdicts import Verdict
from assay.protocols import Chat
from assay.runs.record import Steps
from assay.truth.written import fault_of_question, order_of

PROMPTS = ("question", "grade")
ANSWERS = 2
"""The grade of a unit that answers, before anybody checked."""


@dataclass(frozen=True, slots=True)
class QuestionAuthor:
    """Writes questions about units."""

    author: Chat
    checker: Chat | None
    """None where a person is to check."""
    steps: Steps
    max_tries: int
    """How many more questions are requested in place of one that cannot be used."""
    prompts: Path | None = None

    @property
    def name(self) -> str:
        """Who says that the unit answers: the checker, else the author."""
        return f"grade:{self.checker.name}" if self.checker else f"question:{self.author.name}"

    def judge(self, pair: Pair) -> Verdict:
        """Return the question about a pair of an order and a unit, and its grade."""
        chats = [self.author, self.checker] if self.checker else [self.author]
        sessions = [PairSession(pair, chat, self.steps, prompts=self.prompts) for chat in chats]
        try:
            verdict = self._write(*sessions)
        except ChatError as error:
            verdict = without_answer(error)
        taken = [step for session in sessions for step in session.taken]
        return replace(verdict, told={**verdict.told, **spent(taken)})

    def _write(self, author: PairSession, checker: PairSession | None = None) -> Verdict:
        text = author.pair.query.text
        order, refused = order_of(text), list[str]()
        for _ in range(1 + self.max_tries):
            earlier = "\n".join(refused) or "(no question was refused yet)"
            question = " ".join(author.ask("question", order=text, refused=earlier)["question"].split())
            if not question:
                return Verdict(0, "nothing to ask about it", "declined", told={"question": "", "refused": refused})
            if not (fault := fault_of_question(question, order)):
                return _graded(checker, {"question": question, "refused": refused})
            refused.append(f"{question[:300]!r} was refused: {fault}")
        return Verdict(0, refused[-1], "refused", told={"question": "", "refused": refused})


def _graded(checker: PairSession | None, about: Mapping[str, Any]) -> Verdict:
    if checker is None:
        return Verdict(ANSWERS, "as the author of the question says", "written", told=about)
    reply = checker.ask("grade", question=about["question"])
    return Verdict(reply["grade"], reply["reason"], "checked", told=about)
