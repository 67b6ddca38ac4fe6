"""Many questions to one chat, some at a time: replies in their order, and no answer where there is none for good."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from assay.errors import NoAnswer
from assay.protocols import Chat
from assay.runs.local import in_flight
from assay.types import Prompt, Reply


def ask_all(chat: Chat, prompts: Sequence[Prompt], most: int) -> list[Reply | None]:
    """Return the reply to each prompt, None where the model gave none that can be used; `most` are under way at once.

    What ends all asking, as a budget that is spent, is raised after the calls under way have ended.
    """

    def ask(place: int) -> tuple[int, Reply | None]:
        try:
            return place, chat.reply(prompts[place])
        except NoAnswer:
            return place, None

    with closing(in_flight(ask, range(len(prompts)), most)) as ends:
        told = dict(end.result() for end in ends)
    return [told[place] for place in range(len(prompts))]
