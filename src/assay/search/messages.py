"""Find the string in a text that a pasted message was made from, and its line.

A message stands in the code as a string whose variable parts are holes (`{name}`, `%s`, `${port}`), or as several
strings with values between them; a question that pastes it may have a time, a level or the kind of the error before it.
Words are compared as they stand, without letter case and punctuation. What was quoted, or is the whole question, may
stand anywhere in the text.

Two or three words are a message only where the question looks like one and is explained by them; four are one anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.corpus.code_strings import joined_strings, pieces_of
from assay.search.question import Question
from assay.search.retrievers import TermMatch
from assay.store.postings import FIELDS
from assay.store.snapshot import Snapshot
from assay.terms import STOP_WORDS, spaced, words
from assay.terms import terms as stems
from assay.values import Chunk

BODY = FIELDS.index("body")
READ = 20_000
"""Characters of a chunk that are compared word by word."""
_ANYWHERE_WORDS, _TELLING_WORDS = 4, 2
_OF_A_STRING = 0.5
"""What a message is worth more than a quote, which may be a part of a longer one."""
_MAX_STRAY = 2
"""Ordinary words of a question that a message of three words leaves unexplained."""
_ASKS = re.compile(
    r"\s*(?:where|how|what|which|who|whose|why|when|is|are|does|do|can|find|show|list|explain|code|function|method)\b",
    re.IGNORECASE,
)
_MESSAGE_LIKE = re.compile(r"[:;'\"`“”<(\[=%#/\\\d]|\w[.!…]+\s*$|^\s*[A-Z]\w* [a-z]")
"""What messages have and topics have not: punctuation, values, a capital at the beginning."""
_KINDS = ("error", "exception", "warning", "fatal", "panic", "failure", "uncaught")
"""Endings of words that name a kind of message."""
_ORDINARY = re.compile(r"(?<![\w.$])[a-z]{2,}(?![\w$])")
_MIN_TOUCHING = 3
"""Letters of a word beside a hole without a blank, which has no beginning or no end of its own to be found by."""
_MAX_TEXTS = 1024
_VALUE = re.compile(
    r"""\S*[/\\@]\S+|\b0x[0-9a-fA-F]+|\b[0-9a-fA-F-]*\d[0-9a-fA-F-]{6,}\b|(?<![\w])"[^"\n]{0,80}"|(?<![\w])'[^'\n]{0,80}'"""
    r"|`[^`\n]{0,80}`|\S*\d\S*"
)
"""What is likely a value in a message: a path, an address, an id, a time, a number, what is quoted."""
_NEAR = 5
"""The largest distance of the two terms of a pair: values come between words of a message."""
_MAX_TERMS = 24
_MAX_OF_PAIR, _MAX_COMPARED = 60, 16
"""Chunks that hold a pair of terms that tells something, and whose strings are compared with a message."""
_NONE = np.zeros(0, np.int64)
_PREFIX = re.compile(
    r"""(?:\s*(?:
        [\[(<]?\d{4}[-/]?\d\d[-/]?\d\d  # a date
            (?:[T ,]?\d\d:?\d\d:?\d\d(?:[.,]\d+)?(?:Z|[ ]?[+-]\d\d:?\d\d)?)?[\])>]?
        | [A-Z][a-z]{2}[ ]+\d{1,2}[ ]\d\d:\d\d:\d\d(?:[ ][\w.-]+)?
        | [\[(]?\d\d:\d\d:\d\d(?:[.,]\d+)?[\])]?
        | [\[(<]?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRIT(?:ICAL)?|SEVERE|PANIC|EMERG|ALERT)
            [\])>]?:?
        | \[[\w.:/@\#\- ]{1,60}\] | \w[\w.-]*\[\d+\]:? | level=\w+ | msg= | [-|:]
    )(?=[\s\["']|$|(?<==))){1,8}\s*""",
    re.VERBOSE,
)
"""What a log puts before a message: time, level, thread, process."""


def without_log_prefix(text: str) -> str:
    """Return a message without what a log puts before it; a text that begins otherwise as it is."""
    found = _PREFIX.match(text)
    rest = text[found.end() :].strip("\"'") if found and re.search(r"\d|[A-Z]{3}", found[0]) else ""
    return rest if len(_ORDINARY.findall(rest)) > 1 else text


class CodeMessage(NamedTuple):
    """A string of a text that can be a message."""

    parts: tuple[str, ...]
    """The words between its holes; a blank at either end where no value touches them."""
    size: int
    """Words."""
    telling: int
    """Of them words that are not stop words."""
    line: int
    """Where it begins, from the first line of the text, 0."""
    ends_open: tuple[bool, bool]
    """Whether it begins and ends with a value."""


class MessageMatch(NamedTuple):
    """How a text contains a message that a question pastes."""

    worth: float
    """Words that the message and the question share, less those that the message does not explain."""
    line: int
    """The line of the message, counted from 0 at the first line of the text."""


def may_be_message(question: Question) -> bool:
    """Return whether a question looks like a pasted message rather than a question in one's own words."""
    return len(question.terms) > 1 and question.typed.target is None and _looks_like_message(question.text)


def _looks_like_message(text: str) -> bool:
    return bool(_MESSAGE_LIKE.search(text)) and not _ASKS.match(text)


def chunks_with_message(
    snapshot: Snapshot, question: Question, terms: Sequence[TermMatch], allowed: NDArray[np.bool_] | None
) -> dict[int, MessageMatch]:
    """Return the chunks with a message that a question pastes, among those that hold rare pairs of its terms.

    The values in it are words that no string holds, so that what holds most pairs is read. Of a message that stands in
    a file of resources, what uses its key says it, too.
    """
    if not may_be_message(question):
        return {}
    pairs, weights = [_NONE], [np.zeros(0)]
    question_terms = set(stems(_VALUE.sub(" ", question.text)))
    terms = [one for one in terms if one.term in question_terms][:_MAX_TERMS]
    chunks_of_terms = [one.chunks[one.counts[:, BODY] > 0] for one in terms]
    for at, first in enumerate(chunks_of_terms):
        for second in range(at + 1, min(at + _NEAR, len(chunks_of_terms))):
            both = _in_both(first, chunks_of_terms[second])
            if len(both) > _MAX_OF_PAIR and second + 1 < len(chunks_of_terms):
                both = _in_both(both, chunks_of_terms[second + 1])
            if 0 < len(both) <= _MAX_OF_PAIR:
                pairs.append(both)
                weights.append(np.full(len(both), terms[at].idf + terms[second].idf))
    numbers, place = np.unique(np.concatenate(pairs), return_inverse=True)
    worth = np.bincount(place, weights=np.concatenate(weights), minlength=len(numbers))
    if allowed is not None:
        numbers, worth = numbers[allowed[numbers]], worth[allowed[numbers]]
    likely = numbers[np.argsort(-worth, kind="stable")[:_MAX_COMPARED]].tolist()
    found = dict[int, MessageMatch]()
    for number, chunk in zip(likely, snapshot.chunks(likely), strict=True):
        if match := message_in(question, chunk):
            found[number] = match
            for user, use in _uses(snapshot, chunk, match, allowed):
                found.setdefault(user, use)
    return found


_MIN_KEY, _MAX_USES, _USE_PENALTY = 3, 4, 0.25
"""Letters of a key that is looked for; places that use it; what such a place is worth less than the message itself."""
_KEYS = {
    "ini": re.compile(r"""\s*["']?(?P<key>[\w.\-]+)["']?\s*[=:]"""),
    "yaml": re.compile(r"""\s*-?\s*["']?(?P<key>[\w.\-]+)["']?\s*:"""),
    "json": re.compile(r"""[\s{,]*"(?P<key>[^"\n]{1,200})"\s*:"""),
    "toml": re.compile(r"""\s*(?P<key>[\w.\-"]+)\s*="""),
    "xml": re.compile(r"""\s*<\w+[^>\n]*?\b(?:name|id|key)=["'](?P<key>[^"'\n]{1,200})["']"""),
}
"""How a line of a file of resources begins with the key of its message, by the language of the file."""


def key_at(chunk: Chunk, line: int) -> str:
    """Return the key of the message on a line of a file of resources, in XML on that or the line before; or nothing."""
    pattern, lines = _KEYS.get(chunk.language), chunk.text.split("\n")
    rows = lines[line::-1][: 2 if chunk.language == "xml" else 1] if pattern else []
    found = (match["key"].strip('"') for row in rows if pattern and (match := pattern.match(row)))
    return next(found, "")


def _uses(
    snapshot: Snapshot, chunk: Chunk, match: MessageMatch, allowed: NDArray[np.bool_] | None
) -> Iterator[tuple[int, MessageMatch]]:
    """Yield the chunks of other files that use the key of a message, each with the line that does, the rarest first."""
    key = key_at(chunk, match.line)
    if len(key) < _MIN_KEY:
        return
    postings = [snapshot.postings(term)[0] for word in words(key) for term in stems(word)[-1:]]
    both = postings[0]
    for other in postings[1:]:
        both = _in_both(both, other)
    if allowed is not None:
        both = both[allowed[both]]
    pattern = re.compile(rf"[\"'`.:]{re.escape(key)}(?![\w-])")
    uses = 0
    for number, user in zip(both[:_MAX_OF_PAIR].tolist(), snapshot.chunks(both[:_MAX_OF_PAIR].tolist()), strict=True):
        place = pattern.search(user.text) if user.language not in _KEYS else None
        if place:
            yield number, MessageMatch(match.worth - _USE_PENALTY, user.text.count("\n", 0, place.start()))
            uses += 1
        if uses >= _MAX_USES:
            return


def _in_both(some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what two ascending rows have in common, in a pass over the shorter."""
    few, many = (some, others) if len(some) <= len(others) else (others, some)
    if not len(few):
        return _NONE
    found: NDArray[np.int64] = few[many[np.minimum(np.searchsorted(many, few), len(many) - 1)] == few]
    return found


def message_in(question: Question, chunk: Chunk) -> MessageMatch | None:
    """Return the best message of a chunk that a question pastes or quotes, or None."""
    text = chunk.text[:READ]
    pasted = _PastedQuestion.of(question)
    messages = _messages(text, in_lines=chunk.language in _KEYS)
    found = [match for message in messages if (match := pasted.match(message))]
    if found:
        return max(found, key=lambda each: each.worth)
    held = ""
    for quote in pasted.quotes:
        held = held or spaced(text)
        if quote in held:
            return MessageMatch(len(quote.split()) - _OF_A_STRING, _line_of(text, quote))
    return None


class _PastedQuestion(NamedTuple):
    """A question as it is compared with messages."""

    text: str
    quotes: tuple[str, ...]
    looks_said: bool
    ordinary: int
    """Ordinary words."""

    @classmethod
    @lru_cache(64)
    def of(cls, question: Question) -> _PastedQuestion:
        """Prepare a question for the comparison."""
        quotes = filter(_is_long, (spaced(question.text), *map(spaced, question.phrases)))
        ordinary = len(_ORDINARY.findall(question.text))
        return cls(spaced(question.text), tuple(quotes), _looks_like_message(question.text), ordinary)

    def match(self, message: CodeMessage) -> MessageMatch | None:
        """Return how good a message is, or None unless all of it occurs in its order."""
        at = first = -1
        for part in message.parts:
            found = self.text.find(part, max(at, 0))
            if found < 0:
                return None
            first, at = first if first >= 0 else found, found + len(part) - part.endswith(" ")
        if message.size >= _ANYWHERE_WORDS:
            return MessageMatch(message.size, message.line) if message.telling >= _TELLING_WORDS else None
        if message.telling < _TELLING_WORDS:
            return None
        before = "" if message.ends_open[0] else self.text[:first]
        after = "" if message.ends_open[1] else self.text[at:]
        around = (word for word in chain(before.split(), after.split()) if word.isalpha() and len(word) > 1)
        stray = sum(not word.endswith(_KINDS) for word in around)
        stray = min(stray, self.ordinary)
        is_all = not before.strip() and not after.strip() and not message.ends_open[1]
        is_short = message.size < _ANYWHERE_WORDS - 1
        if not (self.looks_said and stray <= (0 if is_short else _MAX_STRAY)) and not (is_all and not is_short):
            return None
        return MessageMatch(message.size - stray / 2, message.line)


def _is_long(text: str) -> bool:
    found = text.split()
    return len(found) >= _ANYWHERE_WORDS and sum(word not in STOP_WORDS for word in found) >= _TELLING_WORDS


@lru_cache(_MAX_TEXTS)
def _messages(text: str, *, in_lines: bool) -> tuple[CodeMessage, ...]:
    found = [_message(pieces, text.count("\n", 0, start)) for start, pieces in joined_strings(text)]
    if in_lines:  # without quotes: what stands behind a key, or between tags
        values = ((_LINE_VALUE.search(line), at) for at, line in enumerate(text.split("\n")))
        found += [_message(pieces_of(value[1] or value[2]), at) for value, at in values if value]
    return tuple(filter(None, found))


_LINE_VALUE = re.compile(r"[=:]\s*([^\s\"'].{5,400})$|>([^<>]{6,400})<")


def _line_of(text: str, quote: str) -> int:
    """Return the line of a text that has most words of a quote."""
    wanted = set(quote.split())
    return max(enumerate(text.lower().split("\n")), key=lambda row: len(wanted.intersection(words(row[1]))))[0]


def _message(pieces: Sequence[str], line: int) -> CodeMessage | None:
    parts = []
    for at, piece in enumerate(pieces):
        every = words(piece.lower())
        touches = [at > 0 and piece[:1].isalnum(), at < len(pieces) - 1 and piece[-1:].isalnum()]
        if every and touches[0] and len(every[0]) < _MIN_TOUCHING:
            every, touches[0] = every[1:], False
        if every and touches[1] and len(every[-1]) < _MIN_TOUCHING:
            every, touches[1] = every[:-1], False
        if every:
            parts.append(f"{'' if touches[0] else ' '}{' '.join(every)}{'' if touches[1] else ' '}")
    every = " ".join(parts).split()
    if len(every) < _TELLING_WORDS:
        return None
    telling = sum(word not in STOP_WORDS for word in every)
    is_open = not words(pieces[0]), not words(pieces[-1])
    return CodeMessage(tuple(parts), len(every), telling, line, is_open)
