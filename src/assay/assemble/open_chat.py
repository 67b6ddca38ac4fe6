"""The spec of a language model to a chat that is ready: within a budget, at a pace; it ends with a stack."""

from __future__ import annotations

import math
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING

from assay import plugins
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.llm.budget import Budget
    from assay.protocols import Chat

_AMOUNT = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)\s*(k|M)?\s*(usd|req|tok)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def open_chat(spec: str, stack: ExitStack, *, budget: Budget | None = None, rate: str = "") -> Chat:
    """Return the chat of a spec; those that are given one budget share it, each keeps to the rate by itself."""
    from assay.llm.budget import BudgetedChat
    from assay.llm.pace import Pace, PacedChat

    inner = plugins.make("chat", spec)
    if hasattr(inner, "close"):
        stack.callback(inner.close)
    chat: Chat = BudgetedChat(inner, budget) if budget else inner
    if rate:
        requests, tokens = rate_of(rate)
        chat = PacedChat(chat, Pace(requests=requests, tokens=tokens))
    return chat


def budget_of(text: str, tokens: int = 0, usd: float = 0.0) -> Budget:
    """Return the budget that a text allows, of which so much is spent; without end where it does not say."""
    from assay.llm.budget import Budget
    from assay.llm.prices import Spend

    said = _amounts(text, "budget", "usd", "5usd, 200ktok or 2Mtok")
    return Budget(usd=said.get("usd", math.inf), tokens=said.get("tok", math.inf), spent=Spend(tokens, usd))


def rate_of(text: str) -> tuple[float, float]:
    """Return how many requests and how many tokens a minute a text allows, without end where it does not say."""
    said = _amounts(text, "rate", "req", "500req, 200ktok or 2Mtok")
    return said.get("req", math.inf), said.get("tok", math.inf)


def _amounts(text: str, what: str, unit: str, examples: str) -> dict[str, float]:
    """Return the amounts of a text by their unit: `tok`, or the other one that there is."""
    said = {}
    for part in filter(None, re.split(r"[,\s]+", text.strip())):
        match = _AMOUNT.fullmatch(part)
        found = match[3].lower() if match else ""
        if match is None or found not in (unit, "tok") or (match[2] and found != "tok"):
            raise InputError(f"'{part}' is no {what}; wanted an amount as {examples}, or two with a comma")
        said[found] = float(match[1].replace("_", "")) * _UNITS[(match[2] or "").lower()]
    return said
