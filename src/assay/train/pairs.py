"""Read and harvest the pairs that encoders learn from.

Files are records of `assay judge run` (the last verdict of a pair counts, undecided ones are left out), rows with both
texts in any form of `assay.io.rows` (CoSQA's list too), and any ground truth that brings its corpus along.

A documented unit asks with the first sentence of its documentation and is answered by its view without that
documentation; the rest of the documentation answers, too, and a heading asks for its section. What is named in a
ground truth is left out wherever it turns up, vendored copies included: trained on its own test, anything looks good.
"""

from __future__ import annotations

import re
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any
from zlib import crc32

import numpy as np

from assay.corpus.chunk import parse
from assay.corpus.walk import walk
from assay.corpus.walked_files import FileEntry
from assay.corpus.walked_files import read as read_text
from assay.encode.view import view
from assay.errors import InputError, counted
from assay.io import rows
from assay.io.fields import FieldError, Fields
from assay.io.rows import plain
from assay.judge import records
from assay.terms import WORD
from assay.train.settings import TableSettings, TuneSettings
from assay.truth.formats.shared import CODE_TEXTS, QUERY_TEXTS
from assay.truth.truth_formats import read
from assay.values import Chunk, Problem

_GRADES = ("grade", "label", "score", "relevance")
_MAX_GRADE = 1000


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """Two texts that should be near, or apart; the source (a package, a repository) is the unit of most splits."""

    query: str
    code: str
    source: str
    kind: str
    """`doc` to code without it, `rest` of a doc, `section` below a heading, or a data set's name."""
    grade: int = 1
    """How well the code answers; 0 is a code that was judged wrong."""


def pair_of(row: Mapping[str, Any], source: str) -> TrainingPair | None:
    """Return the pair of a row of a file, None where nobody decided it; a row without a grade is a right pair."""
    fields = Fields(row)
    query = next((fields.text(name) for name in QUERY_TEXTS if name in fields), None)
    if query is None:
        raise FieldError("no field 'query' (or 'doc', as CoSQA calls it)")
    code = next((fields.text(name) for name in CODE_TEXTS if name in fields), None)
    if code is None:
        raise FieldError("no field 'code'")
    if not query.strip() or not code.strip():
        raise FieldError(f"the {'query' if not query.strip() else 'code'} is empty")
    graded = next((name for name in _GRADES if name in row), "")
    if graded and graded not in fields:
        return None
    grade = fields.whole(graded, most=_MAX_GRADE) if graded else 1
    return TrainingPair(query, code, str(row.get("source") or source), str(row.get("kind") or "given"), grade)


def texts_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the query and the code of a row, whatever its label; one of them may be missing, and is empty then."""
    fields = Fields(row)
    query = next((fields.text(name) for name in QUERY_TEXTS if name in fields), "").strip()
    code = next((fields.text(name) for name in CODE_TEXTS if name in fields), "").strip()
    if not query and not code:
        raise FieldError("no field 'query' (or what others call it) and no field 'code' with text")
    return query, code


def refuse_wrong_pairs(pairs: Iterable[TrainingPair]) -> None:
    """Raise InputError where a pair is judged wrong: a table has no use for it, and must not learn it."""
    every = list(pairs)
    if wrong := sum(pair.grade == 0 for pair in every):
        raise InputError(
            f"of {counted(len(every), 'pair')} {wrong:,} have label 0, and a table learns from right pairs alone: "
            "take them out, or train a transformer on both with assay train encoder --base"
        )


_TESTED_KINDS = ("doc", "given")
_TESTED_SOURCES = 8  # at least, so that no source decides the figures


@dataclass(frozen=True, slots=True)
class EncoderPairs:
    """Pairs to learn from, and pairs of other sources to be examined on."""

    learned: list[TrainingPair]
    tested: list[TrainingPair]


def split(pairs: Sequence[TrainingPair], settings: TableSettings) -> EncoderPairs:
    """Return the pairs in two parts that share no source, since functions of one package resemble each other."""
    learned = [pair for pair in pairs if not is_held_out(pair.source, settings)]
    tested = _tested([pair for pair in pairs if is_held_out(pair.source, settings)], settings)
    if not learned or len(tested) < 2:
        raise InputError(f"{len(learned)} pairs to learn, {len(tested)} held out: too few; add sources or --pairs")
    return EncoderPairs(learned, tested)


def is_held_out(source: str, settings: TableSettings) -> bool:
    """Tell whether a source is only evaluated on: named ones, and one in so many of the others."""
    one_in = settings.held_out_one_in
    return source in settings.held_out or (one_in > 0 and crc32(source.encode()) % one_in == 0)


def _tested(held: Sequence[TrainingPair], settings: TableSettings) -> list[TrainingPair]:
    """Return held-out pairs of documentation and code in a fixed order, no text twice, few of one source."""
    most = max(settings.evaluated // _TESTED_SOURCES, 1)
    chosen: list[TrainingPair] = []
    taken: Counter[str] = Counter()
    texts: set[str] = set()
    for pair in sorted(held, key=lambda pair: sha256(f"{settings.seed} {pair.query} {pair.code}".encode()).digest()):
        if pair.kind in _TESTED_KINDS and not {pair.query, pair.code} & texts and taken[pair.source] < most:
            texts.update((pair.query, pair.code))
            taken[pair.source] += 1
            chosen.append(pair)
    return chosen[: settings.evaluated]


_JOINED = 0.05
"""The fraction of all pairs above which what sharing joins is split."""
_MIN_QUERIES = 2  # queries with a right code, in each part


@dataclass(frozen=True, slots=True)
class QueryParts:
    """The parts of all pairs."""

    learned: list[TrainingPair]
    valid: list[TrainingPair]
    test: list[TrainingPair]
    left_out: int
    """Pairs of a code that another part has."""


def split_by_query(pairs: Sequence[TrainingPair], settings: TuneSettings) -> QueryParts:
    """Return pairs in three parts that share neither the words of a query nor a code."""
    groups = _groups(pairs)
    order = np.random.default_rng(settings.seed).permutation(len(groups))
    queries = sum(len({words_of(pair.query) for pair in group}) for group in groups)
    wanted = {"test": settings.test * queries, "valid": settings.valid * queries}
    parts: dict[str, list[TrainingPair]] = {"test": [], "valid": [], "learned": []}
    taken: Counter[str] = Counter()
    for at in order:
        part = next((name for name, most in wanted.items() if taken[name] < most), "learned")
        taken[part] += len({words_of(pair.query) for pair in groups[at]})
        parts[part] += groups[at]
    apart = _without_shared(parts)
    for name, part_pairs in apart.items():
        if len({pair.query for pair in part_pairs if pair.grade}) < _MIN_QUERIES:
            raise InputError(
                f"{len(pairs):,} pairs of {queries:,} queries leave the {name} part without two queries that have a "
                "right code: give more pairs"
            )
    left_out = len(pairs) - sum(map(len, apart.values()))
    return QueryParts(apart["learned"], apart["valid"], apart["test"], left_out)


def words_of(query: str) -> str:
    """Return the words of a query in one order: queries of the same words are one."""
    return " ".join(sorted({word.lower() for word in WORD.findall(query)})) or query


def code_of(code: str) -> str:
    """Return what is the same of two copies of a code: all but the space in it."""
    return " ".join(code.split())


def _groups(pairs: Sequence[TrainingPair]) -> list[list[TrainingPair]]:
    """Return pairs that sharing joins; where that is too many, by their query alone."""
    most = _JOINED * len(pairs)
    joined = _by(pairs, _roots(pairs))
    apart: list[list[TrainingPair]] = []
    for group in joined:
        single = {at: words_of(pair.query) for at, pair in enumerate(group)}
        apart += [group] if len(group) <= max(most, _MIN_QUERIES) else _by(group, single)
    return apart


def _by(pairs: Sequence[TrainingPair], key: Mapping[int, str]) -> list[list[TrainingPair]]:
    groups: dict[str, list[TrainingPair]] = defaultdict(list)
    for at, pair in enumerate(pairs):
        groups[key[at]].append(pair)
    return [groups[name] for name in sorted(groups)]


def _roots(pairs: Sequence[TrainingPair]) -> dict[int, str]:
    """Return the name of what each pair is joined to by shared words and codes, by union and find."""
    above: dict[str, str] = {}

    def find(name: str) -> str:
        while above.setdefault(name, name) != name:
            above[name] = name = above[above[name]]
        return name

    for pair in pairs:
        above[find(f"c {code_of(pair.code)}")] = find(f"q {words_of(pair.query)}")
    return {at: find(f"q {words_of(pair.query)}") for at, pair in enumerate(pairs)}


def _without_shared(parts: Mapping[str, Sequence[TrainingPair]]) -> dict[str, list[TrainingPair]]:
    """Return parts, the first of which keeps a code that several have."""
    seen: set[str] = set()
    apart: dict[str, list[TrainingPair]] = {}
    for name, pairs in parts.items():
        apart[name] = [pair for pair in pairs if code_of(pair.code) not in seen]
        seen.update(code_of(pair.code) for pair in apart[name])
    return apart


@dataclass(slots=True)
class ReadPairs:
    """The pairs of some files."""

    pairs: list[TrainingPair] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    """Rows that cannot be used."""
    undecided: int = 0


def read_pairs(files: Sequence[Path]) -> ReadPairs:
    """Read pairs; a file without any that can be used is an error."""
    found = ReadPairs()
    for file in files:
        before = len(found.pairs), len(found.problems)
        _read(file, found)
        if len(found.pairs) == before[0]:
            why = f" ({found.problems[before[1]]})" if len(found.problems) > before[1] else ""
            raise InputError(f"'{file}' holds no pair that can be learned from{why}; wanted query, code and label")
    return found


def leave_out(pairs: Sequence[TrainingPair], files: Sequence[Path]) -> list[TrainingPair]:
    """Return the pairs none of whose texts is in some files: no query of the same words, no copy of a code.

    Texts count whatever their label; a row that cannot be read is an InputError, for its texts would be learned.
    """
    held = [texts for file in files for texts in _texts(file)]
    queries = {words_of(query) for query, _ in held if query}
    codes = {code_of(code) for _, code in held if code}
    return [pair for pair in pairs if words_of(pair.query) not in queries and code_of(pair.code) not in codes]


def _texts(file: Path) -> list[tuple[str, str]]:
    """Return query and code of every row of a file."""
    found, texts = ReadPairs(), list[tuple[str, str]]()
    if _is_of_texts(file):
        for where, row in _rows(file, found.problems):
            try:
                texts.append(texts_of(row))
            except FieldError as error:
                found.problems.append(Problem(where, str(error)))
    else:
        _read(file, found)
        texts = [(pair.query, pair.code) for pair in found.pairs]
    if found.problems or not texts:
        why = str(found.problems[0]) if found.problems else f"'{file}' holds no text"
        raise InputError(f"{why}: what is left out has to be read whole; mend the file")
    return texts


def _read(file: Path, found: ReadPairs) -> None:
    if _is_of_texts(file):
        source = plain(file).stem
        for where, row in _rows(file, found.problems):
            try:
                pair = pair_of(row, source)
            except FieldError as error:
                found.problems.append(Problem(where, str(error)))
                continue
            found.undecided += pair is None
            found.pairs += [pair] if pair else []
        return
    reading = read(file)
    queries = {query.id: query.text for query in reading.truth.queries}
    codes = {code.id: code.text for code in reading.truth.documents}
    found.problems += reading.problems
    for at, judged in enumerate(reading.truth.judgments):
        if judged.query_id in queries and judged.target in codes:
            one = queries[judged.query_id], codes[judged.target]
            found.pairs.append(TrainingPair(*one, reading.truth.name, "given", judged.grade))
        else:
            found.problems.append(Problem(reading.where(at), f"no text of '{judged.target}' in the corpus"))


def _is_of_texts(file: Path) -> bool:
    """Say whether a file has rows with texts; otherwise it is a ground truth."""
    if not file.exists():
        raise InputError(f"no such file: '{file}'")
    return not file.is_dir() and (records.is_records(file) or _has_texts(file))


def _has_texts(file: Path) -> bool:
    """Say whether the rows of a file hold the codes themselves; if nothing can be read of it, rows say why."""
    sample = rows.sample(file, [])
    return not sample or any("code" in row or "query" in row for row in sample)


def _rows(file: Path, problems: list[Problem]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if records.is_records(file):
        yield from ((str(file), {**record, "kind": "given"}) for record in records.verdicts(file))
    else:
        for row, fields in rows.objects(file, problems):
            yield rows.place(file, row), fields


_DEVELOPMENT = "click hono httpx"
_LEARNED = (  # by the ranking
    "aiohttp axum badger bat caddy cargo cask cli11 echo fastapi fastify fd fzf gin h3 hikaricp hyper jackson-databind "
    "joda-time jsoup just koin libuv monolog oban polly prometheus puma rayon retrofit scrapy starlette "
    "swift-argument-parser traefik werkzeug"
)
_ACCEPTANCE = "alamofire celery cobra flask gson hiredis octocode okio ripgrep zod zoekt"
_OTHER_NAMES = "argumentparser assay httpcore jackson joda"  # what they are called within, and who measures
LEFT_OUT = frozenset(f"{_DEVELOPMENT} {_LEARNED} {_ACCEPTANCE} {_OTHER_NAMES}".split())
"""Repositories that a ground truth is about, in lower case."""

_MAX_FILE_BYTES = 400_000  # bytes of a file; larger ones are generated
_PAIRS_A_SOURCE = 6_000  # so that no repository is a tenth of everything
_REST = 700  # characters of the rest of a documentation
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)|(.+?)(?:\n\s*\n|$)", re.DOTALL)
_MARKUP = re.compile(r":\w+:`~?([^`]*)`|\{@\w+\s+([^}]*)\}|</?\w+[^>]*>|[`*|]+|https?://\S+|\[([^\]]*)\]\([^)]*\)")
_MARKERS = re.compile(r"^[\s/*#!\"'\-;%<>=]+|[\s/*\"']+$")
_PROSE_KINDS = ("section", "cell")
_PASSED_OVER = frozenset(("site-packages", "test", "tests", "testdata", "node_modules"))
_MIN_QUESTION_CHARS, _MAX_QUESTION_CHARS = 14, 400  # characters of a question


@dataclass(frozen=True, slots=True)
class PackageSource:
    """A folder of one package or repository."""

    name: str
    root: Path


def repository(path: Path) -> PackageSource:
    """Return a checked-out repository as a source."""
    return PackageSource(path.resolve().name, path.resolve())


def packages_in(folder: Path) -> list[PackageSource]:
    """Return the top-level packages of a `site-packages` or library folder, as sources."""
    entries = sorted(entry for entry in folder.iterdir() if entry.is_dir() and (entry / "__init__.py").is_file())
    return [PackageSource(entry.name, entry) for entry in entries]


def environment() -> list[PackageSource]:
    """Return the installed packages and the standard library of the interpreter that runs this."""
    folders = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")}
    packages = [source for folder in sorted(folders) for source in packages_in(folder)]
    return [*packages, PackageSource("stdlib", Path(sysconfig.get_path("stdlib")))]


def harvest(sources: Iterable[PackageSource], *, left_out: Collection[str] = LEFT_OUT) -> Iterator[TrainingPair]:
    """Yield the pairs of all sources; a pair of texts that was seen before is passed over."""
    seen: set[tuple[str, str]] = set()
    for source in sources:
        taken = 0
        for pair in (pair for chunk in chunks_of(source, left_out) for pair in pairs_of(chunk, source.name)):
            if (pair.query, pair.code) not in seen and taken < _PAIRS_A_SOURCE:
                seen.add((pair.query, pair.code))
                taken += 1
                yield pair


def pairs_of(chunk: Chunk, source: str) -> Iterator[TrainingPair]:
    """Yield what one chunk teaches: nothing when it has no documentation, or none in sentences."""
    if chunk.kind in _PROSE_KINDS:
        yield from _section(chunk, source)
        return
    first, rest = _first_sentence(_plain(chunk.doc))
    if not _asks(first):
        return
    yield TrainingPair(first, view(undocumented(chunk)), source, "doc")
    if _asks(rest):
        yield TrainingPair(first, rest[:_REST], source, "rest")


def chunks_of(source: PackageSource, left_out: Collection[str] = LEFT_OUT) -> Iterator[Chunk]:
    """Yield the chunks of a source, file by file in a fixed order that mixes folders; nothing of one left out."""
    if _is_named(source.name, left_out):
        return
    for entry in sorted(walk(source.root).files, key=lambda entry: crc32(entry.path.encode("utf-8", "surrogatepass"))):
        text = _text(source.root, entry, left_out)
        if text:
            yield from parse(entry.path, text).chunks


def undocumented(chunk: Chunk) -> Chunk:
    """Return a chunk without its documentation."""
    return replace(chunk, doc="", text=_without(chunk.text, chunk.doc))


def _text(root: Path, entry: FileEntry, left_out: Collection[str]) -> str:
    """Return the text of a file that may be learned from, else nothing."""
    parts = PurePosixPath(entry.path).parts
    is_named = any(_is_named(part, left_out) for part in parts)
    if is_named or entry.size > _MAX_FILE_BYTES or not _PASSED_OVER.isdisjoint(parts):
        return ""
    text = read_text(root, entry)
    return text if isinstance(text, str) else ""


def _section(chunk: Chunk, source: str) -> Iterator[TrainingPair]:
    """Yield heading to text; the headings above say what a short one is about."""
    text = _plain("\n".join(chunk.text.splitlines()[1:]))
    heading = _plain(f"{chunk.parent.rpartition(' > ')[2]} {chunk.symbol}")
    if len(heading) >= _MIN_QUESTION_CHARS and len(text) >= _MAX_QUESTION_CHARS // 4:
        yield TrainingPair(heading[:_MAX_QUESTION_CHARS], text[:_REST], source, "section")


def _first_sentence(doc: str) -> tuple[str, str]:
    """Return the first sentence of a documentation, on one line, and the rest."""
    match = _SENTENCE.match(doc)
    if match is None:
        return "", ""
    return " ".join(match.group().split())[:_MAX_QUESTION_CHARS], " ".join(doc[match.end() :].split())


def _asks(text: str) -> bool:
    """Tell whether a text could be a question: some words, mostly of Latin letters."""
    letters = sum(character.isascii() and (character.isalpha() or character.isspace()) for character in text)
    return len(text) >= _MIN_QUESTION_CHARS and text.count(" ") >= 2 and letters >= 0.8 * len(text)


def _plain(text: str) -> str:
    """Return a text without the marks of documentation languages; linked words stay."""
    return _MARKUP.sub(lambda match: match.group(1) or match.group(2) or match.group(3) or " ", text).strip()


def _without(text: str, doc: str) -> str:
    """Return code without the lines of its documentation."""
    said = {_MARKERS.sub("", line) for line in doc.splitlines()}
    return "\n".join(line for line in text.splitlines() if _MARKERS.sub("", line) not in said or not line.strip())


def _is_named(name: str, left_out: Collection[str]) -> bool:
    """Tell whether a folder or file is named after a repository that is left out (`_click`, `httpx2`, `click.py`)."""
    plain = name.partition(".")[0].lower().strip("_")
    return not {plain, plain.rstrip("0123456789")}.isdisjoint(left_out)
