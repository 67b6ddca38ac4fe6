"""Choose the pairs worth judging: by the mean cosine of encoders, among code that can be tested (CoSQA+, II-B).

Vectors lie in a file that is mapped, so memory is a block's; the file of pairs appears when all of them are written. A
code can be tested if one of its functions has a parameter (`self` counts) and returns a value.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from assay.corpus import blocks
from assay.corpus.languages import language_of
from assay.corpus.outline import functions
from assay.corpus.walk import walk
from assay.corpus.walked_files import read as read_text
from assay.errors import InputError
from assay.io import files, rows
from assay.judge.pairs import laid_out, tree_of
from assay.judge.records import is_records, judgments
from assay.protocols import Encoder, Progress, Vectors
from assay.report import document as doc
from assay.truth.formats.shared import fault_of_id, text_of
from assay.truth.ground_truth import Truth
from assay.truth.truth_formats import UnknownFormat, form_of, read, read_part
from assay.values import Chunk, Judgment, Problem, Query

_IDS = ("id", "_id", "query_id", "code_id", "query-idx", "code-idx", "idx")


def queries_of(path: Path, problems: list[Problem]) -> list[Query]:
    """Return the queries of a file or folder; of a text file each line is one."""
    truth = _truth(path, problems)
    if truth is not None:
        found = list(truth.queries)
    elif path.is_dir():
        found = []
    elif rows.suffix(path) in rows.ENDINGS or any("query" in row or "text" in row for row in rows.sample(path, [])):
        found = [Query(name, text) for name, text, _ in _rows(path, ("query", "text"), problems)]
    else:
        found = [Query(str(row), line.strip()) for row, line in rows.lines(path, problems) if line.strip()]
    if not found:
        raise InputError(f"no query in '{path}'{_why(problems)}; wanted ground truth, rows of id and query, or lines")
    return found


def codes_of(path: Path, problems: list[Problem]) -> list[Chunk]:
    """Return the codes of a file or folder; of a folder of code they are its functions, called by their lines."""
    truth = _truth(path, problems)
    if truth is not None:
        found = list(truth.documents)
    elif path.is_dir():
        found = list(_functions(path))
    else:
        found = [Chunk(name, text, language) for name, text, language in _rows(path, ("code", "text"), problems)]
    kept = [code for code in found if code.text.strip()]
    problems += [Problem(code.id, "the code is empty") for code in found if not code.text.strip()]
    if not kept:
        raise InputError(f"no code in '{path}'{_why(problems)}; wanted a corpus, rows of id and code, or a folder")
    return kept


def labels_of(path: Path) -> list[Judgment]:
    """Return the labels of a ground truth, or of what `assay judge run` wrote."""
    return list(judgments(path) if is_records(path) else read(path).truth.judgments)


def _truth(path: Path, problems: list[Problem]) -> Truth | None:
    """Return what a form of ground truth says, None where it has none."""
    try:
        form = form_of(path)
    except UnknownFormat:
        return None
    reading = read_part(path, form)
    problems += reading.problems
    return reading.truth


def _functions(root: Path) -> Iterator[Chunk]:
    """Yield every function of a folder of code, in one piece, called by its lines."""
    for file in walk(root).files:
        text = read_text(root, file)
        if not isinstance(text, str):
            continue
        lines, language = blocks.lines_of(text), language_of(file.path, text)
        for first, last, name in functions(file.path, text):
            body = "".join(lines[first - 1 : last])
            yield Chunk(f"{file.path}:{first}-{last}", body, language, file.path, first, last, name)


def _rows(path: Path, names: tuple[str, ...], problems: list[Problem]) -> Iterator[tuple[str, str, str]]:
    """Yield id, text and language of the objects of a file; the first of an id counts."""
    seen: set[str] = set()
    for row, record in rows.objects(path, problems):
        name = next((name for key in _IDS if (name := text_of(record.get(key)))), "")
        text = next((record[key] for key in names if isinstance(record.get(key), str)), "")
        fault = "" if name and text.strip() else f"wanted an id and a text under {' or '.join(names)}"
        fault = fault or fault_of_id(name) or (f"'{name}' was there before" if name in seen else "")
        if fault:
            problems.append(Problem(rows.place(path, row), fault))
            continue
        seen.add(name)
        yield name, text, text_of(record.get("language"))


def _why(problems: list[Problem]) -> str:
    return f" ({problems[0]})" if problems else ""


Nearest = Callable[[Vectors, Vectors, int], tuple[NDArray[np.int64], Vectors]]
"""Queries, codes and a number to the numbers and products of so many codes of each query, best first."""

QUERIES = 512
"""Queries of a block."""
_TEXTS = 1024
"""Texts that are encoded before their vectors go to the file."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What candidates are made of."""

    queries: Sequence[Query]
    codes: Sequence[Chunk]
    encoders: Mapping[str, Encoder]
    """By the spec that was given."""
    k: int
    nearest: Nearest
    block: int = QUERIES
    """Queries at a time; nothing but time and memory depends on it."""


@dataclass(frozen=True, slots=True)
class CandidateCounts:
    """What was written."""

    pairs: int
    queries: int
    overlap: Mapping[str, float]
    """By encoder, the share of its own candidates that the mean of all chose, too (table I)."""


def candidates(sources: Sources, out: Path, watch: Progress | None = None) -> CandidateCounts:
    """Write the `k` codes of the highest mean cosine with each query to `out`, a pair a line."""
    for what, items in (("query", sources.queries), ("code", sources.codes), ("encoder", sources.encoders)):
        if not items:
            raise InputError(f"no {what}: candidates are chosen by encoders, for queries, among codes")
    shared, total = Counter[str](), len(sources.queries)
    with files.replacing(out) as beside, beside.open("wb") as file, TemporaryFile(dir=beside.parent) as nameless:
        codes, pairs = _encoded(sources, nameless, watch), 0
        for start in range(0, total, sources.block):
            block = sources.queries[start : start + sources.block]
            count, own = _write_block(sources, block, codes, file)
            pairs += count
            shared.update(own)
            if watch:
                watch("searching", start + len(block), total)
    return CandidateCounts(pairs, total, {name: shared[name] / max(pairs, 1) for name in sources.encoders})


def _encoded(sources: Sources, file: IO[bytes], watch: Progress | None) -> Vectors:
    """Return a vector a code, those of all encoders side by side, in a file that is mapped; no kill leaves it."""
    texts = [code.text for code in sources.codes]
    width = sum(encoder.dimension for encoder in sources.encoders.values())
    vectors = np.memmap(file, mode="w+", dtype=np.float32, shape=(len(texts), width))
    for name, columns in _columns(sources).items():
        for start in range(0, len(texts), _TEXTS):
            some = texts[start : start + _TEXTS]
            vectors[start : start + len(some), columns] = sources.encoders[name].encode(some, "code")
            if watch:
                watch(f"encoding with {name}", start + len(some), len(texts))
    return vectors


def _columns(sources: Sources) -> dict[str, slice]:
    """Return where the vectors of each encoder stand."""
    widths = [encoder.dimension for encoder in sources.encoders.values()]
    return {name: slice(end - width, end) for name, width, end in zip(sources.encoders, widths, accumulate(widths))}  # noqa: B905


def _write_block(
    sources: Sources, queries: Sequence[Query], codes: Vectors, file: BinaryIO
) -> tuple[int, dict[str, int]]:
    """Write the pairs of some queries; return how many, and by encoder how many of its own are among them."""
    texts = [query.text for query in queries]
    asked = np.concatenate([each.encode(texts, "query") for each in sources.encoders.values()], axis=1)
    numbers, means = sources.nearest(np.divide(asked, len(sources.encoders), dtype=np.float32), codes, sources.k)
    shared, cosines = {}, {}
    for name, columns in _columns(sources).items():
        own, _ = sources.nearest(asked[:, columns], codes[:, columns], sources.k)
        shared[name] = sum(len(np.intersect1d(one, other)) for one, other in zip(own, numbers, strict=True))
        cosines[name] = np.einsum("qd,qcd->qc", asked[:, columns], codes[:, columns][numbers])
    for row, query in enumerate(queries):
        for rank, number in enumerate(numbers[row].tolist(), 1):
            scores = {name: round(float(each[row, rank - 1]), 5) for name, each in cosines.items()}
            file.write(_line(query, sources.codes[number], rank, round(float(means[row, rank - 1]), 5), scores))
    return int(numbers.size), shared


def _line(query: Query, code: Chunk, rank: int, score: float, scores: Mapping[str, float]) -> bytes:
    pair = {"query_id": query.id, "query": query.text, "code_id": code.id, "code": code.text, "language": code.language}
    row = {**pair, "rank": rank, "score": score, "scores": scores}
    return f"{files.dumps(row)}\n".encode()


@dataclass(frozen=True, slots=True)
class Depths:
    """Counts by rank, the first rank first."""

    right: tuple[int, ...]
    judged: tuple[int, ...]
    pairs: tuple[int, ...]
    known: int
    """Right pairs that the labels name, of queries that have candidates and codes that could be one."""
    gone: int
    """Right pairs whose code is not among them: a filter left it out."""

    @property
    def rates(self) -> list[float]:
        """The share of the candidates at each rank that somebody called right."""
        return [right / pairs for right, pairs in zip(self.right, self.pairs, strict=True)]

    @property
    def recall_by_depth(self) -> list[float]:
        """The share of all known right codes that each depth holds."""
        return [so_far / max(self.known, 1) for so_far in accumulate(self.right)]

    def figure(self) -> doc.Curves:
        """Return how likely a candidate is right by its rank, as figure 4 of CoSQA+ draws it."""
        ranks, means = range(1, len(self.rates) + 1), tuple(doc.Mean(rate, rate, rate) for rate in self.rates)
        line = doc.Series("right candidates", 0, tuple(map(float, ranks)), means)
        panel = doc.CurvePanel("share that is right", (line,))
        return doc.Curves("Right candidates by rank", "Of the candidates at each rank.", (panel,), "rank")

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        rows = zip(self.right, self.judged, self.pairs, self.rates, self.recall_by_depth, strict=True)
        names = ("right", "judged", "pairs", "rate", "found")
        ranks = [{"rank": rank, **dict(zip(names, row, strict=True))} for rank, row in enumerate(rows, 1)]
        return {"known": self.known, "gone": self.gone, "ranks": ranks}


def depths(
    candidates: Iterable[Mapping[str, Any]], labels: Iterable[Judgment], corpus: Collection[str] | None = None
) -> Depths:
    """Return what each rank holds, of the codes in `corpus`; of several labels of a pair the highest grade counts."""
    grades: dict[tuple[str, str], int] = {}
    for label in labels:
        pair = (label.query_id, label.target)
        grades[pair] = max(label.grade, grades.get(pair, 0))
    right, judged, pairs = Counter[int](), Counter[int](), Counter[int]()
    asked = set()
    for each in candidates:
        rank, grade = each["rank"], grades.get((each["query_id"], each["code_id"]))
        asked.add(each["query_id"])
        pairs[rank] += 1
        judged[rank] += grade is not None
        right[rank] += bool(grade)
    wanted = [code for (query, code), grade in grades.items() if query in asked and grade > 0]
    known = sum(corpus is None or code in corpus for code in wanted)
    columns = [tuple(counts[rank] for rank in sorted(pairs)) for counts in (right, judged, pairs)]
    return Depths(columns[0], columns[1], columns[2], known, len(wanted) - known)


Kind = Literal["testable", "no Python 3", "no function", "no parameter", "no value returned"]
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def filter_testable(codes: Sequence[Chunk]) -> tuple[list[Chunk], dict[str, int]]:
    """Return the codes that can be tested, and how many codes are of each kind."""
    kinds = [str(kind_of(code)) for code in codes]
    kept = [code for code, kind in zip(codes, kinds, strict=True) if kind == "testable"]
    return kept, dict(Counter(kinds).most_common())


def kind_of(code: Chunk) -> Kind:
    """Say whether one function of a code can be tested; of several it is the best one that counts."""
    tree = tree_of(laid_out(code.text)) if code.language in ("", "python") else ""
    if isinstance(tree, str):
        return "no Python 3"
    functions = list(_outer_functions(tree))
    if not functions:
        return "no function"
    takes = [(each, each.args) for each in functions]
    with_input = [
        each for each, args in takes if args.posonlyargs or args.args or args.kwonlyargs or args.vararg or args.kwarg
    ]
    if not with_input:
        return "no parameter"
    return "testable" if any(map(_returns_value, with_input)) else "no value returned"


def _outer_functions(tree: ast.AST) -> Iterator[_Function]:
    """Yield the functions that somebody outside could call: not those within another one."""
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.stmt):
            waiting.extend(ast.iter_child_nodes(node))


def _returns_value(function: _Function) -> bool:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
            return True
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return False
