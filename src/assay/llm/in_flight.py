"""Many questions to one chat, some at a time: replies in their order, and no answer where there is none for good."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from assay.errors import NoAnswer
from assay.protocols import Chat
from assay.types import Prompt, Reply


def ask_all(chat: Chat, prompts: Sequence[Prompt], most: int) -> list[Reply | None]:
    """Return the reply to each prompt, None where the model gave none that can be used; `most` are under way at once.

    What ends all asking, as a budget that is spent, is raised after the calls under way have ended.
    """
    if most == 1 or len(prompts) < 2:
        return [_reply(chat, prompt) for prompt in prompts]
    threads = ThreadPoolExecutor(min(most, len(prompts)), "ask")
    try:
        asked = [threads.submit(_reply, chat, prompt) for prompt in prompts]
        return [each.result() for each in asked]
    finally:
        threads.shutdown(cancel_futures=True)


def _reply(chat: Chat, prompt: Prompt) -> Reply | None:
    try:
        return chat.reply(prompt)
    except NoAnswer:
        return None
