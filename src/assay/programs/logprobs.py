"""Read and write the log-probability of a program under the model that wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.io.fields import Fields
from assay.values import LogProbability

LOGPROB_FIELDS = ("logprob_sum", "logprob_mean", "logprob_tokens", "logprob_covers")
"""Fields of a record that say how likely its model found its program; the mean follows from the two beside it."""
_MAX_NATS = 1e9


def logprob_of(record: Fields) -> LogProbability | None:
    """Return the log-probability in a record of a program."""
    if "logprob_sum" not in record:
        return None
    total = record.number("logprob_sum", least=-_MAX_NATS, most=0)
    tokens = record.whole("logprob_tokens", least=0)
    return LogProbability(total, tokens, record.choice("logprob_covers", ("program", "answer"), "program"))


def logprob_sum(logprobs: Sequence[float], covers: str = "program") -> LogProbability | None:
    """Return the total log-probability of tokens; None if it is not valid in records.

    Rounding may put a certain token a little above 0, which counts as 0.
    """
    total = sum(logprobs, 0.0)
    return LogProbability(min(total, 0.0), len(logprobs), covers) if abs(total) <= _MAX_NATS else None


def logprob_fields(logprob: LogProbability | None) -> dict[str, Any]:
    """Return the fields of a log-probability for a record."""
    if logprob is None:
        return {}
    values = (round(logprob.total, 6), round(logprob.mean, 6), logprob.tokens, logprob.covers)
    return dict(zip(LOGPROB_FIELDS, values, strict=True))
