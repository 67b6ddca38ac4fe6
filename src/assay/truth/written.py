"""Have a model write questions about whole files, and check each question and its places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from assay.corpus.languages import language_of
from assay.errors import EndpointFailed, NoAnswer
from assay.llm.prompts import fill, load_prompt
from assay.llm.recorded import RecordedChat
from assay.llm.yes_no import pair_prompt, plain, says_yes
from assay.measure.line_spans import Span
from assay.protocols import Chat
from assay.runs.record import Steps
from assay.terms import WORD
from assay.truth import minable
from assay.truth.requests import WriteRequest
from assay.values import Judgment, Prompt, Query

PRIMARY = 2
MAX_WORDS = 60
"""Of a question."""
MAX_PARTS = 8
"""Of a file; what is longer is generated, or data."""
MAX_LINE_CHARS = 500
CHARS_PER_TOKEN = 3
_NUMBER_CHARS = 8
REFUSED = "a place that does not answer, by the model's own yes or no"
NO_PRIMARY = "a question without a place that answers it"
FAILED = "a file for which the endpoint failed; the same command asks again"
_POINTS_AT_PLACE = re.compile(r"\blines?\s+\d|[\w.]:\d|\bL\d+\b|[\w-]+/[\w./-]*\.\w{1,5}\b|`|https?://", re.IGNORECASE)


def parts_of(lines: Sequence[str], most_chars: int) -> list[tuple[int, int]]:
    """Return the first and last line of each part of a file, cut at blank lines if there are any.

    >>> parts_of(["a" * 80, "", "b" * 80, "c"], 120)
    [(1, 2), (3, 4)]
    """
    sizes = [min(len(line), MAX_LINE_CHARS) + _NUMBER_CHARS for line in lines]
    found, first, blank = list[tuple[int, int]](), 1, 0
    for number, line in enumerate(lines, 1):
        size = sum(sizes[first - 1 : number])
        if size > most_chars and number > first:
            found.append((first, blank or number - 1))
            first, blank = found[-1][1] + 1, 0
        elif not line.strip() and 2 * size > most_chars:
            blank = number
    return [*found, (first, len(lines))]


def fault_of_place(span: Span, lines: Sequence[str]) -> str:
    """Return why lines of a file are not a useful place; empty if they are."""
    if not 1 <= span.start <= span.end <= len(lines):
        return "a place that does not exist"
    if not any(line.strip() for line in lines[span.start - 1 : span.end]):
        return "a blank place"
    is_long = span.end - span.start >= minable.MAX_UNIT_LINES
    return f"a place of more than {minable.MAX_UNIT_LINES} lines" if is_long else ""


def fault_of_question(question: str, kind: str, path: str, names: str) -> str:
    """Return why a question cannot be used; empty if it can; `names` are those of its answers."""
    if len(WORD.findall(question)) > MAX_WORDS or question.count("?") > 1 or not question.isprintable():
        return f"a text that is not one question of at most {MAX_WORDS} words"
    if _POINTS_AT_PLACE.search(question) or PurePosixPath(path).name.casefold() in question.casefold():
        return "a question that names a file, lines or code"
    if kind == "symbol" or minable.repeats_name(question, names):
        return "a question that gives away its answer: it repeats the name"
    return "" if len(minable.telling(question)) >= minable.TELLING else "a question that says too little"


@dataclass(slots=True)
class QuestionWriter:
    """A model that writes questions about one file after another; threads may share it."""

    chat: Chat
    steps: Steps
    files: minable.Files
    options: WriteRequest
    is_plain: bool = field(default=False, init=False)
    """Whether the endpoint gave no log-probabilities."""

    def write(self, path: str) -> minable.MinedQueries:
        """Return the questions about a file, and counts of what was left out; raise errors that end a run."""
        found, chat = minable.MinedQueries(), RecordedChat(self.chat, self.steps, path)
        parts = parts_of(self.files.lines(path), self.options.read_tokens * CHARS_PER_TOKEN)
        if len(parts) > MAX_PARTS:
            return minable.MinedQueries(left_out=Counter([f"a file of more than {MAX_PARTS} parts (--read-tokens)"]))
        try:
            for at, part in enumerate(parts):
                wanted = -((len(found.queries) - self.options.per_file) // (len(parts) - at))  # rounded up
                for proposal in self._proposals(chat, path, part, wanted, found.left_out) if wanted > 0 else ():
                    if why := self._take(chat, path, proposal, found):
                        found.left_out[why] += 1
        except EndpointFailed:
            return minable.MinedQueries(left_out=Counter([FAILED]))
        return found

    def _proposals(
        self, chat: RecordedChat, path: str, part: tuple[int, int], limit: int, left_out: Counter[str]
    ) -> list[Mapping[str, Any]]:
        """Return the model's questions about a part of a file."""
        lines = enumerate(self.files.lines(path)[part[0] - 1 : part[1]], part[0])
        text = "\n".join(f"{number}: {line[:MAX_LINE_CHARS]}" for number, line in lines)
        kinds = "all hard" if self.options.hard else "about half of them standard, the others hard"
        data = {"path": path, "file": text, "wanted": f"At most {limit} questions, {kinds}."}
        prompt = fill(load_prompt("questions", "assay.truth"), data)
        several = {**prompt.schema["properties"]["questions"], "maxItems": limit}
        prompt = replace(prompt, schema={**prompt.schema, "properties": {"questions": several}})
        try:
            reply = chat.record(prompt)
        except NoAnswer:
            left_out["a reply that cannot be used"] += 1
            return []
        return list(reply["value"]["questions"])

    def _take(self, chat: RecordedChat, path: str, proposal: Mapping[str, Any], gathered: minable.MinedQueries) -> str:
        """Add a question with its confirmed places, or return why it cannot be used."""
        question, grades = " ".join(proposal["question"].split()), dict[Span, int]()
        for each in ({**proposal, "grade": PRIMARY}, *proposal["more"]):
            span = Span(path, int(each["start"]), int(each["end"]))
            if fault := fault_of_place(span, self.files.lines(path)):
                gathered.left_out[fault] += 1
            else:
                grades.setdefault(span, each["grade"])
        answers = minable.units_at(self.files.units(path), path, grades)
        kind = minable.kind_of(question, answers)
        names = " ".join(f"{unit.symbol} {unit.parent.rpartition('.')[2]}" for unit in answers)
        if PRIMARY not in grades.values():
            return NO_PRIMARY
        if fault := fault_of_question(question, kind, path, names):
            return fault
        if self.options.hard and kind != "hard":
            return "a question that is not hard: it shares a word with its place's path, names or signature"
        held = {span: grade for span, grade in grades.items() if self._holds(chat, question, span, gathered.left_out)}
        if PRIMARY not in held.values():
            return NO_PRIMARY
        tags = {"kind": kind, "source": "written", "split": minable.split_of(path)}
        name = minable.id_of("written", f"{path} {question}")
        gathered.queries.append(Query(name, question, "docs" if minable.is_prose(path) else "code", tags=tags))
        gathered.judgments += [Judgment(name, str(span), grade, self.chat.name) for span, grade in held.items()]
        return ""

    def _holds(self, chat: RecordedChat, question: str, span: Span, left_out: Counter[str]) -> bool:
        """Say whether a place answers a question, according to the model when it sees only the place."""
        text = "\n".join(self.files.lines(span.path)[span.start - 1 : span.end])
        try:
            is_right = self._says_yes(chat, pair_prompt(question, text, language_of(span.path)))
        except NoAnswer:
            left_out["a place about which the model says neither yes nor no"] += 1
            return False
        if not is_right:
            left_out[REFUSED] += 1
        return is_right

    def _says_yes(self, chat: RecordedChat, prompt: Prompt) -> bool:
        if not self.is_plain:
            try:
                return says_yes(chat.record(prompt)["value"])
            except NoAnswer:  # no log-probabilities, or a model that thinks first
                self.is_plain = True
        return says_yes(chat.record(plain(prompt))["value"])


def add(gathered: minable.MinedQueries, more: minable.MinedQueries, limit: int) -> None:
    """Add the questions about one more file; of two equivalent questions the first counts."""
    gathered.left_out += more.left_out
    for query in more.queries:
        if any(minable.telling(query.text) == minable.telling(other.text) for other in gathered.queries):
            gathered.left_out["a question that was asked before"] += 1
        elif len(gathered.queries) >= limit:
            gathered.left_out["more than were wanted"] += 1
        else:
            gathered.queries.append(query)
            gathered.judgments += [each for each in more.judgments if each.query_id == query.id]
