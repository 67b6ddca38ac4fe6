"""Have language models write ground truth about a repository; an interrupted run goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError
from assay.judge.agents import PROMPTS
from assay.judge.campaign import CampaignSettings, JudgeFactory, Tally, run_in_waves
from assay.judge.pairs import LONGEST, Pair
from assay.judge.records import verdicts, versions
from assay.operations.judge import build_judge, open_chats
from assay.protocols import Say
from assay.truth.ground_truth import Truth
from assay.truth.mine import open_files, pinned_commit
from assay.truth.requests import KINDS, SORTS, WriteRequest
from assay.truth.written import QuestionOrder, WrittenQuestion, WrittenTruth, choose_orders, gather, order_of
from assay.values import Chunk, Query


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """What writing came to."""

    written: WrittenTruth
    tally: Tally
    orders: int
    pairs: tuple[Pair, ...]
    """Each question with its unit, for whoever checks them."""


def write_questions(
    request: WriteRequest, records: Path, say: Say, on_verdict: Callable[[Tally], None] | None = None
) -> WrittenReport:
    """Return the ground truth that models write about a repository; every reply is in `records` before it is used."""
    root = Path(request.repository).resolve()
    if not root.is_dir():
        raise InputError(f"'{root}' is not a folder; give the checkout to ask about")
    commit = pinned_commit(root, request.at)
    with open_files(root, commit) as files:
        chosen = choose_orders(files, request.seed, request.limit, request.sorts or SORTS, request.kinds or KINDS)
    if not chosen:
        raise InputError(f"'{root}' has no {' or '.join(request.sorts or SORTS)} to ask about")
    with ExitStack() as stack:
        specs = tuple(filter(None, (request.chat, request.checker)))
        chats, later = open_chats(specs, request, records, stack)
        names, prompts = tuple(chat.name for chat in chats), versions(names=PROMPTS)
        settings = CampaignSettings("author", names, config="", max_tries=request.max_tries, prompts=prompts)
        tally = run_in_waves(
            lambda: map(_pair, chosen),
            JudgeFactory(lambda steps: build_judge(settings, chats, steps), settings, later),
            records,
            say,
            total=request.limit,
            workers=request.workers,
            retry=request.retry,
            on_verdict=on_verdict,
        )
    truth = Truth(root.name or "root", (), (), repository=str(root), commit=commit)
    written = gather(truth, _written(chosen, records))
    codes = {unit.id: _code(unit) for _, unit in chosen}
    answered = zip(written.truth.queries, written.truth.judgments, strict=True)
    pairs = tuple(Pair(query, codes[judgment.target]) for query, judgment in answered)
    return WrittenReport(written, tally, len(chosen), pairs)


def _pair(chosen: tuple[QuestionOrder, Chunk]) -> Pair:
    order, unit = chosen
    return Pair(Query(f"{order.kind}-{unit.id}", order.text), _code(unit))


def _code(unit: Chunk) -> Chunk:
    return Chunk(unit.id, unit.text[:LONGEST], unit.language)


def _written(chosen: list[tuple[QuestionOrder, Chunk]], records: Path) -> Iterator[WrittenQuestion]:
    """Yield what became of each order, in their order; those that nobody came to are not there."""
    records_of = {record["pair"]: record for record in verdicts(records)} if records.exists() else {}
    for each in chosen:
        pair = _pair(each)
        if record := records_of.get(pair.digest):
            order, question = order_of(record["query"]), str(record.get("question", ""))
            known = record["grade"], record["judge"], record["reason"]
            yield WrittenQuestion(order, pair.code.id, question, *known)
