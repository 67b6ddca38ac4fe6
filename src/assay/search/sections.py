"""Decide when documentation is shown beside code, and which of the two comes first.

Neither list is ordered against the other: each has probabilities of its own, and only the best of both are compared. Of
questions that documentation answers, nine of ten have a section that is nearly as likely as the best code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.search.messages import without_log_prefix
from assay.search.query_filters import LONG
from assay.search.question import understand
from assay.values import Hit, Query

SECTIONS, FOUND = 3, 9
"""Sections of documentation beside code, at most; and how many are searched, as some are copies."""
SURE = 0.2
"""The probability that a section needs if no code is relevant and the question is not how to do something."""
_AS_LIKELY, _AS_THE_FIRST = 0.7, 0.5
"""Of the best code's probability, what the best section has at least; of the best section's, what a further one has."""
_HOW = re.compile(
    r"\s*(?:how (?:do|can|to|should|would|does one|might)\b(?! (?:it|they|this|the \w+ (?:work|know|decide|handle))\b)"
    r"|(?:can|could|may|should) (?:i|we|you|one|it|users?)\b|is (?:it possible|there a (?:way|setting|option|flag))\b"
    r"|what(?:'s| is) the (?:right|best|recommended) way|i (?:want|need|would like|'d like) to\b|we (?:want|need) to\b"
    r"|(?:docs?|documentation|guide|tutorial) (?:on|for|about|of)\b)",
    re.IGNORECASE,
)


def asks_how(text: str) -> bool:
    """Return whether a question asks how to do something with a program, rather than how the program does it."""
    return bool(_HOW.match(text))


def may_have_sections(query: Query) -> bool:
    """Return whether documentation may stand beside the code that a query asks for: it is a question, and keeps all."""
    if query.mode != "code" or any(query.filters) or len(query.text) > LONG or "\n" in query.text:
        return False
    return understand(query.text).typed.target is None and without_log_prefix(query.text) == query.text


def come_first(sections: Sequence[Hit], hits: Sequence[Hit], texts: Iterable[str]) -> bool:
    """Return whether sections come before the code: how to do something is asked, and they are likely to answer."""
    return bool(sections) and any(map(asks_how, texts)) and _as_likely(sections, hits)


def _as_likely(sections: Sequence[Hit], hits: Sequence[Hit]) -> bool:
    return not hits or sections[0].score >= _AS_LIKELY * hits[0].score


def likely_sections(sections: Sequence[Hit], hits: Sequence[Hit], *, how: bool) -> list[Hit]:
    """Return the sections that are worth showing beside some code; all of them for a question how to do something."""
    if not sections or not (how or _as_likely(sections, hits)):
        return []
    likely = [hit for hit in sections if how or hit.score >= _AS_THE_FIRST * sections[0].score]
    return _without_copies(likely)[:SECTIONS]


_VERSION = re.compile(r"(?:^|[/_-])v?\d+(?:\.\w+)+(?:/|$)|/(?:versions?|versioned_\w+|archive|old)/")


def _without_copies(sections: Sequence[Hit]) -> list[Hit]:
    """Return one of the sections with the same text for several versions of a program, that of none if there is one."""
    copies: dict[tuple[str, ...], list[Hit]] = {}
    for hit in sections:
        chunk = hit.chunk
        name = chunk.path.rpartition("/")[2]
        copies.setdefault((chunk.root, name, chunk.parent, chunk.symbol), []).append(hit)
    return [
        replace(min(same, key=lambda hit: bool(_VERSION.search(hit.chunk.path))), score=same[0].score)
        if same[0].chunk.symbol
        else same[0]
        for same in copies.values()
    ]
