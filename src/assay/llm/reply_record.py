"""A reply of a model, or why there was none, to the line of records that says so, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from assay.errors import ChatError
from assay.llm.prices import Spend
from assay.types import Prompt, Reply

REPLY, FAILED = "reply", "failed"
"""The kinds of these lines."""


def record_of(prompt: Prompt, chat: str, got: Reply) -> dict[str, Any]:
    """Return what is written down of a reply; `chat` is the name of what was asked."""
    return {
        "part": prompt.name,
        "prompt": prompt.version,
        "chat": chat,
        "model": got.model,
        "value": dict(got.value),
        "tokens_in": got.tokens_in,
        "tokens_out": got.tokens_out,
        "cost": _priced(got.cost),
        "seconds": round(got.seconds, 3),
        "cached": got.cached,
        "tokens_cached": got.tokens_cached,
        "shareable": round(prompt.shared / max(len(prompt.system) + len(prompt.text), 1), 4),
        "attempts": got.attempts,
        "batch": got.batch,
    }


def failure_of(prompt: Prompt, chat: str, error: ChatError) -> dict[str, Any]:
    """Return what is written down of a question that had no answer: what it took all the same."""
    took = {"tokens_in": error.tokens_in, "tokens_out": error.tokens_out, "cost": _priced(error.cost)}
    return {"part": prompt.name, "chat": chat, "why": str(error), **took}


def reply_of(record: Mapping[str, Any]) -> Reply:
    """Return the reply of a line: it was paid for before."""
    return Reply(record["value"], record["model"], record["tokens_in"], record["tokens_out"], cached=True)


def is_paid(record: Mapping[str, Any]) -> bool:
    """Say whether a line is of a call that was made, and so may have cost something."""
    return record["kind"] == FAILED or (record["kind"] == REPLY and not record["cached"])


def spend_of(record: Mapping[str, Any]) -> Spend:
    """Return what the call of a line took; a cost that nobody knows counts as none."""
    return Spend(record["tokens_in"] + record["tokens_out"], record["cost"] or 0.0)


def _priced(cost: float) -> float | None:
    """Return a cost as JSON has it; an unknown one is none."""
    return None if math.isnan(cost) else cost
