"""Options to the models that rankers ask: within a budget, at a pace, each reply recorded before it is used.

Replies are found by the question and by who is asked, so any number of commands and rankers may share one file of
records: what stands there is not asked again, and a replay asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.assemble.open_chat import budget_of, chat_name, open_chat, remembered
from assay.errors import InputError, counted
from assay.llm.recorded import RecordedChat, ReplayedChat, reply_journal, spent_in
from assay.protocols import Say
from assay.rank.asking.model_ranker import RankingModels
from assay.runs.record import NoSteps, Steps, sole_writer

if TYPE_CHECKING:
    from assay.protocols import Chat

IN_FLIGHT: Final = 8
"""Questions that are under way at once where nothing else is said."""
_OPTION = "--records"


@dataclass(frozen=True, slots=True)
class RankerChatOptions:
    """How rankers may ask models."""

    budget: str = ""
    """As `5usd` or `2Mtok`; empty is none."""
    rate: str = ""
    """A minute and a model, as `500req` or `200ktok`; empty is none."""
    in_flight: int = IN_FLIGHT
    """Questions that are under way at once."""
    records: Path | None = None
    """Where replies are kept; nowhere if none."""
    replay: bool = False
    """Whether the records are all there is, and nobody is asked."""
    no_cache: bool = False
    """Whether models are asked again what other commands asked them."""


@contextmanager
def open_models(options: RankerChatOptions, say: Say) -> Iterator[RankingModels]:
    """Give what opens models for rankers; all is closed with the block, which says what it took."""
    if options.replay and (options.budget or options.rate or options.no_cache):
        raise InputError("--replay asks no model: leave --budget, --rate and --no-cache out")
    chats: dict[str, RecordedChat] = {}
    with ExitStack() as stack:
        steps = _steps(options, stack)
        budget = None
        if options.budget:
            before = spent_in(options.records) if options.records else None
            budget = budget_of(options.budget, *((before.tokens, before.usd) if before else ()))

        def opened(spec: str) -> Chat:
            if spec not in chats:
                if options.replay:
                    inner: Chat = ReplayedChat(chat_name(spec))
                else:
                    inner = open_chat(spec, stack, budget=budget, rate=options.rate)
                    inner = inner if options.no_cache else remembered(inner, stack)
                chats[spec] = RecordedChat(inner, steps)
            return chats[spec]

        try:
            yield RankingModels(opened, options.in_flight)
        finally:
            for chat in chats.values():
                if line := _summary(chat):
                    say(line)


def _steps(options: RankerChatOptions, stack: ExitStack) -> Steps:
    """Return where replies are kept, and nobody else writes meanwhile."""
    if options.records is None:
        return NoSteps()
    if options.replay:
        if not options.records.is_file():
            raise InputError(f"no such file: '{options.records}'; the same command without --replay writes it")
        return reply_journal(options.records, only_read=True)
    stack.enter_context(sole_writer(options.records, _OPTION))
    return reply_journal(options.records)


def _summary(chat: RecordedChat) -> str:
    """Return what became of the questions to a chat; nothing where there were none."""
    counts = chat.counts
    if not counts.answered + counts.failed:
        return ""
    said = [counted(counts.answered, "answer")]
    if counts.failed:
        said.append(f"{counted(counts.failed, 'question')} without a usable answer")
    if counts.recorded:
        said.append(f"{counts.recorded:,} of these from the records")
    cost = f", ${counts.cost:.4f}" if counts.cost else ""
    return f"{chat.name}: {', '.join(said)}; {counts.tokens:,} tokens{cost}"
