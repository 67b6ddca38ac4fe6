"""Open the chat of a spec, with a budget and a rate, for as long as a stack of contexts lasts."""

from __future__ import annotations

import math
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING

from assay import plugins
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.llm.wrappers import Budget
    from assay.protocols import Chat
_AMOUNT = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)\s*(k|M)?\s*(usd|req|tok)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def open_chat(spec: str, stack: ExitStack, *, budget: Budget | None = None, rate: str = "") -> Chat:
    """Return the chat of a spec; several can share one budget, and each keeps to the rate by itself."""
    from assay.llm.wrappers import BudgetedChat, Pace, PacedChat

    inner = plugins.make("chat", spec)
    if hasattr(inner, "close"):
        stack.callback(inner.close)
    chat: Chat = BudgetedChat(inner, budget) if budget else inner
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


def remembered(chat: Chat, stack: ExitStack) -> Chat:
    """Return a chat that pays once for each prompt in all campaigns; replies of a script are not shared."""
    if chat.name.startswith("scripted:"):
        return chat
    from platformdirs import user_cache_path

    from assay.llm.wrappers import CachedChat

    cached = CachedChat(chat, user_cache_path("assay") / "replies.sqlite")
    stack.callback(cached.close)
    return cached


def budget_of(text: str, tokens: int = 0, usd: float = 0.0) -> Budget:
    """Return the budget of a text, with what was spent before; unlimited if the text has no limit."""
    from assay.llm.endpoint import Spend
    from assay.llm.wrappers import Budget

    most_usd, most_tokens = _amounts(text, "budget", "usd", "5usd, 200ktok or 2Mtok")
    return Budget(usd=most_usd, tokens=most_tokens, spent=Spend(tokens, usd))


def rate_of(text: str) -> tuple[float, float]:
    """Return the requests and tokens per minute that a text allows; unlimited if it has no limit."""
    return _amounts(text, "rate", "req", "500req, 200ktok or 2Mtok")


def _amounts(text: str, what: str, unit: str, examples: str) -> tuple[float, float]:
    """Return the amount of a unit and that of tokens in a text."""
    amounts = {unit: math.inf, "tok": math.inf}
    for part in filter(None, re.split(r"[,\s]+", text.strip())):
        match = _AMOUNT.fullmatch(part)
        found = match[3].lower() if match else ""
        if match is None or found not in amounts or (match[2] and found != "tok"):
            raise InputError(f"invalid {what} '{part}'; give an amount, as in {examples}, or two with a comma")
        amounts[found] = float(match[1].replace("_", "")) * _UNITS[(match[2] or "").lower()]
    return amounts[unit], amounts["tok"]
