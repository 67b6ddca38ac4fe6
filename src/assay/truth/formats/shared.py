"""Share code between the formats: check fields, gather what a reader finds, report what a writer loses."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io import files, rows
from assay.io.fields import read_value
from assay.io.rows import plain
from assay.measure.line_spans import Span, span_of
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Chunk, Judgment, Problem, Query

QUERY_TEXTS = ("query", "doc", "rewritten_intent", "intent", "question", "nl")
CODE_TEXTS = ("code", "snippet")
"""What data sets call the two texts of a pair: CoSQA, CoNaLa, StaQC, CS1QA, SO-DS."""
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PLAIN = re.compile(r"(\w[\w./@+ -]*)(?::([0-9]+)(?:-([0-9]+))?)?")
_BROKEN = re.compile(r":\d*-?\d*\Z")
_FAR = re.compile(r":\d{10}|-\d{10,}\Z")
_MAX_PATH_BYTES, _MAX_NAME_BYTES = 4096, 255
_DECIMAL = re.compile(r"(?<=\d)\.0*\Z")
"""What pandas writes behind a whole number."""
_SLASHES = re.compile(r"[/\\]")


def fault_of(path: str) -> str:
    """Return the problem of the path of a target; empty without one."""
    if not path or _CONTROL.search(path):
        return f"{path!r} is not a path"
    if path.startswith(("/", "\\", "~")) or _DRIVE.match(path):
        return f"'{path}' is absolute, wanted a path relative to the repository"
    if len(path) > _MAX_NAME_BYTES and not _nameable(path):
        return f"'{path[:60]}…' is longer than a path may be"
    if ".." in path and ".." in _SLASHES.split(path):
        return f"'{path}' leads out of the repository"
    return ""


def _nameable(path: str) -> bool:
    """Say whether a path is valid in a file system."""
    data = path.encode("utf-8", "surrogatepass")
    return len(data) <= _MAX_PATH_BYTES and max(map(len, data.split(b"/"))) <= _MAX_NAME_BYTES


def fault_of_target(target: str) -> str:
    """Return the problem of `path:start-end`, `path:line`, `path::Symbol.name` or `path`; empty without one."""
    path, colons, symbol = target.partition("::")
    if colons:
        return fault_of(path) or ("" if symbol.strip() else f"'{target}' names no symbol after '::'")
    place = place_of(target)
    return place if isinstance(place, str) else ""


def place_of(target: str) -> Span | str:
    """Return the lines, file or document that a target without a symbol names, or its problem."""
    if _FAR.search(target):
        return f"'{target[:60]}' names lines beyond the end of any file"
    plain = _PLAIN.fullmatch(target)
    if plain and ".." not in target:  # nearly all of a million are: one look at each
        path, first, last = plain.groups()
        start = int(first) if first else 0
        end = int(last) if last else start
        if (start or not first) and start <= end:
            return Span(path, start, end)
    try:
        span = span_of(target)
    except InputError as error:
        return str(error)
    broken = f"'{target}' is a broken range of lines" if _BROKEN.search(span.path) else fault_of(span.path)
    return broken or span


def fault_of_id(name: str) -> str:
    """Say why a name is not allowed for a document, since targets with lines and symbols look alike; empty if it is."""
    if not name:
        return "it has no id"
    head, _, end = name.rpartition(":")
    reads_as_lines = head and end.replace("-", "", 1).isdecimal() and end[0] != "-" and end[-1] != "-"
    return "its id reads as lines or a symbol of a file" if reads_as_lines or "::" in name else ""


def grade_of(value: object, lowest: int = 0) -> int | None:
    """Return a grade; None if the value is not a whole number, too low, or beyond any scale."""
    text = _DECIMAL.sub("", value.strip()) if isinstance(value, str) else value
    if isinstance(text, bool) or (isinstance(text, float) and not text.is_integer()):
        return None
    try:
        grade = int(text)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return None
    return grade if lowest <= grade <= 1000 else None


def first_text(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the first of these fields that is a text and not empty; or an empty text."""
    return next((text for name in names if isinstance(text := row.get(name), str) and text.strip()), "")


def text_of(value: object) -> str:
    """Return a name as text, since some collections use whole numbers as names."""
    return value if isinstance(value, str) else str(value) if type(value) is int else ""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The beginning of a file, which shows its format; for a folder only its path."""

    path: Path
    rows: Sequence[Mapping[str, Any]] = ()
    """Its first objects, where it holds such."""
    head: str = ""
    problems: Sequence[Problem] = ()
    """What was wrong with those that are left out."""

    @property
    def keys(self) -> frozenset[str]:
        """The fields of its first objects."""
        return frozenset(name for row in self.rows for name in row)


class Gathered:
    """The contents and problems that a reader has gathered so far from one file or folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.queries: dict[str, Query] = {}
        self.documents: dict[str, Chunk] = {}
        self.judgments: list[Judgment] = []
        self.rows: list[int] = []
        self._grades: dict[tuple[str, str], int] = {}
        self.problems: list[Problem] = []

    def problem(self, row: int, what: str, *, file: Path | None = None) -> None:
        """Record a problem of a row."""
        self.problems.append(Problem(rows.place(file or self.path, row), what))

    def query(self, row: int, query: Query, *, file: Path | None = None) -> bool:
        """Add a query unless it is empty or its id is taken; return whether it was added."""
        if not query.text.strip():
            self.problem(row, "the query is empty", file=file)
        elif query.id in self.queries:
            self.problem(row, f"query '{query.id}' is there twice: the first counts", file=file)
        else:
            self.queries[query.id] = query
            return True
        return False

    def document(self, row: int, document: Chunk, *, file: Path | None = None) -> None:
        """Add a document unless its id is taken."""
        fault = "its id is taken: the first counts" if document.id in self.documents else ""
        fault = fault or ("" if document.id else "it has no id")
        if fault:
            self.problem(row, f"document '{document.id}': {fault}", file=file)
        else:
            self.documents[document.id] = document

    def judgment(self, row: int, judgment: Judgment) -> None:
        """Add a judgment."""
        self.judgments.append(judgment)
        self.rows.append(row)

    def grade(self, row: int, pair: tuple[str, str], column: str, value: object, *, file: Path) -> bool:
        """Add the grade of a query and a document; of two grades of a pair the first counts."""
        query, target = pair
        grade = grade_of(value)
        fault = ""
        if query not in self.queries:
            fault = f"there is no query '{query}'"
        elif target not in self.documents:
            fault = f"there is no document '{target}'"
        elif grade is None:
            fault = f"{column} {value!r}, wanted a whole number from 0"
        elif self._grades.get(pair, grade) != grade:
            fault = f"'{target}' is judged twice for query '{query}': the first counts"
        elif pair not in self._grades:
            self._grades[pair] = grade
            self.judgments.append(Judgment(query, target, grade))
        if fault:
            self.problem(row, fault, file=file)
        return not fault

    def reading(self, *, name: str = "", about: Mapping[str, Any] | None = None) -> TruthFile:
        """Return the gathered ground truth; `about` describes the corpus."""
        about = about if about is not None else about_of(self.path, self.problems)
        truth = Truth(
            name or name_of(self.path),
            tuple(self.queries.values()),
            tuple(self.judgments),
            tuple(self.documents.values()),
            about.get("repo", ""),
            about.get("commit", ""),
            *(tuple(self._hidden(about.get(name, ()))) for name in ("hidden", "hidden_docs")),
        )
        return TruthFile(truth, tuple(self.problems), tuple(self.rows), self.path.name)

    def _hidden(self, targets: Iterable[str]) -> Iterator[str]:
        """Yield the valid hidden targets; record a problem for each other one."""
        for target in targets:
            if fault := fault_of_target(target):
                self.problem(1, f"hidden: {fault}")
            else:
                yield target


@dataclass(frozen=True, slots=True)
class _About:
    repo: str = ""
    commit: str = ""
    hidden: tuple[str, ...] = ()
    hidden_docs: tuple[str, ...] = ()


_ABOUT = [field.name for field in fields(_About)]


def name_of(path: Path) -> str:
    """Return the name of a file or folder of ground truth, without its suffixes."""
    if path.is_dir():
        return path.resolve().name
    stem = plain(path.resolve()).stem
    return stem.removesuffix(".qrels") or stem


def about_of(path: Path, problems: list[Problem]) -> dict[str, Any]:
    """Read the file beside a ground truth about its corpus: `repo`, `commit` and the hidden places."""
    beside = about_file(path)
    if not beside.is_file():
        return {}
    try:
        about: dict[str, Any] = rows.value_of(beside)
        read_value(_About, about)
    except InputError as error:
        problems.append(Problem(rows.place(beside, 1), str(error)))
        return {}
    near = {key: nearest(key, _ABOUT) for key in about if key not in _ABOUT}
    misspelt = [f"unknown key '{key}'; {hint}" for key, hint in near.items() if hint.startswith("did you mean")]
    problems.extend(Problem(rows.place(beside, 1), what) for what in misspelt)
    return about


def about_file(path: Path) -> Path:
    """Return the file about a ground truth's corpus: `NAME.meta.json` beside it, `meta.json` in a folder."""
    return path / "meta.json" if path.is_dir() else path.with_name(f"{name_of(path)}.meta.json")


_QUOTED = re.compile(r'[",\r\n]')


def csv_row(cells: Iterable[str]) -> str:
    """Return a row of CSV, with lone carriage returns quoted, which Python's writer leaves bare."""
    return ",".join('"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell for cell in cells) + "\n"


def write_listed(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write a JSON list with one object per line."""
    rows = ",\n".join(files.dumps(record) for record in records)
    files.write(path, ("[\n", rows, "\n]\n"))


def write_about(truth: Truth, path: Path) -> None:
    """Write the file about the corpus beside a ground truth, if the corpus is known."""
    about: dict[str, Any] = {"repo": truth.repository, "commit": truth.commit, "hidden": list(truth.hidden)}
    about["hidden_docs"] = list(truth.hidden_docs)
    known = {key: value for key, value in about.items() if value}
    if known:
        files.write_json(about_file(path), known)


_PLAIN_QUERY = {"mode": "all", "languages": (), "paths": (), "kinds": ()}
_PLAIN_CHUNK = {field.name: field.default for field in fields(Chunk) if field.name not in {"id", "text", "path"}}


def _is_filtered(query: Query) -> bool:
    return any(getattr(query, name) != plain for name, plain in _PLAIN_QUERY.items())


def _strays(truth: Truth) -> int:
    known = {document.id for document in truth.documents}
    return sum(each.target not in known for each in truth.judgments)


def _unanswered(truth: Truth) -> int:
    judged = {judgment.query_id for judgment in truth.judgments}
    return sum(query.id not in judged for query in truth.queries)


_LOST: Mapping[str, tuple[str, Callable[[Truth], int]]] = {
    "documents": ("documents", lambda truth: len(truth.documents)),
    "filters": ("queries with mode, languages, paths or kinds", lambda truth: sum(map(_is_filtered, truth.queries))),
    "judges": (
        "judges and reasons of judgments",
        lambda truth: sum(bool(each.judge or each.reason) for each in truth.judgments),
    ),
    "repeats": (
        "further judgments of a pair that is judged already",
        lambda truth: len(truth.judgments) - len({(each.query_id, each.target) for each in truth.judgments}),
    ),
    "strays": ("judgments of no document", _strays),
    "unanswered": ("queries without a judgment", _unanswered),
}


def losses(  # noqa: PLR0913  what a format may not hold
    truth: Truth,
    kinds: str,
    counts: Mapping[str, int],
    *,
    tags: Collection[str] | None = (),
    corpus: bool = False,
    document_fields: Collection[str] | None = None,
) -> Iterator[str]:
    """Yield what a format cannot store, with counts: `kinds` of the table above, then its own `counts`.

    `tags` and `document_fields` are those that it holds, None all; `corpus` says that it names no checkout.
    """
    for kind in kinds.split():
        what, count = _LOST[kind]
        yield from _counted(count(truth), what)
        if kind == "filters" and tags is not None:
            names = sorted({name for query in truth.queries for name in query.tags}.difference(tags))
            yield from (f"the tags {', '.join(names)}" for _ in names[:1])
    if corpus and (truth.repository or truth.commit):
        yield "repository and commit"
    if corpus:
        yield from _counted(len(truth.hidden), "hidden targets")
    if document_fields is not None:
        names = [name for name in _PLAIN_CHUNK if name not in document_fields]
        lost = sorted({name for each in truth.documents for name in names if getattr(each, name) != _PLAIN_CHUNK[name]})
        yield from (f"the fields {', '.join(lost)} of documents" for _ in lost[:1])
    for what, number in counts.items():
        yield from _counted(number, what)


def _counted(number: int, what: str) -> Iterator[str]:
    if number:
        yield f"{what} ({number:,})"


def check_corpus(truth: Truth, form: str, *, texts: bool) -> None:
    """Refuse a ground truth whose corpus is of the other kind: texts, or a checkout."""
    if bool(truth.documents) != texts:
        holds, has = (
            ("a corpus of texts", "speaks of a checkout") if texts else ("files of a checkout", "has documents")
        )
        raise InputError(f"{form} holds {holds}, and this ground truth {has}; convert to jsonl")
