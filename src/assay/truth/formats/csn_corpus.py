"""Read CodeSearchNet's corpus files, and join annotations with the functions they judge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from assay.errors import InputError, counted
from assay.io import rows
from assay.io.rows import plain
from assay.truth.formats.csn import url_of
from assay.truth.formats.shared import Gathered, Glimpse
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Chunk, Judgment, Problem

_HOST = "https://github.com/"
_URL = re.compile(r"https?://github\.com/([^#?]+/blob/[^#?]+#L\d+(?:-L?\d+)?)")
_FILE = re.compile(r"\w+_(train|valid|test)_\d+\.jsonl")
_TEXTS = ("code", "function")
_COLUMNS = ("url", "language", "partition", *_TEXTS)


def fits(glimpse: Glimpse) -> bool:
    """Say whether a file looks like this, or a folder has such files."""
    if glimpse.path.is_dir():
        return bool(_files(glimpse.path))
    return (
        "url" in glimpse.keys and bool(glimpse.keys & set(_TEXTS)) and bool(glimpse.keys & {"func_name", "identifier"})
    )


def read(path: Path) -> TruthFile:
    """Read the functions of a file or folder, which has no queries and no judgments."""
    gathered = Gathered(path)
    for file in _files(path) if path.is_dir() else [path]:
        for row, function in _functions(file, gathered.problems):
            gathered.document(row, function, file=file)
    return gathered.reading(about={})


def functions(path: Path, problems: list[Problem]) -> Iterator[Chunk]:
    """Yield the functions of a file or folder one by one; only problems are kept in memory."""
    for file in _files(path) if path.is_dir() else [path]:
        for _, function in _functions(file, problems):
            yield function


def _files(folder: Path) -> list[Path]:
    """Return the files of a corpus below a folder, by split and number."""
    every = (file for pattern in ("*.jsonl*", "*/*.jsonl*") for file in folder.glob(pattern))
    found = [file for file in every if _FILE.fullmatch(plain(file).name)]
    return sorted(found, key=lambda file: (file.parent, len(file.name), file.name))


def _functions(file: Path, problems: list[Problem]) -> Iterator[tuple[int, Chunk]]:
    for row, record in rows.objects(file, problems, _COLUMNS):
        url, language = record.get("url"), record.get("language", "")
        code = next((record[name] for name in _TEXTS if isinstance(record.get(name), str)), "")
        name = id_of(url) if isinstance(url, str) else ""
        if not name:
            problems.append(
                Problem(rows.place(file, row), f"url {url!r:.80}, wanted {_HOST}OWNER/NAME/blob/COMMIT/PATH#L1")
            )
        elif not code.strip() or not isinstance(language, str):
            problems.append(Problem(rows.place(file, row), "no code, wanted text under code or function"))
        else:
            yield row, Chunk(name, code, language.lower(), path=name)


def id_of(url: str) -> str:
    """Return the name of a function: its URL below the host; empty for any other URL."""
    found = _URL.fullmatch(url.strip())
    return found[1] if found else ""


def joined(reading: TruthFile, corpus: Path) -> TruthFile:
    """Return a ground truth with the judged functions of a corpus as documents; missing ones are problems."""
    names = {each.target: unquote(id_of(url_of(each.target))) for each in reading.truth.judgments}
    problems: list[Problem] = []
    wanted, found = set(names.values()), dict[str, Chunk]()
    for function in functions(corpus, problems):
        name = unquote(function.id)
        if name in wanted:
            found.setdefault(name, function)
    if not found:
        raise InputError(f"none of {counted(len(wanted), 'judged function')} of '{reading.truth.name}' is in {corpus}")
    kept = [at for at, each in enumerate(reading.truth.judgments) if names[each.target] in found]
    truth = _truth(reading.truth, kept, {target: found[name].id for target, name in names.items() if name in found})
    documents = tuple(found[name] for name in dict.fromkeys(names.values()) if name in found)
    missing = _missing(reading, names, found)
    rows = tuple(reading.rows[at] for at in kept) if reading.rows else ()
    whole = replace(truth, documents=documents)
    return replace(reading, truth=whole, problems=(*reading.problems, *problems, *missing), rows=rows)


def at_least(reading: TruthFile, grade: int) -> TruthFile:
    """Return the judgments of pairs that any judge gave at least this grade, with their queries.

    Documents of other pairs are left out: 3 makes the 399 pairs of 95 queries of CoSQA+'s test on CodeSearchNet.
    """
    truth = reading.truth
    best: Counter[tuple[str, str]] = Counter()
    for each in truth.judgments:
        best[each.query_id, each.target] = max(best[each.query_id, each.target], each.grade)
    kept = [at for at, each in enumerate(truth.judgments) if best[each.query_id, each.target] >= grade]
    if not kept:
        raise InputError(f"'{truth.name}' has no judgment of {grade} or more")
    part = _truth(truth, kept, {})
    targets = {each.target for each in part.judgments}
    part = replace(part, documents=tuple(each for each in truth.documents if each.id in targets))
    return replace(reading, truth=part, rows=tuple(reading.rows[at] for at in kept) if reading.rows else ())


def _truth(truth: Truth, places: Sequence[int], names: Mapping[str, str]) -> Truth:
    """Return some judgments with new names of their targets, and their queries."""
    judgments = [truth.judgments[at] for at in places]
    asked = {each.query_id for each in judgments}
    return replace(
        truth,
        queries=tuple(query for query in truth.queries if query.id in asked),
        judgments=tuple(replace(each, target=names.get(each.target, each.target)) for each in judgments),
    )


def _missing(reading: TruthFile, names: Mapping[str, str], functions_by_name: Mapping[str, Chunk]) -> Iterator[Problem]:
    """Yield the judged functions that are missing, once each."""
    language = {query.id: query.tags.get("language", "").lower() for query in reading.truth.queries}
    there = {function.language for function in functions_by_name.values()}
    gone: dict[str, tuple[int, Judgment]] = {}
    others: Counter[str] = Counter()
    for at, each in enumerate(reading.truth.judgments):
        if names[each.target] in functions_by_name:
            continue
        if language[each.query_id] and language[each.query_id] not in there:
            others[language[each.query_id]] += 1
        else:
            gone.setdefault(each.target, (at, each))
    for name, count in others.items():
        yield Problem(reading.file, f"{counted(count, 'judgment')} of {name}, of which the corpus has nothing")
    for at, each in gone.values():
        yield Problem(reading.where(at), f"{each.target}: no such function in the corpus")
