"""Search for an issue part by part: its title, its text, and the files that it names.

The title alone is the better question, and the rest adds what it leaves out; without a title the rest is asked. Each
part is answered with probabilities, so their weighted mean is one, too (a linear opinion pool: Stone, 1961, *The
Opinion Pool*). Half of it is of the hit and half of its file, whose probability is that of its best hit; a fix spreads
over files, so none has more than three places. Questions are asked as they stand.

Forms to fill in, lists of versions and logs are the same in all issues of a project, so their words point nowhere.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape
from typing import NamedTuple

from assay.protocols import Searcher
from assay.search.messages import without_log_prefix
from assay.search.named_places import NamedPlace, named_files, places_of
from assay.search.path_filters import keeping, traits_of
from assay.search.query_filters import LONG
from assay.search.question import Speller
from assay.store.snapshot import Snapshot
from assay.values import Hit, Query

WEIGHTS: Mapping[str, float] = {"title": 1.0, "text": 0.5, "named": 0.5}
"""What each part counts; between 0.3 and 1 for the later ones nothing moves by more than one question in a hundred."""
_OF_ONE_FILE = 3
_DEPTH = 50
"""Hits of each part that are pooled."""
_Parts = dict[str, float]
"""What adds up to a score."""


@dataclass(frozen=True, slots=True)
class IssueSearcher:
    """Search with `inner`, whose scores are probabilities; `speller` corrects the parts of an issue."""

    inner: Searcher
    snapshot: Snapshot
    speller: Speller | None = None

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first."""
        queries = [replace(query, text=without_log_prefix(query.text)) for query in queries]
        if all(len(query.text) < LONG for query in queries):
            return self.inner.search(queries, k)
        issues = [issue_of(query.text) for query in queries]
        return [
            self._answer(query, issue, k) if issue else self.inner.search([query], k)[0]
            for query, issue in zip(queries, issues, strict=True)
        ]

    def _answer(self, query: Query, issue: IssueText, k: int) -> list[Hit]:
        named = self._named(query, issue.places)
        texts = {"title": issue.title, "text": issue.text} if issue.title else {"text": issue.text}
        corrected = self.speller.corrected if self.speller else str
        parts = {part: replace(query, text=corrected(text)) for part, text in texts.items()}
        if named:
            parts["named"] = replace(next(iter(parts.values())), paths=tuple(f"./{escape(path)}" for path in named))
        answers = self.inner.search([*parts.values()], max(k, _DEPTH))
        return pooled(dict(zip(parts, answers, strict=True)), named)[:k]

    def _named(self, query: Query, places: Sequence[NamedPlace]) -> dict[str, float]:
        """Return the files that an issue names and a query allows, with how likely each is meant: 1/2, 1/3, and so on.

        A test or an example that is named shows the fault; it is not where the fault is.
        """
        passes, files = keeping(query.paths), dict.fromkeys(named_files(self.snapshot, places))
        meant = [path for path in files if passes(path) and not any(traits_of(path))]
        return {path: 1 / at for at, path in enumerate(meant, 2)}


def pooled(answers: Mapping[str, Sequence[Hit]], named: Mapping[str, float]) -> list[Hit]:
    """Return the hits of all parts, each once with its mean probability, best first; `why` adds up to it."""
    counts = {part: WEIGHTS[part] / 2 / sum(map(WEIGHTS.__getitem__, answers)) for part in answers}
    hits = {hit.chunk.id: hit for answer in answers.values() for hit in answer}
    own, files = defaultdict[str, _Parts](dict), defaultdict[tuple[str, str], _Parts](dict)
    for chunk in (hit.chunk for hit in hits.values() if hit.chunk.path in named):
        files[chunk.root, chunk.path]["file_named"] = named[chunk.path] * counts["named"]
    for part, answer in answers.items():
        for hit in answer:
            own[hit.chunk.id][part] = added = hit.score * counts[part]
            file = files[_file_of(hit)]
            if part != "named":
                file[f"file_{part}"] = max(file.get(f"file_{part}", 0.0), added)
    found = []
    for id_, hit in hits.items():
        parts = own[id_] | files[_file_of(hit)]
        found.append(Hit(hit.chunk, sum(parts.values()), dict(sorted(parts.items(), key=lambda part: -part[1]))))
    return _spread(sorted(found, key=lambda hit: (-hit.score, hit.chunk.root, hit.chunk.path, hit.chunk.start_line)))


def _file_of(hit: Hit) -> tuple[str, str]:
    """Return the file of a hit and its root; a text without one is alone in its own."""
    return hit.chunk.root, hit.chunk.path or hit.chunk.id


def _spread(hits: Sequence[Hit]) -> list[Hit]:
    """Keep the first few hits of each file."""
    places = Counter[tuple[str, str]]()
    kept = []
    for hit in hits:
        places[_file_of(hit)] += 1
        if places[_file_of(hit)] <= _OF_ONE_FILE:
            kept.append(hit)
    return kept


_MAX_TEXT_CHARS = 20_000  # characters that are read
_MAX_QUERY_CHARS = 2000  # characters that are asked: twice as many find no more
_TITLE = 120  # characters at most
_SENTENCE = 80  # characters from which a line that ends in a period is text

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|</?(?:details|summary|br|p|div|img|sub|sup)\b[^<>\n]{0,200}>", re.DOTALL)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<marked>.+)|\s*(?:\*\*|__)(?P<bold>[^*\n]{3,80}?)(?:\*\*|__)\s*:?\s*$")
_ABOUT_FORM = re.compile(
    r"environment|version|platform|operating system|\bos\b|system info|system details|packages|pip (?:list|freeze)"
    r"|check\s?list|additional context|screenshot",
    re.IGNORECASE,
)
"""Headings over what is about the reporter's machine, or about the form."""
_NOISE = re.compile(
    r"\s*[-*]\s+\[[ xX]\]"  # a box to tick
    r"|\W*\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?!.*: panic serving )|\W*\d\d:\d\d:\d\d"  # a line of a log
    r"|\s*(?:[-=*_~+|#]\s*){4,}$"  # a rule
    r"|Traceback \(most recent call last\)"
)
_VERSION = re.compile(r"\s*[-*]?\s*[\w.()/+-]+(?: [\w.()/+-]+){0,3}\s*(?::|==?|\s)\s*v?\d+(?:\.\w+)+\S*\s*$")
_MAX_VERSION_CHARS = 100  # characters of a line that names a version and says nothing else
_CODE = ("    ", "\t", ">>>", "$ ")
_LABEL = re.compile(r"^(?:#+\s+|\[[\w ]{1,20}\]:?\s*|(?:bug|feature|feature request|question)\s*:\s*)+", re.IGNORECASE)


class IssueText(NamedTuple):
    """An issue taken apart."""

    title: str
    """Empty where the text begins with a heading of a form, a sentence, or a trace."""
    text: str
    """The title and the text below it, prose before code, as far as it is worth searching."""
    places: tuple[NamedPlace, ...]
    """Files that are named, the most telling first."""


def issue_of(text: str) -> IssueText | None:
    """Take an issue apart; None for a question, which is searched as it is."""
    text = _HIDDEN.sub(" ", text[:_MAX_TEXT_CHARS]).strip()
    places = places_of(text) if "\n" in text else ()
    if "\n" not in text or (len(text) < LONG and not any(place.line for place in places)):
        return None
    lines = _telling_lines(text)
    title = _title(text) or _error_message(text)
    return IssueText(title, "\n".join(lines)[:_MAX_QUERY_CHARS], places) if lines else None


_ERROR_MESSAGE = re.compile(
    r"^E {2,}(?:[\w.]+: )?(?P<pytest>\S.{3,300})"
    r"|panicked at '(?P<rust>.{4,300})', |panicked at \S+:\n(?P<panic>.{4,300})"
    r"|(?P<cause>Caused by: )?"
    r"(?:[\w.$\\]*(?:Error|Exception|Failure|Warning)|\bpanic|\bfatal error|\berror|\*\* \(\w[\w.]*\))"
    r"(?:[ \[]\w+\]?)?(?::[ ]|(?<=\)) )(?P<said>\S.{3,300})",
    re.MULTILINE,
)
"""The message of an error, after its kind."""


def _error_message(text: str) -> str:
    """Return the message of a trace, of its first cause, or of the first diagnostic of a tool; empty without one."""
    found = list(_ERROR_MESSAGE.finditer(text))
    if not found:
        return ""
    is_last = any(one["cause"] for one in found) or "most recent call last" in text
    chosen = found[-1 if is_last else 0]
    return next(filter(None, (chosen[name] for name in ("pytest", "rust", "panic", "said"))), "").strip()


_MARKS = ("Traceback (most recent call last)", "panic: ", "Exception in thread ", " panicked at ", ": panic serving ")
"""The message in the first line of an error."""
_FRAMES = ("\n    at ", "\n\tat ")
_DIAGNOSTIC = re.compile(r"^.{1,300}\b(?:error|fatal)(?:[ \[]\w+\]?)?: .+", re.MULTILINE)
_MAX_SCANNED = 1 << 22  # characters that are looked through for a diagnostic


def telling_part(text: str) -> str:
    """Return the part of a too long text that is searched: from its last error on, else as many whole lines at its end.

    An error is one with a trace, anywhere, else the first diagnostic of a tool.
    """
    starts = [text.rfind("\n", 0, at) + 1 for mark in _MARKS if (at := text.rfind(mark)) >= 0]
    starts += [_above_frames(text, at) for frame in _FRAMES if (at := text.rfind(frame)) >= 0]
    if not starts and (diagnostic := _DIAGNOSTIC.search(text, 0, _MAX_SCANNED)):
        starts = [diagnostic.start()]
    if starts:
        part = text[max(starts) :][:_MAX_TEXT_CHARS]
        return part if len(part) < _MAX_TEXT_CHARS else part[: part.rfind("\n") + 1] or part
    end = text[-_MAX_QUERY_CHARS:]
    return end[end.find("\n") + 1 :]


def _above_frames(text: str, at: int) -> int:
    """Return where the line above some frames begins, the last of which begins at a line break."""
    while True:
        start = text.rfind("\n", 0, at) + 1
        if not start or not text[start : start + 40].lstrip().startswith(("at ", "... ", "Caused by: ")):
            return start
        at = start - 1


def _title(text: str) -> str:
    """Return the first line, without labels, if it is a title."""
    first = text.partition("\n")[0].strip()
    is_text = (
        first.endswith((":", ",", ";", "!"))
        or any(place.line for place in places_of(first))
        or (first.endswith(".") and len(first) > _SENTENCE)
    )
    if is_text or len(first) > _TITLE or _heading(first, first=True) or _NOISE.match(first) or _FENCE.match(first):
        return ""
    return _LABEL.sub("", first) or first


def _telling_lines(text: str) -> list[str]:
    """Return the lines that belong to no form, list of versions or log, prose before code."""
    prose, code = list[str](), list[str]()
    fenced = about_form = False
    for line in filter(str.strip, text.split("\n")):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _heading(line, first=not prose)):
            about_form = bool(_ABOUT_FORM.search(heading))
        elif not about_form and not _is_noise(line):
            (code if fenced or line.startswith(_CODE) else prose).append(line)
    return prose + code


def _heading(line: str, *, first: bool) -> str:
    """Return the text of a heading; the first one of the highest level is the issue's own title and none."""
    found = _HEADING.match(line)
    return "" if not found or (first and line.startswith("# ")) else found["marked"] or found["bold"]


def _is_noise(line: str) -> bool:
    return bool(_NOISE.match(line) or (len(line) <= _MAX_VERSION_CHARS and _VERSION.match(line)))
