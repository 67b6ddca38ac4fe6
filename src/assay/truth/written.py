"""Have a model write questions about whole files, and check each question and each place that it names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from assay.corpus.languages import language_of
from assay.errors import EndpointFailed, NoAnswer
from assay.llm.prompts import fill, load_prompt
from assay.llm.recorded import RecordedChat
from assay.llm.yes_no import pair_prompt, plain, says_yes
from assay.measure.line_spans import Span
from assay.protocols import Chat
from assay.runs.record import Steps, hash_of
from assay.terms import WORD
from assay.truth import minable
from assay.truth.requests import WriteOptions
from assay.values import Chunk, Judgment, Prompt, Query

SOURCE = "written"
PRIMARY = 2
MIN_WORDS, MAX_WORDS = 4, 60
MAX_PARTS = 8
"""Parts of a file; what is longer is generated, or data."""
MAX_LINE_CHARS = 500
_CHARS_PER_TOKEN = 3
_NUMBER_CHARS = 8
REFUSED = "a place that does not answer, by the model's own yes or no"
NO_PRIMARY = "a question without a place that answers it"
FAILED = "a file for which the endpoint failed; the same command asks again"
_PLACE = re.compile(
    r"\blines?\s+\d+|[\w.]:\d+(?:-\d+)?\b|\bL\d+\b|[\w-]+/[\w./-]*\.\w{1,5}\b|`|https?://", re.IGNORECASE
)
Places = list[tuple[Span, int]]
"""Lines of a file, each with its grade."""


def parts_of(lines: Sequence[str], most_chars: int) -> list[tuple[int, int]]:
    """Return the first and last line of each part of a file, cut at blank lines where there are some.

    >>> parts_of(["a" * 80, "", "b" * 80, "c"], 120)
    [(1, 2), (3, 4)]
    """
    found, first, size, blank = [], 1, 0, 0
    for number, line in enumerate(lines, 1):
        size += min(len(line), MAX_LINE_CHARS) + _NUMBER_CHARS
        if size > most_chars and number > first:
            last = blank or number - 1
            found.append((first, last))
            first, blank = last + 1, 0
            size = sum(min(len(each), MAX_LINE_CHARS) + _NUMBER_CHARS for each in lines[last:number])
        if not line.strip() and 2 * size > most_chars:
            blank = number
    return [*found, (first, len(lines))]


def fault_of_place(span: Span, lines: Sequence[str]) -> str:
    """Return why lines of a file are no place to lead anybody to, or nothing."""
    if not 1 <= span.start <= span.end <= len(lines):
        return "a place that does not exist"
    if not any(line.strip() for line in lines[span.start - 1 : span.end]):
        return "a blank place"
    return f"a place of more than {minable.LONGEST} lines" if span.end - span.start >= minable.LONGEST else ""


def fault_of_question(question: str, path: str, answers: Sequence[Chunk]) -> str:
    """Return why a question cannot be used, or nothing."""
    if not MIN_WORDS <= len(WORD.findall(question)) <= MAX_WORDS or not question.isprintable():
        return f"a question that is not {MIN_WORDS} to {MAX_WORDS} words on one line"
    if _PLACE.search(question) or PurePosixPath(path).name.casefold() in question.casefold():
        return "a question that names a file, lines or code"
    if minable.kind_of(question, answers) == "symbol":
        return "a question that names its answer"
    if any(minable.repeats_name(question, answer) for answer in answers):
        return "a question that only repeats the name"
    return "" if len(minable.telling(question)) >= minable.TELLING else "a question that says too little"


@dataclass(slots=True)
class QuestionWriter:
    """A model that writes about one file after another; several threads may ask."""

    chat: Chat
    steps: Steps
    files: minable.Files
    options: WriteOptions
    _is_plain: bool = field(default=False, init=False)
    """Whether the endpoint gave no log-probabilities."""

    def write(self, path: str) -> minable.MinedQueries:
        """Return the questions about a file, and what was left out; what ends a run is raised."""
        found = minable.MinedQueries()
        lines = self.files.lines(path)
        parts = parts_of(lines, self.options.read_tokens * _CHARS_PER_TOKEN)
        if len(parts) > MAX_PARTS:
            found.left_out["a file that is too long"] += 1
            return found
        chat = RecordedChat(self.chat, self.steps, path)
        try:
            for at, part in enumerate(parts):
                wanted = -((len(found.queries) - self.options.per_file) // (len(parts) - at))  # rounded up
                for proposal in self._proposals(chat, path, part, wanted, found.left_out) if wanted > 0 else ():
                    self._take(chat, path, proposal, found)
        except EndpointFailed:
            return minable.MinedQueries(left_out=Counter([FAILED]))
        return found

    def _proposals(
        self, chat: RecordedChat, path: str, part: tuple[int, int], wanted: int, left_out: Counter[str]
    ) -> list[Mapping[str, Any]]:
        """Return what the model proposes about a part of a file."""
        lines = enumerate(self.files.lines(path)[part[0] - 1 : part[1]], part[0])
        kinds = "all hard" if self.options.hard else "about half of them standard, the others hard"
        data = {
            "path": path,
            "file": "\n".join(f"{number}: {line[:MAX_LINE_CHARS]}" for number, line in lines),
            "wanted": f"At most {wanted} questions, {kinds}.",
        }
        try:
            proposals = chat.record(fill(load_prompt("questions", "assay.truth"), data))["value"]["questions"]
        except NoAnswer:
            left_out["a reply that cannot be used"] += 1
            return []
        return minable.at_most(proposals, wanted, left_out)

    def _take(self, chat: RecordedChat, path: str, proposal: Mapping[str, Any], found: minable.MinedQueries) -> None:
        """Take a question that can be used, with those of its places that hold what it asks."""
        question = " ".join(proposal["question"].split())
        places = _there(path, proposal["places"], self.files.lines(path), found.left_out)
        answers = minable.units_at(self.files.units(path), [span for span, _ in places])
        kind = minable.kind_of(question, answers)
        why = fault_of_question(question, path, answers) if _has_primary(places) else NO_PRIMARY
        if not why and self.options.hard and kind != "hard":
            why = "a question that is not hard: it shares a word with its place's path, names or signature"
        if not why:
            places = [each for each in places if self._holds(chat, question, each[0], found.left_out)]
            why = "" if _has_primary(places) else NO_PRIMARY
        if why:
            found.left_out[why] += 1
            return
        name = f"{SOURCE}-{hash_of(f'{path} {question}')[:12]}"
        tags = {"kind": kind, "source": SOURCE, "split": minable.split_of(path)}
        found.queries.append(Query(name, question, "docs" if minable.is_prose(path) else "code", tags=tags))
        found.judgments += [Judgment(name, str(span), grade, self.chat.name) for span, grade in places]

    def _holds(self, chat: RecordedChat, question: str, span: Span, left_out: Counter[str]) -> bool:
        """Say whether a place holds what a question asks, as the model says when it sees nothing else."""
        text = "\n".join(self.files.lines(span.path)[span.start - 1 : span.end])
        try:
            if self._says_yes(chat, pair_prompt(question, text, language_of(span.path))):
                return True
            left_out[REFUSED] += 1
        except NoAnswer:
            left_out["a place about which the model says neither yes nor no"] += 1
        return False

    def _says_yes(self, chat: RecordedChat, prompt: Prompt) -> bool:
        if not self._is_plain:
            try:
                return says_yes(chat.record(prompt)["value"])
            except NoAnswer:  # no log-probabilities, or a model that thinks first
                self._is_plain = True
        return says_yes(chat.record(plain(prompt))["value"])


def _there(path: str, proposed: Iterable[Mapping[str, Any]], lines: Sequence[str], left_out: Counter[str]) -> Places:
    places: dict[Span, int] = {}
    for each in proposed:
        span = Span(path, int(each["start"]), int(each["end"]))
        if why := fault_of_place(span, lines):
            left_out[why] += 1
        else:
            places.setdefault(span, each["grade"])
    return list(places.items())


def _has_primary(places: Places) -> bool:
    return any(grade == PRIMARY for _, grade in places)


def gather(results: Iterable[minable.MinedQueries], limit: int) -> minable.MinedQueries:
    """Join what was written about files, in their order; of two questions that ask the same the first counts."""
    found, asked = minable.MinedQueries(), set[frozenset[str]]()
    for one in results:
        found.left_out += one.left_out
        for query in one.queries:
            why = "more than were wanted" if len(found.queries) >= limit else ""
            why = "a question that was asked before" if (key := minable.telling(query.text)) in asked else why
            if why:
                found.left_out[why] += 1
                continue
            asked.add(key)
            found.queries.append(query)
            found.judgments += [each for each in one.judgments if each.query_id == query.id]
    return found


def files_to_ask(files: minable.Files, seed: int) -> Iterator[str]:
    """Yield the files with something that has a name, in a random order, without tests and what stands aside."""
    yield from (path for path in files.sample(seed) if files.units(path))
