"""Open the chat of a spec, within a budget and at a pace; it ends with a stack."""

from __future__ import annotations

import math
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING

from assay import plugins
from assay.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from assay.llm.batch_chat import BatchChat
    from assay.llm.wrappers import Budget
    from assay.protocols import Chat

BATCH = "batch:"
_AMOUNT = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)\s*(k|M)?\s*(usd|req|tok)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def open_chat(spec: str, stack: ExitStack, *, budget: Budget | None = None, rate: str = "", waits: bool = True) -> Chat:
    """Return the chat of a spec; those that are given one budget share it, each keeps to the rate by itself.

    Where batches hold room in the budget, a chat must not wait for it: without `waits` it puts the question off.
    """
    from assay.llm.wrappers import BudgetedChat, Pace, PacedChat

    if spec.startswith(BATCH):
        raise InputError(f"'{spec}' answers in batches, for which only `assay judge run` can wait: leave 'batch:' out")
    inner = plugins.make("chat", spec)
    if hasattr(inner, "close"):
        stack.callback(inner.close)
    chat: Chat = BudgetedChat(inner, budget, waits=waits) if budget else inner
    if not rate:
        return chat
    requests, tokens = rate_of(rate)
    return PacedChat(chat, Pace(requests=requests, tokens=tokens))


def chat_name(spec: str) -> str:
    """Return the name of the chat of a spec; nothing is opened, and no key is needed."""
    from assay.llm.endpoint import PROVIDERS, endpoint

    provider, _, argument = spec.partition(":")
    if provider in PROVIDERS:
        return endpoint(provider, argument).name
    plugins.place("chat", provider)
    return spec


def open_batch_chat(  # noqa: PLR0913  # each is one thing
    spec: str, folder: Path, stack: ExitStack, *, budget: Budget | None = None, paid: float = 0.0, rate: str = ""
) -> BatchChat:
    """Return the chat of a spec `batch:PROVIDER:MODEL`, whose batches are in a folder; `paid` of them is accounted."""
    from assay.llm.batch_chat import BatchChat
    from assay.llm.batch_files import BatchWire
    from assay.llm.endpoint import BATCHED, PROVIDERS, Spend, endpoint
    from assay.llm.openai import OpenAiChat

    inner = spec.removeprefix(BATCH)
    provider, _, argument = inner.partition(":")
    if provider not in PROVIDERS:
        raise InputError(f"'{spec}' names no endpoint; wanted batch:PROVIDER:MODEL with one of {', '.join(PROVIDERS)}")
    found = endpoint(provider, argument)
    if found.url == PROVIDERS[provider].url and provider not in BATCHED:
        raise InputError(
            f"'{spec}': {found.url} is not known to take batches; leave 'batch:' out, or name another @URL"
        )
    direct = open_chat(inner, stack, budget=budget, rate=rate, waits=False)
    chat = BatchChat(OpenAiChat(found), BatchWire(found), folder, direct, budget=budget)
    stack.callback(chat.close)
    if budget:
        budget.add(Spend(0, max(chat.paid() - paid, 0.0)))
    return chat


def remembered(chat: Chat, stack: ExitStack) -> Chat:
    """Return a chat that pays once for each prompt, whichever campaign asks; a script stays one of its own."""
    if chat.name.startswith("scripted:"):
        return chat
    from platformdirs import user_cache_path

    from assay.llm.wrappers import CachedChat

    cached = CachedChat(chat, user_cache_path("assay") / "replies.sqlite")
    stack.callback(cached.close)
    return cached


def budget_of(text: str, tokens: int = 0, usd: float = 0.0) -> Budget:
    """Return the budget that a text allows, of which so much is spent; without end where it does not say."""
    from assay.llm.endpoint import Spend
    from assay.llm.wrappers import Budget

    most_usd, most_tokens = _amounts(text, "budget", "usd", "5usd, 200ktok or 2Mtok")
    return Budget(usd=most_usd, tokens=most_tokens, spent=Spend(tokens, usd))


def rate_of(text: str) -> tuple[float, float]:
    """Return how many requests and how many tokens a minute a text allows, without end where it does not say."""
    return _amounts(text, "rate", "req", "500req, 200ktok or 2Mtok")


def _amounts(text: str, what: str, unit: str, examples: str) -> tuple[float, float]:
    """Return the amount of a unit and of tokens that a text names."""
    amounts = {unit: math.inf, "tok": math.inf}
    for part in filter(None, re.split(r"[,\s]+", text.strip())):
        match = _AMOUNT.fullmatch(part)
        found = match[3].lower() if match else ""
        if match is None or found not in amounts or (match[2] and found != "tok"):
            raise InputError(f"'{part}' is no {what}; wanted an amount as {examples}, or two with a comma")
        amounts[found] = float(match[1].replace("_", "")) * _UNITS[(match[2] or "").lower()]
    return amounts[unit], amounts["tok"]
