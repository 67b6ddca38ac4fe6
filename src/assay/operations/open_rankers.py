"""Open the models that rankers ask, within a budget and at a pace, and record each reply before it is used.

Replies are found by the question and by who is asked, so any number of commands and rankers may share one file of
records: what stands there is not asked again, and a replay asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.errors import InputError, counted
from assay.llm.recorded import RecordedChat, ReplayedChat, reply_journal, spent_in
from assay.operations.open_chat import budget_of, chat_name, open_chat, remembered
from assay.protocols import Say
from assay.rank.asking.model_ranker import RankingModels
from assay.runs.record import NoSteps, Steps, sole_writer

if TYPE_CHECKING:
    from assay.protocols import Chat

IN_FLIGHT: Final = 8
"""Questions that are under way at once where nothing else is said."""


@contextmanager
def open_models(  # noqa: PLR0913  # each is one thing
    say: Say,
    *,
    budget: str = "",
    rate: str = "",
    in_flight: int = IN_FLIGHT,
    records: Path | None = None,
    replay: bool = False,
    no_cache: bool = False,
) -> Iterator[RankingModels]:
    """Give what opens models for rankers; all is closed with the block, which says what it took.

    `budget` is as `5usd` or `2Mtok`, `rate` as `500req` or `200ktok` a minute and a model; empty is none. Replies are
    kept in `records`; with `replay` nobody is asked, with `no_cache` models are asked again what other commands asked.
    """
    if replay and (budget or rate or no_cache):
        raise InputError("--replay asks no model: leave --budget, --rate and --no-cache out")
    chats: dict[str, RecordedChat] = {}
    with ExitStack() as stack:
        steps = _steps(records, stack, replay=replay)
        before = spent_in(records) if budget and records else None
        spent = (before.tokens, before.usd) if before else ()
        allowed = budget_of(budget, *spent) if budget else None

        def opened(spec: str) -> Chat:
            if spec not in chats:
                if replay:
                    inner: Chat = ReplayedChat(chat_name(spec))
                else:
                    inner = open_chat(spec, stack, budget=allowed, rate=rate)
                    inner = inner if no_cache else remembered(inner, stack)
                chats[spec] = RecordedChat(inner, steps)
            return chats[spec]

        try:
            yield RankingModels(opened, in_flight)
        finally:
            for chat in chats.values():
                if line := _summary(chat):
                    say(line)


def _steps(records: Path | None, stack: ExitStack, *, replay: bool) -> Steps:
    """Return where replies are kept, and nobody else writes meanwhile."""
    if records is None:
        return NoSteps()
    if replay:
        if not records.is_file():
            raise InputError(f"no such file: '{records}'; the same command without --replay writes it")
        return reply_journal(records, only_read=True)
    stack.enter_context(sole_writer(records, "--records"))
    return reply_journal(records)


def _summary(chat: RecordedChat) -> str:
    """Return what became of the questions to a chat; nothing where there were none."""
    counts = chat.counts
    if not counts.answered + counts.failed:
        return ""
    failed = f", {counted(counts.failed, 'question')} without a usable answer" if counts.failed else ""
    recorded = f", {counts.recorded:,} of these from the records" if counts.recorded else ""
    cost = f", ${counts.cost:.4f}" if counts.cost else ""
    return f"{chat.name}: {counted(counts.answered, 'answer')}{failed}{recorded}; {counts.tokens:,} tokens{cost}"
