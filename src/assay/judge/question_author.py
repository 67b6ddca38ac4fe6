"""An order for a question and its unit in, the question with its grade out: a judge whose verdict holds a question.

One model writes, a second one grades whether the unit answers. What can be checked without a model is checked first,
and a question that fails is asked for again, with why. The unit's lines are those of the pair: no reply can change
them. It has the shape of a judge, so campaigns, records, budgets and replays are those of any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import BudgetSpent, ChatError, Deferred, EndpointRefused, NoAnswer
from assay.judge.algorithm import spent
from assay.judge.pair_verdict import Verdict, undecided
from assay.judge.pairs import Pair
from assay.judge.prompts import load
from assay.judge.steps import PairSession
from assay.protocols import Chat
from assay.runs.journal import Record, Steps
from assay.truth.written import fault_of_question, order_of

PROMPTS = ("question", "grade")
ANSWERS = 2
"""The grade of a unit that answers, as far as whoever wrote the question says."""


def question_versions(prompts: Path | None = None) -> dict[str, str]:
    """Return the hash of each prompt file that writing takes."""
    return {name: load(name, prompts).version for name in PROMPTS}


@dataclass(frozen=True, slots=True)
class QuestionAuthor:
    """Writes questions about units."""

    author: Chat
    checker: Chat | None
    """None where a person is to check."""
    steps: Steps
    max_tries: int
    """How often a question that fails is asked for again."""
    prompts: Path | None = None

    @property
    def name(self) -> str:
        """Who says that the unit answers: whoever checked it, else the author."""
        return f"grade:{self.checker.name}" if self.checker else f"question:{self.author.name}"

    def judge(self, pair: Pair) -> Verdict:
        """Return the question about a pair of an order and a unit, and its grade."""
        session = PairSession(pair, self.author, self.steps, prompts=self.prompts)
        taken: list[Sequence[Record]] = [session.taken]
        try:
            verdict = self._question_of(session, taken)
        except (BudgetSpent, Deferred, EndpointRefused):
            raise
        except ChatError as error:
            verdict = undecided("reply" if isinstance(error, NoAnswer) else "chat", str(error))
        steps = [step for each in taken for step in each]
        told = {**verdict.told, **spent(steps)}
        return Verdict(verdict.grade, verdict.reason, verdict.path, problem=verdict.problem, told=told)

    def _question_of(self, session: PairSession, taken: list[Sequence[Record]]) -> Verdict:
        order, refused = order_of(session.pair.query.text), list[str]()
        for _ in range(1 + self.max_tries):
            earlier = "\n".join(refused) or "(no question was refused yet)"
            said = session.ask("question", order=session.pair.query.text, refused=earlier)
            question = " ".join(said["question"].split())
            if not question:
                return Verdict(0, "nothing to ask about it", "declined", told={"question": "", "refused": refused})
            if not (fault := fault_of_question(question, order)):
                return self._checked(session.pair, question, {"question": question, "refused": refused}, taken)
            refused.append(f"{question[:300]!r} was refused: {fault}")
        return Verdict(0, refused[-1], "refused", told={"question": "", "refused": refused})

    def _checked(self, pair: Pair, question: str, told: Mapping[str, Any], taken: list[Sequence[Record]]) -> Verdict:
        if self.checker is None:
            return Verdict(ANSWERS, "as whoever wrote the question says", "written", told=told)
        session = PairSession(pair, self.checker, self.steps, prompts=self.prompts)
        taken.append(session.taken)
        said = session.ask("grade", question=question)
        return Verdict(said["grade"], said["reason"], "checked", told=told)
