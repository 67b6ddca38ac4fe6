"""What a model wrote and a second one graded to ground truth: the questions that can be used, and why others cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from assay.runs.record import hash_of
from assay.truth.ground_truth import Truth
from assay.truth.mine.mined import split_of
from assay.truth.written.question_faults import same_question
from assay.truth.written.question_orders import QuestionOrder
from assay.types import Judgment, Query

SOURCE = "written"


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question about a unit, and what became of it."""

    order: QuestionOrder
    target: str
    question: str
    """Empty where there is none."""
    grade: int | None
    """2 where the unit answers, 1 where it helps, 0 where it does not or nothing was asked; None is undecided."""
    judge: str
    reason: str


@dataclass(slots=True)
class WrittenTruth:
    """Ground truth of questions, and what was left out of it."""

    truth: Truth
    left_out: Counter[str] = field(default_factory=Counter)
    """Why, and how many."""


def gather(truth: Truth, written: Iterable[WrittenQuestion]) -> WrittenTruth:
    """Add the questions that can be used to a ground truth without any; the first of two that ask the same counts."""
    found = WrittenTruth(truth)
    queries: list[Query] = []
    judgments: list[Judgment] = []
    asked: set[tuple[str, ...]] = set()
    for one in written:
        key = same_question(one.question)
        if why := _why_not(one, key in asked):
            found.left_out[why] += 1
            continue
        asked.add(key)
        name = f"{SOURCE}-{hash_of(one.question + one.target)[:12]}"
        sort = one.order.sort
        tags = {"kind": one.order.kind, "unit": sort, "source": SOURCE, "split": split_of(one.order.path)}
        queries.append(Query(name, one.question, "docs" if sort == "documentation" else "code", tags=tags))
        judgments.append(Judgment(name, one.target, one.grade or 0, one.judge, one.reason))
    found.truth = replace(truth, queries=tuple(queries), judgments=tuple(judgments))
    return found


def _why_not(one: WrittenQuestion, repeated: bool) -> str:  # noqa: FBT001  # one of two reasons
    if one.grade is None:
        return "undecided: no model answered, or not as asked"
    if not one.question:
        return "no question that can be used"
    if not one.grade:
        return "the unit does not answer it"
    return "the same question about another unit" if repeated else ""
