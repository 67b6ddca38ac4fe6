"""Read and write TREC's qrels (`query 0 target grade`) with topics, and runs (`query Q0 target rank score name`).

Topics are `query<TAB>text`, in `NAME.topics.tsv` beside `NAME.qrels`, or `topics.tsv` or `queries.tsv` in its folder.
As in trec_eval, a run is ordered by score, equal scores by the names of documents backwards, whatever its ranks say,
and a grade below 0 is 0. Without a corpus a target is the id of a document, whatever stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from math import isnan
from operator import itemgetter
from pathlib import Path
from typing import cast

from assay.errors import InputError, counted
from assay.io import files, rows
from assay.io.rows import plain
from assay.measure.line_spans import Span
from assay.truth.formats import shared
from assay.truth.formats.shared import Gathered, Glimpse, fault_of_target, grade_of, place_of
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Chunk, Judgment, Problem, Query

_SPACE = re.compile(r"\s")
_SPARE = 4
"""How many times the wanted answers of a query are held before the worst are dropped."""
_Order = tuple[float, str, int, int]
"""Score, target, rank and row, the last two negative, so that the greatest is the best."""
_QRELS = re.compile(r"\s*\S+\s+\S+\s+\S+\s+-?\d+(\.0*)?\s*(\n|$)")
_RUN = re.compile(r"\s*\S+\s+\S+\s+\S+\s+\d+\s+[-+.\deE]+\s+\S+\s*(\n|$)")


def fits(glimpse: Glimpse) -> bool:
    """Say whether a file looks like this."""
    return _QRELS.match(glimpse.head) is not None


def is_run(head: str) -> bool:
    """Say whether a file looks like a run."""
    return _RUN.match(head) is not None


def read(path: Path, *, of_documents: bool = False) -> TruthFile:
    """Read qrels, and the topics beside them; with `of_documents` the judged targets are the whole corpus."""
    gathered = Gathered(path)
    topics = _topics_of(path)
    if topics:
        _read_topics(gathered, topics)
    bare = _read_pairs(gathered, (lambda _: "") if of_documents else cache(fault_of_target))
    _tell(gathered, bare, topics)
    reading = gathered.reading()
    ids = dict.fromkeys(each.target for each in gathered.judgments) if of_documents else ()
    return replace(reading, truth=replace(reading.truth, documents=tuple(Chunk(each, "", path=each) for each in ids)))


def _read_pairs(gathered: Gathered, fault_in: Callable[[str], str]) -> dict[str, int]:
    """Read the judgments, and return the queries without a topic, with their rows."""
    pairs: set[tuple[str, str]] = set()
    bare: dict[str, int] = {}
    below = 0
    for row, (query, _, target, grade) in _fields(gathered.path, gathered.problems, 4):
        value = grade_of(grade, lowest=-1000)
        if value is None:
            gathered.problem(row, f"grade '{grade}', wanted a whole number")
        elif fault := fault_in(target):
            gathered.problem(row, fault)
        elif (query, target) in pairs:
            gathered.problem(row, f"'{target}' is judged twice for query '{query}': the first counts")
        else:
            pairs.add((query, target))
            below += value < 0
            gathered.judgment(row, Judgment(query, target, max(value, 0)))
            if query not in gathered.queries:
                gathered.queries[query] = Query(query, query)
                bare[query] = row
    if below:
        gathered.problem(1, f"{counted(below, 'grade')} below 0 count as 0, as in trec_eval")
    return bare


def losses(truth: Truth) -> Iterator[str]:
    """Yield what the format cannot store."""
    if not truth.judgments:
        raise InputError("there are no judgments, so qrels would be empty; convert to jsonl")
    own = {
        "judgments whose query or target holds a space": sum(map(_spaced, truth.judgments)),
        "queries of several lines or a spaced id": sum(map(_unlined, truth.queries)),
    }
    yield from shared.losses(truth, "documents filters judges repeats", own)


def write(truth: Truth, path: Path) -> None:
    """Write qrels, the topics beside them, and the file about the corpus."""
    pairs: dict[tuple[str, str], int] = {}
    queries = [query for query in truth.queries if not _unlined(query)]
    known = {query.id for query in queries}
    for each in truth.judgments:
        if each.query_id in known and not _spaced(each):
            pairs.setdefault((each.query_id, each.target), each.grade)
    files.write(path, (f"{query} 0 {target} {grade}\n" for (query, target), grade in pairs.items()), errors="strict")
    files.write(_beside(path), (f"{query.id}\t{query.text}\n" for query in queries), errors="strict")
    shared.write_about(truth, path)


def read_run(
    path: Path, problems: list[Problem], depth: int, *, of_documents: bool = False, by_rank: bool = False
) -> dict[str, list[Span]]:
    """Return the best answers of each query, `depth` at most; unusable rows become problems.

    `of_documents` where targets are ids; `by_rank` orders equal scores by the ranks of the file.
    """
    held: dict[str, dict[str, _Order]] = {}
    place_in: Callable[[str], Span | str] = Span if of_documents else cache(place_of)
    for row, (query, _, target, rank, score, _) in _fields(path, problems, 6):
        try:
            order = (float(score), target, -int(rank), -row)
        except ValueError:
            problems.append(Problem(rows.place(path, row), f"rank '{rank}' or score '{score}' is not a number"))
            continue
        place = "the score is not a number" if isnan(order[0]) else place_in(target)
        known = held.setdefault(query, {})
        if isinstance(place, str):
            problems.append(Problem(rows.place(path, row), place))
        elif target in known:
            known[target] = max(known[target], order)
            problems.append(Problem(rows.place(path, row), f"'{target}' is ranked twice: its better score counts"))
        else:
            known[target] = order
            if len(known) > _SPARE * depth:
                held[query] = _best(known, depth, by_rank=by_rank)
    best = {query: _best(known, depth, by_rank=by_rank) for query, known in held.items() if known}
    if not best:
        said = f": {problems[0]}" if problems else ""
        raise InputError(f"{path} has no run; wanted rows of 'query Q0 target rank score name'{said}")
    otherwise = sum([*of] != [*_best(of, depth, by_rank=not by_rank)] for of in best.values())
    if otherwise and not by_rank:
        how = "by id backwards as in trec_eval; the option ties = 'rank' keeps the order of their ranks"
        problems.insert(0, Problem(path.name, f"equal scores of {counted(otherwise, 'query')} are ordered {how}"))
    return {query: [cast(Span, place_in(target)) for target in of] for query, of in best.items()}


def _best(order: Mapping[str, _Order], depth: int, *, by_rank: bool) -> dict[str, _Order]:
    """Return the best targets, in their order."""
    key = itemgetter(0, 2, 3) if by_rank else itemgetter(0, 1)
    return {target: order[target] for target in sorted(order, key=lambda each: key(order[each]), reverse=True)[:depth]}


def _fields(path: Path, problems: list[Problem], count: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file with the expected number of fields."""
    for row, line in rows.lines(path, problems):
        fields = line.split()
        if len(fields) == count:
            yield row, fields
        elif fields:
            problems.append(Problem(rows.place(path, row), f"{len(fields)} fields, wanted {count}"))


def _topics_of(path: Path) -> Path | None:
    """Return the file of topics that belongs to qrels."""
    stem = plain(path).stem
    bare = re.sub(r"(^qrels[._-]?)|([._-]?qrels$)", "", stem.removesuffix(".qrels"))
    stems = [each for each in (stem, bare) if each]
    names = [f"{each}.{kind}.tsv" for each in stems for kind in ("topics", "queries")]
    names = [_beside(path).name, *names, "topics.tsv", "queries.tsv"]
    found = (path.with_name(f"{name}{ending}") for name in names for ending in ("", ".gz", ".zst"))
    return next((file for file in found if file.is_file()), None)


def _beside(path: Path) -> Path:
    return path.with_name(f"{shared.name_of(path)}.topics.tsv")


def _read_topics(gathered: Gathered, topics: Path) -> None:
    for row, line in rows.lines(topics, gathered.problems):
        name, tab, text = line.partition("\t")
        if tab and name and not _SPACE.search(name):
            gathered.query(row, Query(name, text), file=topics)
        elif line.strip():
            gathered.problem(row, "wanted 'query<TAB>text'", file=topics)


def _tell(gathered: Gathered, bare: Mapping[str, int], topics: Path | None) -> None:
    """Report queries without a text, for which their ids are used."""
    if topics is None and bare:
        wanted = _beside(gathered.path).name
        gathered.problem(1, f"no topics beside it, so that ids stand for the texts of queries: give {wanted}")
    elif topics is not None:
        for query, row in bare.items():
            gathered.problem(row, f"query '{query}' is not in {topics.name}: its id stands for its text")


def _spaced(judgment: Judgment) -> bool:
    return any(_SPACE.search(name) or not name for name in (judgment.query_id, judgment.target))


def _unlined(query: Query) -> bool:
    return bool(_SPACE.search(query.id)) or any(end in query.text for end in "\n\r\0")
