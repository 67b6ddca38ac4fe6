"""Extract the program to run from a model's answer to a task, and report the edits.

A text that is Python as it stands, behind its prompt if it goes on from one, is never touched: a fence inside a string
is a fence inside a string. Of any other the first of these ways counts that makes Python with the function under test:
without what a model thinks first and the tokens that end it; the block of a fence; the code of a transcript or of a
diff; of a completion what stands before the first stop sequence; and without sentences before and behind. Where none
does, the text runs as it is, as it does in the harness of its benchmark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from textwrap import dedent

from assay.corpus.python_syntax import parse_python

BYTE_ORDER_MARK, THINKING = "without a byte order mark", "without what was thought first"
TOKENS = "cut at an end token"
FENCE, TRANSCRIPT, DIFF = "taken out of a fence", "taken out of a transcript", "taken out of a diff"
PROSE, STOPPED = "without sentences around them", "cut at a stop sequence"
PROGRAM_ONLY, REPEATED = "alone, the prompt is prose", "with their prompt written again"
_MAX_CHARS = 200_000
"""Of a text that is looked into; what is longer runs as it is."""
_MAX_BLOCKS = 50
_MAX_LINES = 2_000
"""Of a text in which sentences are told from code."""
_THOUGHT = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_ENDS = re.compile(
    r"<[|\uff5c](?:endoftext|endofmask|im_end|eot_id|eom_id|eot|end|end_of_text|end\u2581of\u2581sentence|file_sep)[|\uff5c]>"
    r"|</s>|<end_of_turn>|<eos>",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\A\s*(?:<s>|<bos>|<\|begin_of_text\|>|<\|im_start\|>(?:assistant)?|<start_of_turn>(?:model)?|\[/INST\]"
    r"|<\|(?:assistant|start_header_id\|>assistant<\|end_header_id)\|>)\s*",
    re.IGNORECASE,
)
_LABEL = r"\[/?(?:BEGIN|DONE|PYTHON|ANSWER)\]"
"""What few-shot prompts have around a program; it is Python, a list of a name that nothing has."""
_MARKED = re.compile(rf"^{_LABEL}[ \t]*$", re.MULTILINE)
_FENCE = re.compile(rf"[ \t>]*(?:`{{3,}}|~{{3,}})[^`\n]*|[ \t]*(?:{_LABEL}|</?(?:code|answer)>)[ \t]*")
"""A line of its own that opens or closes a block."""
_PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |$)")
_CALL = re.compile(r"[\w.]+[(\[]|[\w.]+ *=")
_SPOKEN = re.compile(r"[A-Z*#>\-\d\"'(].*( [^\W\d_]+|[:.!?*]\s*$)")
"""A line that begins as sentences do, and code hardly."""


Edits = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A program, and the edits that extracted it from a model's text."""

    source: str
    edits: Edits = ()


def program_of(text: str, entry_point: str, prompt: str | None = None, stops: Sequence[str] = ()) -> Answer:
    """Return the program in a text: a whole one or, with a prompt, a completion of it."""
    edits: Edits = ()
    if text.startswith("\ufeff"):
        text, edits = text[1:], (BYTE_ORDER_MARK,)
    before = prompt if prompt and is_code(prompt) else ""
    if prompt and not before:
        edits = (*edits, PROGRAM_ONLY)
    if len(text) > _MAX_CHARS or (not _MARKED.search(text) and _parses(before + text)):
        return Answer(before + text, edits)
    for more, source in _candidates(text, before, entry_point, stops):
        if _parses(source):
            return Answer(source, (*edits, *more))
    return Answer(before + text, edits)


def _candidates(text: str, before: str, entry_point: str, stops: Sequence[str]) -> Iterator[tuple[Edits, str]]:
    """Yield candidates for the program, with their edits, the likeliest first."""

    def defining(more: Edits, code: str) -> Iterator[tuple[Edits, str]]:
        if defines(code, entry_point):
            yield from ((more, source) for source in dict.fromkeys((before + code, code)))

    if before and defines(text, entry_point) and not _MARKED.search(text):
        yield (REPEATED,), text
    ways = list(_ways(text, by_length=not entry_point))
    for more, code in ways:
        yield from defining(more, code)
    yield from ((more, before + code) for more, code in ways if before and code[:1].isspace())
    if (stopped := cut(text, stops)) != text:
        yield (STOPPED,), before + stopped
    for code in _without_prose(text):
        yield from defining((PROSE,), code)


def cut(text: str, stops: Sequence[str], start: int = 0) -> str:
    """Return a text up to the first stop sequence that begins at `start` or behind it."""
    places = [text.find(stop, start) for stop in stops]
    ends = [place for place in places if place >= 0]
    return text[: min(ends)] if ends else text


def code_of(answer: str, entry_point: str = "") -> str:
    """Return the code in a chat answer; an answer without a code block is code as a whole."""
    found = program_of(answer, entry_point)
    if found.edits or _parses(answer):
        return found.source
    blocks = list(_blocks(answer))  # none of which is Python
    return max(blocks, key=len) if blocks else answer


@lru_cache(maxsize=4096)
def is_code(prompt: str) -> bool:
    r"""Say whether a prompt is the beginning of a program to complete, not a description.

    >>> is_code('def add(a, b):\n    "Add two numbers."\n'), is_code("Write a function that adds two numbers.")
    (True, False)
    """
    return any(_parses(prompt + end) for end in ("", "\n    pass\n", "pass\n", "\n        pass\n", "0\n"))


def defines(source: str, name: str) -> bool:
    """Say whether a program defines a name, at the top or in a class; without a name, whether it has any code."""
    if not name:
        return bool(source.strip())
    word = re.escape(name)
    return bool(re.search(rf"^\s*(?:async\s+)?(?:def|class)\s+{word}\b|^{word}\s*[=:]", source, re.MULTILINE))


def _parses(source: str) -> bool:
    return parse_python(source) is not None


def _ways(text: str, *, by_length: bool = False) -> Iterator[tuple[Edits, str]]:
    """Yield edits with the code they result in, the smallest first; of blocks the last first, or the longest."""
    said, edits = text, Edits()
    if found := _THOUGHT.match(text):
        said, edits = text[found.end() :], (THINKING,)
    if (ended := _ENDS.split(_BEGINS.sub("", said, count=1), maxsplit=1)[0]) != said:
        said, edits = ended, (*edits, TOKENS)
    if edits:
        yield edits, said
    blocks = sorted(_blocks(said), key=len, reverse=True) if by_length else list(_blocks(said))
    yield from (((*edits, FENCE), block) for block in blocks)
    for inner in blocks or [said]:
        within = (*edits, FENCE) if blocks else edits
        if code := _transcribed(inner):
            yield (*within, TRANSCRIPT), code
        if code := _added(inner):
            yield (*within, DIFF), code


def _blocks(text: str) -> Iterator[str]:
    """Yield the fenced blocks, the last first; of a lone fence, the text on its inner side.

    Blocks are the likelier the later they stand: models write the whole program again at the end.
    """
    lines = text.splitlines()
    at = [number for number, line in enumerate(lines) if _FENCE.fullmatch(line.rstrip())]
    if not at or len(at) > _MAX_BLOCKS:
        return
    bounds = [-1, *at, len(lines)]
    pairs = list(pairwise(bounds))
    inside = pairs[1:-1:2] if len(at) > 1 else []
    for first, end in (*reversed(inside), pairs[-1], pairs[0]):
        if block := "\n".join(lines[first + 1 : end]).strip("\n"):
            yield f"{dedent(block)}\n"
            if block != dedent(block):
                yield f"{block}\n"


def _transcribed(text: str) -> str:
    """Return the input lines of an interpreter transcript."""
    typed = [line for line in map(str.lstrip, text.splitlines()) if _PROMPT.match(line)]
    return "\n".join(line[4:] for line in typed) + "\n" if typed else ""


def _added(text: str) -> str:
    """Return the new side of a diff."""
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith("@@")), None)
    if start is None:
        return ""
    return "\n".join(line[1:] for line in lines[start + 1 :] if line[:1] in {"+", " "}) + "\n"


def _without_prose(text: str) -> Iterator[str]:
    """Yield a text without the prose before its code, and without all behind the first sentence after it."""
    lines = text.splitlines()
    if len(lines) > _MAX_LINES:
        return
    spoken = {at for at, line in enumerate(lines) if _is_spoken(line)}
    first = next((at for at, line in enumerate(lines) if line.strip() and at not in spoken), len(lines))
    ends = sorted(at for at in spoken if at > first)[:_MAX_BLOCKS]
    for end in (*ends, len(lines)):
        if first or end < len(lines):
            yield "\n".join(lines[first:end]) + "\n"


def _is_spoken(line: str) -> bool:
    """Say whether a line is a sentence, a heading or a list item, rather than code, even broken or Python 2."""
    return bool(_SPOKEN.match(line)) and not _CALL.match(line) and not _parses(f"{line}\n")
